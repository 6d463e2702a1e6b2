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

With weights everything is in the coordinates of :mod:`drmbench.drm.system`: masses m_c
for n_c, ``t = α/(m_c - ω_i)``, ``γ = αω_i/(m_c(m_c - ω_i))``, and δ over ω_i. Where the
weights vary within a class so does γ, and the shared inverse is corrected by means of
one eigen-decomposition (:class:`_EachChange`).

The decision follows from the normal equations, ``Kw = k - Dw + αB^(-i)w`` on the
remaining samples, which leaves per class j only ``q_j = w_jᵀK_jj w_j``,
``s_j = w_jᵀk_j`` and ``p_j = Σ D w_j²``:
``δ_j = 2q_j(1 - α/n_j) - 4s_j + 2p_j + t`` with t the same for all classes. They also
give q of a class that is larger than all others together without its own block of K.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from drmbench.drm.decision import dissimilarities, nearest_class
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.kernels import symmetric_part
from drmbench.drm.linear import linear_loo_dissimilarities
from drmbench.drm.partition import (
    Array,
    ClassPartition,
    check_labelled,
    check_two_classes,
)
from drmbench.drm.solvers import (
    TINY,
    ClosedForm,
    factorise,
    reciprocal_condition,
    warn_if_ill_conditioned,
)
from drmbench.drm.system import DenseSystem, check_weights
from drmbench.drm.threads import one_blas_thread
from drmbench.drm.weights import ClassWeight, training_weights

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
#: Samples of a class whose representations are held at a time.
CHUNK = 256
#: A class of nearly all samples may have one system for each of this many weights, a
#: smaller one for accordingly fewer; beyond that an eigen-decomposition is cheaper.
MOST_SYSTEMS = 8

#: Some samples of a class.
Part = slice | NDArray[np.intp]


def loo_dissimilarities(
    K: Any,
    y: Any,
    alpha: float,
    beta: float,
    *,
    sample_weight: Any = None,
    class_weight: ClassWeight = None,
) -> Array:
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
        for the class of a sample that is alone in it: without the sample the class does
        not exist.

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
    K = symmetric_part(K)
    partition = ClassPartition.of(y, training_weights(y, class_weight, sample_weight))
    check_two_classes(partition.classes)
    order = partition.order
    idle = np.setdiff1d(np.arange(len(y)), order)
    k_idle = partition.times_roots(K[np.ix_(order, idle)])
    K = K[np.ix_(order, order)]
    system = DenseSystem(K, partition, alpha)
    del K  # the system has its own if there are weights
    delta = np.empty((len(y), partition.n_classes))
    delta[order] = loo_dissimilarities_in_class_order(system, beta)
    if idle.size:
        W = ClosedForm(system, beta).representations(k_idle)
        delta[idle] = dissimilarities(system, W, k_idle)
    if beta < TINY * (1.0 + alpha) * np.abs(system.diagonal).sum():
        warn_if_ill_conditioned(reciprocal_condition(system.matrix(beta)))
    return delta


def loo_predict(
    K: Any,
    y: Any,
    alpha: float,
    beta: float,
    *,
    sample_weight: Any = None,
    class_weight: ClassWeight = None,
) -> NDArray[Any]:
    """Return the class each sample is given when it is left out.

    Parameters
    ----------
    K, y, alpha, beta, sample_weight, class_weight
        As in :func:`loo_dissimilarities`.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> x = np.array([[0.0], [0.1], [1.0], [1.1]])
    >>> K = np.exp(-((x - x.T) ** 2))
    >>> loo_predict(K, ["a", "a", "b", "b"], alpha=1.0, beta=0.1).tolist()
    ['a', 'a', 'b', 'b']
    """
    delta = loo_dissimilarities(
        K, y, alpha, beta, sample_weight=sample_weight, class_weight=class_weight
    )
    y = np.asarray(y)
    weights = training_weights(y, class_weight, sample_weight)
    return nearest_class(delta, ClassPartition.of(y, weights).classes)


