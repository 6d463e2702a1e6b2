"""The matrix Q = K + α(H - B) of the Discriminative Ridge Machine, and its problems.

``K`` is the kernel matrix of the training samples in class order, ``H`` its diagonal
and ``B`` block-diagonal with ``K_cc / n_c`` (the paper's within-class scatter is
``H - B``). :class:`DenseSystem` holds K itself; :class:`FactoredSystem` holds features
``F`` with ``K = F Fᵀ`` (linear or low-rank kernels) and never forms an n × n matrix.
Solvers see only what both offer: products. A :class:`BlockProblem` adds a penalty
(ridge, lasso or group lasso; docs/math.md, section 1) and the test samples.

Sample weights ω change coordinates (docs/math.md, section 10): with ``S = diag(√ω)``
the representation is ``w = S v``, and v solves the same problem with ``SKS`` for K, the
class masses ``Σ ω`` for n_c, ``S k`` for k, and H still the diagonal of K itself. All
of a system but `diagonal` and `class_means` is in these coordinates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from drmbench.drm.kernels import squared_norms, to_dense
from drmbench.drm.partition import Array, ClassPartition


class System(Protocol):
    """What solvers and the decision rule need of Q."""

    partition: ClassPartition
    alpha: float

    @property
    def diagonal(self) -> Array:
        """``H``: the diagonal of K, whatever the weights, (n,)."""
        ...

    def kernel_product(self, W: Array) -> Array:
        """Return ``K W`` for W of shape (n, m)."""
        ...

    def block_product(self, W: Array) -> Array:
        """Return the product with the class blocks of K alone, (n, m)."""
        ...

    def product(self, W: Array) -> Array:
        """Return ``Q W``, (n, m)."""
        ...

    def kernel_bound(self) -> float:
        """Return an upper bound of K's largest eigenvalue."""
        ...

    def class_means(self) -> Array:
        """Return the weighted mean of every class, (g, …), as typical test samples."""
        ...


class DenseSystem:
    """Q from a kernel matrix, its rows and columns in class order, without weights."""

    def __init__(self, K: Array, partition: ClassPartition, alpha: float) -> None:
        self.diagonal: Array = np.ascontiguousarray(np.diagonal(K))
        self.K = (
            K if partition.roots is None else partition.times_roots(K * partition.roots)
        )
        self.partition = partition
        self.alpha = float(alpha)

    def matrix(self, beta: float = 0.0, masses: Array | None = None) -> Array:
        """Return ``Q + βI``; `masses` replace those of the partition."""
        Q = self.K.copy()
        if self.alpha:
            masses = self.partition.masses if masses is None else masses
            for block, mass in zip(self.partition.blocks, masses, strict=True):
                Q[block, block] *= 1.0 - self.alpha / mass
        Q.flat[:: Q.shape[0] + 1] += self.alpha * self.diagonal + beta
        return Q

    @cached_property
    def _dense(self) -> Array:
        return self.matrix()

    def kernel_product(self, W: Array) -> Array:
        """Return ``K W``."""
        product: Array = self.K @ W
        return product

    def block_product(self, W: Array) -> Array:
        """Return the product with the class blocks of K alone."""
        result = np.empty_like(W)
        for block in self.partition.blocks:
            np.matmul(self.K[block, block], W[block], out=result[block])
        return result

    def product(self, W: Array) -> Array:
        """Return ``Q W``."""
        product: Array = self._dense @ W
        return product

    def kernel_bound(self) -> float:
        """Return ``min(trace K, ‖K‖_∞)``, the paper's bound."""
        return float(min(np.trace(self.K), np.abs(self.K).sum(axis=1).max()))

    def class_means(self) -> Array:
        """Return each class's weighted mean row of K, (g, n)."""
        sums = self.partition.class_sums(self.partition.times_roots(self.K))
        means = sums / self.partition.masses[:, None]
        roots = self.partition.roots
        return means if roots is None else means / roots


