"""Generate Gaussian classes of any size, whole or streamed, the same every time."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from drmbench.data.dataset import Dataset, Provenance
from drmbench.errors import InputError

Samples = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Rows of X and their class numbers."""

MAX_CELLS = 2**28
"""Largest n × p that is generated whole: 2 GiB of numbers."""

MAX_ROWS, MAX_CLASSES = 2**53, 10**6
"""Rows beyond cannot be counted by floats; classes beyond are taken for a mistake."""

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

    Class 0 is the largest; its size over that of the smallest is the `imbalance`, as
    near as whole numbers allow, and sizes in between fall geometrically. Every class
    has a sample. The `separation` is the distance between class means, in standard
    deviations: with at least as many features as classes all means are that far apart;
    with fewer they stand in a row, neighbours that far apart.

    Examples
    --------
    >>> data = make_synthetic(1000, 20, classes=3, imbalance=16.0)
    >>> data.X.shape, data.class_counts
    ((1000, 20), {'0': 762, '1': 190, '2': 48})
    """
    check_whole(n, p)
    X, y = next(iter_synthetic(n, p, classes, imbalance, seed, separation, chunk=n))
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


def check_whole(n: int, p: int) -> None:
    """Refuse more numbers than are generated at once."""
    if n * p > MAX_CELLS:
        raise InputError(
            f"synthetic data: n × p must be at most {MAX_CELLS:,}"
            f" ({MAX_CELLS * 8 / 2**30:.0f} GiB of numbers), not {_short(n)} ×"
            f" {_short(p)}"
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
    """Generate the rows of :func:`make_synthetic` as pairs of X and y, in chunks.

    The rows are the same whatever the chunk size, and memory depends on the chunk
    and not on n. Classes are mixed: every stretch of rows has them in about their
    shares.

    Examples
    --------
    >>> sum(len(y) for X, y in iter_synthetic(1000, 5, chunk=300))
    1000
    """
    for fulfilled, text in (
        (classes >= 2, f"classes must be at least 2, not {classes}"),
        (
            classes <= MAX_CLASSES,
            f"classes must be at most {MAX_CLASSES:,}, not {_short(classes)}",
        ),
        (p >= 1, f"p must be at least 1, not {p}"),
        (p <= MAX_CELLS, f"p must be at most {MAX_CELLS:,}, not {_short(p)}"),
        (n <= MAX_ROWS, f"n must be at most {MAX_ROWS:,}, not {_short(n)}"),
        (n >= classes, f"n must be at least the number of classes, {classes}, not {n}"),
        (
            1 <= imbalance < math.inf,
            f"imbalance must be a number from 1 on, not {imbalance}",
        ),
        (
            0 <= separation < math.inf,
            f"separation must be a number from 0 on, not {separation}",
        ),
        (seed >= 0, f"seed must be at least 0, not {seed}"),
        (chunk >= 1, f"chunk must be at least 1, not {chunk}"),
    ):
        if not fulfilled:
            raise InputError(f"synthetic data: {text}")
    ends = np.cumsum(class_sizes(n, classes, imbalance))
    # Slots of the classes are visited in golden-ratio steps. The step has no factor in
    # common with n, so that every slot is visited once and class sizes are exact,
    # without a permutation of n numbers in memory.
    step = max(1, round(n * (math.sqrt(5) - 1) / 2))
    while math.gcd(step, n) != 1:
        step += 1

    def rows(start: int, stop: int) -> Samples:
        slots = (np.arange(start, stop) * step + seed) % n
        y = np.searchsorted(ends, slots, side="right").astype(np.int64)
        X = _noise(start, stop, p, seed)
        if classes <= p:
            # Means at s/√2 on axes of their own are s apart.
            X[np.arange(len(y)), y] += separation / math.sqrt(2)
        else:
            X[:, 0] += separation * y
        return X, y

    return (rows(start, min(start + chunk, n)) for start in range(0, n, chunk))


def _short(number: int) -> str:
    """Return a number to read; one of many digits by its size."""
    return f"{number:,}" if abs(number) < 10**18 else "a larger number"


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


def _noise(start: int, stop: int, p: int, seed: int) -> NDArray[np.float64]:
    """Return standard normal rows from `start` up to `stop`, cut out of blocks."""
    X = np.empty((stop - start, p))
    for block in range(start // _BLOCK, -(-stop // _BLOCK)):
        before = block * _BLOCK
        first, last = max(start, before), min(stop, before + _BLOCK)
        noise = np.random.default_rng([seed, block]).standard_normal((last - before, p))
        X[first - start : last - start] = noise[first - before :]
    return X
