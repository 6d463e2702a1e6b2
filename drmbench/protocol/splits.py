"""Which rows train and which rows test: random, given, folds and k-fold splits.

Splits depend on the data set and the seed only, so all methods get the same ones.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from drmbench.data.dataset import Dataset
from drmbench.errors import InputError

SplitKind = Literal["random", "given", "folds", "kfold"]
Rows = NDArray[np.intp]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers of one training part and one test part, both ascending."""

    number: int  #: Number of the split within its data set, from 0
    #: Row numbers; no row is in both
    train: Rows
    test: Rows


@dataclass(frozen=True)
class SplitPlan:
    """How an experiment splits its data sets."""

    #: Stratified random parts, the data set's own split, its own folds, or stratified
    #: k-fold
    kind: SplitKind = "random"
    #: Training size of a random split: a number of rows, or a share below 1
    train: int | float | None = None
    #: Test size of a random split; None takes all rows that do not train
    test: int | None = None
    k: int = 5  #: Number of folds of ``kfold``
    repeats: int = 5  #: How often ``random`` and ``kfold`` are drawn again

    def splits(self, dataset: Dataset, *, seed: int = 0) -> list[Split]:
        """Return the splits; `InputError` says why the data set cannot be split so."""
        y, name, repeats = dataset.y, dataset.name, self.repeats
        own = dataset.seed_name
        if self.kind == "given":
            return given_split(dataset)
        if self.kind == "folds":
            return given_folds(dataset)
        if self.kind == "kfold":
            return kfold_splits(
                y, self.k, repeats=repeats, seed=seed, name=name, seed_name=own
            )
        if self.train is None:
            raise InputError(
                f"{name}: a random split needs a training size, either a number of rows"
                " or a share between 0 and 1"
            )
        size = round(self.train * len(y)) if 0 < self.train < 1 else int(self.train)
        return random_splits(
            *(y, size),
            test_size=self.test,
            repeats=repeats,
            seed=seed,
            name=name,
            seed_name=own,
        )


def apportion(
    total: int, shares: Sequence[int] | Counts, low: Counts, high: Counts
) -> Counts:
    """Divide ``total`` as nearly proportional to ``shares`` as the bounds allow.

    The parts add up to ``total``, which is between ``sum(low)`` and ``sum(high)``.
    Without active bounds this is the method of the largest remainder: every part gets
    its quota rounded down or up. In general the parts minimise the sum of squared
    differences from the quotas. Ties go to the larger share, then to the first.

    Examples
    --------
    >>> sizes = np.array([50, 40, 3])
    >>> apportion(31, sizes, np.ones(3, dtype=int), sizes)
    array([17, 13,  1])
    """
    sizes = np.asarray(shares, dtype=np.int64)
    quota = total * sizes / sizes.sum()
    # Besides rounding, by one place for each part, no part is below its quota by more
    # than others are held above theirs, so this start lies below the best division;
    # raising where it helps most then leads straight to it.
    held = math.ceil(np.maximum(low - quota, 0).sum())
    start = np.floor(quota).astype(np.int64) - len(sizes) - held
    parts: Counts = np.clip(start, low, high)
    by_size = np.argsort(-sizes, kind="stable")
    for _ in range(total - int(parts.sum())):
        shortfall = np.where(parts < high, quota - parts, -np.inf)
        parts[by_size[np.argmax(shortfall[by_size])]] += 1
    return parts


