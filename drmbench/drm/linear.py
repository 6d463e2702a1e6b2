"""Exact linear DRM: O(np²) to fit, O(gp²) a prediction, no n × n matrix, no iteration.

With ``D_c = αH_c + βI`` and ``G_c = A_c D_c⁻¹ A_cᵀ`` (p × p) the normal equations give
``u_c = P_c (I + P)⁻¹ x`` where ``P_c = (I - (α/n_c) G_c)⁻¹ G_c`` and ``P = Σ P_c``
(math note, section 5). The decision needs nothing else, so a class is the sum G_c and
the count n_c: both are additive over samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack

from drmbench.drm.closed_form import factorise
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.partition import Array
from drmbench.drm.rows import row_products, squared_norms

#: Rows handled at a time: their weighted copy stays in the processor's cache.
CHUNK = 4096


def features_are_cheaper(X: Array, n_classes: int) -> bool:
    """Tell whether a p × p matrix a class costs less than one n × n matrix.

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
    """The state of a linear DRM: ``G_c`` and ``n_c`` of every class.

    Attributes
    ----------
    G : ndarray of shape (g, p, p)
        ``Σ x xᵀ / (α‖x‖² + β)`` over the samples of each class.
    counts : ndarray of shape (g,)
        Samples of each class.
    """

    G: Array
    counts: NDArray[np.int64]

    @classmethod
    def empty(cls, n_classes: int, n_features: int) -> ClassSums:
        """Return the state before any sample."""
        G = np.zeros((n_classes, n_features, n_features))
        return cls(G, np.zeros(n_classes, dtype=np.int64))

    @classmethod
    def of(
        cls, X: Any, codes: NDArray[np.int64], n_classes: int, alpha: float, beta: float
    ) -> ClassSums:
        """Sum over the rows of X, whose class numbers are `codes`.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            Samples in rows.
        codes : ndarray of shape (n,)
            Class number 0 … g-1 of every sample.
        n_classes : int
            Number of classes g.
        alpha, beta : float
            The weights α ≥ 0 and β > 0.
        """
        sums = cls.empty(n_classes, X.shape[1])
        chunk = X.shape[0] if sparse.issparse(X) else CHUNK
        for start in range(0, X.shape[0], max(chunk, 1)):
            rows = slice(start, start + chunk)
            _add_chunk(sums.G, X[rows], codes[rows], alpha, beta)
        sums.counts[:] = np.bincount(codes, minlength=n_classes)
        return sums

    def __add__(self, other: ClassSums) -> ClassSums:
        return ClassSums(self.G + other.G, self.counts + other.counts)


def _add_chunk(
    G: Array, X: Any, codes: NDArray[np.int64], alpha: float, beta: float
) -> None:
    roots = 1.0 / np.sqrt(alpha * squared_norms(X) + beta)
    for code in range(G.shape[0]):
        rows = np.flatnonzero(codes == code)
        if sparse.issparse(X):
            weighted = sparse.diags(roots[rows]) @ X[rows]
            G[code] += (weighted.T @ weighted).toarray()
        else:
            weighted = X.take(rows, axis=0)  # twice as fast as indexing
            weighted *= roots[rows, None]
            G[code] += weighted.T @ weighted


def solve_spd(matrix: Array, right: Array, what: str) -> Array:
    """Solve with a symmetric positive definite p × p matrix, or raise clearly."""
    factor = factorise(matrix.copy(), what)
    solution, info = lapack.dpotrs(factor, right, lower=1)
    if info != 0 or not np.isfinite(solution).all():
        raise IllConditionedError(f"{what} could not be solved in double precision")
    result: Array = solution
    return result


def class_operator(G: Array, count: float, alpha: float) -> Array:
    """Return ``P_c = (I - (α/n_c) G_c)⁻¹ G_c``."""
    if alpha == 0.0:
        return G
    shrunk = np.eye(G.shape[0]) - (alpha / count) * G
    P = solve_spd(shrunk, G, "I - (α/n_c)G_c")
    symmetric: Array = (P + P.T) / 2.0
    return symmetric


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A fitted linear DRM: the maps ``U_c`` and the quadratic forms of the decision.

    Attributes
    ----------
    U : ndarray of shape (g, p, p)
        ``u_c = U_c x``.
    forms : ndarray of shape (g, p, p)
        Symmetric N_c with ``δ_c(x) = xᵀ N_c x``.
    seen : ndarray of shape (g,), bool
        Whether the class has any sample.
    """

    U: Array
    forms: Array
    seen: NDArray[np.bool_]

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
        residual = solve_spd(identity + P.sum(axis=0), identity, "I + P")
        U = P @ residual
        return cls(U, decision_forms(U), sums.counts > 0)

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
