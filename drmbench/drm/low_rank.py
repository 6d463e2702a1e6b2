"""Low-rank kernels: features from landmarks, which the linear algorithms then take.

Pivoted Cholesky chooses landmarks L among the samples, each the one that those before
it approximate worst. With the triangle ``T Tᵀ = K_LL`` the features of a sample are
``T⁻¹ k_L(x)``, whose inner products are the Nyström approximation of the kernel
(docs/math.md, section 4).
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
from drmbench.drm.kernels import Kernel, gram, kernel_diagonal
from drmbench.drm.linear import CHUNK, ClassSums
from drmbench.drm.linear_classifier import LinearDRMClassifier
from drmbench.drm.partition import Array, ClassPartition
from drmbench.drm.system import FactoredSystem, Solution

#: Samples among which landmarks are chosen at most: more take longer and hardly make a
#: difference (benchmarks/low_rank.py).
CANDIDATES = 10_000
#: A sample is no landmark if what is left of its ``k(x, x)`` is below this share of the
#: largest: rounding errors would be magnified too much.
TOLERANCE = 1e-10
#: Samples that are approximated equally badly to this accuracy tie.
TIE = 1e-10


@dataclass(frozen=True, eq=False)
class PivotedCholesky:
    """A factor F of low rank with ``F Fᵀ ≈ K``."""

    landmarks: NDArray[np.intp]  #: Numbers of the chosen samples
    factor: Array  #: F, a row per sample and a column per landmark
    residual: float  #: ``trace(K - F Fᵀ) / trace(K)``


def pivoted_cholesky(X: Any, kernel: Kernel, rank: int) -> PivotedCholesky:
    """Factorise the kernel matrix of the rows of X until the rank is reached, O(nr²).

    There are fewer landmarks if nothing is left to approximate. Of samples that tie the
    first is taken.
    """
    left = kernel_diagonal(X, kernel)
    total, least = float(left.sum()), TOLERANCE * float(left.max())
    columns = np.zeros((min(rank, X.shape[0]), X.shape[0]))
    chosen: list[int] = []
    for number, column in enumerate(columns):
        worst = float(left.max())
        if worst <= least:
            break
        pivot = int(np.argmax(left >= worst * (1.0 - TIE)))
        before = columns[:number]
        column[:] = gram(X, X[[pivot]], kernel=kernel)[:, 0] - before[:, pivot] @ before
        column /= np.sqrt(left[pivot])
        left -= column * column
        np.maximum(left, 0.0, out=left)
        left[pivot] = 0.0
        chosen.append(pivot)
    return PivotedCholesky(
        np.array(chosen, dtype=np.intp),
        np.ascontiguousarray(columns[: len(chosen)].T),
        float(left.sum()) / total if total else 0.0,
    )


@dataclass(frozen=True, eq=False)
class LowRankMap:
    """The feature map of a kernel that its landmarks define."""

    kernel: Kernel
    landmarks: Any  #: The chosen samples, dense or sparse, in the order of choice
    triangle: Array  #: Lower triangle T with ``T Tᵀ`` their kernel matrix

    @classmethod
    def of(cls, X: Any, kernel: Kernel, rank: int) -> LowRankMap:
        """Choose at most `rank` landmarks among the rows of X, whatever their order.

        Of more than :data:`CANDIDATES` rows that many are drawn, the same every time.

        Raises
        ------
        ValueError
            The kernel is zero for all rows.
        """
        rows = _candidates(X)
        found = pivoted_cholesky(rows, kernel, rank)
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


def _candidates(X: Any) -> Any:
    """Return rows to choose landmarks from, in an order that is theirs alone.

    Sorting by a fixed random direction makes the choice independent of the order in
    which samples come: ties go to the first, and all samples tie for the first pivot if
    ``k(x, x)`` is constant.
    """
    generator = np.random.default_rng(0)
    order = np.argsort(X @ generator.standard_normal(X.shape[1]), kind="stable")
    if len(order) > CANDIDATES:
        drawn = generator.choice(len(order), CANDIDATES, replace=False)
        order = order[np.sort(drawn)]
    return X[order]


@dataclass(eq=False)
class LowRankEngine:
    """The exact linear solver on features that nobody keeps: sums of them suffice.

    Only representations need the features of the training samples, which are then made
    from the samples, if these are there.
    """

    batches_itself = False

    features: LowRankMap
    linear: LinearDRMClassifier  #: The model of the features
    #: The training samples in class order; None if only sums of them were kept
    training: tuple[Any, ClassPartition] | None = None

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
