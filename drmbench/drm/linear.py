"""Exact linear DRM: O(np²) to fit, O(gp²) to predict, no n × n matrix, no iteration.

With ``D_c = αH_c + βI`` and ``G_c = A_c D_c⁻¹ A_cᵀ`` (p × p) the normal equations give
``u_c = P_c (I + P)⁻¹ x`` where ``P_c = (I - (α/n_c) G_c)⁻¹ G_c`` and ``P = Σ P_c``
(docs/math.md, section 5). The decision needs nothing else, so a class is the sum G_c
and the count n_c: both are additive over samples.

Exact leave-one-out costs O(gp²) per sample after one fit. For sample i of class c, with
``a = α/(n_c - 1)``, ``s = 1/(α‖x_i‖² + β)``, ``N = (I - aG_c)⁻¹``, ``P' = N G_c`` and
``R = (I + Σ_{j≠c} P_j + P')⁻¹``, two Sherman-Morrison steps give the residual
``r = x_i - u`` and every ``u_j`` of the refit without i. With weights ω the class loses
the mass ω_i and s is ω_i times that; if weights vary within the class so does a, and
two eigen-decompositions per class give N, P' and R of every a
(:class:`_VaryingCorrection`).
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from drmbench.drm.decision import check_finite, dissimilarities_of_vectors
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.kernels import row_products, squared_norms
from drmbench.drm.partition import (
    Array,
    ClassPartition,
    check_labelled,
    check_two_classes,
)
from drmbench.drm.solvers import (
    TINY,
    reciprocal_condition,
    solve_spd,
    warn_if_ill_conditioned,
)
from drmbench.drm.system import check_weights
from drmbench.drm.weights import ClassWeight, training_weights

#: Below this the Sherman-Morrison denominators have lost half their digits. Samples
#: with weights of their own are fitted again much earlier: few of them are concerned.
SAFE, SAFE_VARYING = 1e-8, 1e-3
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


def with_constant(X: Any, value: float) -> Any:
    """Append a feature that is the same for all samples, dense or sparse.

    Examples
    --------
    >>> with_constant(np.array([[3.0], [4.0]]), 1.0)
    array([[3., 1.],
           [4., 1.]])
    """
    column = np.full((X.shape[0], 1), value)
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_matrix(column)], format="csr")
    return np.hstack([X, column])


@dataclass(frozen=True, eq=False)
class ClassSums:
    """The state of a linear DRM: ``G_c`` and the mass of every class."""

    G: Array  #: ``Σ ω x xᵀ / (α‖x‖² + β)`` over the samples of each class
    counts: NDArray[np.int64]  #: Samples of each class that have a weight
    masses: Array  #: Sum of their weights; equal to the counts if all are 1

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
            roots = 1.0 / np.sqrt(alpha * _finite_norms(part) + beta)
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


class SharedSums:
    """The sums of one training set for any number of α and β.

    ``β G_c`` depends on α/β alone, so weights with the same ratio (a grid in decades
    has few) share the pass over the data that `make(alpha, beta)` does.
    """

    def __init__(self, make: Callable[[float, float], ClassSums]) -> None:
        self._make = make
        self._units: dict[float, ClassSums] = {}

    def of(self, alpha: float, beta: float) -> ClassSums:
        """Return the sums with these weights."""
        ratio = alpha / beta
        key = float(f"{ratio:.12e}")  # equal ratios of decades differ in the last bit
        if key not in self._units:
            self._units[key] = self._make(ratio, 1.0)
        unit = self._units[key]
        return ClassSums(unit.G / beta, unit.counts, unit.masses)


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


def class_operator(G: Array, mass: float, alpha: float) -> Array:
    """Return ``P_c = (I - (α/n_c) G_c)⁻¹ G_c``; n_c is the class's mass."""
    if alpha == 0.0:
        return G
    P = solve_spd(_shrunk(G, mass, alpha), G, "I - (α/n_c)G_c")
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
        P = np.stack(
            [
                class_operator(G, mass, alpha) if mass else np.zeros_like(G)
                for G, mass in zip(sums.G, sums.masses.tolist(), strict=True)
            ]
        )
        identity = np.eye(P.shape[1])
        total = identity + P.sum(axis=0)
        U = P @ solve_spd(total, identity, "I + P")
        rcond = reciprocal_condition(total)
        if alpha > 0:
            for G, mass in zip(sums.G, sums.masses.tolist(), strict=True):
                if mass:
                    own = reciprocal_condition(_shrunk(G, mass, alpha))
                    rcond = min(rcond, own)
        return cls(U, decision_forms(U), sums.masses > 0, rcond)

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


