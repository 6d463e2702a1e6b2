"""The training examples of C4.5, and the arithmetic that all its decisions share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

#: J48 calls two weights, gains or probabilities equal when they differ by no more.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Examples:
    """Some training examples, each with the weight it has at one place of the tree."""

    rows: IntArray  #: Row numbers in the training data
    #: Weights; below the original ones where an unknown value divided an example
    weights: FloatArray


@dataclass(frozen=True)
class TrainingData:
    """All examples, attribute by attribute, so that a node reads rows of memory."""

    #: One attribute per row: numbers, or the position of the value among the
    #: attribute's categories; NaN is unknown
    columns: FloatArray
    #: Class numbers, in the smallest unsigned type: those sort in linear time
    classes: NDArray[np.unsignedinteger]
    n_classes: int  #: Number of classes
    #: Number of categories of each attribute; 0 for a numeric one
    n_categories: IntArray
    n_examples: float  #: Weight of all examples

    @property
    def numeric(self) -> IntArray:
        """Numbers of the numeric attributes."""
        return np.flatnonzero(self.n_categories == 0)

    @property
    def nominal(self) -> IntArray:
        """Numbers of the nominal attributes."""
        return np.flatnonzero(self.n_categories)

    def class_weights(self, examples: Examples) -> FloatArray:
        """Return the weight of each class among some examples."""
        classes = self.classes[examples.rows]
        return weight_per_bin(classes, examples.weights, self.n_classes)

    def class_table(self, attribute: int, examples: Examples) -> FloatArray:
        """Return the weight of each category (row) and class (column) among some."""
        values = self.columns[attribute, examples.rows]
        known = ~np.isnan(values)
        n_categories = int(self.n_categories[attribute])
        cell = values[known].astype(np.intp) * self.n_classes
        cell += self.classes[examples.rows[known]]
        cells = weight_per_bin(
            cell, examples.weights[known], n_categories * self.n_classes
        )
        return cells.reshape(n_categories, self.n_classes)


def weight_per_bin(
    bins: NDArray[np.integer], weights: FloatArray, n_bins: int
) -> FloatArray:
    """Return the sum of the weights in each bin, for bin numbers below `n_bins`."""
    sums: NDArray[Any] = np.bincount(bins, weights, minlength=n_bins)
    return sums


def find_categories(
    X: FloatArray, categorical_features: ArrayLike | None
) -> list[FloatArray | None]:
    """Return the values of each nominal feature, sorted; None for a numeric one.

    Raises
    ------
    ValueError
        If `categorical_features` is neither feature numbers nor a mask of all features.

    Examples
    --------
    >>> find_categories(np.array([[0.5, 7.0], [1.5, 3.0], [2.5, np.nan]]), [1])
    [None, array([3., 7.])]
    """
    p = X.shape[1]
    nominal = np.zeros(p, dtype=bool)
    index = np.asarray([] if categorical_features is None else categorical_features)
    if index.size:
        is_mask = index.dtype.kind == "b" and index.shape == (p,)
        is_numbers = index.dtype.kind in "iu" and index.ndim == 1
        if not is_mask and not (is_numbers and index.min() >= 0 and index.max() < p):
            raise ValueError(
                f"categorical_features must be feature numbers from 0 to {p - 1} or "
                f"a boolean mask of length {p}, got {categorical_features!r}"
            )
        nominal[index] = True
    return [
        np.unique(column[~np.isnan(column)]) if is_nominal else None
        for column, is_nominal in zip(X.T, nominal, strict=True)
    ]


def encode(X: FloatArray, categories: Sequence[FloatArray | None]) -> FloatArray:
    """Replace nominal values by their position among the (sorted) categories.

    Unknown values stay NaN, and values that are no category become -1. Without nominal
    attributes `X` itself is returned, else a copy.

    Examples
    --------
    >>> X = np.array([[0.5, 7.0], [1.5, 3.0], [2.5, 4.0]])
    >>> encode(X, [None, np.array([3.0, 7.0])])[:, 1].tolist()
    [1.0, 0.0, -1.0]
    """
    if all(values is None for values in categories):
        return X
    encoded = X.copy()
    for number, values in enumerate(categories):
        if values is not None:
            column = X[:, number]
            seen = np.full(column.shape, -1.0)
            if values.size:
                position = np.searchsorted(values, column).clip(max=values.size - 1)
                seen = np.where(values[position] == column, position, -1.0)
            encoded[:, number] = np.where(np.isnan(column), np.nan, seen)
    return encoded


def x_log_x(weights: FloatArray) -> FloatArray:
    """Return ``w ln w`` of each weight, taking weights below the tolerance as zero.

    Examples
    --------
    >>> x_log_x(np.array([0.0, 1.0, np.e])).round(12).tolist()
    [0.0, 0.0, 2.718281828459]
    """
    floored = np.maximum(weights, TOLERANCE)
    return np.where(weights < TOLERANCE, 0.0, weights * np.log(floored))


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
