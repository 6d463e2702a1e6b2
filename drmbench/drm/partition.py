"""Samples sorted by class, so that every class is one contiguous block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClassPartition:
    """Which samples belong to which class.

    All algorithms of this package work on samples in class order: class 0 first, and
    within a class as the samples came. ``X[partition.order]`` brings them there.

    Examples
    --------
    >>> partition = ClassPartition.of(np.array(["b", "a", "b"]))
    >>> partition.order.tolist(), partition.counts.tolist()
    ([1, 0, 2], [1, 2])
    """

    classes: NDArray[Any]  #: The class labels, sorted
    order: NDArray[np.intp]  #: Sample numbers in class order
    counts: NDArray[np.int64]  #: Samples in each class

    @classmethod
    def of(cls, y: NDArray[Any]) -> ClassPartition:
        """Partition samples by their labels."""
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        order = np.argsort(codes, kind="stable")
        return cls(classes, order, counts.astype(np.int64))

    @property
    def n_samples(self) -> int:
        """Number of samples n."""
        return int(self.order.size)

    @property
    def n_classes(self) -> int:
        """Number of classes g."""
        return int(self.counts.size)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First position of each class in class order."""
        return np.concatenate(([0], np.cumsum(self.counts)[:-1]))

    @cached_property
    def blocks(self) -> tuple[slice, ...]:
        """Each class's positions in class order."""
        ends = self.starts + self.counts
        return tuple(
            slice(int(a), int(b)) for a, b in zip(self.starts, ends, strict=True)
        )

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """Class number of each position in class order."""
        return np.repeat(np.arange(self.n_classes), self.counts)

    def class_sums(self, values: Array) -> Array:
        """Sum the rows of each class: (n, …) → (g, …)."""
        sums: Array = np.add.reduceat(values, self.starts, axis=0)
        return sums

    def to_sample_order(self, values: Array) -> Array:
        """Bring rows in class order back to the order the samples came in."""
        result = np.empty_like(values)
        result[self.order] = values
        return result


def check_training(
    estimator: Any, X: Any, y: Any, **options: Any
) -> tuple[Any, NDArray[Any]]:
    """Check a classifier's parameters, then training data; return X as float64, and y.

    The options are those of scikit-learn's ``validate_data``.
    """
    estimator._validate_params()
    X, y = validate_data(estimator, X, y, dtype=np.float64, **options)
    check_classification_targets(y)
    return X, y


def check_samples(estimator: Any, X: Any, **options: Any) -> Any:
    """Check that an estimator is fitted, and that X suits it; return X as float64."""
    check_is_fitted(estimator)
    return validate_data(estimator, X, reset=False, dtype=np.float64, **options)


def check_labelled(X: Any, y: Any) -> tuple[Array, NDArray[Any]]:
    """Return X as finite float64, and y as labels of two or more classes."""
    # Of its checks only those for complex numbers and sparse matrices are left.
    X = check_array(
        X,
        dtype=np.float64,
        ensure_all_finite=False,
        ensure_2d=False,
        allow_nd=True,
        ensure_min_samples=0,
        ensure_min_features=0,
    )
    X, y = np.ascontiguousarray(X), np.asarray(y)
    if X.ndim != 2 or y.shape != (X.shape[0],):
        raise ValueError(
            "expected a matrix and one label per row, got shapes"
            f" {X.shape} and {y.shape}"
        )
    if not np.isfinite(X).all():
        raise ValueError("the matrix contains NaN or infinity")
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    if np.unique(y).size < 2:
        raise ValueError("y has one class only; two or more are needed")
    return X, y


def check_two_classes(classes: NDArray[Any]) -> None:
    """Refuse to fit a classifier to a single class."""
    if classes.size < 2:
        raise ValueError("y has one class only; a classifier needs two or more")