def random_splits(
    y: NDArray[np.int64],
    train_size: int,
    *,
    test_size: int | None = None,
    repeats: int = 5,
    seed: int = 0,
    name: str = "",
    seed_name: str | None = None,
    least: int = 1,
) -> list[Split]:
    """Draw stratified random parts of exactly the given sizes.

    Every class is in every training part, with `least` samples or all that it has;
    otherwise each class's share is as near to proportional as whole samples allow
    (:func:`apportion`). The class sizes of the parts are the same in all repetitions.
    Without a `test_size` all other rows test. The `name` of the data set, or
    `seed_name` in its place, is part of each split's seed. `InputError` is raised if
    such parts cannot be drawn.
    """
    classes, counts = np.unique(y, return_counts=True)
    _require_positive_repeats(repeats, name)
    n_test = len(y) - train_size if test_size is None else test_size
    asked = f"{name or 'data'}: a split of {train_size} training and {n_test} test rows"
    if train_size < 1 or n_test < 1:
        raise InputError(f"{asked} of {len(y)} leaves a part empty")
    if train_size + n_test > len(y):
        raise InputError(
            f"{asked} needs {train_size + n_test} rows, there are {len(y)}"
        )
    fewest = np.minimum(counts, least)
    if train_size < fewest.sum():
        raise InputError(
            f"{asked} cannot have each of the {len(classes)} classes in training;"
            f" use at least {fewest.sum()} training rows"
        )
    in_train = apportion(train_size, counts, fewest, counts)
    in_test = apportion(n_test, counts, np.zeros_like(counts), counts - in_train)
    splits, own = [], name if seed_name is None else seed_name
    for number in range(repeats):
        rng = np.random.default_rng(stable_seed(seed, own, number, "random split"))
        train, test = [], []
        for label, k, m in zip(classes, in_train, in_test, strict=True):
            rows = rng.permutation(np.flatnonzero(y == label))
            train.append(rows[:k])
            test.append(rows[k : k + m])
        parts = (np.sort(np.concatenate(part)) for part in (train, test))
        splits.append(Split(number, *parts))
    return splits


def _require_positive_repeats(repeats: int, name: str) -> None:
    if repeats < 1:
        raise InputError(f"{name or 'data'}: repeats must be 1 or more, not {repeats}")


def kfold_splits(
    y: NDArray[np.int64],
    k: int,
    *,
    repeats: int = 1,
    seed: int = 0,
    name: str = "",
    seed_name: str | None = None,
) -> list[Split]:
    """Deal the shuffled rows of each class to k folds in turn.

    Fold sizes, and each class's count over the folds, differ by at most one. Dealing
    continues from class to class, so that small classes do not all fall into the first
    folds. A class of fewer than k samples is missing from some test parts. Repetition r
    has the numbers from ``r * k``. The `name` of the data set, or `seed_name` in its
    place, is part of the seed.
    """
    if not 2 <= k <= len(y):
        raise InputError(
            f"{name or 'data'}: {k} folds of {len(y)} rows;"
            f" k must be between 2 and {len(y)}"
        )
    _require_positive_repeats(repeats, name)
    splits: list[Split] = []
    own = name if seed_name is None else seed_name
    for repetition in range(repeats):
        rng = np.random.default_rng(stable_seed(seed, own, repetition, "k-fold"))
        by_class = [rng.permutation(np.flatnonzero(y == c)) for c in np.unique(y)]
        folds = np.empty(len(y), dtype=np.int64)
        folds[np.concatenate(by_class)] = np.arange(len(y)) % k
        splits += _splits_of_folds(folds, first_number=repetition * k)
    return splits


def _splits_of_folds(folds: Counts, *, first_number: int = 0) -> list[Split]:
    used = folds >= 0  # a row with a negative number is in no part
    return [
        Split(
            first_number + position,
            np.flatnonzero(used & (folds != fold)),
            np.flatnonzero(folds == fold),
        )
        for position, fold in enumerate(np.unique(folds[used]))
    ]


def given_split(dataset: Dataset) -> list[Split]:
    """Return the one split that comes with the data set, in a list."""
    if dataset.split is None:
        raise InputError(
            f"{dataset.name} comes without a split of its own; use a random or k-fold"
            " split"
        )
    train, test = (np.sort(np.asarray(part, dtype=np.intp)) for part in dataset.split)
    return [Split(0, train, test)]


def given_folds(dataset: Dataset) -> list[Split]:
    """Return one split for each test fold that comes with the data set."""
    if dataset.folds is None or len(np.unique(dataset.folds[dataset.folds >= 0])) < 2:
        raise InputError(
            f"{dataset.name} comes without folds of its own; use a random or k-fold"
            " split"
        )
    return _splits_of_folds(dataset.folds)


def stable_seed(*parts: str | int) -> int:
    """Derive a seed from names and numbers, the same in every process.

    Python's own ``hash`` of a string changes from one process to the next; this one
    does not. The result fits a signed 32-bit integer, which every library accepts.

    Examples
    --------
    >>> stable_seed(0, "iris", 3) == stable_seed(0, "iris", 3)
    True
    """
    text = json.dumps(parts).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4]) >> 1
