"""Low-rank kernels: features from landmarks, which the linear algorithms then take.

Randomly pivoted Cholesky (Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber,
arXiv:2207.06503) draws landmarks L among the samples, each with probability
proportional to what those before it leave of ``k(x, x)``. With the triangle
``T Tᵀ = K_LL`` the features of a sample are ``T⁻¹ k_L(x)``, whose inner products are
the Nyström approximation of the kernel (docs/math.md, section 13).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from drmbench.drm.engines import ExactEngine
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.kernels import Kernel, gram, kernel_diagonal
from drmbench.drm.linear import CHUNK, ClassSums
from drmbench.drm.linear_classifier import LinearDRMClassifier
from drmbench.drm.partition import Array, ClassPartition
from drmbench.drm.system import FactoredSystem, Solution

#: Samples among which landmarks are drawn at most: more take longer and hardly improve
#: the approximation (benchmarks/low_rank.py).
CANDIDATES = 10_000
#: A sample is no landmark if what is left of its ``k(x, x)`` is below this share of the
#: largest: rounding errors would be magnified too much.
TOLERANCE = 1e-10
#: Errors up to this share of the largest ``k(x, x)`` may be rounding.
ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class PivotedCholesky:
    """A factor F of low rank with ``F Fᵀ ≈ K``."""

    landmarks: NDArray[np.intp]  #: Numbers of the chosen samples
    factor: Array  #: F, a row per sample and a column per landmark
    residual: float  #: ``trace(K - F Fᵀ) / trace(K)``


def pivoted_cholesky(
    X: Any, kernel: Kernel, rank: int, weights: Array | None = None
) -> PivotedCholesky:
    """Factorise the kernel matrix of the rows of X until the rank is reached, O(nr²).

    There are fewer landmarks if nothing is left to approximate. The weights are those
    of the samples: one that counts twice is drawn like two. The draws are the same
    every time, so that a lower rank has the first landmarks of a higher one.
    """
    draws = np.random.default_rng(0).random(min(rank, X.shape[0]))
    left = kernel_diagonal(X, kernel)
    rounding = ROUNDING * float(np.abs(left).max())
    _check_residual(left, np.empty(0), rounding)
    total, least = float(left.sum()), TOLERANCE * float(left.max())
    columns = np.zeros((len(draws), X.shape[0]))
    chosen: list[int] = []
    for number, draw in enumerate(draws):
        left[left <= least] = 0.0
        mass = np.cumsum(left if weights is None else left * weights)
        if mass[-1] <= 0.0:
            break
        pivot = int(np.searchsorted(mass, draw * mass[-1], side="right"))
        before, column = columns[:number], columns[number]
        column[:] = gram(X, X[[pivot]], kernel=kernel)[:, 0]
        column -= before[:, pivot] @ before
        at_landmarks = column[chosen]
        column /= np.sqrt(left[pivot])
        left -= column * column
        left[pivot] = 0.0
        _check_residual(left, at_landmarks, rounding)
        chosen.append(pivot)
    return PivotedCholesky(
        np.array(chosen, dtype=np.intp),
        np.ascontiguousarray(columns[: len(chosen)].T),
        float(np.maximum(left, 0.0).sum()) / total if total else 0.0,
    )


def _check_residual(left: Array, at_landmarks: Array, rounding: float) -> None:
    """Refuse a kernel whose pivoted Cholesky factorisation shows that it is none.

    What landmarks leave of the diagonal is never negative if the kernel is positive
    semidefinite, and a new column is 0 at the landmarks before it if it is symmetric,
    up to rounding. Kernel values that no landmark needs are not looked at.
    """
    if left.min() < -rounding or np.abs(at_landmarks).max(initial=0.0) > rounding:
        raise IllConditionedError(
            "the kernel is not symmetric and positive semidefinite on the training"
            " samples, which rank= needs"
        )


@dataclass(frozen=True, eq=False)
class LowRankMap:
    """The feature map of a kernel that its landmarks define."""

    kernel: Kernel
    landmarks: Any  #: The chosen samples, dense or sparse, in the order of choice
    triangle: Array  #: Lower triangle T with ``T Tᵀ`` their kernel matrix

    @classmethod
    def of(
        cls, X: Any, kernel: Kernel, rank: int, weights: Array | None = None
    ) -> LowRankMap:
        """Choose at most `rank` landmarks among the rows of X, whatever their order.

        Of more than :data:`CANDIDATES` rows that many are drawn first.

        Raises
        ------
        ValueError
            The kernel is zero for all rows.
        """
        rows, weights = _candidates(X, weights)
        found = pivoted_cholesky(rows, kernel, rank, weights)
        if not found.landmarks.size:
            raise ValueError(
                f"the {kernel.name} kernel is zero on these samples: there is nothing"
                " that features could approximate"
            )
        return cls(kernel, rows[found.landmarks], found.factor[found.landmarks])

    @property
    def rank(self) -> int:
        """Number of features r."""
        return len(self.triangle)

    def transform(self, X: Any) -> Array:
        """Return the features of samples, (m, r)."""
        K = gram(X, self.landmarks, kernel=self.kernel)
        features: Array = solve_triangular(
            self.triangle, K.T, lower=True, overwrite_b=True, check_finite=False
        ).T
        return np.ascontiguousarray(features)

    def class_sums(
        self,
        X: Any,
        codes: NDArray[np.int64],
        n_classes: int,
        alpha: float,
        beta: float,
        weights: Array | None = None,
    ) -> ClassSums:
        """Return the sums of the rows' features, which are made a few at a time."""
        pieces = (slice(i, i + CHUNK) for i in range(0, X.shape[0], CHUNK))
        sums = (
            ClassSums.of(
                self.transform(X[piece]),
                codes[piece],
                n_classes,
                alpha,
                beta,
                None if weights is None else weights[piece],
            )
            for piece in pieces
        )
        return reduce(add, sums, ClassSums.empty(n_classes, self.rank))


