"""Kernel matrices, and the products that every kernel of a grid derives from.

The paper's kernels are linear ``x·y``, polynomial ``(x·y + 1)^d`` and rbf
``exp(-γ‖x - y‖²)``; scikit-learn's other pairwise kernels and functions serve as well.
Most follow from inner products and squared distances, so :class:`Products` computes
those once for a whole grid. :class:`LowRankMap` replaces any positive semidefinite
kernel by features for the linear algorithms.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve_triangular
from sklearn.metrics.pairwise import (
    additive_chi2_kernel,
    chi2_kernel,
    laplacian_kernel,
)

from drmbench.drm.errors import IllConditionedError
from drmbench.drm.partition import Array

Width = Literal["sigma", "variance"]

#: 10⁻³ … 10³: the paper's values of every parameter that is searched in decades.
DECADES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
#: The paper's polynomial degrees.
PAPER_DEGREES = (2, 3, 4, 5, 8, 10)

#: The kinds of kernels, simpler first. "polynomial" is another name of "poly".
SIMPLICITY = (
    "linear",
    "poly",
    "rbf",
    "cosine",
    "additive_chi2",
    "laplacian",
    "chi2",
    "sigmoid",
    "callable",
)
#: Every name an estimator takes: those of scikit-learn's pairwise kernels.
KERNEL_NAMES = (*SIMPLICITY[:-1], "polynomial")
#: Kernels whose gamma a search varies.
GAMMA_KERNELS = ("rbf", "laplacian", "chi2", "sigmoid")
#: Kernels that are not positive semidefinite on all data.
INDEFINITE_KERNELS = ("additive_chi2", "sigmoid")
#: Kernels of features that must not be negative.
NON_NEGATIVE_KERNELS = ("additive_chi2", "chi2")
#: Kernels that take sparse samples.
SPARSE_KERNELS = ("linear", "poly", "polynomial", "rbf", "cosine", "sigmoid")


def gamma_from_width(value: float, width: Width = "sigma") -> float:
    """Return γ for the paper's "variance parameter" under one of its readings.

    The value is σ in ``exp(-d²/(2σ²))`` or, as a "variance", s in ``exp(-d²/(2s))``.

    Examples
    --------
    >>> gamma_from_width(10.0), gamma_from_width(10.0, "variance")
    (0.005, 0.05)
    """
    if width == "sigma":
        return 1.0 / (2.0 * value * value)
    if width == "variance":
        return 1.0 / (2.0 * value)
    raise ValueError(f"width must be 'sigma' or 'variance', got {width!r}")


#: γ = 1/(2σ²) for the paper's σ, in its order.
PAPER_GAMMAS = tuple(gamma_from_width(sigma) for sigma in DECADES)


@dataclass(frozen=True)
class Kernel:
    """A kernel with all its parameters fixed; each uses those that it has."""

    name: str  #: One of :data:`KERNEL_NAMES`, or what a function is called
    gamma: float = 1.0  #: Factor of the inner products or distances; positive
    degree: float = 3  #: Degree of the polynomial kernel
    coef0: float = 1.0  #: Constant of the polynomial and the sigmoid kernel
    #: ``function(X, Y)`` that returns the matrix, instead of a kernel known by name
    function: Callable[[Any, Any], Any] | None = field(
        default=None, repr=False, hash=False
    )

    def __post_init__(self) -> None:
        if not 0.0 < self.gamma < np.inf:
            raise ValueError(f"gamma must be positive and finite, got {self.gamma!r}")

    @classmethod
    def of_callable(cls, function: Callable[[Any, Any], Any]) -> Kernel:
        """Return the kernel that a function ``function(X, Y)`` computes."""
        name = getattr(function, "__name__", type(function).__name__)
        return cls(name, function=function)

    @property
    def kind(self) -> str:
        """Which of :data:`SIMPLICITY` it is, whatever a function may be called."""
        if self.function is not None:
            return "callable"
        return "poly" if self.name == "polynomial" else self.name

    def arguments(self) -> dict[str, Any]:
        """Return the kernel as keyword arguments of an estimator that searches it.

        Examples
        --------
        >>> Kernel("poly", degree=2).arguments()
        {'kernel': 'poly', 'degree': 2}
        """
        if self.function is not None:
            return {"kernel": self.function}
        arguments: dict[str, Any] = {"kernel": self.name}
        if self.kind == "poly":
            arguments["degree"] = self.degree
        if self.kind in GAMMA_KERNELS or (self.kind == "poly" and self.gamma != 1.0):
            arguments["gamma"] = self.gamma
        return arguments

    @property
    def complexity(self) -> tuple[int, float]:
        """Sort key, simpler first: :data:`SIMPLICITY`, low degree, small gamma."""
        parameter = 0.0
        if self.kind == "poly":
            parameter = float(self.degree)
        elif self.kind in GAMMA_KERNELS:
            parameter = self.gamma
        return (SIMPLICITY.index(self.kind), parameter)


class Products:
    """Inner products and squared distances between rows; ``Y=None`` means ``Y = X``."""

    def __init__(self, X: Array, Y: Array | None = None) -> None:
        self._X = X
        self._Y = Y

    @cached_property
    def inner(self) -> Array:
        """``x·y`` for every pair, (n, m)."""
        return _inner(self._X, self._X if self._Y is None else self._Y)

    @cached_property
    def squared_distances(self) -> Array:
        """``‖x - y‖²`` for every pair, (n, m).

        Distances do not change when everything is shifted, so the samples are centred
        first: the cancellation in ``x·x + y·y - 2 x·y`` is then as small as it can be.
        Sparse samples would become dense, so they are not.
        """
        left, right = self._X, self._X if self._Y is None else self._Y
        if not (sparse.issparse(left) or sparse.issparse(right)):
            centre = right.mean(axis=0)
            left = left - centre
            right = left if self._Y is None else right - centre
        distances = _inner(left, right)
        distances *= -2.0
        distances += squared_norms(left)[:, None]
        distances += squared_norms(right)[None, :]
        np.maximum(distances, 0.0, out=distances)
        if self._Y is None:
            np.fill_diagonal(distances, 0.0)
        return distances

    @property
    def cosines(self) -> Array:
        """``x·y / (‖x‖‖y‖)`` for every pair, (n, m); 0 where a sample is all zeros."""
        norms = np.sqrt(squared_norms(self._X))
        others = norms if self._Y is None else np.sqrt(squared_norms(self._Y))
        lengths = np.outer(norms, others)
        lengths[lengths == 0.0] = 1.0
        cosines: Array = self.inner / lengths
        return cosines

    def gram(self, kernel: Kernel) -> Array:
        """Return the kernel matrix.

        Raises
        ------
        IllConditionedError
            If the kernel overflows, as a high polynomial degree on unscaled data does.
        ValueError
            If the kernel is not for this data, as chi2 is not for negative features.
        """
        X, Y = self._X, self._X if self._Y is None else self._Y
        if kernel.function is not None:
            return gram_of_callable(kernel.function, X, Y)
        if kernel.kind in NON_NEGATIVE_KERNELS:  # these need writable arrays
            X, Y = np.require(X, requirements="W"), np.require(Y, requirements="W")
        with np.errstate(over="ignore", invalid="ignore"):
            computed: dict[str, Callable[[], Array]] = {
                "linear": lambda: self.inner.copy(),
                "poly": lambda: (
                    (kernel.gamma * self.inner + kernel.coef0) ** kernel.degree
                ),
                "rbf": lambda: np.exp(-kernel.gamma * self.squared_distances),
                "cosine": lambda: self.cosines,
                "additive_chi2": lambda: additive_chi2_kernel(X, Y),
                "laplacian": lambda: laplacian_kernel(X, Y, gamma=kernel.gamma),
                "chi2": lambda: chi2_kernel(X, Y, gamma=kernel.gamma),
                "sigmoid": lambda: np.tanh(kernel.gamma * self.inner + kernel.coef0),
            }
            K = computed[kernel.kind]()
        if not np.isfinite(K).all():
            degree = f" of degree {kernel.degree:g}" if kernel.kind == "poly" else ""
            raise IllConditionedError(
                f"the {kernel.name} kernel{degree} overflows on this data;"
                " scale the features (for example by their largest absolute value) or"
                " use a lower degree"
            )
        return K


def to_dense(X: Any) -> Any:
    """Return a sparse matrix as an array; an array as it is."""
    return X.toarray() if sparse.issparse(X) else X


def _inner(X: Any, Y: Any) -> Array:
    return np.asarray(to_dense(X @ Y.T), dtype=np.float64)


def gram(X: Any, Y: Any | None = None, *, kernel: Kernel) -> Array:
    """Return the kernel matrix between the rows of `X` and of `Y`, or of `X` alone.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> gram(X, kernel=Kernel("poly", degree=2))
    array([[4., 4.],
           [4., 9.]])
    """
    return Products(X, Y).gram(kernel)


def resolve_gamma(
    gamma: float | str | None, X: Any, kernel: str = "rbf", weights: Any = None
) -> float:
    """Turn scikit-learn's spellings of a kernel's gamma into a number.

    "auto" means ``1 / p``, "scale" ``1 / (p · variance of X)``, and None what the
    kernel has by default: 1 for poly and chi2, ``1 / p`` for the others. A kernel
    without the parameter gets 1, which it does not use. `weights` of the samples count
    in the variance.
    """
    if kernel not in (*GAMMA_KERNELS, "poly", "polynomial"):
        return 1.0
    if gamma is None:
        gamma = 1.0 if kernel in ("poly", "polynomial", "chi2") else "auto"
    if gamma == "auto":
        return 1.0 / float(X.shape[1])
    if gamma == "scale":
        variance = _variance(X, weights)
        return 1.0 / (float(X.shape[1]) * variance) if variance > 0 else 1.0
    if isinstance(gamma, str):
        raise ValueError(
            f"gamma must be a positive number, 'scale', 'auto' or None: {gamma!r}"
        )
    return float(gamma)


def _variance(X: Any, weights: Array | None) -> float:
    """Return the variance of all entries of a matrix whose rows may have weights."""
    if sparse.issparse(X):
        squares, means = X.multiply(X).mean(axis=1), X.mean(axis=1)
        mean_square, mean = (
            float(np.average(np.ravel(rows), weights=weights))
            for rows in (squares, means)
        )
        return mean_square - mean**2
    if weights is None:
        return float(np.var(X))
    mean = np.average(X.mean(axis=1), weights=weights)
    return float(np.average(((X - mean) ** 2).mean(axis=1), weights=weights))


def gram_of_callable(function: Any, X: Any, Y: Any) -> Array:
    """Evaluate a user's kernel function and check what it returns."""
    K = np.asarray(function(X, Y), dtype=np.float64)
    if K.shape != (X.shape[0], Y.shape[0]):
        raise ValueError(
            f"the kernel function returned shape {K.shape}; expected"
            f" {(X.shape[0], Y.shape[0])}"
        )
    if not np.isfinite(K).all():
        raise IllConditionedError("the kernel function returned NaN or infinity")
    return K