def linear_loo_dissimilarities(
    X: Any,
    y: Any,
    alpha: float,
    beta: float,
    *,
    sample_weight: Any = None,
    class_weight: ClassWeight = None,
) -> Array:
    """Return δ of every sample left out in turn, for the linear kernel.

    Parameters
    ----------
    X : array-like of shape (n, p)
        Samples in rows.
    y : array-like of shape (n,)
        Class labels.
    alpha, beta : float
        The weights α ≥ 0 and β > 0.
    sample_weight : array-like of shape (n,), default=None
        Weight of each sample; None means 1. A sample of weight 0 is no training sample:
        its δ is that of the model of all others.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes, which multiply those of their samples. All weights are
        those of the whole training set; "balanced" ones are not derived again without
        the sample left out.

    Returns
    -------
    ndarray of shape (n, g)
        Columns are the sorted classes that have a sample of positive weight; ``inf``
        for the class of a sample that is alone in it.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.1, 2.0]])
    >>> linear_loo_dissimilarities(X, [0, 0, 1, 1], 1.0, 0.1).argmin(axis=1)
    array([0, 0, 1, 1])
    """
    weights = training_weights(np.asarray(y), class_weight, sample_weight)
    left_out = LinearLeaveOneOut(X, y, weights)
    delta = left_out.dissimilarities(alpha, beta)
    left_out.warn_if_ill_conditioned(alpha, beta)
    return delta


class LinearLeaveOneOut:
    """Leave-one-out of one training set, for any number of α and β.

    The samples' weights stay as they are when one is left out.
    """

    def __init__(self, X: Any, y: Any, weights: Array | None = None) -> None:
        X, y = check_labelled(X, y)
        self._partition = ClassPartition.of(y, weights)
        check_two_classes(self._partition.classes)
        self._samples = X[self._partition.order]
        self._idle = np.setdiff1d(np.arange(len(y)), self._partition.order)
        self._idle_samples = X[self._idle]
        self._sums = SharedSums(self._sums_of)

    def _sums_of(self, alpha: float, beta: float) -> ClassSums:
        codes, g = self._partition.codes, self._partition.n_classes
        weights = self._partition.weights
        return ClassSums.of(self._samples, codes, g, alpha, beta, weights)

    def dissimilarities(self, alpha: float, beta: float) -> Array:
        """Return δ of every sample left out in turn, (n, g).

        Of a sample of weight 0 it is the δ of the model of all others.
        """
        check_weights(alpha, beta)
        partition = self._partition
        sums = self._sums.of(alpha, beta)
        delta = np.empty((len(self._samples) + self._idle.size, partition.n_classes))
        delta[partition.order] = _left_out(self._samples, partition, sums, alpha, beta)
        if self._idle.size:
            model = LinearModel.of(sums, alpha)
            delta[self._idle] = model.dissimilarities(self._idle_samples)
        return delta

    def warn_if_ill_conditioned(self, alpha: float, beta: float) -> None:
        """Warn if the model of all samples has hardly a digit to trust."""
        largest = (1.0 + alpha) * float(squared_norms(self._samples).sum())
        if beta < TINY * largest:
            sums = self._sums.of(alpha, beta)
            warn_if_ill_conditioned(LinearModel.of(sums, alpha).rcond, stacklevel=4)


