"""Collaborative representation, plain and probabilistic: ridge over all samples.

Training and test samples have unit length. A test sample ``y`` is represented by all
training samples together, the rows of ``Z``, with coefficients that minimise

    ‖y − Zᵀw‖² + lam ‖w‖² + (gamma/g) Σ_c ‖Zᵀw − Z_cᵀw_c‖²

over the ``g`` classes; the plain form has ``gamma = 0``. With the inner products
``G = ZZᵀ`` and ``B`` their blocks within classes, ``w`` solves

    (aG + bB + lam·I) w = Zy,      a = 1 + gamma (g − 2)/g,      b = gamma/g,

since two samples of one class are in ``g − 1`` of the terms, two of different classes
in ``g − 2``. Leaving a training sample out deletes a row and a column of the system, so
one inverse answers for all of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval

from drmbench.drm.decision import NearestClassMixin, nearest_class
from drmbench.drm.kernels import DECADES
from drmbench.drm.partition import (
    ClassPartition,
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
    MethodFailedError,
    fewest_coordinates,
    left_out_by_refits,
    naive_grid_predictions,
    only_of_class,
)

#: Coefficients of test samples that are held in memory at once (32 MB).
_BLOCK_ENTRIES = 4_000_000
#: Classes whose residuals differ by less, relative to the smallest, tie.
_TIE = 1e-9


def unit_rows(X: Matrix) -> Matrix:
    """Return the rows divided by their lengths; a zero row stays as it is.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    units: Matrix = X / np.where(lengths > 0, lengths, 1.0)
    return units


def settle_ties(residuals: Matrix) -> Matrix:
    """Make residuals equal to the smallest of their row where only rounding differs.

    Examples
    --------
    >>> settle_ties(np.array([[0.5 + 1e-15, 0.5, 0.6]]))
    array([[0.5, 0.5, 0.6]])
    """
    smallest = residuals.min(axis=1, keepdims=True)
    settled: Matrix = np.where(residuals <= smallest * (1 + _TIE), smallest, residuals)
    return settled


#: From test samples, their coefficients and the training samples in class order to the
#: residual of every class.
Rule = Callable[[Matrix, Matrix, Matrix, ClassPartition], Matrix]


def regularised_residuals(
    Y: Matrix, W: Matrix, Z: Matrix, partition: ClassPartition
) -> Matrix:
    """Return ``‖y − Z_cᵀw_c‖ / ‖w_c‖`` for each test sample and class."""
    residuals = np.empty((len(Y), partition.n_classes))
    for c, block in enumerate(partition.blocks):
        misses = np.linalg.norm(Y - W[:, block] @ Z[block], axis=1)
        lengths = np.linalg.norm(W[:, block], axis=1)
        residuals[:, c] = misses / np.maximum(lengths, np.finfo(np.float64).tiny)
    return settle_ties(residuals)


def collaborative_distances(
    Y: Matrix, W: Matrix, Z: Matrix, partition: ClassPartition
) -> Matrix:
    """Return ``‖Zᵀw − Z_cᵀw_c‖`` for each test sample and class."""
    together = W @ Z
    distances = np.empty((len(Y), partition.n_classes))
    for c, block in enumerate(partition.blocks):
        distances[:, c] = np.linalg.norm(together - W[:, block] @ Z[block], axis=1)
    return settle_ties(distances)


