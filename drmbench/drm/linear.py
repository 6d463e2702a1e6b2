"""Exact linear DRM: O(np²) to fit, O(gp²) to predict, no n × n matrix, no iteration.

With ``D_c = αH_c + βI`` and ``G_c = A_c D_c⁻¹ A_cᵀ`` (p × p) the normal equations give
``u_c = P_c (I + P)⁻¹ x`` where ``P_c = (I - (α/n_c) G_c)⁻¹ G_c`` and ``P = Σ P_c``
(docs/math.md, section 5). The decision needs nothing else, so a class is the sum G_c
and the count n_c: both are additive over samples.

Exact leave-one-out costs O(gp²) per sample after one fit. For sample i of class c, with
``a = α/(n_c - 1)``, ``s = 1/(α‖x_i‖² + β)``, ``N = (I - aG_c)⁻¹``, ``P' = N G_c`` and
``R = (I + Σ_{j≠c} P_j + P')⁻¹``, two Sherman-Morrison steps give the residual
``r = x_i - u`` and every ``u_j`` of the refit without i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from drmbench.drm.decision import dissimilarities_of_vectors
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.kernels import row_products, squared_norms
from drmbench.drm.partition import Array, ClassPartition, check_labelled
from drmbench.drm.solvers import solve_spd
from drmbench.drm.system import check_weights

#: Below this the Sherman-Morrison denominators have lost half their digits.
SAFE = 1e-8
#: Rows handled at a time: their weighted copy stays in the processor's cache.
CHUNK = 4096


def features_are_cheaper(X: Array, n_classes: int) -> bool:
    """Tell whether a p × p matrix per class costs less than one n × n matrix.

    Examples
    --------
    >>> features_are_cheaper(np.ones((100, 10)), n_classes=10)
    True
    >>> features_are_cheaper(np.ones((100, 90)), n_classes=10)
    False
    """
    n_samples, n_features = X.shape
    return bool(n_classes * n_features**3 < n_samples**3)


@dataclass(frozen=True, eq=False)
class ClassSums:
    """The state of a linear DRM: ``G_c`` and the mass of every class."""

    G: Array  #: ``Σ ω x xᵀ / (α‖x‖² + β)`` over the samples of each class
    counts: NDArray[np.int64]  #: Samples of each class that have a weight
    masses: Array  #: Sum of their weights; equal to the counts if all are 1

    @classmethod
    def empty(cls, n_classes: int, n_features: int) -> ClassSums:
        """Return the state before any sample."""
        G = np.zeros((n_classes, n_features, n_features))
        return cls(G, np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes))

    @classmethod
    def of(
        cls,
        X: Any,
        codes: NDArray[np.int64],
        n_classes: int,
        alpha: float,
        beta: float,
        weights: Array | None = None,
    ) -> ClassSums:
        """Sum over the rows of X, dense or CSR, whose class numbers are `codes`."""
        sums = cls.empty(n_classes, X.shape[1])
        is_sparse = sparse.issparse(X)
        chunk = max(X.shape[0], 1) if is_sparse else CHUNK
        for start in range(0, X.shape[0], chunk):
            part, numbers = X[start : start + chunk], codes[start : start + chunk]
            roots = 1.0 / np.sqrt(alpha * squared_norms(part) + beta)
            if weights is not None:
                roots *= np.sqrt(weights[start : start + chunk])
            for code in range(n_classes):
                rows = np.flatnonzero(numbers == code)
                if is_sparse:
                    weighted = sparse.diags(roots[rows]) @ part[rows]
                    sums.G[code] += (weighted.T @ weighted).toarray()
                else:
                    weighted = part.take(rows, axis=0)  # twice as fast as indexing
                    weighted *= roots[rows, None]
                    sums.G[code] += weighted.T @ weighted
        used = codes if weights is None else codes[weights > 0]
        sums.counts[:] = np.bincount(used, minlength=n_classes)
        sums.masses[:] = np.bincount(codes, weights, minlength=n_classes)
        return sums

    def scaled(self, factors: Array) -> ClassSums:
        """Return the sums of the same samples with weights times those of classes."""
        G = self.G * factors[:, None, None]
        return ClassSums(G, self.counts, self.masses * factors)

    def __add__(self, other: ClassSums) -> ClassSums:
        return ClassSums(
            self.G + other.G, self.counts + other.counts, self.masses + other.masses
        )


def class_operator(G: Array, mass: float, alpha: float) -> Array:
    """Return ``P_c = (I - (α/n_c) G_c)⁻¹ G_c``; n_c is the class's mass."""
    if alpha == 0.0:
        return G
    shrunk = np.eye(G.shape[0]) - (alpha / mass) * G
    P = solve_spd(shrunk, G, "I - (α/n_c)G_c")
    symmetric: Array = (P + P.T) / 2.0
    return symmetric


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A fitted linear DRM: the maps ``U_c`` and the quadratic forms of the decision."""

    U: Array  #: ``u_c = U_c x``
    forms: Array  #: Symmetric N_c with ``δ_c(x) = xᵀ N_c x``
    seen: NDArray[np.bool_]  #: Whether the class has any sample

    @classmethod
    def of(cls, sums: ClassSums, alpha: float) -> LinearModel:
        """Build the model from the class sums; O(g p³)."""
        P = np.stack(
            [
                class_operator(G, mass, alpha) if mass else np.zeros_like(G)
                for G, mass in zip(sums.G, sums.masses.tolist(), strict=True)
            ]
        )
        identity = np.eye(P.shape[1])
        residual = solve_spd(identity + P.sum(axis=0), identity, "I + P")
        U = P @ residual
        return cls(U, decision_forms(U), sums.masses > 0)

    def dissimilarities(self, X: Any) -> Array:
        """Return δ, (m, g); a class without samples is infinitely far."""
        delta = quadratic_forms(X, self.forms)
        delta[:, ~self.seen] = np.inf
        return delta


def decision_forms(U: Array) -> Array:
    """Return the symmetric matrices N_c with ``δ_c(x) = xᵀN_c x``.

    From ``δ_c = ‖u_c‖² + ‖u - u_c‖² - 2u_cᵀx`` with ``u_c = U_c x``.
    """
    others = U.sum(axis=0) - U
    N = U.transpose(0, 2, 1) @ U + others.transpose(0, 2, 1) @ others - 2.0 * U
    forms: Array = (N + N.transpose(0, 2, 1)) / 2.0
    return forms


def quadratic_forms(X: Any, forms: Array) -> Array:
    """Return ``xᵀ N x`` for every row of X and every N, (m, number of forms)."""
    values = np.empty((X.shape[0], forms.shape[0]))
    for start in range(0, X.shape[0], CHUNK):
        rows = X[start : start + CHUNK]
        part = values[start : start + CHUNK]
        for number, form in enumerate(forms):
            part[:, number] = row_products(rows, rows @ form)
    return values


def linear_loo_dissimilarities(X: Any, y: Any, alpha: float, beta: float) -> Array:
    """Return δ of every sample left out in turn, for the linear kernel.

    Parameters
    ----------
    X : array-like of shape (n, p)
        Samples in rows.
    y : array-like of shape (n,)
        Class labels.
    alpha, beta : float
        The weights α ≥ 0 and β > 0.

    Returns
    -------
    ndarray of shape (n, g)
        Columns are the sorted classes; ``inf`` for the class of a sample that is
        alone in it.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.1, 2.0]])
    >>> linear_loo_dissimilarities(X, [0, 0, 1, 1], 1.0, 0.1).argmin(axis=1)
    array([0, 0, 1, 1])
    """
    return LinearLeaveOneOut(X, y).dissimilarities(alpha, beta)


class LinearLeaveOneOut:
    """Leave-one-out of one training set, for any number of weights.

    ``β G_c`` depends on α/β alone, so weights with the same ratio (a grid in decades
    has few) share the pass over the data.
    """

    def __init__(self, X: Any, y: Any) -> None:
        X, y = check_labelled(X, y)
        self._partition = ClassPartition.of(y)
        self._samples = X[self._partition.order]
        self._unit_sums: dict[float, ClassSums] = {}

    def dissimilarities(self, alpha: float, beta: float) -> Array:
        """Return δ of every sample left out in turn, (n, g)."""
        check_weights(alpha, beta)
        ratio = alpha / beta
        key = float(f"{ratio:.12e}")  # equal ratios of decades differ in the last bit
        if key not in self._unit_sums:
            codes, g = self._partition.codes, self._partition.n_classes
            self._unit_sums[key] = ClassSums.of(self._samples, codes, g, ratio, 1.0)
        unit = self._unit_sums[key]
        sums = ClassSums(unit.G / beta, unit.counts, unit.masses)
        delta = _left_out(self._samples, self._partition, sums, alpha, beta)
        return self._partition.to_sample_order(delta)


def _left_out(
    samples: Array,
    partition: ClassPartition,
    sums: ClassSums,
    alpha: float,
    beta: float,
) -> Array:
    counts = partition.counts.tolist()
    P = np.stack(
        [class_operator(G, n, alpha) for G, n in zip(sums.G, counts, strict=True)]
    )
    delta = np.empty((partition.n_samples, partition.n_classes))
    for code, block in enumerate(partition.blocks):
        rows = samples[block]
        if counts[code] == 1:  # without its only sample the class is gone
            masses = sums.masses.copy()
            masses[code] = 0.0
            model = LinearModel.of(ClassSums(sums.G, sums.counts, masses), alpha)
            delta[block] = model.dissimilarities(rows)
            continue
        try:
            left = _ClassCorrection(sums, P, code, alpha, beta)
            for start in range(block.start, block.stop, CHUNK):
                part = slice(start, min(start + CHUNK, block.stop))
                delta[part] = left.dissimilarities(samples[part])
        except IllConditionedError:
            delta[block] = _by_refits(rows, sums, code, alpha, beta)
    return delta


def _by_refits(
    rows: Array, sums: ClassSums, code: int, alpha: float, beta: float
) -> Array:
    """Return δ by one refit per sample, where the fast formula cannot be trusted."""
    delta = np.empty((len(rows), len(sums.counts)))
    masses = sums.masses.copy()
    masses[code] -= 1
    weights = 1.0 / (alpha * squared_norms(rows) + beta)
    for number, (row, weight) in enumerate(zip(rows, weights, strict=True)):
        G = sums.G.copy()
        G[code] -= weight * np.outer(row, row)
        model = LinearModel.of(ClassSums(G, sums.counts, masses), alpha)
        delta[number] = model.dissimilarities(row[None, :])[0]
    return delta


class _ClassCorrection:
    """What all samples of one class share when one of them is left out."""

    def __init__(
        self, sums: ClassSums, P: Array, code: int, alpha: float, beta: float
    ) -> None:
        G = sums.G[code]
        identity = np.eye(G.shape[0])
        self._code = code
        self._alpha = alpha
        self._beta = beta
        self._a = alpha / (int(sums.counts[code]) - 1)
        self._N = solve_spd(identity - self._a * G, identity, "I - aG_c")
        self._P = P.copy()
        self._P[code] = self._N @ G
        self._R = solve_spd(identity + self._P.sum(axis=0), identity, "I + P'")

    def dissimilarities(self, rows: Array) -> Array:
        """Return δ, (m, g), each row left out of the class."""
        s = 1.0 / (self._alpha * squared_norms(rows) + self._beta)
        V = rows @ self._N
        first = 1.0 + self._a * s * row_products(V, rows)
        tau = s / first
        RX, RV = rows @ self._R, V @ self._R
        second = 1.0 - tau * row_products(V, RV)
        if (np.abs(second) < SAFE).any():
            raise IllConditionedError("leave-one-out update is near singular")
        factor = tau * row_products(V, RX) / second
        residual = RX + factor[:, None] * RV
        vectors = self._P @ residual.T
        own = tau * row_products(V, residual)
        vectors[self._code] -= (own[:, None] * V).T
        return dissimilarities_of_vectors(vectors, rows)