def _left_out(
    samples: Array,
    partition: ClassPartition,
    sums: ClassSums,
    alpha: float,
    beta: float,
) -> Array:
    P = np.stack(
        [class_operator(G, m, alpha) for G, m in zip(sums.G, sums.masses, strict=True)]
    )
    # What each sample adds to its class's G is this times x xᵀ.
    scales = 1.0 / (alpha * squared_norms(samples) + beta)
    if partition.weights is not None:
        scales *= partition.weights
    delta = np.empty((partition.n_samples, partition.n_classes))
    for code, block in enumerate(partition.blocks):
        rows = samples[block]
        if partition.counts[code] == 1:  # without its only sample the class is gone
            masses = sums.masses.copy()
            masses[code] = 0.0
            model = LinearModel.of(ClassSums(sums.G, sums.counts, masses), alpha)
            delta[block] = model.dissimilarities(rows)
            continue
        delta[block] = _left_out_of_class(
            rows,
            scales[block],
            sums,
            P,
            code,
            partition.masses_without_one(code),
            alpha,
        )
    return delta


def _left_out_of_class(
    rows: Array,
    scales: Array,
    sums: ClassSums,
    P: Array,
    code: int,
    masses: Array,
    alpha: float,
) -> Array:
    """Return δ of the samples of one class, which leave it the given masses."""
    a = alpha / masses
    delta = np.empty((len(rows), len(P)))
    safe = np.zeros(len(rows), dtype=bool)
    try:
        left: _ClassCorrection
        if (a == a[0]).all():
            left = _SameCorrection(sums.G[code], P, code, float(a[0]))
        else:
            left = _VaryingCorrection(P, code, alpha / float(sums.masses[code]))
        for start in range(0, len(rows), CHUNK):
            part = slice(start, start + CHUNK)
            delta[part], safe[part] = left.dissimilarities(
                rows[part], scales[part], a[part]
            )
    except IllConditionedError:
        pass  # all of them are fitted again
    weighted = rows * np.sqrt(scales)[:, None]
    for i in np.flatnonzero(~safe):
        others = np.delete(weighted, i, axis=0)
        changed = ClassSums(sums.G.copy(), sums.counts, sums.masses.copy())
        changed.G[code] = others.T @ others
        changed.masses[code] = masses[i]
        delta[i] = LinearModel.of(changed, alpha).dissimilarities(rows[i : i + 1])[0]
    return delta


