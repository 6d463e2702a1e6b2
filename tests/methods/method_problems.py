"""Tiny data sets on which every method is tried, and grids small enough for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.methods.base import Method

Problem = tuple[NDArray[np.float64], NDArray[np.int64]]


def blobs(counts: Sequence[int], p: int, *, seed: int = 0, gap: float = 1.0) -> Problem:
    """Return normal clouds that overlap, one a class, in random order."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    X = rng.normal(size=(len(y), p)) + gap * y[:, None]
    order = rng.permutation(len(y))
    return X[order], y[order]


def _constant_feature() -> Problem:
    X, y = blobs((7, 6), 3, seed=4)
    X[:, 1] = 2.5
    return X, y


def _duplicate_rows() -> Problem:
    """Return a row twice in one class, and another in two classes."""
    X, y = blobs((6, 6), 3, seed=5)
    first, second = np.flatnonzero(y == 0)[:2], np.flatnonzero(y == 1)[:2]
    X[first[1]] = X[first[0]]
    X[second[0]] = X[first[1]] + 1.0
    X[second[1]] = X[np.flatnonzero(y == 0)[3]]
    return X, y


PROBLEMS: dict[str, Problem] = {
    "binary": blobs((7, 8), 3),
    "multi-class": blobs((5, 4, 6), 3, seed=1),
    "three-minority": blobs((13, 3), 3, seed=2),
    "wide": blobs((5, 4, 4), 20, seed=3, gap=0.5),
    "constant-feature": _constant_feature(),
    "duplicate-rows": _duplicate_rows(),
}


#: Numbers of trees or rounds, small enough to be grown for every sample.
FEW_TREES = ("n_estimators", "rounds", "max_iter")


def few_candidates(method: Method) -> list[dict[str, Any]]:
    """Return a few candidates from all over the grid; tiny forests instead of real."""
    trees = [name for name in FEW_TREES if name in method.grid]
    if trees or "n_estimators" in method.defaults:
        others = {name: values[-1] for name, values in method.grid.items()}
        trees = trees or ["n_estimators"]
        return [
            {**method.defaults, **others, **dict.fromkeys(trees, size)}
            for size in (1, 3, 4)
        ]
    middle_and_end = [(v[len(v) // 2], v[-1]) for v in method.grid.values()]
    candidates = []
    for number in range(4):  # two bits choose for the first, second, first, … parameter
        values = [
            v[(number >> place % 2) & 1] for place, v in enumerate(middle_and_end)
        ]
        candidates.append(
            {**method.defaults, **dict(zip(method.grid, values, strict=True))}
        )
    return [c for i, c in enumerate(candidates) if c not in candidates[:i]]