def _candidates(X: Any, weights: Array | None) -> tuple[Any, Array | None]:
    """Return rows to choose landmarks from, with their weights, in an order of theirs.

    Sorted by a fixed random direction, the same samples give the same landmarks in
    whatever order they come.
    """
    generator = np.random.default_rng(1)
    order = np.argsort(X @ generator.standard_normal(X.shape[1]), kind="stable")
    if weights is not None:
        weights = weights[order]
    if len(order) > CANDIDATES:
        share = None if weights is None else weights / weights.sum()
        drawn = np.sort(generator.choice(len(order), CANDIDATES, False, share))
        order = order[drawn]
        if weights is not None:
            # Those likely to be drawn keep their weight, the others stand for more.
            weights = np.maximum(weights[drawn], weights.sum() / CANDIDATES)
    return X[order], weights


@dataclass(eq=False)
class LowRankEngine:
    """The exact linear solver on features that nobody keeps: sums of them suffice.

    Only representations need the features of the training samples, which are then made
    from the samples, if these are there.
    """

    batches_itself = False

    features: LowRankMap
    linear: LinearDRMClassifier  #: The model of the features
    #: Parameters of the estimator when the first of the sums were made
    settings: dict[str, Any]
    #: The training samples in class order; None if only sums of them were kept
    training: tuple[Any, ClassPartition] | None = None

    @property
    def sums(self) -> ClassSums:
        """Sums of the features, before class weights."""
        model = self.linear
        return ClassSums(model.sums_, model.class_count_, model.class_mass_)

    def check_solvable(self) -> None:
        """Build what predictions need now, which else the first of them does."""
        self.dissimilarities(self.features.triangle[:1])

    def dissimilarities(self, inputs: Array) -> Array:
        """Return δ, (m, g), for test samples given by features, (m, r)."""
        return self.linear.dissimilarities(inputs)

    @cached_property
    def system(self) -> FactoredSystem:
        """The features of the training samples."""
        if self.training is None:
            raise ValueError(
                "representations are made of training samples, and partial_fit keeps"
                " only sums of them; use fit"
            )
        rows, partition = self.training
        F = self.features.transform(rows)
        return FactoredSystem(F, partition, self.linear.alpha)

    @cached_property
    def _exact(self) -> ExactEngine:
        return ExactEngine(self.system, self.linear.beta)

    def solve(self, inputs: Array) -> Solution:
        """Return the representations, if the training samples are known."""
        return self._exact.solve(inputs)
