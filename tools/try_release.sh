#!/usr/bin/env bash
# Builds wheel and sdist into dist/, installs one after the other into an environment that
# has nothing else, and runs a packaged experiment there, in a folder that is no checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf dist
.venv/bin/python -m hatchling build -d dist > /dev/null
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# The locked versions; what is needed is told by the wheel alone.
sed -n 's/ \\$//; /^[a-z0-9].*==/p' requirements/dev.txt > "$place/versions.txt"
.venv/bin/python -m venv "$place/env"
for built in dist/*.whl dist/*.tar.gz; do
    "$place/env/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile \
        --constraint "$place/versions.txt" --force-reinstall "$built" ${dependencies:-}
    dependencies=--no-deps  # which the wheel brought are there
    "$place/env/bin/python" -m pip --quiet check
    mkdir "$place/empty"
    (
        cd "$place/empty"
        "$place/env/bin/drmbench" --version
        "$place/env/bin/drmbench" run quick --dataset iris --method nb --no-progress
        "$place/env/bin/drmbench" check
    ) > "$place/said" 2>&1 || { cat "$place/said"; exit 1; }
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
    grep -qx "drmbench $version" "$place/said"
    rm -r "$place/empty"
    echo "$built: installed, says $version, runs a packaged experiment"
done
