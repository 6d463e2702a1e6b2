"""Sparse discriminant directions by optimal scoring, one after the other.

With indicator matrix ``Y``, class shares ``D = YᵀY/n`` and standardised features ``X``,
direction ``k`` minimises ``‖Yθ − Xb‖² + ridge ‖b‖² + lasso ‖b‖₁`` over ``b`` and scores
``θ`` with ``θᵀDθ = 1`` and ``θᵀDθ_j = 0`` for the trivial score 1 and all earlier ones
(Clemmensen et al. 2011, Algorithm 1). The code works with ``φ = D^½ θ``, for which both
constraints are ordinary: unit length and right angles.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from drmbench.methods._elastic_net import (
    ElasticNetSolution,
    GramColumns,
    Matrix,
    Vector,
    elastic_net_path,
)

#: Relative to ‖Yθ‖ = √n; correlations with the scores below it are rounding.
_NEGLIGIBLE = 1e-12
#: Relative range of a feature that rounding of its values can explain.
_ROUNDING = 10 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Standardisation:
    """Centring and scaling of features to unit length, as ``sda`` expects them.

    Attributes
    ----------
    mean, scale : ndarray of shape (n_features,)
        Subtracted from, then divided into, each feature.
    constant : ndarray of bool of shape (n_features,)
        Features without variation; their scale is 1.
    """

    mean: Vector
    scale: Vector
    constant: NDArray[np.bool_]

    @classmethod
    def of(cls, X: Matrix) -> Standardisation:
        """Return the standardisation fitted to ``X``."""
        lowest, highest = X.min(axis=0), X.max(axis=0)
        size = np.maximum(np.abs(lowest), np.abs(highest))
        constant = highest - lowest <= _ROUNDING * size
        mean = X.mean(axis=0)
        centred = X - mean
        # Through the largest deviation, so that squares neither over- nor underflow.
        peak = np.abs(centred).max(axis=0)
        peak[constant] = 1.0
        scale = peak * np.linalg.norm(centred / peak, axis=0)
        scale[constant] = 1.0
        return cls(mean, scale, constant)

    def apply(self, X: Matrix) -> Matrix:
        """Return the standardised features; constant ones are exactly zero."""
        standardised: Matrix = (X - self.mean) / self.scale
        standardised[:, self.constant] = 0.0
        return standardised


@dataclass(frozen=True)
class Penalties:
    """Weights of the elastic-net step.

    Attributes
    ----------
    ridge : float
        Weight of ``‖b‖²``.
    lasso : float
        Weight of ``‖b‖₁``, or the smallest allowed where a number of variables rules.
    """

    ridge: float
    lasso: float


@dataclass(frozen=True)
class Iterations:
    """When the alternation between coefficients and scores ends."""

    max_iter: int
    tol: float


class _Direction(NamedTuple):
    """One direction: the elastic-net step's answer for the scores ``phi``."""

    solution: ElasticNetSolution
    phi: Vector
    n_iter: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Directions:
    """Sparse discriminant directions and how they were found.

    Attributes
    ----------
    coef : ndarray of shape (n_features, n_components)
        Coefficients of the standardised features.
    theta : ndarray of shape (n_classes, n_components)
        The optimal scores.
    lasso : ndarray of shape (n_components,)
        The lasso weight of each elastic-net step.
    n_iter : ndarray of shape (n_components,)
        Elastic-net steps taken.
    """

    coef: Matrix
    theta: Matrix
    lasso: Vector
    n_iter: NDArray[np.int64]


class ScoringProblem:
    """One training set, with everything that does not depend on the penalties.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Standardised features.
    codes : ndarray of shape (n_samples,)
        Class numbers 0 … n_classes − 1, each present.
    """

    def __init__(self, X: Matrix, codes: NDArray[np.int64]) -> None:
        self._X = X
        self._gram = GramColumns(X)
        counts = np.bincount(codes)
        self.root_shares = np.sqrt(counts / len(codes))
        indicators = np.zeros((len(codes), len(counts)))
        indicators[np.arange(len(codes)), codes] = 1 / self.root_shares[codes]
        self.cross = X.T @ indicators  # XᵀY D^(−½)
        self.negligible = _NEGLIGIBLE * np.sqrt(len(codes))

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.cross)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.root_shares)

    @cached_property
    def _spectrum(self) -> tuple[Vector, Matrix]:
        """Squared singular values of ``X`` and its right singular vectors, in rows."""
        _, values, rows = np.linalg.svd(self._X, full_matrices=False)
        limit = values.max(initial=0.0) * max(self._X.shape) * np.finfo(float).eps
        rank = int((values > limit).sum())
        # Rounding must not give a constant feature a coefficient: it may vary later.
        rows[:, ~self._X.any(axis=0)] = 0.0
        return values[:rank] ** 2, rows[:rank]

    def ridge_coefficients(self, ridge: float, correlations: Matrix) -> Matrix:
        """Solve ``(XᵀX + ridge I) b = correlations``; least norm if singular."""
        squares, rows = self._spectrum
        weights = 1 / (squares + ridge)
        solution: Matrix = rows.T @ (weights[:, np.newaxis] * (rows @ correlations))
        return solution

    def elastic_net(
        self, phi: Vector, penalties: Penalties, sizes: Sequence[int]
    ) -> list[ElasticNetSolution]:
        """Return the elastic-net step's answer for scores ``phi``, one a size."""
        correlations = self.cross @ phi
        if penalties.lasso == 0 and min(sizes) >= self.n_features:
            coef = self.ridge_coefficients(penalties.ridge, correlations[:, np.newaxis])
            return [ElasticNetSolution(coef[:, 0], 0.0)] * len(sizes)
        path = elastic_net_path(
            self._gram,
            correlations,
            ridge=penalties.ridge,
            lasso=penalties.lasso,
            sizes=sizes,
            negligible=self.negligible,
        )
        return [path[size] for size in sizes]

    def start(self, earlier: Matrix, ridge: float) -> Vector:
        """Return the best scores at right angles to ``earlier`` without a lasso.

        They solve an eigenvalue problem (penalised discriminant analysis), so the
        alternation starts from the data alone: no random numbers, no class order.
        """
        basis = np.linalg.qr(earlier, mode="complete").Q[:, earlier.shape[1] :]
        if basis.shape[1] == 1:
            return basis[:, 0]
        cross = self.cross @ basis
        explained = cross.T @ self.ridge_coefficients(ridge, cross)
        return np.asarray(basis @ np.linalg.eigh(explained).eigenvectors[:, -1])

    def next_scores(self, coef: Vector, earlier: Matrix, now: Vector) -> Vector:
        """Return the best scores for the coefficients; ``now`` if all are as good."""
        raw = self.cross.T @ coef
        scores = raw - earlier @ (earlier.T @ raw)
        length = np.linalg.norm(scores)
        if length <= self.negligible * np.linalg.norm(coef):
            return now
        return np.asarray(scores / length)


