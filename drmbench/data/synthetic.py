"""Generate Gaussian classes of any size, whole or streamed, the same every time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drmbench.data.dataset import Dataset, Provenance
from drmbench.errors import InputError

Samples = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Rows of X and their class numbers."""

_BLOCK = 256
"""Rows that one random generator makes; any chunk is cut from whole blocks."""


def make_synthetic(
    n: int,
    p: int,
    classes: int = 2,
    imbalance: float = 1.0,
    seed: int = 0,
    separation: float = 3.0,
) -> Dataset:
    """Generate a data set of Gaussian classes with unit variances.

    Parameters
    ----------
    n, p : int
        Samples and features.
    classes : int
        Number of classes; class 0 is the largest.
    imbalance : float
        Size of the largest class over that of the smallest, as near as whole numbers
        allow; sizes in between fall geometrically. Every class has a sample.
    seed : int
        Seed of all random numbers.
    separation : float
        Distance between class means, in standard deviations. With at least as many
        features as classes all means are that far apart; with fewer they stand in a
        row, neighbours that far apart.

    Raises
    ------
    InputError
        A parameter is out of range.

    Examples
    --------
    >>> data = make_synthetic(1000, 20, classes=3, imbalance=16.0)
    >>> data.X.shape, data.class_counts
    ((1000, 20), {'0': 762, '1': 190, '2': 48})
    """
    chunks = list(iter_synthetic(n, p, classes, imbalance, seed, separation, chunk=n))
    X, y = chunks[0]
    return Dataset(
        name="synthetic",
        X=X,
        y=y,
        class_names=tuple(str(number) for number in range(classes)),
        provenance=Provenance(
            "synthetic",
            note=f"n={n}, p={p}, classes={classes}, imbalance={imbalance:g},"
            f" seed={seed}, separation={separation:g}",
        ),
    )


def iter_synthetic(
    n: int,
    p: int,
    classes: int = 2,
    imbalance: float = 1.0,
    seed: int = 0,
    separation: float = 3.0,
    *,
    chunk: int = 65536,
) -> Iterator[Samples]:
    """Generate the rows of :func:`make_synthetic` chunk by chunk.

    The rows are the same whatever the chunk size, and memory depends on the chunk
    and not on n. Classes are mixed: every stretch of rows has them in about their
    shares.

    Parameters
    ----------
    n, p, classes, imbalance, seed, separation
        As for :func:`make_synthetic`.
    chunk : int
        Rows in a chunk; the last may have fewer.

    Yields
    ------
    X : ndarray of shape (chunk, p)
        The samples.
    y : ndarray of shape (chunk,)
        Their class numbers.

    Examples
    --------
    >>> sum(len(y) for X, y in iter_synthetic(1000, 5, chunk=300))
    1000
    """
    recipe = _Recipe(n, p, classes, imbalance, seed, separation)
    recipe.check()
    if chunk < 1:
        raise InputError(f"synthetic data: chunk must be at least 1, not {chunk}")
    return (recipe.rows(start, min(start + chunk, n)) for start in range(0, n, chunk))


def class_sizes(n: int, classes: int, imbalance: float) -> NDArray[np.int64]:
    """Return how many of n samples each class gets: falling geometrically, none empty.

    Examples
    --------
    >>> class_sizes(100, 2, 9.0).tolist(), class_sizes(7, 3, 1000.0).tolist()
    ([90, 10], [5, 1, 1])
    """
    weights = imbalance ** -np.linspace(0.0, 1.0, classes)
    ideal = n * weights / weights.sum()
    sizes: NDArray[np.int64] = np.floor(ideal).astype(np.int64)
    by_remainder = np.argsort(sizes - ideal, kind="stable")
    sizes[by_remainder[: n - sizes.sum()]] += 1
    while sizes[-1] == 0:
        # from the last of the largest, which keeps the order
        sizes[np.flatnonzero(sizes == sizes.max())[-1]] -= 1
        sizes[np.argmin(sizes)] += 1
    return sizes


@dataclass(frozen=True)
class _Recipe:
    """Everything that determines a row from its number."""

    n: int
    p: int
    classes: int
    imbalance: float
    seed: int
    separation: float

    def check(self) -> None:
        """Refuse parameters out of range."""
        requirements = {
            f"classes must be at least 2, not {self.classes}": self.classes >= 2,
            f"p must be at least 1, not {self.p}": self.p >= 1,
            f"n must be at least the number of classes, {self.classes}, not"
            f" {self.n}": self.n >= self.classes,
            f"imbalance must be a number from 1 on, not {self.imbalance}": 1
            <= self.imbalance
            < math.inf,
            f"separation must be a number from 0 on, not {self.separation}": 0
            <= self.separation
            < math.inf,
            f"seed must be at least 0, not {self.seed}": self.seed >= 0,
        }
        for text, fulfilled in requirements.items():
            if not fulfilled:
                raise InputError(f"synthetic data: {text}")

    def rows(self, start: int, stop: int) -> Samples:
        """Return the rows from `start` up to `stop`."""
        y = self._classes_of(np.arange(start, stop))
        X = np.empty((stop - start, self.p))
        for block in range(start // _BLOCK, -(-stop // _BLOCK)):
            first = max(start, block * _BLOCK)
            last = min(stop, (block + 1) * _BLOCK)
            noise = np.random.default_rng([self.seed, block]).standard_normal(
                (last - block * _BLOCK, self.p)
            )
            X[first - start : last - start] = noise[first - block * _BLOCK :]
        self._shift(X, y)
        return X, y

    def _classes_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return class numbers: slots of the classes, visited in golden-ratio steps.

        The step has no factor in common with n, so that every slot is visited once
        and class sizes are exact, without a permutation of n numbers in memory.
        """
        step = max(1, round(self.n * (math.sqrt(5) - 1) / 2))
        while math.gcd(step, self.n) != 1:
            step += 1
        slots = (rows * step + self.seed) % self.n
        ends = np.cumsum(class_sizes(self.n, self.classes, self.imbalance))
        return np.searchsorted(ends, slots, side="right").astype(np.int64)

    def _shift(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
        """Move every row to its class's mean."""
        if self.classes <= self.p:
            # Means at s/√2 on axes of their own are s apart.
            X[np.arange(len(y)), y] += self.separation / math.sqrt(2)
        else:
            X[:, 0] += self.separation * y