def loo_dissimilarities_in_class_order(
    system: DenseSystem, beta: float, only: int | None = None
) -> Array:
    """Return leave-one-out δ, (n, g), for a system whose samples are in class order.

    Rows and columns stay in class order; this is the form grid searches call. Weights
    are those of the system's partition, of which a sample takes its own along. If
    `only` is the number of a class, the rows of others are undefined.
    """
    partition, n = system.partition, system.partition.n_samples
    delta = np.empty((n, partition.n_classes))
    shared: list[tuple[LeftOut, NDArray[np.intp]]] = []
    for code, own in enumerate(_own_systems_pay(partition.counts)):
        if only not in (None, code):
            continue
        left = LeftOut(system, beta, code)
        groups = left.groups()
        if not own or len(groups) > max(MOST_SYSTEMS * left.count / n, 1):
            shared.append((left, np.arange(left.count)))
            continue
        for samples in groups:
            solver = _OwnSystem.of(left, samples[0])
            if solver is None:
                shared.append((left, samples))
            else:
                left.fill(delta, solver, samples)
            del solver  # its inverse, before the next one is made
    if shared:
        M = _inverse(factorise(system.matrix(beta), f"Q + βI with beta={beta:g}"))
        for left, samples in shared:
            # Small classes make small products, which threads do not speed up.
            with one_blas_thread if left.count <= CHUNK else nullcontext():
                left.fill(delta, _SharedInverse(left, M), samples)
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


def _mirror_lower(matrix: Array, tile: int = 256) -> None:
    """Copy the lower triangle to the upper one, in tiles that fit the cache."""
    n = matrix.shape[0]
    for start in range(0, n, tile):
        stop = min(start + tile, n)
        square = matrix[start:stop, start:stop]
        square[...] = np.tril(square) + np.tril(square, -1).T
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T


class LeftOut:
    """One class, of which one sample is left out: what remains, and the decision."""

    def __init__(self, system: DenseSystem, beta: float, code: int) -> None:
        partition = system.partition
        self.system = system
        self.beta = beta
        self.code = code
        self.block = partition.blocks[code]
        self.count = int(partition.counts[code])
        #: ``D = αH + β``
        self.shift: Array = system.alpha * system.diagonal + beta
        weights = partition.weights
        self._weights = np.ones(self.count) if weights is None else weights[self.block]
        #: Whether the system is the same for all samples but for the one left out
        self.alike = bool((self._weights == self._weights[0]).all() or not system.alpha)
        #: The class's mass without each sample; of a single one, which takes the class
        #: along, the mass that it has
        self.masses: Array = partition.masses_without_one(code)
        #: By how much ``α/mass`` grows when a sample is left out
        self.gamma: Array = np.zeros(self.count)
        if self.count > 1:
            mass = partition.masses[code]
            self.gamma = system.alpha * self._weights / (mass * self.masses)

    def matrix(self, mass: float) -> Array:
        """Return ``Q + βI`` of all samples with another mass of the class."""
        masses = self.system.partition.masses.copy()
        masses[self.code] = mass
        return self.system.matrix(self.beta, masses)

    def shares(self, samples: Part) -> Array:
        """Return ``α/mass`` of every class without each of some samples, (g, m)."""
        masses = self.system.partition.masses[:, None]
        shares = np.repeat(self.system.alpha / masses, self.masses[samples].size, 1)
        shares[self.code] = self.system.alpha / self.masses[samples]
        return shares

    def groups(self) -> list[NDArray[np.intp]]:
        """Return the samples in groups that leave the same system."""
        if self.alike:
            return [np.arange(self.count)]
        weights = np.unique(self._weights)
        return [np.flatnonzero(self._weights == weight) for weight in weights]

    def fill(
        self,
        delta: Array,
        solver: _OwnSystem | _SharedInverse,
        samples: NDArray[np.intp],
    ) -> None:
        """Put the δ of some of the class's samples into those of all samples."""
        for start in range(0, samples.size, CHUNK):
            rows = samples[start : start + CHUNK]
            part: Part = rows
            if rows[-1] - rows[0] + 1 == rows.size:  # a view instead of a copy
                part = slice(rows[0], rows[-1] + 1)
            W = solver.representations(part)
            delta[self.block.start + rows] = self._decision(W, part)

    def _decision(self, W: Array, part: Part) -> Array:
        """Return δ, (m, g), from the representations of some samples left out."""
        partition, K = self.system.partition, self.system.K
        share, k = self.shares(part), K[:, self.block][:, part]
        largest = int(partition.counts.argmax())
        if (
            2 * partition.counts[largest] <= partition.n_samples
            or np.abs(1.0 - share[largest]).min() <= SMALLEST_DIVISOR
        ):
            fit = partition.class_sums(W * k)
            ridge = partition.class_sums(self.shift[:, None] * W * W)
            own = partition.class_sums(W * self.system.block_product(W))
        else:
            fit, ridge, own = np.zeros((3, partition.n_classes, W.shape[1]))
            for j, block in enumerate(partition.blocks):
                fit[j] = np.einsum("ij,ij->j", W[block], k[block])
                ridge[j] = self.shift[block] @ (W[block] * W[block])
                if j != largest:
                    own[j] = np.einsum("ij,ij->j", W[block], K[block, block] @ W[block])
            rest = np.arange(partition.n_classes) != largest
            others = np.repeat(rest, partition.counts)
            within = W[others] * (K[np.ix_(others, others)] @ W[others])
            across = (fit - ridge + share * own)[rest].sum(axis=0) - within.sum(axis=0)
            own[largest] = fit[largest] - ridge[largest] - across
            own[largest] /= 1.0 - share[largest]
        total = (fit - ridge + share * own).sum(axis=0)
        delta: Array = (2.0 * own * (1.0 - share) + total - 4.0 * fit + 2.0 * ridge).T
        # k and W are √ω times those of the sample.
        delta /= self._weights[part, None]
        if self.count == 1:
            delta[:, self.code] = np.inf
        return delta