class FactoredSystem:
    """Q from features with K = F Fᵀ, which may be sparse; products cost O(np)."""

    def __init__(self, samples: Any, partition: ClassPartition, alpha: float) -> None:
        self.samples = samples
        self.partition = partition
        self.alpha = float(alpha)

    @cached_property
    def F(self) -> Any:  # noqa: N802
        """The samples' features, each times the root of its weight."""
        return self.partition.times_roots(self.samples)

    @cached_property
    def diagonal(self) -> Array:
        """``H``: the squared norms of the samples."""
        return squared_norms(self.samples)

    def class_means(self) -> Array:
        """Return each class's weighted mean features, (g, p)."""
        weights = self.partition.weights
        if weights is None:
            weights = np.ones(self.partition.n_samples)
        sums = [self.samples[b].T @ weights[b] for b in self.partition.blocks]
        return np.stack(sums) / self.partition.masses[:, None]

    def class_vectors(self, W: Array) -> Array:
        """Return ``u_c = A_c w_c`` for every class and column, (g, p, m)."""
        return np.stack([self.F[b].T @ W[b] for b in self.partition.blocks])

    def kernel_product(self, W: Array) -> Array:
        """Return ``K W`` without forming K."""
        product: Array = self.F @ (self.F.T @ W)
        return product

    def block_product(self, W: Array) -> Array:
        """Return the product with the class blocks of K alone."""
        blocks = self.partition.blocks
        return np.concatenate([self.F[b] @ (self.F[b].T @ W[b]) for b in blocks])

    def product(self, W: Array) -> Array:
        """Return ``Q W``: each class sees the total less its own share."""
        vectors = self.class_vectors(W)
        total = vectors.sum(axis=0)
        result = np.empty_like(W)
        for code, block in enumerate(self.partition.blocks):
            share = self.alpha / self.partition.masses[code]
            result[block] = self.F[block] @ (total - share * vectors[code])
        result += (self.alpha * self.diagonal)[:, None] * W
        return result

    def kernel_bound(self) -> float:
        """Return the trace of K, or the largest eigenvalue of FᵀF if p is small."""
        if self.F.shape[1] > 2000:
            return float(squared_norms(self.F).sum())
        scatter = to_dense(self.F.T @ self.F)
        return float(np.linalg.eigvalsh(scatter)[-1]) * (1 + 1e-12)


def as_operator(system: System) -> LinearOperator:
    """Wrap Q as a scipy ``LinearOperator`` (n × n)."""
    n = system.partition.n_samples

    def matmat(W: Array) -> Array:
        return system.product(np.asarray(W, dtype=np.float64).reshape(n, -1))

    return LinearOperator(
        (n, n), matvec=lambda w: matmat(w).ravel(), matmat=matmat, dtype=np.float64
    )


def largest_eigenvalue_bound(system: System) -> float:
    """Return ``c ≥ σ_max(Q)``, the constant of PPA and of fixed-step APG.

    Lanczos iterations give a tight value, raised by its own error estimate: a smaller
    valid c means fewer iterations. Where they do not converge it is the paper's bound,
    ``bound(K) + α max_i k_ii``: B is positive semi-definite, so dropping it can only
    enlarge Q.
    """
    crude = system.kernel_bound() + system.alpha * float(system.diagonal.max())
    n = system.partition.n_samples
    if n < 3:
        return crude
    # A fixed start vector keeps the result, and so every iteration count, repeatable.
    start = np.random.default_rng(0).standard_normal(n)
    try:
        values, vectors = eigsh(
            as_operator(system), k=1, which="LA", v0=start, tol=1e-6, maxiter=300
        )
    except ArpackError:  # not converged, or a zero matrix: the crude bound is valid
        return crude
    residual = system.product(vectors) - values * vectors
    tight = float(values[0] + np.linalg.norm(residual)) * (1 + 1e-6)
    return min(crude, tight)


