"""The offset of the decision between two classes (docs/math.md, section 11).

Class 1 is predicted where δ₀ - δ₁ > t. What samples score at every t that tells two of
their values apart follows from one sort.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.partition import Array
from drmbench.metrics import (
    TIE_TOLERANCE,
    accuracy_score,
    balanced_accuracy_score,
    gmean_score,
)

#: Scores a split of that number, given which of its samples are put into class 1.
Judge = Callable[[int, NDArray[np.bool_]], float]


@dataclass(frozen=True, eq=False)
class JudgedSamples:
    """The samples of one split, and what tells their classes apart."""

    values: Array  #: δ₀ - δ₁ of each
    truth: NDArray[np.bool_]  #: Whether each is of class 1
    weights: Array | None = None  #: How much each counts; None if all do once


@dataclass(frozen=True, eq=False)
class BestThreshold:
    """The threshold with the highest mean score over splits."""

    threshold: float  #: t
    scores: tuple[float, ...]  #: Score of each split at t


def cuts(values: Array) -> Array:
    """Return one threshold for each way to tell the values apart, ascending.

    They lie midway between neighbouring values, the outermost as far beyond the values
    as half their mean distance; 0 replaces the one that is equivalent to it.

    Examples
    --------
    >>> cuts(np.array([1.0, -1.0, 2.0, 2.0]))
    array([-1.75,  0.  ,  1.5 ,  2.75])
    """
    ordered = np.unique(values[np.isfinite(values)])
    if not ordered.size:
        return np.zeros(1)
    lower, upper = ordered[:-1], ordered[1:]
    middles = lower + (upper - lower) / 2.0
    middles = np.where(middles < upper, middles, lower)
    beyond = (ordered[-1] - ordered[0]) / (2.0 * max(ordered.size - 1, 1)) or 1.0
    first, last = ordered[0] - beyond, ordered[-1] + beyond
    thresholds = np.concatenate(([first], middles, [last]))
    thresholds[np.searchsorted(ordered, 0.0, side="right")] = 0.0
    return thresholds


def best_threshold(
    splits: Sequence[JudgedSamples], score: Any, judge: Judge
) -> BestThreshold:
    """Return the threshold with the highest mean score; of equal ones that nearest 0.

    If `score` is accuracy, balanced accuracy or G-mean, samples are counted; else
    `judge` is asked at every threshold.
    """
    thresholds = cuts(np.concatenate([split.values for split in splits]))
    if score in _COUNTED:
        curves = [_counted(split, thresholds, _COUNTED[score]) for split in splits]
    else:
        curves = [
            np.array([judge(number, split.values > t) for t in thresholds])
            for number, split in enumerate(splits)
        ]
    scores = np.stack(curves)
    means = scores.mean(axis=0)
    if np.isnan(means).all():
        raise ValueError("its score is not a number at any threshold")
    best = np.flatnonzero(means >= np.nanmax(means) - TIE_TOLERANCE)
    chosen = best[np.argmin(np.abs(thresholds[best]))]
    return BestThreshold(float(thresholds[chosen]), tuple(scores[:, chosen].tolist()))


def _counted(
    split: JudgedSamples, thresholds: Array, curve: Callable[..., Array]
) -> Array:
    """Return the score at every threshold from what of each class lies below it."""
    weights = np.ones(len(split.values)) if split.weights is None else split.weights
    order = np.argsort(split.values, kind="stable")
    below = np.searchsorted(split.values[order], thresholds, side="right")
    right, masses = [], []
    for of_class in (False, True):
        counted = np.where(split.truth == of_class, weights, 0.0)[order]
        sums = np.concatenate(([0.0], np.cumsum(counted)))
        right.append(sums[-1] - sums[below] if of_class else sums[below])
        masses.append(sums[-1])
    return curve(np.array(right), np.array(masses)[:, None])


def _recalls(right: Array, masses: Array) -> Array:
    """Return the recalls, (classes, thresholds), of the classes that count."""
    present = masses[:, 0] > 0
    recalls: Array = right[present] / masses[present]
    return recalls


def _geometric_mean(recalls: Array) -> Array:
    product: Array = recalls.prod(axis=0)
    return np.sqrt(product) if len(recalls) == 2 else product


#: Scores at many thresholds from the mass of the samples that are right, by class.
_COUNTED: dict[Any, Callable[[Array, Array], Array]] = {
    accuracy_score: lambda right, masses: right.sum(axis=0) / masses.sum(),
    balanced_accuracy_score: lambda right, masses: _recalls(right, masses).mean(axis=0),
    gmean_score: lambda right, masses: _geometric_mean(_recalls(right, masses)),
}
