"""The optimisation problem a solver is given and the solution it gives back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.partition import Array
from drmbench.drm.penalties import Penalty, Ridge
from drmbench.drm.system import System

#: Why a solver stopped.
DIRECT = "direct"
CONVERGED = "tolerance"
EXHAUSTED = "max_iter"


@dataclass(frozen=True, eq=False)
class Problem:
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


@dataclass(frozen=True)
class StoppingRule:
    """Stop a test sample when ``‖w⁺ - w‖₂ ≤ tol``, and all of them at `max_iter`."""

    tol: float = 1e-5
    max_iter: int = 150


class Progress:
    """Keeps the samples still iterating, and collects those that have stopped.

    Solvers hold arrays for the active columns only: when samples stop, their columns
    are stored here and dropped from the solver's arrays, so a block never costs more
    than its slowest samples.
    """

    def __init__(self, problem: Problem, rule: StoppingRule) -> None:
        n, m = problem.k.shape
        self._problem = problem
        self._rule = rule
        self._W = np.zeros((n, m))
        self._n_iter = np.zeros(m, dtype=np.int64)
        self._reasons = [EXHAUSTED] * m
        self._objective = [np.full(m, np.nan)]
        self._objective[0][:] = problem.penalty.value(self._W)
        self.active: NDArray[np.intp] = np.arange(m)

    @property
    def running(self) -> bool:
        """Whether any sample is left and iterations remain."""
        return self.active.size > 0 and len(self._objective) <= self._rule.max_iter

    def step(self, W: Array, QW: Array, change: Array) -> NDArray[np.bool_]:
        """Record an iteration and return which active columns go on.

        Parameters
        ----------
        W, QW : ndarray of shape (n, active)
            The new iterates and their product with Q.
        change : ndarray of shape (active,)
            ``‖w⁺ - w‖₂``.
        """
        row = np.full(self._n_iter.size, np.nan)
        row[self.active] = self._problem.objective(W, QW, self.active)
        self._objective.append(row)
        self._n_iter[self.active] += 1
        stopped = change <= self._rule.tol
        last = len(self._objective) > self._rule.max_iter
        done = np.ones_like(stopped) if last else stopped
        self._W[:, self.active[done]] = W[:, done]
        for column in self.active[stopped]:
            self._reasons[column] = CONVERGED
        going_on = ~done
        self.active = self.active[going_on]
        return going_on

    def solution(self) -> Solution:
        """Return what was collected."""
        return Solution(
            self._W, self._n_iter, np.array(self._objective), tuple(self._reasons)
        )
