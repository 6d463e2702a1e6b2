"""Exact leave-one-out for the linear DRM: O(gp²) a sample after one fit.

For sample i of class c, with ``a = α/(n_c - 1)``, ``s = 1/(α‖x_i‖² + β)``,
``N = (I - aG_c)⁻¹``, ``P' = N G_c`` and ``R = (I + Σ_{j≠c} P_j + P')⁻¹``, two
Sherman-Morrison steps give the residual ``r = x_i - u`` and every ``u_j`` of the refit
without i (math note, section 5).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from drmbench.drm.decision import dissimilarities_of_vectors
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.linear import (
    CHUNK,
    ClassSums,
    LinearModel,
    class_operator,
    solve_spd,
)
from drmbench.drm.partition import Array, ClassPartition
from drmbench.drm.rows import row_products, squared_norms
from drmbench.drm.validation import check_labelled, check_weights

#: Below this the Sherman-Morrison denominators have lost half their digits.
SAFE = 1e-8


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


def linear_loo_grid(
    X: Any, y: Any, alphas: Sequence[float], betas: Sequence[float]
) -> Iterator[tuple[float, float, Array]]:
    """Yield ``(alpha, beta, δ)`` for a whole grid, α outermost."""
    left_out = LinearLeaveOneOut(X, y)
    for alpha, beta in itertools.product(alphas, betas):
        yield alpha, beta, left_out.dissimilarities(alpha, beta)


class LinearLeaveOneOut:
    """Leave-one-out of one training set, for any number of weights.

    ``β G_c`` depends on α/β alone, so weights with the same ratio (a grid in decades
    has few) share the pass over the data.

    Parameters
    ----------
    X : array-like of shape (n, p)
        Samples in rows.
    y : array-like of shape (n,)
        Class labels.
    """

    def __init__(self, X: Any, y: Any) -> None:
        X, y = check_labelled(X, y)
        self._partition = ClassPartition.of(y)
        self._samples = X[self._partition.order]
        self._unit_sums: dict[float, ClassSums] = {}

    def dissimilarities(self, alpha: float, beta: float) -> Array:
        """Return δ of every sample left out in turn, (n, g)."""
        check_weights(alpha, beta)
        unit = self._sums(alpha / beta)
        sums = ClassSums(unit.G / beta, unit.counts)
        delta = _left_out(self._samples, self._partition, sums, alpha, beta)
        return self._partition.to_sample_order(delta)

    def _sums(self, ratio: float) -> ClassSums:
        key = float(f"{ratio:.12e}")  # equal ratios of decades differ in the last bit
        if key not in self._unit_sums:
            codes, g = self._partition.codes, self._partition.n_classes
            self._unit_sums[key] = ClassSums.of(self._samples, codes, g, ratio, 1.0)
        return self._unit_sums[key]


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
        if counts[code] == 1:
            delta[block] = _without_class(rows, sums, code, alpha)
            continue
        try:
            left = _ClassCorrection(sums, P, code, alpha, beta)
            for start in range(0, len(rows), CHUNK):
                part = slice(
                    block.start + start, min(block.start + start + CHUNK, block.stop)
                )
                delta[part] = left.dissimilarities(samples[part])
        except IllConditionedError:
            delta[block] = _by_refits(rows, sums, code, alpha, beta)
    return delta


def _without_class(rows: Array, sums: ClassSums, code: int, alpha: float) -> Array:
    """Return δ of the only sample of a class: the class is gone without it."""
    counts = sums.counts.copy()
    counts[code] = 0
    return LinearModel.of(ClassSums(sums.G, counts), alpha).dissimilarities(rows)


def _by_refits(
    rows: Array, sums: ClassSums, code: int, alpha: float, beta: float
) -> Array:
    """Return δ by one refit a sample, where the fast formula cannot be trusted."""
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
        if (np.abs(second) < SAFE).any():
            raise IllConditionedError("leave-one-out update is near singular")
        factor = tau * row_products(V, RX) / second
        residual = RX + factor[:, None] * RV
        vectors = self._P @ residual.T
        own = tau * row_products(V, residual)
        vectors[self._code] -= (own[:, None] * V).T
        return dissimilarities_of_vectors(vectors, rows)