class _OwnSystem:
    """The system that samples of the same weight leave, with all samples still in it.

    `share` is the class's ``α/mass`` and X its columns of the inverse; of a large class
    the whole `inverse` is there.
    """

    def __init__(
        self, left: LeftOut, share: float, X: Array, inverse: Array | None
    ) -> None:
        self._left = left
        self._share = share
        self._X = X
        self._inverse = inverse

    @classmethod
    def of(cls, left: LeftOut, sample: int) -> _OwnSystem | None:
        """Return the system that a sample leaves; None if it is not positive."""
        n, block = left.system.partition.n_samples, left.block
        # The transpose is the same matrix, in the order that LAPACK overwrites.
        matrix = left.matrix(left.masses[sample]).T
        factor, info = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
        if info != 0:
            return None
        share = left.system.alpha / left.masses[sample]
        if 2 * left.count > n and abs(1.0 - share) > SMALLEST_DIVISOR:
            inverse = _inverse(factor)
            return cls(left, share, inverse[:, block], inverse)
        own = np.arange(left.count)
        identity = np.zeros((n, own.size), order="F")
        identity[block.start + own, own] = 1.0
        X = lapack.dpotrs(factor, identity, lower=1, overwrite_b=1)[0]
        return cls(left, share, X, None)

    def representations(self, part: Part) -> Array:
        """Return ``w^(-i)`` of some samples of the class as columns, (n, m)."""
        left, K = self._left, self._left.system.K[:, self._left.block][:, part]
        rows = np.arange(left.count)[part] + left.block.start
        own = np.arange(rows.size)
        shift, share = left.shift[rows], self._share
        X = self._X[:, part]
        X_own = X[rows, own]
        if self._inverse is None:
            W: Array = self._X @ (K[left.block] * share)
            F_own = 1.0 - X_own * shift + W[rows, own]
            W -= X * (shift + F_own / X_own)
        else:
            others = [slice(0, left.block.start), slice(left.block.stop, None)]
            pairs = [(self._inverse[:, s], K[s]) for s in others if len(K[s])]
            products = sum(np.einsum("ij,ji->i", A[rows], k) for A, k in pairs)
            F_own = (1.0 - X_own * shift - share * products) / (1.0 - share)
            W = np.zeros_like(X, order="C")
            for A, k in pairs:
                W += A @ (k * (-share / (1.0 - share)))
            W -= X * (shift / (1.0 - share) + F_own / X_own)
        W[rows, own] = 0.0
        return W


