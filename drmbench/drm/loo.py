"""Exact leave-one-out dissimilarities for kernel DRM in O(n³), not O(n⁴).

Leaving out sample i of class c deletes row and column i of ``Q + βI`` and changes its
class block from ``K_cc/n_c`` to ``K_cc/(n_c - 1)``. Both are low-rank corrections of
one inverse M, shared by all samples of the class (docs/math.md, section 6): for the
columns b of class c let ``T = M_b K_cc``, ``γ = α/(n_c(n_c - 1))`` and
``S = I - γ M_cc K_cc``. For a right-hand side R, column i for left-out sample i, and
``Y = M R``, the class-corrected solution is ``F = Y + γ T S⁻¹ Y_c``, that of the
identity's columns is ``X = M_b + γ T S⁻¹ M_cc``, and deleting i leaves
``F_i - X_i F_ii/X_ii``.

Changing the class block while i is still in it can give an indefinite or singular
matrix although the system without i is positive definite (large α, tiny classes, or a
kernel that swamps the ridge). Samples whose divisors tell so are deleted first, or
fitted again where a class is so large that this costs less.

The decision follows from the normal equations, ``Kw = k - (αH + β)w + αB^(-i)w`` on the
remaining samples, which leaves per class j only ``q_j = w_jᵀK_jj w_j``,
``s_j = w_jᵀk_j`` and ``p_j = Σ(αh + β)w_j²``:
``δ_j = 2q_j(1 - α/n_j) - 4s_j + 2p_j + t`` with t the same for all classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from drmbench.drm.decision import nearest_class
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.kernels import symmetric_part
from drmbench.drm.linear import linear_loo_dissimilarities
from drmbench.drm.partition import Array, ClassPartition, check_labelled
from drmbench.drm.solvers import factorise, factorise_system
from drmbench.drm.system import DenseSystem, check_weights

__all__ = [
    "linear_loo_dissimilarities",
    "loo_dissimilarities",
    "loo_dissimilarities_in_class_order",
    "loo_predict",
]


#: The error of an unrefined solution grows with the square of the condition number;
#: below this reciprocal condition one refinement step is worth its price.
REFINE_BELOW = 1e-4
#: Below this relative size a divisor has lost half its digits to cancellation.
SAFE = 1e-8


def loo_dissimilarities(K: Any, y: Any, alpha: float, beta: float) -> Array:
    """Return δ of every sample, each left out of the training set in turn.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel matrix of the samples; of an asymmetric one the symmetric part is used.
    y : array-like of shape (n,)
        Class labels.
    alpha : float
        Weight α ≥ 0 of the within-class scatter; 0 is kernel ridge representation.
    beta : float
        Ridge β > 0.

    Returns
    -------
    ndarray of shape (n, g)
        Columns are the sorted classes; ``inf`` for the class of a sample that is alone
        in it: without the sample the class does not exist.

    Raises
    ------
    IllConditionedError
        If the system cannot be solved in double precision.

    Examples
    --------
    >>> x = np.array([[0.0], [0.1], [1.0], [1.1]])
    >>> K = np.exp(-((x - x.T) ** 2))
    >>> loo_dissimilarities(K, [0, 0, 1, 1], alpha=1.0, beta=0.1).argmin(axis=1)
    array([0, 0, 1, 1])
    """
    check_weights(alpha, beta)
    K, y = check_labelled(K, y)
    partition = ClassPartition.of(y)
    order = partition.order
    system = DenseSystem(symmetric_part(K)[np.ix_(order, order)], partition, alpha)
    return partition.to_sample_order(loo_dissimilarities_in_class_order(system, beta))


def loo_predict(K: Any, y: Any, alpha: float, beta: float) -> NDArray[Any]:
    """Return the class each sample is given when it is left out.

    Parameters
    ----------
    K, y, alpha, beta
        As in :func:`loo_dissimilarities`.

    Returns
    -------
    ndarray of shape (n,)
    """
    classes = np.unique(np.asarray(y))
    return nearest_class(loo_dissimilarities(K, y, alpha, beta), classes)


def loo_dissimilarities_in_class_order(system: DenseSystem, beta: float) -> Array:
    """Return leave-one-out δ, (n, g), for a system whose samples are in class order.

    Rows and columns stay in class order; this is the form grid searches call.
    """
    partition = system.partition
    factor, rcond = factorise_system(system, beta)
    M, info = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if info != 0 or not np.isfinite(M).all():
        raise IllConditionedError("Q + βI could not be inverted in double precision")
    _mirror_lower(M)
    delta = np.empty((partition.n_samples, partition.n_classes))
    for code in range(partition.n_classes):
        left_out = LeftOutClass(system, M, beta, code)
        W = left_out.representations(refine=rcond < REFINE_BELOW)
        delta[partition.blocks[code]] = _left_out_decision(system, W, beta, code)
    return delta


def _mirror_lower(matrix: Array, tile: int = 256) -> None:
    """Copy the lower triangle to the upper one, in tiles that fit the cache."""
    n = matrix.shape[0]
    for start in range(0, n, tile):
        stop = min(start + tile, n)
        square = matrix[start:stop, start:stop]
        square[...] = np.tril(square) + np.tril(square, -1).T
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T


def _left_out_decision(system: DenseSystem, W: Array, beta: float, code: int) -> Array:
    """Return δ, (n_c, g), from the left-out representations of one class."""
    partition = system.partition
    block = partition.blocks[code]
    own = partition.class_sums(W * system.block_product(W))
    fit = partition.class_sums(W * system.K[:, block])
    shift = (system.alpha * system.diagonal + beta)[:, None]
    ridge = partition.class_sums(shift * W * W)
    sizes = partition.counts.astype(np.float64)
    sizes[code] -= 1.0
    alone = sizes[code] == 0.0
    if alone:
        sizes[code] = 1.0
    share = (system.alpha / sizes)[:, None]
    total = (fit - ridge + share * own).sum(axis=0)
    delta: Array = (2.0 * own * (1.0 - share) + total - 4.0 * fit + 2.0 * ridge).T
    if alone:
        delta[:, code] = np.inf
    return delta


class LeftOutClass:
    """Solves the systems without sample i, for all samples i of one class at once.

    `M` is ``(Q + βI)⁻¹`` of all samples.
    """

    def __init__(self, system: DenseSystem, M: Array, beta: float, code: int) -> None:
        self._system = system
        self._code = code
        self._M = M
        self._block = system.partition.blocks[code]
        self._count = int(system.partition.counts[code])
        self._own = np.arange(self._count)
        self._M_b = M[:, self._block]
        self._K_cc = system.K[self._block, self._block]
        self._beta = beta
        # A refit costs n³/3, deletion about 3n_c³.
        self._refits = 2 * int(system.partition.counts.max()) > system.K.shape[0]
        self._shift = system.alpha * system.diagonal + beta
        self._T = self._M_b @ self._K_cc if system.alpha else np.zeros_like(self._M_b)
        self._gamma = 0.0
        if self._count > 1:
            self._gamma = system.alpha / (self._count * (self._count - 1))
        S = -self._gamma * self._T[self._block]
        S[self._own, self._own] += 1.0
        M_cc = self._M_b[self._block]
        self._factor = _Factor(S)
        self._S_M = self._factor.solve(M_cc)
        M_own = M_cc[self._own, self._own]
        self._X_own = M_own + self._gamma * self._own_products(self._S_M)
        doubtful = np.abs(self._X_own) < SAFE * M_own
        if self._factor.rcond < SAFE:
            doubtful[:] = True
        self._X_own[doubtful] = 1.0
        self._doubtful: NDArray[np.intp] = np.flatnonzero(doubtful)

    def _own_products(self, right: Array) -> Array:
        """Return the diagonal of ``T_c right``."""
        products: Array = np.einsum("ij,ji->i", self._T[self._block], right)
        return products

    def representations(self, *, refine: bool) -> Array:
        """Return ``w^(-i)`` as columns, (n, n_c); `refine` corrects by the residual."""
        if self._refits and self._doubtful.size == self._count:
            return self._refitted(self._doubtful)
        alpha, block = self._system.alpha, self._block
        # M K_b from the normal equations, K = (Q + βI) - (αH + β) + αB.
        MK_b = (alpha / self._count) * self._T - self._M_b * self._shift[block]
        MK_b[block][self._own, self._own] += 1.0
        W = self._solve(MK_b)
        if refine:
            W += self._solve(self._M @ self._residual(W))
        if self._refits and self._doubtful.size:
            W[:, self._doubtful] = self._refitted(self._doubtful)
        return W

    def _solve(self, Y: Array) -> Array:
        """Return the solutions without i, given ``Y = M R`` with one column per i."""
        S_Y = self._factor.solve(Y[self._block])
        Y_own = Y[self._block][self._own, self._own]
        ratio = (Y_own + self._gamma * self._own_products(S_Y)) / self._X_own
        W: Array = Y - self._M_b * ratio
        if self._gamma:
            W += self._T @ (self._gamma * (S_Y - self._S_M * ratio))
        W[self._block][self._own, self._own] = 0.0
        if not self._refits:
            for i in self._doubtful:
                W[:, i] = self._correct_after_deletion(Y[:, i], int(i))
        return W

    def _residual(self, W: Array) -> Array:
        """Return ``k - (Q^(-i) + βI) w`` on the samples other than i."""
        system, block = self._system, self._block
        sizes = system.partition.counts.astype(np.float64)
        sizes[system.partition.codes[block.start]] = max(self._count - 1, 1)
        shares = system.alpha / np.repeat(sizes, system.partition.counts)
        R: Array = system.K[:, block] - system.kernel_product(W)
        R -= self._shift[:, None] * W
        R += shares[:, None] * system.block_product(W)
        R[block][self._own, self._own] = 0.0
        return R

    def _correct_after_deletion(self, y: Array, i: int) -> Array:
        """Solve for one sample by deleting it first; O(n n_c + n_c³)."""
        # Changing the block of the others afterwards gives no indefinite matrix.
        block = self._block
        rest = np.flatnonzero(self._own != i)
        K_rest = self._K_cc[np.ix_(rest, rest)]
        column = self._M_b[:, i]
        pivot = column[block][i]
        deleted = self._M_b[:, rest] - np.outer(column, column[block][rest] / pivot)
        w: Array = y - column * (y[block][i] / pivot)
        S = np.eye(rest.size) - self._gamma * (deleted[block][rest] @ K_rest)
        solved = _Factor(S).solve(w[block][rest][:, None])[:, 0]
        w += self._gamma * (deleted @ (K_rest @ solved))
        w[block.start + i] = 0.0
        return w

    def _refitted(self, samples: NDArray[np.intp]) -> Array:
        """Return the representations of some samples by one factorisation each."""
        counts = self._system.partition.counts.copy()
        counts[self._code] = max(self._count - 1, 1)
        matrix = self._system.matrix(self._beta, counts)
        W = np.zeros((matrix.shape[0], samples.size))
        for column, i in enumerate(samples + self._block.start):
            rest = np.arange(matrix.shape[0]) != i
            without = matrix[np.ix_(rest, rest)]
            factor = factorise(without, f"Q + βI without sample {i}")
            k = self._system.K[rest, i]
            W[rest, column] = lapack.dpotrs(factor, k, lower=1)[0]
        return W


class _Factor:
    """An LU factorisation with its estimated reciprocal condition."""

    def __init__(self, S: Array) -> None:
        norm = float(np.abs(S).sum(axis=0).max(initial=0.0))
        self._lu, self._pivots, info = lapack.dgetrf(S)
        self.rcond = 0.0
        if info == 0:
            self.rcond = float(lapack.dgecon(self._lu, norm)[0])

    def solve(self, right: Array) -> Array:
        """Solve; a singular matrix gives what LAPACK gives, see :attr:`rcond`."""
        if self.rcond == 0.0:
            return np.zeros_like(right)
        solution: Array = lapack.dgetrs(self._lu, self._pivots, right)[0]
        return solution