def check_weights(alpha: Any, beta: Any) -> None:
    """Refuse weights outside ``alpha ≥ 0``, ``beta > 0``."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not isinstance(value, (int, float, np.integer, np.floating)):
            raise ValueError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(alpha) or alpha < 0:
        raise ValueError(f"alpha must be a finite number >= 0, got {alpha!r}")
    if not math.isfinite(beta) or beta <= 0:
        raise ValueError(f"beta must be a finite number > 0, got {beta!r}")


class Penalty(Protocol):
    """A convex function of the representation, column by column."""

    def value(self, W: Array) -> Array:
        """Return the penalty of each column of W, (m,)."""
        ...

    def prox(self, V: Array, step: float) -> Array:
        """Return ``argmin_W step · penalty(W) + ½‖W - V‖²``."""
        ...


class Ridge:
    """``½β‖w‖²``: the Discriminative Ridge Machine itself."""

    def __init__(self, beta: float) -> None:
        self.beta = float(beta)

    def value(self, W: Array) -> Array:
        """Return ``½β‖w‖²`` of each column."""
        value: Array = 0.5 * self.beta * np.einsum("im,im->m", W, W)
        return value

    def prox(self, V: Array, step: float) -> Array:
        """Shrink towards zero."""
        return V / (1.0 + step * self.beta)


class Lasso:
    """``β‖w‖₁``, (q, r) = (1, 1); of solutions in weighted coordinates ``β‖√ω v‖₁``."""

    def __init__(self, beta: float, roots: Array | None = None) -> None:
        self.beta = float(beta)
        self._limits = self.beta if roots is None else self.beta * roots[:, None]

    def value(self, W: Array) -> Array:
        """Return ``β‖w‖₁`` of each column."""
        value: Array = (self._limits * np.abs(W)).sum(axis=0)
        return value

    def prox(self, V: Array, step: float) -> Array:
        """Soft-threshold every entry."""
        shrunk: Array = np.sign(V) * np.maximum(np.abs(V) - step * self._limits, 0.0)
        return shrunk


class GroupLasso:
    """``β Σ_c ‖w_c‖₂``, (q, r) = (2, 1); the groups are the classes."""

    def __init__(self, beta: float, partition: ClassPartition) -> None:
        self.beta = float(beta)
        self._partition = partition

    def _norms(self, W: Array) -> Array:
        norms: Array = np.sqrt(self._partition.class_sums(W * W))
        return norms

    def value(self, W: Array) -> Array:
        """Return ``β Σ_c ‖w_c‖₂`` of each column."""
        value: Array = self.beta * self._norms(W).sum(axis=0)
        return value

    def prox(self, V: Array, step: float) -> Array:
        """Shrink every class's part as a block."""
        norms = self._norms(V)
        safe = np.where(norms > 0.0, norms, 1.0)
        factors = np.maximum(1.0 - step * self.beta / safe, 0.0)
        shrunk: Array = np.repeat(factors, self._partition.counts, axis=0) * V
        return shrunk


def make_penalty(name: str, beta: float, partition: ClassPartition) -> Penalty:
    """Return the penalty called ``ridge``, ``lasso`` or ``group_lasso``."""
    if name == "ridge":
        return Ridge(beta)
    if name == "lasso":
        return Lasso(beta, partition.roots)
    if name == "group_lasso":
        return GroupLasso(beta, partition)
    raise ValueError(f"penalty must be ridge, lasso or group_lasso, got {name!r}")


#: Why a solver stopped.
DIRECT = "direct"
CONVERGED = "tolerance"
EXHAUSTED = "max_iter"


@dataclass(frozen=True, eq=False)
class BlockProblem:
    """``min_w ½wᵀQw - kᵀw + penalty(w)`` for each column k of a block."""

    system: System  #: The matrix Q of the training samples
    #: Kernel values between the training samples, in class order and times the roots of
    #: their weights, and m test samples
    k: Array
    penalty: Penalty  #: Ridge, lasso or group lasso, with its weight β

    @property
    def beta(self) -> float:
        """Weight of the ridge penalty; asking another problem for it is an error."""
        if not isinstance(self.penalty, Ridge):
            raise ValueError("this solver is for the ridge penalty only")
        return self.penalty.beta

    def objective(self, W: Array, QW: Array, columns: NDArray[np.intp]) -> Array:
        """Return the objective of W's columns, which belong to `columns` of k."""
        quadratic = 0.5 * np.einsum("im,im->m", W, QW)
        linear = np.einsum("im,im->m", W, self.k[:, columns])
        value: Array = quadratic - linear + self.penalty.value(W)
        return value


@dataclass(frozen=True, eq=False)
class Solution:
    """What every solver returns."""

    W: Array  #: The representations, rows in class order, in weighted coordinates
    n_iter: NDArray[np.int64]  #: Iterations each test sample took
    #: Objective before the first and after every iteration; NaN once a sample has
    #: stopped. A direct solver has the one row of the solution.
    objective: Array
    #: ``direct``, ``tolerance`` or ``max_iter`` for each test sample
    stop_reason: tuple[str, ...]

    @classmethod
    def direct(cls, problem: BlockProblem, W: Array) -> Solution:
        """Return the solution W of a solver that does not iterate."""
        m = W.shape[1]
        objective = problem.objective(W, problem.system.product(W), np.arange(m))
        ones = np.ones(m, dtype=np.int64)
        return cls(W, ones, objective[None, :], (DIRECT,) * m)


@dataclass(frozen=True)
class StoppingRule:
    """Stop a test sample when ``‖w⁺ - w‖₂ ≤ tol``, and all of them at `max_iter`."""

    tol: float = 1e-5
    max_iter: int = 150
