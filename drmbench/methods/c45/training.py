"""The training examples in the layout the search for splits reads fastest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from drmbench.methods.c45.criteria import FloatArray, IntArray


@dataclass(frozen=True)
class Sample:
    """Some training examples, each with the weight it has at one place of the tree.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Row numbers in the training data.
    weights : ndarray of shape (m,)
        Weights; below the original ones where an unknown value divided an example.
    """

    rows: IntArray
    weights: FloatArray


@dataclass(frozen=True)
class TrainingData:
    """The examples attribute by attribute, so that a node reads rows of memory.

    Attributes
    ----------
    columns : ndarray of shape (p, n)
        One attribute a row: numbers, or the position of the value among the
        attribute's categories; NaN is unknown.
    classes : ndarray of shape (n,)
        Class numbers, in the smallest unsigned type: those sort in linear time.
    n_classes : int
        Number of classes.
    n_categories : ndarray of shape (p,)
        Number of categories of each attribute; 0 for a numeric one.
    n_examples : float
        Weight of all examples.
    """

    columns: FloatArray
    classes: NDArray[np.unsignedinteger]
    n_classes: int
    n_categories: IntArray
    n_examples: float

    @property
    def numeric(self) -> IntArray:
        """Numbers of the numeric attributes."""
        return np.flatnonzero(self.n_categories == 0)

    @property
    def nominal(self) -> IntArray:
        """Numbers of the nominal attributes."""
        return np.flatnonzero(self.n_categories)

    def class_weights(self, sample: Sample) -> FloatArray:
        """Return the weight of each class in a sample."""
        return weight_per_bin(self.classes[sample.rows], sample.weights, self.n_classes)


def weight_per_bin(
    bins: NDArray[np.integer], weights: FloatArray, n_bins: int
) -> FloatArray:
    """Return the sum of the weights in each bin, for bin numbers below `n_bins`."""
    sums: NDArray[Any] = np.bincount(bins, weights, minlength=n_bins)
    return sums


def smallest_unsigned(numbers: IntArray, count: int) -> NDArray[np.unsignedinteger]:
    """Return numbers below `count` in the smallest unsigned integer type for them."""
    smallest: NDArray[np.unsignedinteger] = numbers.astype(np.min_scalar_type(count))
    return smallest


def find_categories(
    X: FloatArray, categorical_features: ArrayLike | None
) -> list[FloatArray | None]:
    """Return the values of each nominal feature, sorted; None for a numeric one.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The training examples.
    categorical_features : array-like of int or bool, or None
        Numbers of the nominal features, or a mask of all features.

    Raises
    ------
    ValueError
        If `categorical_features` is neither of the two.

    Examples
    --------
    >>> find_categories(np.array([[0.5, 7.0], [1.5, 3.0], [2.5, np.nan]]), [1])
    [None, array([3., 7.])]
    """
    nominal = np.zeros(X.shape[1], dtype=bool)
    if categorical_features is not None:
        nominal[_checked_index(categorical_features, X.shape[1])] = True
    return [
        np.unique(column[~np.isnan(column)]) if is_nominal else None
        for column, is_nominal in zip(X.T, nominal, strict=True)
    ]


def _checked_index(categorical_features: ArrayLike, n_features: int) -> NDArray[Any]:
    index = np.asarray(categorical_features)
    if index.size == 0:
        return np.empty(0, dtype=np.intp)
    is_mask = index.dtype.kind == "b" and index.shape == (n_features,)
    is_numbers = index.dtype.kind in "iu" and index.ndim == 1
    if is_mask or (is_numbers and index.min() >= 0 and index.max() < n_features):
        return index
    raise ValueError(
        f"categorical_features must be feature numbers from 0 to {n_features - 1} or "
        f"a boolean mask of length {n_features}, got {categorical_features!r}"
    )


def encode(X: FloatArray, categories: Sequence[FloatArray | None]) -> FloatArray:
    """Replace nominal values by their position among the categories.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The examples.
    categories : sequence of p sorted arrays or None
        The values of each nominal attribute; None for a numeric one.

    Returns
    -------
    ndarray of shape (n, p)
        A copy; unknown values stay NaN and values that are no category become -1.
        `X` itself if no attribute is nominal.

    Examples
    --------
    >>> X = np.array([[0.5, 7.0], [1.5, 3.0], [2.5, 4.0]])
    >>> encode(X, [None, np.array([3.0, 7.0])])[:, 1].tolist()
    [1.0, 0.0, -1.0]
    """
    if all(values is None for values in categories):
        return X
    encoded = X.copy()
    for column, values in enumerate(categories):
        if values is not None:
            encoded[:, column] = _positions(X[:, column], values)
    return encoded


def _positions(column: FloatArray, values: FloatArray) -> FloatArray:
    if not values.size:
        return np.where(np.isnan(column), np.nan, -1.0)
    position = np.searchsorted(values, column).clip(max=values.size - 1)
    seen = np.where(values[position] == column, position.astype(np.float64), -1.0)
    return np.where(np.isnan(column), np.nan, seen)
