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

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from drmbench.drm.decision import check_finite, dissimilarities_of_vectors
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.kernels import row_products, squared_norms
from drmbench.drm.partition import Array, ClassPartition, check_labelled
from drmbench.drm.solvers import (
    TINY,
    reciprocal_condition,
    solve_spd,
    warn_if_ill_conditioned,
)
from drmbench.drm.system import check_weights

#: Below this the Sherman-Morrison denominators have lost half their digits.
SAFE = 1e-8
#: The same for a difference of numbers of this size: four digits are left of it.
CANCELLED = 1e4 * float(np.finfo(float).eps)
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
    """The state of a linear DRM: ``G_c`` and ``n_c`` of every class."""

    G: Array  #: ``Σ x xᵀ / (α‖x‖² + β)`` over the samples of each class
    counts: NDArray[np.int64]  #: Samples of each class

    @classmethod
    def empty(cls, n_classes: int, n_features: int) -> ClassSums:
        """Return the state before any sample.

        Raises
        ------
        ValueError
            If a model of so many features does not fit into the machine's memory.
        """
        # The sums, P_c, U_c and the forms of the decision.
        _check_memory(4 * 8 * n_classes * n_features**2, n_features)
        G = np.zeros((n_classes, n_features, n_features))
        return cls(G, np.zeros(n_classes, dtype=np.int64))

    @classmethod
    def of(
        cls, X: Any, codes: NDArray[np.int64], n_classes: int, alpha: float, beta: float
    ) -> ClassSums:
        """Sum over the rows of X, dense or CSR, whose class numbers are `codes`."""
        sums = cls.empty(n_classes, X.shape[1])
        is_sparse = sparse.issparse(X)
        chunk = max(X.shape[0], 1) if is_sparse else CHUNK
        for start in range(0, X.shape[0], chunk):
            part, numbers = X[start : start + chunk], codes[start : start + chunk]
            roots = 1.0 / np.sqrt(alpha * _finite_norms(part) + beta)
            for code in range(n_classes):
                rows = np.flatnonzero(numbers == code)
                if is_sparse:
                    weighted = sparse.diags(roots[rows]) @ part[rows]
                    sums.G[code] += (weighted.T @ weighted).toarray()
                else:
                    weighted = part.take(rows, axis=0)  # twice as fast as indexing
                    weighted *= roots[rows, None]
                    sums.G[code] += weighted.T @ weighted
        sums.counts[:] = np.bincount(codes, minlength=n_classes)
        return sums

    def __add__(self, other: ClassSums) -> ClassSums:
        return ClassSums(self.G + other.G, self.counts + other.counts)


def _check_memory(needed: int, n_features: int) -> None:
    """Refuse what the system would otherwise end by killing the process."""
    if not hasattr(os, "sysconf"):
        return
    present = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > present > 0:
        raise ValueError(
            f"a linear model of {n_features:,} features takes {needed / 2**30:,.0f} GiB"
            f" of memory, of which this machine has {present / 2**30:,.0f}; use"
            " DRMClassifier(kernel='linear', solver='closed_form'), whose memory grows"
            " with the number of samples"
        )


def _finite_norms(X: Any) -> Array:
    """Return ``‖x_i‖²`` of each row, unless one overflows."""
    with np.errstate(over="ignore"):
        norms = squared_norms(X)
    if not np.isfinite(norms).all():
        raise IllConditionedError(
            "the squared norm of a sample overflows; scale the features (for example by"
            " their largest absolute value)"
        )
    return norms


def class_operator(G: Array, count: float, alpha: float) -> Array:
    """Return ``P_c = (I - (α/n_c) G_c)⁻¹ G_c``."""
    if alpha == 0.0:
        return G
    P = solve_spd(_shrunk(G, count, alpha), G, "I - (α/n_c)G_c")
    symmetric: Array = (P + P.T) / 2.0
    return symmetric


def _shrunk(G: Array, count: float, alpha: float) -> Array:
    """Return ``I - (α/n_c) G_c``."""
    shrunk: Array = np.eye(G.shape[0]) - (alpha / count) * G
    return shrunk


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A fitted linear DRM: the maps ``U_c`` and the quadratic forms of the decision."""

    U: Array  #: ``u_c = U_c x``
    forms: Array  #: Symmetric N_c with ``δ_c(x) = xᵀ N_c x``
    seen: NDArray[np.bool_]  #: Whether the class has any sample
    rcond: float  #: Estimate of 1/cond, the smallest of all matrices solved with

    @classmethod
    def of(cls, sums: ClassSums, alpha: float) -> LinearModel:
        """Build the model from the class sums; O(g p³)."""
        counts = sums.counts.tolist()
        P = np.stack(
            [
                class_operator(G, count, alpha) if count else np.zeros_like(G)
                for G, count in zip(sums.G, counts, strict=True)
            ]
        )
        identity = np.eye(P.shape[1])
        total = identity + P.sum(axis=0)
        U = P @ solve_spd(total, identity, "I + P")
        rcond = reciprocal_condition(total)
        if alpha > 0:
            for G, count in zip(sums.G, counts, strict=True):
                if count:
                    own = reciprocal_condition(_shrunk(G, count, alpha))
                    rcond = min(rcond, own)
        return cls(U, decision_forms(U), sums.counts > 0, rcond)

    def dissimilarities(self, X: Any) -> Array:
        """Return δ, (m, g); a class without samples is infinitely far."""
        with np.errstate(over="ignore", invalid="ignore"):
            delta = check_finite(quadratic_forms(X, self.forms))
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
    left_out = LinearLeaveOneOut(X, y)
    delta = left_out.dissimilarities(alpha, beta)
    left_out.warn_if_ill_conditioned(alpha, beta)
    return delta


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
        sums = ClassSums(unit.G / beta, unit.counts)
        delta = _left_out(self._samples, self._partition, sums, alpha, beta)
        return self._partition.to_sample_order(delta)

    def warn_if_ill_conditioned(self, alpha: float, beta: float) -> None:
        """Warn if the model of all samples has hardly a digit to trust."""
        largest = (1.0 + alpha) * float(squared_norms(self._samples).sum())
        if beta < TINY * largest:
            codes, g = self._partition.codes, self._partition.n_classes
            sums = ClassSums.of(self._samples, codes, g, alpha, beta)
            warn_if_ill_conditioned(LinearModel.of(sums, alpha).rcond, stacklevel=4)


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
            others = sums.counts.copy()
            others[code] = 0
            model = LinearModel.of(ClassSums(sums.G, others), alpha)
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
    counts = sums.counts.copy()
    counts[code] -= 1
    weights = 1.0 / (alpha * squared_norms(rows) + beta)
    for number, (row, weight) in enumerate(zip(rows, weights, strict=True)):
        G = sums.G.copy()
        G[code] -= weight * np.outer(row, row)
        model = LinearModel.of(ClassSums(G, counts), alpha)
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
        lost = CANCELLED * tau * squared_norms(V)
        if (np.abs(second) < np.maximum(SAFE, lost)).any():
            raise IllConditionedError("leave-one-out update is near singular")
        factor = tau * row_products(V, RX) / second
        residual = RX + factor[:, None] * RV
        vectors = self._P @ residual.T
        own = tau * row_products(V, residual)
        vectors[self._code] -= (own[:, None] * V).T
        return dissimilarities_of_vectors(vectors, rows)