@dataclass(frozen=True)
class CollaborativePenalty:
    """The weights of the objective, and the system that follows from them."""

    lam: float  #: Weight of the coefficients' size
    gamma: float  #: Weight of the distances to the classes' own representations

    def shares(self, n_classes: int) -> tuple[float, float]:
        """Return ``a`` and ``b``, the weights of ``G`` and of its blocks."""
        return (1 + self.gamma * (n_classes - 2) / n_classes, self.gamma / n_classes)

    def system(self, G: Matrix, partition: ClassPartition) -> Matrix:
        """Return ``aG + bB + lam·I``."""
        a, b = self.shares(partition.n_classes)
        system = a * G
        for block in partition.blocks if b else ():
            system[block, block] += b * G[block, block]
        system[np.diag_indices_from(system)] += self.lam
        return system

    def coefficient_map(self, Z: Matrix, partition: ClassPartition) -> Matrix:
        """Return the n × p matrix that maps a test sample to its coefficients."""
        n, p = Z.shape
        if partition.n_classes * p**3 < n**3:
            return self._map_by_features(Z, partition)
        return self._solve(self.system(Z @ Z.T, partition), Z)

    def _map_by_features(self, Z: Matrix, partition: ClassPartition) -> Matrix:
        """Solve systems of features only.

        A class's equations are ``w_c = Z_c N_c (y − a·u)`` with ``u = Zᵀw`` and
        ``N_c = (lam·I + b·Z_cᵀZ_c)⁻¹``. Multiplied by ``Z_cᵀ`` and added up they give
        ``y − a·u = (I + a Σ_c Z_cᵀZ_c N_c)⁻¹ y``.
        """
        a, b = self.shares(partition.n_classes)
        unit = np.eye(Z.shape[1])
        maps, total = [], unit.copy()
        for block in partition.blocks:
            scatter = Z[block].T @ Z[block]
            maps.append(self._solve(self.lam * unit + b * scatter, unit))
            total += a * scatter @ maps[-1]
        rest = self._solve((total + total.T) / 2, unit)
        return np.vstack(
            [
                Z[block] @ (inverse @ rest)
                for block, inverse in zip(partition.blocks, maps, strict=True)
            ]
        )

    def left_out_coefficients(self, G: Matrix, partition: ClassPartition) -> Matrix:
        """Return, in row i, the coefficients of sample i by all others.

        With the inverse ``M`` of the system, ``F = GM`` has what the samples get if
        they take part themselves, and ``F_i − M_i F_ii / M_ii`` is what is left when
        coefficient i is zero. ``F`` follows from ``M``, since ``aG`` is the system less
        its other terms.
        """
        a, b = self.shares(partition.n_classes)
        M = self._solve(self.system(G, partition), np.eye(len(G)))
        F = -self.lam * M
        F[np.diag_indices_from(F)] += 1
        for block in partition.blocks if b else ():
            F[block] -= b * (G[block, block] @ M[block])
        F /= a
        F -= (F.diagonal() / M.diagonal())[:, np.newaxis] * M
        np.fill_diagonal(F, 0.0)
        return F

    def _solve(self, system: Matrix, sides: Matrix) -> Matrix:
        try:
            factor = cho_factor(system, lower=True, check_finite=False)
        except LinAlgError as error:
            raise MethodFailedError(
                f"the system is not positive definite in double precision with"
                f" lam={self.lam:g} and gamma={self.gamma:g}; a larger lam would do"
            ) from error
        return np.asarray(cho_solve(factor, sides, check_finite=False))


