"""Exact leave-one-out dissimilarities for kernel DRM in O(n³), not O(n⁴).

Leaving out sample i of class c deletes row and column i of ``Q + βI`` and changes its
class block from ``K_cc/n_c`` to ``K_cc/(n_c - 1)``. There are two ways to share work
between the samples of a class; each class takes the one that needs fewer operations
(docs/math.md, section 6).

*Its own system.* G is ``Q + βI`` with the changed block, i still in it. With X the
class's columns of its inverse, ``D = αH + β``, ``t = α/(n_c - 1)`` and
``F = E_b - X D_b + t X K_cc``, deleting i leaves ``F_i - X_i F_ii/X_ii``. Where the
class is large, ``X K_cc`` follows from the other classes' columns o of the inverse:
``F = (E_b - X D_b - t (G⁻¹)_o K_ob)/(1 - t)``.

*The shared inverse* M of ``Q + βI``, corrected for the class: with ``T = M_b K_cc``,
``γ = α/(n_c(n_c - 1))`` and ``S = I - γ M_cc K_cc``, the solution ``Y = M R`` becomes
``F = Y + γ T S⁻¹ Y_c``, the columns of the inverse ``X = M_b + γ T S⁻¹ M_cc``, and
deleting i leaves ``F_i - X_i F_ii/X_ii`` again. It is cheaper for many small classes,
and it is what remains where G is not positive definite although the system without i is
(large α, tiny classes, or a kernel that swamps the ridge): samples whose divisors X_ii
have lost digits are refined by their residual, deleted first, or fitted again.

The decision follows from the normal equations, ``Kw = k - Dw + αB^(-i)w`` on the
remaining samples, which leaves per class j only ``q_j = w_jᵀK_jj w_j``,
``s_j = w_jᵀk_j`` and ``p_j = Σ D w_j²``:
``δ_j = 2q_j(1 - α/n_j) - 4s_j + 2p_j + t`` with t the same for all classes. They also
give q of a class that is larger than all others together without its own block of K.
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


#: Below this relative size a divisor has lost half its digits to cancellation.
SAFE = 1e-8
#: A corrected solution has a relative error of about ε·M_ii·D_i·M_ii/X_ii; above this
#: multiple of ε it is refined by its residual, until a step changes it, in the norm of
#: the system, by less than the second number. What does not get there is fitted again.
REFINE_ABOVE, REFINED, STEPS = 500.0, 1e-10, 4
#: Divisors 1 - α/n_c nearer to zero than this are avoided by the plain products.
SMALLEST_DIVISOR = 0.05


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
    partition, n = system.partition, system.partition.n_samples
    delta = np.empty((n, partition.n_classes))
    M: Array | None = None
    for code, own in enumerate(_own_systems_pay(partition.counts)):
        W = _from_own_system(system, beta, code) if own else None
        if W is None:
            M = _inverse(factorise_system(system, beta)[0]) if M is None else M
            W = LeftOutClass(system, M, beta, code).representations()
        delta[partition.blocks[code]] = _left_out_decision(system, W, beta, code)
    return delta


def _own_systems_pay(counts: NDArray[np.intp]) -> list[bool]:
    """Tell for each class whether a system of its own needs fewer operations."""
    c = counts.astype(np.float64)
    n = c.sum()
    columns = np.where(2 * c > n, 2 / 3 * n**3 + 2 * n * (n - c) * c, 2 * n**2 * c)
    own = n**3 / 3 + columns + np.where(2 * c > n, 0.0, 2 * n * c**2)
    corrected = 4 * n * c**2 + 8 * c**3
    if own.sum() <= n**3 + np.minimum(own, corrected).sum():
        return [True] * len(c)
    return list(own < corrected)


def _inverse(factor: Array) -> Array:
    """Return the inverse of a matrix from its lower Cholesky factor, overwriting it."""
    inverse: Array
    inverse, info = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if info != 0 or not np.isfinite(inverse).all():
        raise IllConditionedError("Q + βI could not be inverted in double precision")
    _mirror_lower(inverse)
    return inverse


def _from_own_system(system: DenseSystem, beta: float, code: int) -> Array | None:
    """Return ``w^(-i)`` of a class as columns, (n, n_c); None if G is not positive."""
    partition, K = system.partition, system.K
    block, n = partition.blocks[code], partition.n_samples
    masses = partition.masses.copy()
    masses[code] = max(masses[code] - 1.0, 1.0)
    # The transpose is the same matrix, in the order that LAPACK overwrites.
    factor, info = lapack.dpotrf(system.matrix(beta, masses).T, lower=1, overwrite_a=1)
    if info != 0:
        return None
    shift = (system.alpha * system.diagonal + beta)[block]
    share = system.alpha / masses[code]
    own = np.arange(block.stop - block.start)
    if 2 * own.size > n and abs(1.0 - share) > SMALLEST_DIVISOR:
        inverse = _inverse(factor)
        others = np.r_[0 : block.start, block.stop : n]
        X, X_others, K_others = inverse[:, block], inverse[:, others], K[others, block]
        X_own = inverse.diagonal()[block]
        products = np.einsum("ij,ji->i", X_others[block], K_others)
        F_own = (1.0 - X_own * shift - share * products) / (1.0 - share)
        W: Array = X_others @ (K_others * (-share / (1.0 - share)))
        W -= X * (shift / (1.0 - share) + F_own / X_own)
    else:
        identity = np.zeros((n, own.size), order="F")
        identity[block.start + own, own] = 1.0
        X = lapack.dpotrs(factor, identity, lower=1, overwrite_b=1)[0]
        X_own = X[block][own, own]
        W = X @ (K[block, block] * share)
        F_own = 1.0 - X_own * shift + W[block][own, own]
        W -= X * (shift + F_own / X_own)
    W[block][own, own] = 0.0
    return W


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
    partition, K = system.partition, system.K
    shift = system.alpha * system.diagonal + beta
    sizes = partition.counts.astype(np.float64)
    alone = sizes[code] == 1.0
    sizes[code] -= not alone
    share = (system.alpha / sizes)[:, None]
    largest = int(partition.counts.argmax())
    if (
        2 * partition.counts[largest] <= partition.n_samples
        or abs(1.0 - share[largest, 0]) <= SMALLEST_DIVISOR
    ):
        fit = partition.class_sums(W * K[:, partition.blocks[code]])
        ridge = partition.class_sums(shift[:, None] * W * W)
        own = partition.class_sums(W * system.block_product(W))
    else:
        fit, ridge, own = np.zeros((3, partition.n_classes, W.shape[1]))
        for j, block in enumerate(partition.blocks):
            fit[j] = np.einsum("ij,ij->j", W[block], K[block, partition.blocks[code]])
            ridge[j] = shift[block] @ (W[block] * W[block])
            if j != largest:
                own[j] = np.einsum("ij,ij->j", W[block], K[block, block] @ W[block])
        rest = np.arange(partition.n_classes) != largest
        others = np.repeat(rest, partition.counts)
        within = W[others] * (K[np.ix_(others, others)] @ W[others])
        across = (fit - ridge + share * own)[rest].sum(axis=0) - within.sum(axis=0)
        own[largest] = (fit[largest] - ridge[largest] - across) / (1.0 - share[largest])
    total = (fit - ridge + share * own).sum(axis=0)
    delta: Array = (2.0 * own * (1.0 - share) + total - 4.0 * fit + 2.0 * ridge).T
    if alone:
        delta[:, code] = np.inf
    return delta


class LeftOutClass:
    """Corrects the shared inverse: the systems without i, for all i of a class at once.

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
        products = np.einsum("ij,ji->i", self._T[self._block], self._S_M)
        self._X_own = M_own + self._gamma * products
        doubtful = np.abs(self._X_own) < SAFE * M_own
        if self._factor.rcond < SAFE:
            doubtful[:] = True
        self._X_own[doubtful] = 1.0
        error = M_own * self._shift[self._block] * np.abs(M_own / self._X_own)
        self._doubtful: NDArray[np.intp] = np.flatnonzero(doubtful)
        self._inexact: NDArray[np.intp] = np.flatnonzero(
            doubtful | (error > REFINE_ABOVE)
        )

    def representations(self) -> Array:
        """Return ``w^(-i)`` as columns, (n, n_c)."""
        if self._refits and self._doubtful.size == self._count:
            return self._refitted(self._doubtful)
        alpha, block = self._system.alpha, self._block
        # M K_b from the normal equations, K = (Q + βI) - (αH + β) + αB.
        MK_b = (alpha / self._count) * self._T - self._M_b * self._shift[block]
        MK_b[block][self._own, self._own] += 1.0
        W = self._solve(MK_b, self._own)
        samples = self._inexact
        if self._refits:
            W[:, self._doubtful] = self._refitted(self._doubtful)
            samples = np.setdiff1d(samples, self._doubtful)
        for _ in range(STEPS):
            if not samples.size:
                return W
            residual = self._residual(W[:, samples], samples)
            step = self._solve(self._M @ residual, samples)
            W[:, samples] += step
            fit = np.einsum(
                "ij,ij->j", W[:, samples], self._system.K[:, block][:, samples]
            )
            moved = np.abs(np.einsum("ij,ij->j", step, residual))
            samples = samples[moved > REFINED**2 * np.abs(fit)]
        W[:, samples] = self._refitted(samples)
        return W

    def _solve(self, Y: Array, samples: NDArray[np.intp]) -> Array:
        """Return the solutions without i, given ``Y = M R`` with one column per i."""
        columns = np.arange(samples.size)
        S_Y = self._factor.solve(Y[self._block])
        products = np.einsum("ij,ji->i", self._T[self._block][samples], S_Y)
        Y_own = Y[self._block][samples, columns]
        ratio = (Y_own + self._gamma * products) / self._X_own[samples]
        W: Array = Y - self._M_b[:, samples] * ratio
        if self._gamma:
            W += self._T @ (self._gamma * (S_Y - self._S_M[:, samples] * ratio))
        W[self._block][samples, columns] = 0.0
        if not self._refits:
            for column in np.flatnonzero(np.isin(samples, self._doubtful)):
                i = int(samples[column])
                W[:, column] = self._correct_after_deletion(Y[:, column], i)
        return W

    def _residual(self, W: Array, samples: NDArray[np.intp]) -> Array:
        """Return ``k - (Q^(-i) + βI) w`` on the samples other than i."""
        system, block = self._system, self._block
        sizes = system.partition.counts.astype(np.float64)
        sizes[self._code] = max(self._count - 1, 1)
        shares = system.alpha / np.repeat(sizes, system.partition.counts)
        R: Array = system.K[:, block][:, samples] - system.kernel_product(W)
        R -= self._shift[:, None] * W
        R += shares[:, None] * system.block_product(W)
        R[block][samples, np.arange(samples.size)] = 0.0
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
        masses = self._system.partition.masses.copy()
        masses[self._code] = max(masses[self._code] - 1.0, 1.0)
        matrix = self._system.matrix(self._beta, masses)
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
