"""The arithmetic all C4.5 decisions share: entropies and tolerant comparisons."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# J48 calls two weights, gains or probabilities equal when they differ by no more.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class GrowthRule:
    """What limits the growth of a tree.

    Attributes
    ----------
    min_weight : float
        Weight of examples that at least two branches of a split must receive.
    mdl_correction : bool
        Charge a numeric split for the choice of its threshold (release 8).
    value_gap : float
        Neighbouring values closer than this are not separated by a threshold.
    min_error_share : float or None
        A node with at most this share of examples outside its majority class stays a
        leaf; None switches the rule off.
    """

    min_weight: float
    mdl_correction: bool
    value_gap: float
    min_error_share: float | None = None


@dataclass(frozen=True)
class Candidates:
    """The best split of each of several attributes, one array entry an attribute.

    Attributes
    ----------
    gain : ndarray of shape (m,)
        Information gain in bits, or ``-inf`` where the attribute offers no split.
    ratio : ndarray of shape (m,)
        Gain ratio; 0 where the attribute offers no split.
    midpoint : ndarray of shape (m,)
        Midpoint of the two values a numeric split lies between; NaN otherwise.
    """

    gain: FloatArray
    ratio: FloatArray
    midpoint: FloatArray


def x_log_x(weights: FloatArray) -> FloatArray:
    """Return ``w ln w`` of each weight, taking weights below the tolerance as zero.

    Examples
    --------
    >>> x_log_x(np.array([0.0, 1.0, np.e])).round(12).tolist()
    [0.0, 0.0, 2.718281828459]
    """
    floored = np.maximum(weights, TOLERANCE)
    return np.where(weights < TOLERANCE, 0.0, weights * np.log(floored))


def gain_ratio(
    gain: FloatArray, branch_terms: FloatArray, known: FloatArray, total: float
) -> FloatArray:
    """Divide gains by the split information; examples with unknown value are a branch.

    Parameters
    ----------
    gain : ndarray of shape (m,)
        Information gains in bits.
    branch_terms : ndarray of shape (m,)
        Sum of ``w ln w`` over the branches' weights.
    known : ndarray of shape (m,)
        Weight of the examples whose value is known.
    total : float
        Weight of all examples.
    """
    unknown_term = x_log_x(np.maximum(total - known, 0.0))
    whole = total * math.log(total)
    information = (whole - branch_terms - unknown_term) / math.log(2.0)
    informative = (information > TOLERANCE) & np.isfinite(gain)
    ratio = np.zeros_like(gain)
    np.divide(gain * total, information, out=ratio, where=informative)
    return ratio


def clear_maximum(scores: FloatArray) -> IntArray:
    """Find each row's first clear maximum, or -1 where no score is clearly positive.

    The rule is that of a scan from the left that starts with a best of zero and moves
    on only to a score that beats the best so far by more than the tolerance. So
    rounding never decides between scores that are equal in exact arithmetic.

    Examples
    --------
    >>> clear_maximum(np.array([[1.0, 2.0, 2.0 + 1e-9], [0.0, 0.0, 0.0]])).tolist()
    [1, -1]
    """
    best = scores.max(axis=1)
    near = scores >= (best - TOLERANCE)[:, None]
    index: IntArray = near.argmax(axis=1)
    # The scan can only stop elsewhere if some score just below the near ones (or the
    # starting value, zero) may have kept it from moving to the first of them.
    nearly = scores >= (best - 2 * TOLERANCE)[:, None]
    blocked = (nearly != near).any(axis=1)
    positive = best > TOLERANCE
    for row in np.flatnonzero(positive & (blocked | (best <= 2 * TOLERANCE))):
        index[row] = _scan(scores[row])
    index[~positive] = -1
    return index


def _scan(scores: FloatArray) -> int:
    index, best = -1, 0.0
    for position, score in enumerate(scores.tolist()):
        if score - best > TOLERANCE:
            index, best = position, score
    return index


def majority_class(counts: FloatArray) -> int:
    """Return the class of the largest weight, the first of them in a tie."""
    return max(_scan(counts), 0)


def misclassified(counts: FloatArray) -> float:
    """Return the weight of the examples outside the majority class."""
    return float(counts.sum() - counts[majority_class(counts)])