class CollaborativeClassifier(NearestClassMixin, ClassifierMixin, BaseEstimator):
    """Collaborative representation by regularised least squares (CRC-RLS).

    All samples are scaled to unit length. A test sample is represented by all training
    samples, and goes to the class whose part of the representation leaves the smallest
    residual for its size, ``‖y − Z_cᵀw_c‖ / ‖w_c‖`` [1]_.

    Parameters
    ----------
    lam : float, default=0.01
        Weight of the squared size of the coefficients.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of features seen in ``fit``.

    References
    ----------
    .. [1] L. Zhang, M. Yang, X. Feng, "Sparse representation or collaborative
       representation: which helps face recognition?", ICCV, 471-478, 2011.

    Examples
    --------
    >>> X = [[1.0, 0.1], [1.0, 0.0], [0.0, 1.0], [0.2, 1.0]]
    >>> model = CollaborativeClassifier().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[5.0, 1.0], [1.0, 5.0]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lam": [Interval(Real, 0, None, closed="neither")],
    }
    _rule = staticmethod(regularised_residuals)

    def __init__(self, *, lam: float = 0.01) -> None:
        self.lam = lam

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Directions alone tell samples apart, which those of the check hardly have.
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Store the training samples and factor the system once.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Their classes, at least two.
        """
        X, y = check_training(self, X, y)
        self._partition = ClassPartition.of(y)
        self.classes_ = self._partition.classes
        check_two_classes(self.classes_)
        self._Z = unit_rows(X)[self._partition.order]
        self._map = self._penalty().coefficient_map(self._Z, self._partition)
        return self

    def coefficients(self, X: Any) -> Matrix:
        """Return the coefficients of the training samples, in the order of ``fit``.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Test samples.
        """
        coefficients = unit_rows(check_samples(self, X)) @ self._map.T
        return self._partition.to_sample_order(coefficients.T).T

    def dissimilarities(self, X: Any) -> Matrix:
        """Return what decides, smaller is better, (m, n_classes).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Test samples.
        """
        Y = unit_rows(check_samples(self, X))
        result = np.empty((len(Y), self.classes_.size))
        step = max(1, _BLOCK_ENTRIES // max(self._Z.shape))
        for start in range(0, len(Y), step):
            part = slice(start, start + step)
            W = Y[part] @ self._map.T
            result[part] = self._rule(Y[part], W, self._Z, self._partition)
        return result

    def _penalty(self) -> CollaborativePenalty:
        return CollaborativePenalty(float(self.lam), 0.0)


class ProbabilisticCollaborativeClassifier(CollaborativeClassifier):
    """Probabilistic collaborative representation (ProCRC).

    All samples are scaled to unit length. The representation ``u = Zᵀw`` of a test
    sample by all training samples is drawn towards the parts ``u_c = Z_cᵀw_c`` of the
    classes, and the sample goes to the class whose part is nearest to the whole:
    ``‖u − u_c‖`` is smallest [1]_.

    Parameters
    ----------
    lam : float, default=0.01
        Weight of the squared size of the coefficients.
    gamma : float, default=0.01
        Weight of the mean squared distance ``‖u − u_c‖²`` over the classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of features seen in ``fit``.

    References
    ----------
    .. [1] S. Cai, L. Zhang, W. Zuo, X. Feng, "A probabilistic collaborative
       representation based approach for pattern classification", CVPR, 2950-2959, 2016.

    Examples
    --------
    >>> X = [[1.0, 0.1], [1.0, 0.0], [0.0, 1.0], [0.2, 1.0]]
    >>> model = ProbabilisticCollaborativeClassifier().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[5.0, 1.0], [1.0, 5.0]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lam": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="left")],
    }
    _rule = staticmethod(collaborative_distances)

    def __init__(self, *, lam: float = 0.01, gamma: float = 0.01) -> None:
        super().__init__(lam=lam)
        self.gamma = gamma

    def _penalty(self) -> CollaborativePenalty:
        return CollaborativePenalty(float(self.lam), float(self.gamma))


def _with_left_out(method: Method, rule: Rule) -> Method:
    """Return the method with exact leave-one-out: one inverse for all samples."""

    def predict_left_out(
        X: Matrix, y: Labels, candidates: Grid, *, seed: int
    ) -> GridPredictions:
        # The only sample of a class takes the class with it, so there is one less then.
        alone = only_of_class(y)
        refit = partial(naive_grid_predictions, method)
        refitted = left_out_by_refits(refit, X, y, candidates, seed=seed, samples=alone)
        partition = ClassPartition.of(y)
        Z = fewest_coordinates(unit_rows(X)[partition.order])[0]
        G = Z @ Z.T
        answer = GridAnswer(len(candidates), len(X))
        answer.failures |= refitted.failures
        for number, params in enumerate(candidates):
            with answer.attempt([number]):
                penalty = CollaborativePenalty(
                    float(params["lam"]), float(params.get("gamma", 0))
                )
                W = penalty.left_out_coefficients(G, partition)
                labels = nearest_class(rule(Z, W, Z, partition), partition.classes)
                answer.labels[number] = partition.to_sample_order(labels)
        answer.labels[:, alone] = refitted.labels[:, alone]
        return answer.finished()

    return dataclasses.replace(method, predict_left_out=predict_left_out)


METHODS = (
    _with_left_out(
        Method(
            name="crc",
            title="Collaborative representation (CRC-RLS)",
            family="crc",
            citation="L. Zhang, M. Yang, X. Feng: Sparse representation or"
            " collaborative representation: which helps face recognition? ICCV,"
            " 471-478, 2011.",
            build=lambda params, seed: CollaborativeClassifier(**params),
            grid={"lam": DECADES},
            prefer=lambda params: (-params["lam"],),
        ),
        regularised_residuals,
    ),
    _with_left_out(
        Method(
            name="procrc",
            title="Probabilistic collaborative representation (ProCRC)",
            family="crc",
            citation="S. Cai, L. Zhang, W. Zuo, X. Feng: A probabilistic collaborative"
            " representation based approach for pattern classification. CVPR,"
            " 2950-2959, 2016.",
            build=lambda params, seed: ProbabilisticCollaborativeClassifier(**params),
            grid={"gamma": (0.001, 0.01, 0.1, 1.0, 10.0), "lam": DECADES},
            prefer=lambda params: (-params["lam"], -params["gamma"]),
        ),
        collaborative_distances,
    ),
)
