#!/usr/bin/env bash
# Installs drmbench, editable and with all that its tests need, for the Python given:
# from the lock (requirements/README.md), or without it on a Python that it is not for
# and with UNLOCKED=1.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
pip() { "$python" -m pip install --quiet --disable-pip-version-check "$@"; }

fits='import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))'

if [ -n "${UNLOCKED:-}" ] || ! "$python" -c "$fits"; then
    echo "not from the lock: any versions that pyproject.toml allows, without hashes"
    pip --upgrade pip
    pip --editable '.[dev]'
    exit
fi
if ! pip --require-hashes --only-binary :all: --requirement requirements/build.txt \
    || ! pip --require-hashes --only-binary :all: --no-binary liblinear-official \
        --no-build-isolation --requirement requirements/dev.txt; then
    echo "If pip has found no file for this machine (not: one with another hash), \`make UNLOCKED=1\` and a target installs without the lock." >&2
    exit 1
fi
pip --no-deps --no-build-isolation --editable .