class _SharedInverse:
    """Corrects the inverse M of ``Q + βI`` for each of a class's samples at once."""

    def __init__(self, left: LeftOut, M: Array) -> None:
        self._left = left
        self._M = M
        system, block = left.system, left.block
        self._M_b = M[:, block]
        self._K_cc = system.K[block, block]
        # A refit costs n³/3, deletion about 3n_c³.
        self._refits = 2 * int(system.partition.counts.max()) > system.K.shape[0]
        self._T = self._M_b @ self._K_cc if system.alpha else np.zeros_like(self._M_b)
        change = _SameChange if left.alike else _EachChange
        self._change: _SameChange | _EachChange = change(left, self._M_b, self._T)
        own = np.arange(left.count)
        M_cc = self._M_b[block]
        M_own = M_cc[own, own]
        self._C_M = self._change.coefficients(M_cc, own)
        products = np.einsum("ij,ji->i", self._change.basis[block], self._C_M)
        self._X_own = M_own + self._change.scale * products
        doubtful = np.abs(self._X_own) < SAFE * M_own
        doubtful |= self._change.rcond < SAFE
        self._X_own[doubtful] = 1.0
        error = M_own * left.shift[block] * np.abs(M_own / self._X_own)
        self._doubtful: NDArray[np.bool_] = doubtful
        # Eigenvectors mix what is large and what is tiny: only a residual can tell.
        self._inexact: NDArray[np.bool_] = (
            doubtful | (error > REFINE_ABOVE) | (not left.alike)
        )

    def representations(self, part: Part) -> Array:
        """Return ``w^(-i)`` of some samples of the class as columns, (n, m)."""
        left, block = self._left, self._left.block
        samples = np.arange(left.count)[part]
        doubtful, inexact = self._doubtful[part], self._inexact[part]
        if self._refits and doubtful.all():
            return self._refitted(samples)
        # M K_b from the normal equations, K = (Q + βI) - (αH + β) + αB.
        share = left.system.alpha / left.system.partition.masses[left.code]
        MK = share * self._T[:, part] - self._M_b[:, part] * left.shift[block][part]
        MK[block.start + samples, np.arange(samples.size)] += 1.0
        W = self._solve(MK, samples)
        if self._refits:
            W[:, doubtful] = self._refitted(samples[doubtful])
            inexact = inexact & ~doubtful
        columns = np.flatnonzero(inexact)
        for _ in range(STEPS):
            if not columns.size:
                return W
            residual = self._residual(W[:, columns], samples[columns])
            step = self._solve(self._M @ residual, samples[columns])
            W[:, columns] += step
            k = left.system.K[:, block][:, samples[columns]]
            fit = np.einsum("ij,ij->j", W[:, columns], k)
            moved = np.abs(np.einsum("ij,ij->j", step, residual))
            columns = columns[moved > REFINED**2 * np.abs(fit)]
        W[:, columns] = self._refitted(samples[columns])
        return W

    def _solve(self, Y: Array, samples: NDArray[np.intp]) -> Array:
        """Return the solutions without i, given ``Y = M R`` with one column per i."""
        block, change = self._left.block, self._change
        columns = np.arange(samples.size)
        C_Y = change.coefficients(Y[block], samples)
        products = np.einsum("ij,ji->i", change.basis[block][samples], C_Y)
        Y_own = Y[block][samples, columns]
        ratio = (Y_own + change.scale * products) / self._X_own[samples]
        W: Array = Y - self._M_b[:, samples] * ratio
        if change.scale:
            W += change.basis @ (change.scale * (C_Y - self._C_M[:, samples] * ratio))
        W[block][samples, columns] = 0.0
        if not self._refits:
            for column in np.flatnonzero(self._doubtful[samples]):
                i = int(samples[column])
                W[:, column] = self._correct_after_deletion(Y[:, column], i)
        return W

    def _residual(self, W: Array, samples: NDArray[np.intp]) -> Array:
        """Return ``k - (Q^(-i) + βI) w`` on the samples other than i."""
        left, system = self._left, self._left.system
        shares = np.repeat(left.shares(samples), system.partition.counts, axis=0)
        R: Array = system.K[:, left.block][:, samples] - system.kernel_product(W)
        R -= left.shift[:, None] * W
        R += shares * system.block_product(W)
        R[left.block][samples, np.arange(samples.size)] = 0.0
        return R

    def _correct_after_deletion(self, y: Array, i: int) -> Array:
        """Solve for one sample by deleting it first; O(n n_c + n_c³)."""
        # Changing the block of the others afterwards gives no indefinite matrix.
        block, gamma = self._left.block, self._left.gamma[i]
        rest = np.flatnonzero(np.arange(self._left.count) != i)
        K_rest = self._K_cc[np.ix_(rest, rest)]
        column = self._M_b[:, i]
        pivot = column[block][i]
        deleted = self._M_b[:, rest] - np.outer(column, column[block][rest] / pivot)
        w: Array = y - column * (y[block][i] / pivot)
        S = np.eye(rest.size) - gamma * (deleted[block][rest] @ K_rest)
        solved = _Factor(S).solve(w[block][rest][:, None])[:, 0]
        w += gamma * (deleted @ (K_rest @ solved))
        w[block.start + i] = 0.0
        return w

    def _refitted(self, samples: NDArray[np.intp]) -> Array:
        """Return the representations of some samples by one factorisation each."""
        left = self._left
        W = np.zeros((self._M.shape[0], samples.size))
        for mass in np.unique(left.masses[samples]):
            matrix = left.matrix(mass)
            for column in np.flatnonzero(left.masses[samples] == mass):
                i = int(samples[column]) + left.block.start
                rest = np.arange(matrix.shape[0]) != i
                without = matrix[np.ix_(rest, rest)]
                factor = factorise(without, f"Q + βI without sample {i}")
                k = left.system.K[rest, i]
                W[rest, column] = lapack.dpotrs(factor, k, lower=1)[0]
        return W


