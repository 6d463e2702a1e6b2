"""Elastic-net coefficients with a given number of non-zeros, by the LARS-EN path.

The problem is ``‖y − Xb‖² + ridge ‖b‖² + lasso ‖b‖₁``. For a fixed ridge weight its
solution is piecewise linear in the lasso weight, and LARS-EN follows the pieces from
zero coefficients to the ridge solution [1]_. Only ``Xᵀy`` and single columns of
``XᵀX`` are needed, so nothing of size (features × features) is formed.

References
----------
.. [1] H. Zou, T. Hastie, "Regularization and variable selection via the elastic net",
   Journal of the Royal Statistical Society B 67(2), 301-320, 2005.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

#: Correlations closer than this (relative) are a tie, broken by the feature's number.
_TIE = 1e-10
#: A feature this close (relative, squared) to the span of the active ones is left out.
_DEPENDENT = 1e-12


@dataclass(frozen=True, eq=False)
class ElasticNetSolution:
    """Coefficients and the lasso weight they are optimal for.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        The coefficients.
    lasso : float
        Weight of ``‖b‖₁`` in the objective.
    """

    coef: Vector
    lasso: float


class GramColumns:
    """Columns of ``XᵀX``, each computed when first asked for and then kept.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The features.
    """

    def __init__(self, X: Matrix) -> None:
        self._X = X
        self._columns: dict[int, Vector] = {}

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return int(self._X.shape[1])

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
    """The features in the model, with a growing Cholesky factor of their Gram matrix.

    Parameters
    ----------
    gram : GramColumns
        Where columns come from.
    ridge : float
        Added to the diagonal.
    """

    def __init__(self, gram: GramColumns, ridge: float) -> None:
        self._gram = gram
        self._ridge = ridge
        self.members: list[int] = []
        self.signs: list[float] = []
        self._columns = np.empty((8, gram.n_features))
        self._factor = np.zeros((8, 8))

    def __len__(self) -> int:
        return len(self.members)

    def add(self, feature: int, sign: float) -> bool:
        """Add a feature, unless it is a combination of those already there."""
        size = len(self)
        if size == len(self._columns):
            self._grow()
        column = self._gram[feature]
        own = column[feature] + self._ridge
        row = self._forward_solve(column[self.members])
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

    def _forward_solve(self, values: Vector) -> Vector:
        size = len(self)
        if size == 0:
            return values
        solution, _ = lapack.dtrtrs(self._factor[:size, :size], values, lower=1)
        return np.asarray(solution)

    def _grow(self) -> None:
        size = len(self._columns)
        columns = np.empty((2 * size, self._columns.shape[1]))
        factor = np.zeros((2 * size, 2 * size))
        columns[:size], factor[:size, :size] = self._columns, self._factor
        self._columns, self._factor = columns, factor


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
        self._active = _ActiveSet(gram, ridge)
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
        self._finish()

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
        enters = self._entry_level(self._candidates & ~tied)
        if len(self._active):
            crossing = self._crossing_levels()
            position = int(crossing.argmax())
            if crossing[position] >= max(enters, bottom):
                return float(crossing[position]), position
        return (enters if enters > bottom else self._last_level), None

    def _entry_level(self, waiting: NDArray[np.bool_]) -> float:
        base, gain = self._segment.base[waiting], self._segment.gain[waiting]
        with np.errstate(divide="ignore", invalid="ignore"):
            levels = np.concatenate([base / (1 - gain), -base / (1 + gain)])
        below = levels[levels < self._level * (1 - _TIE)]
        return float(below.max(initial=0.0))

    def _crossing_levels(self) -> Vector:
        """Levels at which active coefficients that shrink reach zero, else −1."""
        shrinks = self._segment.slope * self._active.signs < 0
        levels = np.full(len(shrinks), -1.0)
        np.divide(self._segment.coef, self._segment.slope, out=levels, where=shrinks)
        reached: Vector = np.minimum(levels, self._level)
        return reached

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

    def _finish(self) -> None:
        """Give sizes the path never reached the solution at its end."""
        end = self._solution(self._last_level)
        self.found |= dict.fromkeys(self._wanted, end)


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

    The solution of size ``m`` is where ``m`` features are active for the first time
    and the next one is about to enter: the smallest lasso weight for ``m`` features.
    It has fewer than ``m`` non-zeros only where the path ends before.

    Features whose correlations tie enter in the order of their numbers. A solution in
    the midst of a tie is that of the problem without the tied features still waiting.

    Parameters
    ----------
    gram : GramColumns
        The columns of ``XᵀX``.
    correlations : ndarray of shape (n_features,)
        ``Xᵀy``.
    ridge : float
        Weight of ``‖b‖²``.
    sizes : iterable of int
        The wanted numbers of non-zeros, at least 1.
    lasso : float
        The path ends at this weight of ``‖b‖₁``, however few features are active.
    negligible : float
        Correlations up to this size count as zero.

    Returns
    -------
    dict of int to ElasticNetSolution
        One solution a size.

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
