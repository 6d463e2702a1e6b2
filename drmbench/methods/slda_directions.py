"""Sparse discriminant directions: optimal scoring with the elastic net's path.

With indicator matrix ``Y``, class shares ``D = YᵀY/n`` and standardised features ``X``,
direction ``k`` minimises ``‖Yθ − Xb‖² + ridge ‖b‖² + lasso ‖b‖₁`` over ``b`` and scores
``θ`` with ``θᵀDθ = 1`` and ``θᵀDθ_j = 0`` for the trivial score 1 and all earlier ones
[1]_, Algorithm 1. The code works with ``φ = D^½ θ``, for which both constraints are
ordinary: unit length and right angles.

For fixed scores and a fixed ridge weight the solution is piecewise linear in the lasso
weight, and LARS-EN follows the pieces from zero coefficients to the ridge solution
[2]_. Only ``Xᵀy`` and single columns of ``XᵀX`` are needed, so nothing of size
(features × features) is formed.

References
----------
.. [1] L. Clemmensen, T. Hastie, D. Witten, B. Ersbøll, "Sparse discriminant analysis",
   Technometrics 53(4), 406-413, 2011.
.. [2] H. Zou, T. Hastie, "Regularization and variable selection via the elastic net",
   Journal of the Royal Statistical Society B 67(2), 301-320, 2005.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from sklearn.exceptions import ConvergenceWarning

from drmbench.methods.base import Matrix

Vector = NDArray[np.float64]

#: Correlations closer than this (relative) are a tie, broken by the feature's number.
_TIE = 1e-10
#: A feature this close (relative, squared) to the span of the active ones is left out.
_DEPENDENT = 1e-12
#: Relative to ‖Yθ‖ = √n; correlations with the scores below it are rounding.
_NEGLIGIBLE = 1e-12
#: Relative range of a feature that rounding of its values can explain.
_ROUNDING = 10 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class ElasticNetSolution:
    """Coefficients and the lasso weight they are optimal for."""

    coef: Vector  #: The coefficients
    lasso: float  #: Weight of ``‖b‖₁`` in the objective


class GramColumns:
    """Columns of ``XᵀX``, each computed when first asked for and then kept."""

    def __init__(self, X: Matrix) -> None:
        self._X = X
        self._columns: dict[int, Vector] = {}

    def __getitem__(self, feature: int) -> Vector:
        if feature not in self._columns:
            self._columns[feature] = self._X.T @ self._X[:, feature]
        return self._columns[feature]


@dataclass(frozen=True, eq=False)
class _Segment:
    """One piece of the path: how everything depends on ``level`` (half the lasso).

    Active coefficients are ``coef − level · slope``; the correlations of all features
    with the residual are ``base + level · gain``.
    """

    coef: Vector
    slope: Vector
    base: Vector
    gain: Vector


class _ActiveSet:
    """The features in the model, with a growing Cholesky factor of their Gram."""

    def __init__(self, gram: GramColumns, n_features: int, ridge: float) -> None:
        self._gram = gram
        self._ridge = ridge
        self.members: list[int] = []
        self.signs: list[float] = []
        self._columns = np.empty((8, n_features))
        self._factor = np.zeros((8, 8))

    def __len__(self) -> int:
        return len(self.members)

    def add(self, feature: int, sign: float) -> bool:
        """Add a feature, unless it is a combination of those already there."""
        size = len(self)
        if size == len(self._columns):  # make room for twice as many
            self._columns = np.vstack([self._columns, np.empty_like(self._columns)])
            self._factor = np.pad(self._factor, (0, size))
        column = self._gram[feature]
        own = column[feature] + self._ridge
        row = column[self.members]
        if size:
            row = lapack.dtrtrs(self._factor[:size, :size], row, lower=1)[0]
        rest = own - row @ row
        if rest <= _DEPENDENT * own:
            return False
        self._columns[size] = column
        self._factor[size, :size] = row
        self._factor[size, size] = np.sqrt(rest)
        self.members.append(feature)
        self.signs.append(sign)
        return True

    def remove(self, position: int) -> int:
        """Take out the feature at a position and return its number."""
        feature = self.members.pop(position)
        self.signs.pop(position)
        size = len(self)
        self._columns[position:size] = self._columns[position + 1 : size + 1]
        gram = self._columns[:size, self.members] + self._ridge * np.eye(size)
        self._factor[:size, :size] = np.linalg.cholesky(gram)
        return feature

    def segment(self, correlations: Vector) -> _Segment:
        """Return the piece of the path on which these features are active."""
        size = len(self)
        if size == 0:
            nothing = np.empty(0)
            return _Segment(nothing, nothing, correlations, np.zeros_like(correlations))
        targets = np.array([correlations[self.members], self.signs]).T
        solution, _ = lapack.dpotrs(self._factor[:size, :size], targets, lower=1)
        fitted = solution.T @ self._columns[:size]
        return _Segment(
            solution[:, 0], solution[:, 1], correlations - fitted[0], fitted[1]
        )


class _Path:
    """The walk along the path, noting the solution of each wanted size on its way."""

    def __init__(
        self,
        gram: GramColumns,
        correlations: Vector,
        ridge: float,
        sizes: set[int],
        last_level: float,
    ) -> None:
        self.found: dict[int, ElasticNetSolution] = {}
        self._correlations = correlations
        self._wanted = set(sizes)
        self._last_level = last_level
        self._level = float(np.abs(correlations).max(initial=0.0))
        self._active = _ActiveSet(gram, len(correlations), ridge)
        self._segment = self._active.segment(correlations)
        self._candidates = np.ones(len(correlations), dtype=bool)
        self._just_dropped: set[int] = set()

    def walk(self, negligible: float) -> None:
        """Follow the path until every size is found or the last level is reached."""
        bottom = max(self._last_level, negligible)
        while self._wanted and self._level > bottom:
            tied = self._tied()
            if tied.any():
                # Whichever tied feature enters first, the others would follow at once
                # and leave a segment of length zero: without them it has a length.
                if len(self._active) in self._wanted:
                    self._note(self._next_event(tied, bottom)[0])
                self._enter(int(np.argmax(tied)))
                continue
            level, leaving = self._next_event(tied, bottom)
            if leaving is None and len(self._active) in self._wanted:
                self._note(level)
            self._move_to(level, leaving)
        end = self._solution(self._last_level)  # of the sizes that were never reached
        self.found |= dict.fromkeys(self._wanted, end)

    def _tied(self) -> NDArray[np.bool_]:
        """Features that are due to enter at the present level."""
        now = np.abs(self._segment.base + self._level * self._segment.gain)
        tied: NDArray[np.bool_] = now >= self._level * (1 - _TIE)
        tied &= self._candidates
        if self._just_dropped:
            tied[list(self._just_dropped)] = False
        return tied

    def _next_event(
        self, tied: NDArray[np.bool_], bottom: float
    ) -> tuple[float, int | None]:
        """Next lower level at which a feature enters or, by position, leaves."""
        waiting, segment = self._candidates & ~tied, self._segment
        base, gain = segment.base[waiting], segment.gain[waiting]
        with np.errstate(divide="ignore", invalid="ignore"):
            levels = np.concatenate([base / (1 - gain), -base / (1 + gain)])
        below = levels[levels < self._level * (1 - _TIE)]
        enters = float(below.max(initial=0.0))
        if len(self._active):
            # Where active coefficients that shrink reach zero.
            shrinks = segment.slope * self._active.signs < 0
            crossing = np.full(len(shrinks), -1.0)
            np.divide(segment.coef, segment.slope, out=crossing, where=shrinks)
            crossing = np.minimum(crossing, self._level)
            position = int(crossing.argmax())
            if crossing[position] >= max(enters, bottom):
                return float(crossing[position]), position
        return (enters if enters > bottom else self._last_level), None

    def _note(self, level: float) -> None:
        """Keep the solution for the present number of active features."""
        self.found[len(self._active)] = self._solution(level)
        self._wanted.remove(len(self._active))

    def _solution(self, level: float) -> ElasticNetSolution:
        active = self._segment.coef - level * self._segment.slope
        # On the wrong side of zero it can only be by rounding.
        active[active * self._active.signs < 0] = 0.0
        coef = np.zeros(len(self._correlations))
        coef[self._active.members] = active
        return ElasticNetSolution(coef, 2 * level)

    def _enter(self, feature: int) -> None:
        segment = self._segment
        correlation = segment.base[feature] + self._level * segment.gain[feature]
        # A feature that depends on the active ones follows them: it never enters.
        self._candidates[feature] = False
        if self._active.add(feature, float(np.sign(correlation))):
            self._segment = self._active.segment(self._correlations)

    def _move_to(self, level: float, leaving: int | None) -> None:
        if level < self._level:
            self._just_dropped.clear()
        self._level = level
        if leaving is not None:
            feature = self._active.remove(leaving)
            self._segment = self._active.segment(self._correlations)
            self._candidates[feature] = True
            self._just_dropped.add(feature)


def elastic_net_path(
    gram: GramColumns,
    correlations: Vector,
    *,
    ridge: float,
    sizes: Iterable[int],
    lasso: float = 0.0,
    negligible: float = 0.0,
) -> dict[int, ElasticNetSolution]:
    """Return elastic-net solutions with given numbers of non-zero coefficients.

    The solution of size ``m`` is where ``m`` features are active for the first time and
    the next one is about to enter: the smallest lasso weight for ``m`` features. It has
    fewer than ``m`` non-zeros only where the path ends earlier, as it does at the
    weight `lasso`. `correlations` are ``Xᵀy``; up to `negligible` they count as zero.

    Features whose correlations tie enter in the order of their numbers. A solution in
    the middle of a tie is that of the problem without the tied features still waiting.

    Examples
    --------
    >>> X = np.eye(3)
    >>> path = elastic_net_path(
    ...     GramColumns(X), np.array([3.0, -2.0, 0.5]), ridge=0.0, sizes=[1, 2]
    ... )
    >>> path[1].coef, path[1].lasso
    (array([1., 0., 0.]), 4.0)
    >>> path[2].coef
    array([ 2.5, -1.5,  0. ])
    """
    path = _Path(gram, correlations, ridge, set(sizes), lasso / 2)
    path.walk(negligible)
    return path.found


@dataclass(frozen=True)
class Standardisation:
    """Centring and scaling of features to unit length, as ``sda`` expects them."""

    #: Subtracted from, then divided into, each feature
    mean: Vector
    scale: Vector
    constant: NDArray[np.bool_]  #: Features without variation; their scale is 1

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
    """Weights of the elastic-net step."""

    ridge: float  #: Weight of ``‖b‖²``
    #: Weight of ``‖b‖₁``, or the smallest allowed where a number of variables rules
    lasso: float


class _Direction(NamedTuple):
    """One direction: the elastic-net step's answer for the scores ``phi``."""

    solution: ElasticNetSolution
    phi: Vector
    n_iter: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Directions:
    """Sparse discriminant directions and how they were found."""

    coef: Matrix  #: Coefficients of the standardised features
    theta: Matrix  #: The optimal scores
    lasso: Vector  #: The lasso weight of each elastic-net step
    n_iter: NDArray[np.int64]  #: Elastic-net steps taken


