"""Sparse representation: the lasso over all training samples, solved exactly.

Training and test samples have unit length, the rows ``Z`` and ``y``. The coefficients
minimise ``½‖y − Zᵀw‖² + lam ‖w‖₁``. An active-set search finds them: it steps to the
minimum over the samples that take part, with their signs, and lets one leave where its
sign would change, one enter where the optimality condition ``|z·(y − Zᵀw)| ≤ lam`` is
broken. Every step lowers the objective, so it ends, with the solution to rounding.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval

from drmbench.drm.decision import NearestClassMixin, nearest_class
from drmbench.drm.partition import (
    check_samples,
    check_training,
    check_two_classes,
)
from drmbench.methods.base import (
    Grid,
    GridAnswer,
    GridPredictions,
    Labels,
    Matrix,
    Method,
    fewest_coordinates,
)
from drmbench.methods.representation import settle_ties, unit_rows

#: Weight of ``½‖w‖²``: it makes the solution unique where samples depend on each other.
_RIDGE = 1e-7
#: How far a condition of optimality may be broken, relative to ``lam``.
_SLACK = 1e-10


class ActiveSet:
    """The lasso of one test sample; solutions for smaller ``lam`` start from larger.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        The samples to represent it with.
    y : ndarray of shape (p,)
        The test sample.
    excluded : int, optional
        A row of `Z` that takes no part.
    """

    def __init__(self, Z: Matrix, y: Matrix, excluded: int | None = None) -> None:
        self.Z, self.y, self.excluded = Z, y, excluded
        #: Rows that take part, and their coefficients
        self.members = np.empty(0, dtype=np.intp)
        self.weights: Matrix = np.empty(0)

    def solve(self, lam: float) -> None:
        """Find the solution for `lam`, starting from the present one."""
        signs = np.sign(self.weights)
        self._refused: list[np.intp] = []
        while True:
            signs = self._minimise(signs, lam)
            slopes = self.Z @ (self.y - self.weights @ self.Z[self.members])
            slopes[self.members] = 0.0
            slopes[self._refused] = 0.0
            if self.excluded is not None:
                slopes[self.excluded] = 0.0
            entering = int(np.abs(slopes).argmax())
            if abs(slopes[entering]) <= lam * (1 + _SLACK):
                return
            self.members = np.append(self.members, entering)
            self.weights = np.append(self.weights, 0.0)
            signs = np.append(signs, math.copysign(1.0, slopes[entering]))

    def _minimise(self, signs: Matrix, lam: float) -> Matrix:
        """Move to the minimum over the members; return the signs of those that stay."""
        while self.members.size:
            chosen = self.Z[self.members]
            system = chosen @ chosen.T
            system[np.diag_indices_from(system)] += _RIDGE
            factor = cho_factor(system, check_finite=False)
            slopes = chosen @ self.y - lam * signs
            target: Matrix = cho_solve(factor, slopes, check_finite=False)
            crossing = np.flatnonzero(target * signs <= 0)
            if not crossing.size:
                self.weights = target
                break
            now, then = np.abs(self.weights[crossing]), np.abs(target[crossing])
            shares = now / np.maximum(now + then, np.finfo(np.float64).tiny)
            first = shares.argmin()
            if now[first] == 0:  # what just entered leaves again: rounding, no progress
                self._refused.append(self.members[crossing[first]])
            self.weights += shares[first] * (target - self.weights)
            stays = np.arange(len(signs)) != crossing[first]
            self.members, self.weights = self.members[stays], self.weights[stays]
            signs = signs[stays]
        return signs

    def class_residuals(self, codes: NDArray[np.int64], n_classes: int) -> Matrix:
        """Return ``‖y − Z_cᵀw_c‖`` of every class."""
        of_class = codes[self.members] == np.arange(n_classes)[:, np.newaxis]
        parts = (of_class * self.weights) @ self.Z[self.members]
        residuals: Matrix = np.linalg.norm(self.y - parts, axis=1)
        return residuals


class SparseRepresentationClassifier(NearestClassMixin, ClassifierMixin, BaseEstimator):
    """Sparse representation-based classification (SRC).

    All samples are scaled to unit length. A test sample is represented by few training
    samples, with the coefficients of the lasso, ``½‖y − Zᵀw‖² + lam ‖w‖₁``, and goes
    to the class whose part of the representation leaves the smallest residual,
    ``‖y − Z_cᵀw_c‖`` [1]_.

    Parameters
    ----------
    lam : float, default=0.01
        Weight of the sum of the absolute coefficients. Since samples have unit length,
        no sample takes part from 1 on.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Notes
    -----
    The paper minimises ``‖w‖₁`` under a bound on ``‖y − Zᵀw‖``; each bound has its
    ``lam`` with the same solution. A term ``½·10⁻⁷‖w‖²`` makes it unique.

    References
    ----------
    .. [1] J. Wright, A. Y. Yang, A. Ganesh, S. S. Sastry, Y. Ma, "Robust face
       recognition via sparse representation", IEEE Transactions on Pattern Analysis and
       Machine Intelligence 31(2), 210-227, 2009.

    Examples
    --------
    >>> X = [[1.0, 0.1], [1.0, 0.0], [0.0, 1.0], [0.2, 1.0]]
    >>> model = SparseRepresentationClassifier().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[5.0, 1.0], [1.0, 5.0]])
    array(['a', 'b'], dtype='<U1')
    >>> int((model.coefficients([[5.0, 0.5]]) != 0).sum())
    1
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lam": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, *, lam: float = 0.01) -> None:
        self.lam = lam

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Directions alone tell samples apart, which those of the check hardly have.
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Store the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Their classes, at least two.
        """
        X, y = check_training(self, X, y)
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        check_two_classes(self.classes_)
        self._Z, self._basis = fewest_coordinates(unit_rows(X))
        return self

    def coefficients(self, X: Any) -> Matrix:
        """Return the coefficients of the training samples, in the order of ``fit``.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Test samples.
        """
        samples = self._coordinates(unit_rows(check_samples(self, X)))
        W = np.zeros((len(samples), len(self._Z)))
        for row, y in zip(W, samples, strict=True):
            lasso = ActiveSet(self._Z, y)
            lasso.solve(self.lam)
            row[lasso.members] = lasso.weights
        return W

    def dissimilarities(self, X: Any) -> Matrix:
        """Return the residuals of the classes, (m, n_classes).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Test samples.
        """
        units = unit_rows(check_samples(self, X))
        samples = self._coordinates(units)
        result = np.empty((len(units), self.classes_.size))
        for row, y in zip(result, samples, strict=True):
            lasso = ActiveSet(self._Z, y)
            lasso.solve(self.lam)
            row[:] = lasso.class_residuals(self._codes, self.classes_.size)
        # What no training sample can represent is part of every residual.
        outside = (units**2).sum(axis=1) - (samples**2).sum(axis=1)
        return settle_ties(np.sqrt(result**2 + np.maximum(outside, 0.0)[:, np.newaxis]))

    def _coordinates(self, units: Matrix) -> Matrix:
        """Return test samples in the coordinates of the training samples' span."""
        return units if self._basis is None else units @ self._basis


