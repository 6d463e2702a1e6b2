"""The optimisation problem a solver is given, and the solution it gives back.

The family has three penalties: ridge, lasso and group lasso (math note, section 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.partition import Array, ClassPartition
from drmbench.drm.system import System


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
    """``β‖w‖₁``, (q, r) = (1, 1)."""

    def __init__(self, beta: float) -> None:
        self.beta = float(beta)

    def value(self, W: Array) -> Array:
        """Return ``β‖w‖₁`` of each column."""
        value: Array = self.beta * np.abs(W).sum(axis=0)
        return value

    def prox(self, V: Array, step: float) -> Array:
        """Soft-threshold every entry."""
        shrunk: Array = np.sign(V) * np.maximum(np.abs(V) - step * self.beta, 0.0)
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
        return Lasso(beta)
    if name == "group_lasso":
        return GroupLasso(beta, partition)
    raise ValueError(f"penalty must be ridge, lasso or group_lasso, got {name!r}")


#: Why a solver stopped.
DIRECT = "direct"
CONVERGED = "tolerance"
EXHAUSTED = "max_iter"


@dataclass(frozen=True, eq=False)
class BlockProblem:
    """``min_w ½wᵀQw - kᵀw + penalty(w)`` for each column k of a block.

    Attributes
    ----------
    system : System
        The matrix Q of the training samples.
    k : ndarray of shape (n, m)
        Kernel between the training samples, in class order, and m test samples.
    penalty : Penalty
        Ridge, lasso or group lasso, with its weight β.
    """

    system: System
    k: Array
    penalty: Penalty

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
    """What every solver returns.

    Attributes
    ----------
    W : ndarray of shape (n, m)
        The representations, rows in class order.
    n_iter : ndarray of shape (m,)
        Iterations each test sample took.
    objective : ndarray of shape (T + 1, m)
        Objective before the first and after every iteration; NaN once a sample
        has stopped. A direct solver has the one row of the solution.
    stop_reason : tuple of str
        ``direct``, ``tolerance`` or ``max_iter`` for each test sample.
    """

    W: Array
    n_iter: NDArray[np.int64]
    objective: Array
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
