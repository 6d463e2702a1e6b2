"""Samples sorted by class, so that every class is one contiguous block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

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
    #: Weight of each sample in class order, all positive; None if all are 1
    weights: Array | None = None

    @classmethod
    def of(cls, y: NDArray[Any], weights: Array | None = None) -> ClassPartition:
        """Partition samples by their labels; those of weight 0 are in no class."""
        kept = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
        classes, codes, counts = np.unique(
            y[kept], return_inverse=True, return_counts=True
        )
        order = kept[np.argsort(codes, kind="stable")]
        sorted_weights = None if weights is None else weights[order]
        return cls(classes, order, counts.astype(np.int64), sorted_weights)

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
    def masses(self) -> Array:
        """Sum of the weights of each class; its size if all weights are 1."""
        if self.weights is None:
            return self.counts.astype(np.float64)
        return self.class_sums(self.weights)

    @cached_property
    def roots(self) -> Array | None:
        """Square roots of the weights in class order; None if all are 1."""
        return None if self.weights is None else np.sqrt(self.weights)

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """Class number of each position in class order."""
        return np.repeat(np.arange(self.n_classes), self.counts)

    def class_sums(self, values: Array) -> Array:
        """Sum the rows of each class: (n, …) → (g, …)."""
        sums: Array = np.add.reduceat(values, self.starts, axis=0)
        return sums

    def times_roots(self, rows: Any) -> Any:
        """Multiply rows in class order, dense or sparse, by the roots of the weights.

        It takes samples and kernel values to the coordinates that solvers work in,
        ``v = w/√ω``, and solutions back: ``w = √ω v``.
        """
        if self.roots is None:
            return rows
        if sparse.issparse(rows):
            return sparse.diags(self.roots) @ rows
        return rows * self.roots[:, None]

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
    X = np.ascontiguousarray(X, dtype=np.float64)
    y = np.asarray(y)
    if X.ndim != 2 or y.shape != (X.shape[0],):
        raise ValueError(
            "expected a matrix and one label per row, got shapes"
            f" {X.shape} and {y.shape}"
        )
    if not np.isfinite(X).all():
        raise ValueError("the matrix contains NaN or infinity")
    if np.unique(y).size < 2:
        raise ValueError("y has one class only; two or more are needed")
    return X, y


def check_two_classes(classes: NDArray[Any]) -> None:
    """Refuse to fit a classifier to a single class."""
    if classes.size < 2:
        raise ValueError("y has one class only; a classifier needs two or more")