class ScoringProblem:
    """One training set, with everything that does not depend on the penalties."""

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
        """Return the elastic-net step's answer for scores ``phi``, one per size."""
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
    *,
    n_components: int,
    max_iter: int,
    tol: float,
) -> list[Directions]:
    """Return sparse discriminant directions for several numbers of kept variables.

    The alternation between coefficients and scores ends by `max_iter` and `tol`.
    """
    trivial = problem.root_shares[:, np.newaxis]
    if problem.n_classes == 2:  # with one possible score, so one path has every size
        phi = problem.start(trivial, penalties.ridge)
        return [
            _collected(problem, [_Direction(solution, phi, n_iter=1, converged=True)])
            for solution in problem.elastic_net(phi, penalties, sizes)
        ]
    answer = []
    for size in sizes:
        earlier, found = trivial, list[_Direction]()
        for _ in range(n_components):
            found.append(
                _one_direction(problem, size, penalties, earlier, max_iter, tol)
            )
            earlier = np.column_stack([earlier, found[-1].phi])
        if not all(direction.converged for direction in found):
            warnings.warn(
                f"the scores still moved after max_iter={max_iter} elastic-net "
                "steps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        answer.append(_collected(problem, found))
    return answer


def _one_direction(
    problem: ScoringProblem,
    size: int,
    penalties: Penalties,
    earlier: Matrix,
    max_iter: int,
    tol: float,
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
        converged = bool(np.linalg.norm(following - phi) <= tol)
        if converged or n_iter == max_iter:
            return _Direction(solution, phi, n_iter, converged)
        if n_iter > max_iter // 2:
            penalties = Penalties(penalties.ridge, solution.lasso)
        phi = following


def _collected(problem: ScoringProblem, found: Sequence[_Direction]) -> Directions:
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
