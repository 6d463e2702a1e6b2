#!/usr/bin/env bash
# Runs the quick experiment and a sample of the reproduction again, and compares every
# number with the committed ones. Data sets that cannot be obtained here are skipped.
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
run configs/face.yaml --dataset yale \
    --method drm-linear --method 'knn-*' --method nb
run configs/large.yaml --dataset shuttle --method drm-exact --method l2-svm
run configs/ablation.yaml --dataset glass2 --method drm-rbf --method 'krr-rbf*'
run configs/sampling.yaml --dataset new-thyroid2 \
    --method '*-knn*' --method smote-rf --method smote-drm
run configs/compcancer.yaml --dataset shipp-2002-v1 \
    --method 'drm-*' --method 'knn-*' --method nb
run configs/keel100.yaml --dataset ecoli-0-1-4-6_vs_5 \
    --method 'drm-*' --method svm-balanced --method smote-knn
drmbench check --results "$fresh"