def _path(
    lasso: ActiveSet, candidates: Grid, codes: NDArray[np.int64], n_classes: int
) -> Labels:
    """Return the class that each candidate gives, from one path of solutions."""
    residuals = np.empty((len(candidates), n_classes))
    order = sorted(range(len(candidates)), key=lambda c: -candidates[c]["lam"])
    for number in order:
        lasso.solve(candidates[number]["lam"])
        residuals[number] = lasso.class_residuals(codes, n_classes)
    return nearest_class(settle_ties(residuals), np.arange(n_classes))


def predict_grid(
    X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Follow the solutions of each test sample from the largest ``lam`` down."""
    classes, codes = np.unique(y_train, return_inverse=True)
    Z, basis = fewest_coordinates(unit_rows(X_train))
    samples = unit_rows(X_test) if basis is None else unit_rows(X_test) @ basis
    answer = GridAnswer(len(candidates), len(X_test))
    for number, y in enumerate(samples):
        labels = _path(ActiveSet(Z, y), candidates, codes, len(classes))
        answer.labels[:, number] = classes[labels]
    return answer.finished()


def predict_left_out(
    X: Matrix, y: Labels, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Represent each sample by the others, without preparing them again."""
    classes, codes = np.unique(y, return_inverse=True)
    Z = fewest_coordinates(unit_rows(X))[0]
    answer = GridAnswer(len(candidates), len(X))
    for number in range(len(X)):
        lasso = ActiveSet(Z, Z[number], excluded=number)
        labels = _path(lasso, candidates, codes, len(classes))
        answer.labels[:, number] = classes[labels]
    return answer.finished()


METHODS = (
    Method(
        name="src",
        title="Sparse representation (SRC)",
        family="src",
        citation="J. Wright, A. Y. Yang, A. Ganesh, S. S. Sastry, Y. Ma: Robust face"
        " recognition via sparse representation. IEEE TPAMI 31(2):210-227, 2009.",
        build=lambda params, seed: SparseRepresentationClassifier(**params),
        grid={"lam": (0.001, 0.003, 0.01, 0.03, 0.1)},
        predict_grid=predict_grid,
        predict_left_out=predict_left_out,
        prefer=lambda params: (-params["lam"],),
    ),
)