class _ClassCorrection(ABC):
    """What all samples of one class share when one of them is left out."""

    def __init__(self, P: Array, code: int, safe: float) -> None:
        self._P = P
        self._code = code
        self._safe = safe

    @abstractmethod
    def _N(self, rows: Array, a: Array) -> Array:  # noqa: N802
        """Return ``N x`` of each row, with its own a."""

    @abstractmethod
    def _R(self, rows: Array, a: Array) -> Array:  # noqa: N802
        """Return ``R x`` of each row."""

    @abstractmethod
    def _P_own(self, rows: Array, a: Array) -> Array:  # noqa: N802
        """Return ``P' x`` of each row as columns, (p, m)."""

    @abstractmethod
    def _divisors(self, a: Array) -> Array:
        """Return what rounding errors of N, P' and R have been divided by, up to 1."""

    def dissimilarities(
        self, rows: Array, s: Array, a: Array
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Return δ, (m, g), each row left out of the class, and where to trust it."""
        V = self._N(rows, a)
        first = 1.0 + a * s * row_products(V, rows)
        tau = s / first
        RX, RV = self._R(rows, a), self._R(V, a)
        second = 1.0 - tau * row_products(V, RV)
        divisors = np.minimum(np.abs(first), 1.0) * np.abs(second) * self._divisors(a)
        divisors[np.abs(second) < CANCELLED * tau * squared_norms(V)] = 0.0
        factor = tau * row_products(V, RX) / second
        residual = RX + factor[:, None] * RV
        vectors = np.stack(
            [
                self._P_own(residual, a) if j == self._code else P_j @ residual.T
                for j, P_j in enumerate(self._P)
            ]
        )
        own = tau * row_products(V, residual)
        vectors[self._code] -= (own[:, None] * V).T
        return dissimilarities_of_vectors(vectors, rows), divisors >= self._safe


class _SameCorrection(_ClassCorrection):
    """Every sample leaves the same mass: one matrix N, P' and R for all of them."""

    def __init__(self, G: Array, P: Array, code: int, a: float) -> None:
        super().__init__(P.copy(), code, SAFE)
        identity = np.eye(G.shape[0])
        self._inverse = solve_spd(identity - a * G, identity, "I - aG_c")
        self._P[code] = self._inverse @ G
        self._residual = solve_spd(identity + self._P.sum(axis=0), identity, "I + P'")

    def _divisors(self, a: Array) -> Array:
        return np.ones(a.size)

    def _N(self, rows: Array, a: Array) -> Array:  # noqa: N802
        return rows @ self._inverse

    def _R(self, rows: Array, a: Array) -> Array:  # noqa: N802
        return rows @ self._residual

    def _P_own(self, rows: Array, a: Array) -> Array:  # noqa: N802
        product: Array = self._P[self._code] @ rows.T
        return product


class _VaryingCorrection(_ClassCorrection):
    """Each sample leaves a mass of its own: N, P' and R from eigenvectors, O(p²) each.

    Let d be a less the ``α/m_c`` of the whole class, ``P_c = UΜUᵀ`` and
    ``R_0 = (I + Σ P_j)⁻¹`` those of all samples, and ``C = I + Σ_{j≠c} P_j``. Then
    ``P' = (P_c⁻¹ - d)⁻¹ = U Μ/(1 - dΜ) Uᵀ``, ``N = I + aP'``, and with
    ``(C⁻¹ + P_c⁻¹)⁻¹ = C R_0 P_c = VΛVᵀ`` and ``Z = R_0 P_c V`` Woodbury's identity
    gives ``R = (C + P')⁻¹ = R_0 - Z d/(1 - dΛ) Zᵀ``.
    """

    def __init__(self, P: Array, code: int, base: float) -> None:
        super().__init__(P, code, SAFE_VARYING)
        identity = np.eye(P.shape[1])
        total = identity + P.sum(axis=0)
        self._base = base
        self._residual = solve_spd(total, identity, "I + P")
        self._P_values, self._P_vectors = np.linalg.eigh(P[code])
        parallel = (total - P[code]) @ self._residual @ P[code]
        self._values, vectors = np.linalg.eigh((parallel + parallel.T) / 2.0)
        self._Z: Array = self._residual @ P[code] @ vectors

    def _divisors(self, a: Array) -> Array:
        smallest = np.ones(a.size)
        for values in (self._P_values, self._values):
            sizes = np.abs(1.0 - np.outer(a - self._base, values))
            smallest *= sizes.min(axis=1) / np.maximum(sizes.max(axis=1), 1.0)
        return smallest

    def _N(self, rows: Array, a: Array) -> Array:  # noqa: N802
        product: Array = rows + a[:, None] * self._P_own(rows, a).T
        return product

    def _R(self, rows: Array, a: Array) -> Array:  # noqa: N802
        d = (a - self._base)[:, None]
        inside = (rows @ self._Z) * (d / (1.0 - d * self._values))
        product: Array = rows @ self._residual - inside @ self._Z.T
        return product

    def _P_own(self, rows: Array, a: Array) -> Array:  # noqa: N802
        d = (a - self._base)[:, None]
        factors = self._P_values / (1.0 - d * self._P_values)
        product: Array = self._P_vectors @ ((rows @ self._P_vectors) * factors).T
        return product
