#!/usr/bin/env bash
# Runs the quick experiment and a sample of the reproduction afresh, and compares every
# number with the committed ones. Data sets that cannot be had here are passed over.
set -euo pipefail
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
drmbench() { .venv/bin/drmbench "$@"; }
run() { drmbench run "$@" --out "$fresh" --no-progress --allow-missing > /dev/null; }

run configs/quick.yaml
run configs/imbalanced.yaml --dataset glass2 \
    --method 'drm-*' --method 'knn-*' --method nb --method slda --method 'c45*'
run configs/uci.yaml --dataset iris \
    --method 'drm-*' --method 'knn-*' --method nb
drmbench check --results "$fresh"