def symmetric_part(K: Array) -> Array:
    """Return a square kernel matrix's symmetric part, with a warning if it differs."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            "Precomputed matrix must be a square matrix. Input is a "
            f"{K.shape[0]}x{K.shape[1]} matrix."
        )
    allowed = 1e-10 * np.abs(K).max()
    gaps = K - K.T
    np.abs(gaps, out=gaps)
    if gaps.max() > allowed and (gaps > allowed + 1e-8 * np.abs(K.T)).any():
        warnings.warn(
            "the precomputed training kernel matrix is not symmetric; its symmetric"
            " part is used",
            stacklevel=3,
        )
    symmetric: Array = K + K.T
    symmetric *= 0.5
    return symmetric


def row_products(X: Any, Y: Any) -> Array:
    """Return ``x_i · y_i`` of each pair of rows; X may be sparse."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(Y).sum(axis=1), dtype=np.float64).ravel()
    products: Array = np.einsum("ij,ij->i", X, Y)
    return products


def squared_norms(X: Any) -> Array:
    """Return ``‖x_i‖²`` of each row.

    Examples
    --------
    >>> squared_norms(np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([25.,  1.])
    """
    return row_products(X, X)


class LowRankMap:
    """Feature map of a kernel from a few landmarks among the training samples.

    `diagonal` holds ``k(x_i, x_i)``. There are at most `rank` landmarks, fewer once the
    residual trace falls below the share `tol` of the trace.
    """

    def __init__(
        self,
        X: Any,
        kernel: Callable[[Any, Any], Array],
        diagonal: Array,
        rank: int,
        tol: float = 1e-12,
    ) -> None:
        n = X.shape[0]
        self._kernel = kernel
        features = np.zeros((n, min(rank, n)))
        left = diagonal.astype(np.float64).copy()
        total = float(left.sum())
        chosen: list[int] = []
        for column in range(features.shape[1]):
            pivot = int(np.argmax(left))
            if left[pivot] <= tol * max(total, np.finfo(float).tiny):
                break
            values = kernel(X, X[[pivot]])[:, 0]
            values = values - features[:, :column] @ features[pivot, :column]
            features[:, column] = values / np.sqrt(left[pivot])
            left -= features[:, column] ** 2
            left[pivot] = 0.0
            np.maximum(left, 0.0, out=left)
            chosen.append(pivot)
        #: Numbers of the chosen training samples
        self.landmarks: NDArray[np.intp] = np.array(chosen, dtype=np.intp)
        self.train_features = np.ascontiguousarray(features[:, : len(chosen)])
        #: ``trace(K - FFᵀ) / trace(K)`` of the training samples' features F
        self.residual = float(left.sum()) / total if total else 0.0
        self._landmark_rows = X[self.landmarks]
        self._triangle = self.train_features[self.landmarks]

    def transform(self, X: Any) -> Array:
        """Return the features of new samples, (m, r)."""
        K = self._kernel(X, self._landmark_rows)
        features: Array = solve_triangular(self._triangle, K.T, lower=True).T
        return np.ascontiguousarray(features)