class _SameChange:
    """How M changes with the class's block if all samples leave the same mass.

    A solution Y = M R becomes ``Y + scale · basis · coefficients(Y_c)``.
    """

    def __init__(self, left: LeftOut, M_b: Array, T: Array) -> None:
        self.basis = T
        self.scale = float(left.gamma[0])
        S = -self.scale * T[left.block]
        S[np.arange(left.count), np.arange(left.count)] += 1.0
        self._factor = _Factor(S)
        self.rcond = np.full(left.count, self._factor.rcond)

    def coefficients(self, Y_c: Array, samples: NDArray[np.intp]) -> Array:
        """Return the coefficients of the basis, (n_c, m)."""
        return self._factor.solve(Y_c)


class _EachChange:
    """The same if each sample leaves a mass, and so a γ, of its own.

    One eigen-decomposition serves all of them: with ``M_cc = LLᵀ`` and
    ``LᵀK_ccL = VΛVᵀ``, ``K_cc(I - γM_ccK_cc)⁻¹ = L⁻ᵀV Λ/(1 - γΛ) VᵀL⁻¹``.
    """

    scale = 1.0

    def __init__(self, left: LeftOut, M_b: Array, T: Array) -> None:
        K_cc = left.system.K[left.block, left.block]
        L, info = lapack.dpotrf(M_b[left.block], lower=1, clean=1)
        inner = L.T @ K_cc @ L
        usable = info == 0 and bool(np.isfinite(inner).all())
        if not usable:
            L, inner = np.eye(left.count), np.zeros_like(inner)
        self._L = L
        self._values, self._V = np.linalg.eigh(inner)
        del inner
        self.basis: Array = lapack.dtrtrs(L, M_b.T, lower=1)[0].T @ self._V
        #: Smallest divisor of each sample relative to the largest; 0 if none is known
        self.rcond: Array = np.zeros(left.count)
        if usable:
            sizes = (np.abs(1.0 - gamma * self._values) for gamma in left.gamma)
            self.rcond[:] = [size.min() / size.max() for size in sizes]
        self._gamma = np.where(self.rcond < SAFE, 0.0, left.gamma)

    def coefficients(self, Y_c: Array, samples: NDArray[np.intp]) -> Array:
        """Return the coefficients of the basis, (n_c, m)."""
        products: Array = self._V.T @ lapack.dtrtrs(self._L, Y_c, lower=1)[0]
        changes = self._values[:, None] * self._gamma[samples]
        products *= changes
        products /= 1.0 - changes
        return products


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