def discriminant_directions(
    problem: ScoringProblem,
    sizes: Sequence[int],
    penalties: Penalties,
    n_components: int,
    iterations: Iterations,
) -> list[Directions]:
    """Return sparse discriminant directions for several numbers of kept variables.

    Parameters
    ----------
    problem : ScoringProblem
        The training data.
    sizes : sequence of int
        Numbers of kept variables.
    penalties : Penalties
        Weights of the elastic-net step.
    n_components : int
        How many directions, fewer than there are classes.
    iterations : Iterations
        When the alternation ends.

    Returns
    -------
    list of Directions
        One entry a size.
    """
    if problem.n_classes == 2:
        return _two_class_directions(problem, sizes, penalties)
    return [
        _alternate(problem, size, penalties, n_components, iterations) for size in sizes
    ]


def _two_class_directions(
    problem: ScoringProblem, sizes: Sequence[int], penalties: Penalties
) -> list[Directions]:
    """Two classes have one possible score, so one path answers every size."""
    trivial = problem.root_shares[:, np.newaxis]
    phi = problem.start(trivial, penalties.ridge)
    return [
        _directions(problem, [_Direction(solution, phi, n_iter=1, converged=True)])
        for solution in problem.elastic_net(phi, penalties, sizes)
    ]


def _alternate(
    problem: ScoringProblem,
    size: int,
    penalties: Penalties,
    n_components: int,
    iterations: Iterations,
) -> Directions:
    """Find one direction after the other for more than two classes."""
    earlier = problem.root_shares[:, np.newaxis]
    found: list[_Direction] = []
    for _ in range(n_components):
        found.append(_one_direction(problem, size, penalties, earlier, iterations))
        earlier = np.column_stack([earlier, found[-1].phi])
    if not all(direction.converged for direction in found):
        warnings.warn(
            f"the scores still moved after max_iter={iterations.max_iter} elastic-net "
            "steps; raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=4,
        )
    return _directions(problem, found)


def _one_direction(
    problem: ScoringProblem,
    size: int,
    penalties: Penalties,
    earlier: Matrix,
    iterations: Iterations,
) -> _Direction:
    """Alternate until the scores rest; the coefficients belong to the scores.

    A number of variables changes the lasso weight from step to step, and now and then
    the steps go round in circles. In the second half the weight may only grow; once
    it stays, the objective falls with every step.
    """
    phi = problem.start(earlier, penalties.ridge)
    n_iter = 0
    while True:
        n_iter += 1
        solution = problem.elastic_net(phi, penalties, [size])[0]
        following = problem.next_scores(solution.coef, earlier, phi)
        converged = bool(np.linalg.norm(following - phi) <= iterations.tol)
        if converged or n_iter == iterations.max_iter:
            return _Direction(solution, phi, n_iter, converged)
        if n_iter > iterations.max_iter // 2:
            penalties = Penalties(penalties.ridge, solution.lasso)
        phi = following


def _directions(problem: ScoringProblem, found: Sequence[_Direction]) -> Directions:
    """Collect directions, each with its largest coefficient positive."""
    coef = np.column_stack([direction.solution.coef for direction in found])
    largest = np.abs(coef).argmax(axis=0)
    signs = np.where(coef[largest, np.arange(len(found))] < 0, -1.0, 1.0)
    phi = np.column_stack([direction.phi for direction in found])
    return Directions(
        coef=coef * signs,
        theta=phi / problem.root_shares[:, np.newaxis] * signs,
        lasso=np.array([direction.solution.lasso for direction in found]),
        n_iter=np.array([direction.n_iter for direction in found]),
    )
