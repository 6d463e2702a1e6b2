"""The paper's iterative algorithms, each on a block of test samples at once.

Every test sample has its own problem and stops by its own rule
(:class:`~drmbench.drm.problem.Progress`). All solvers start from w = 0 and spend one
product with Q an iteration: products of iterates are carried along by linearity instead
of being computed again.
"""

from __future__ import annotations

import math
from typing import Literal, Protocol

import numpy as np

from drmbench.drm.partition import Array
from drmbench.drm.problem import Problem, Progress, Solution, StoppingRule

Step = Literal["fixed", "backtracking"]


class Solver(Protocol):
    """Anything that solves a block of problems."""

    def solve(self, problem: Problem) -> Solution:
        """Return the solution of every column of ``problem.k``."""
        ...


def _norms(V: Array) -> Array:
    norms: Array = np.sqrt(np.einsum("im,im->m", V, V))
    return norms


class Momentum:
    """Nesterov's sequence ``d⁺ = (1 + √(1 + 4d²))/2``."""

    def __init__(self) -> None:
        self._d = 1.0

    def advance(self) -> float:
        """Move on by one iteration and return the weight ``(d - 1)/d⁺``."""
        previous = self._d
        self._d = (1.0 + math.sqrt(1.0 + 4.0 * previous * previous)) / 2.0
        return (previous - 1.0) / self._d


class GradientDescent:
    """DRM-GD: steepest descent with exact line search (ridge only).

    ``g = (Q + βI)w - k``, step ``gᵀg / gᵀ(Q + βI)g``. The gradient is updated by the
    same product that gives the step.
    """

    def __init__(self, rule: StoppingRule) -> None:
        self._rule = rule

    def solve(self, problem: Problem) -> Solution:
        """Iterate until every test sample has stopped."""
        beta = problem.beta
        progress = Progress(problem, self._rule)
        W, QW = np.zeros_like(problem.k), np.zeros_like(problem.k)
        gradient = -problem.k
        while progress.running:
            Qg = problem.system.product(gradient)
            squares = np.einsum("im,im->m", gradient, gradient)
            curvature = np.einsum("im,im->m", gradient, Qg) + beta * squares
            # At the exact solution both are 0, and so is the step.
            step = np.divide(
                squares, curvature, out=np.zeros_like(squares), where=curvature > 0
            )
            W -= step * gradient
            QW -= step * Qg
            going_on = progress.step(W, QW, step * np.sqrt(squares))
            gradient -= step * (Qg + beta * gradient)
            if not going_on.all():
                W, QW, gradient = W[:, going_on], QW[:, going_on], gradient[:, going_on]
        return progress.solution()


class ProximalPoint:
    """DRM-PPA: ``w⁺ = (k - Qw + cw)/(β + c)`` with ``c ≥ σ_max(Q)``.

    This is a proximal gradient step of length 1/c, and with the proximal map of
    another penalty it solves the lasso members of the family.

    Parameters
    ----------
    rule : StoppingRule
        When to stop.
    c : float
        Upper bound of Q's largest eigenvalue.
    """

    def __init__(self, rule: StoppingRule, c: float) -> None:
        self._rule = rule
        self._c = float(c)

    def solve(self, problem: Problem) -> Solution:
        """Iterate until every test sample has stopped."""
        progress = Progress(problem, self._rule)
        W, QW = np.zeros_like(problem.k), np.zeros_like(problem.k)
        while progress.running:
            forward = W - (QW - problem.k[:, progress.active]) / self._c
            W_next = problem.penalty.prox(forward, 1.0 / self._c)
            change = _norms(W_next - W)
            W, QW = W_next, problem.system.product(W_next)
            going_on = progress.step(W, QW, change)
            W, QW = W[:, going_on], QW[:, going_on]
        return progress.solution()


class AcceleratedGradient:
    """DRM-APG: Nesterov's accelerated gradient, step 1/b (ridge only).

    Parameters
    ----------
    rule : StoppingRule
        When to stop.
    c : float
        With ``step="fixed"``: upper bound of Q's largest eigenvalue, ``b = c + β``.
    step : {"fixed", "backtracking"}
        With backtracking b starts at ``β + 1`` for every test sample and is doubled
        until ``gᵀQg ≤ (b - β) gᵀg``; it needs no eigenvalue.
    """

    def __init__(self, rule: StoppingRule, c: float, step: Step = "fixed") -> None:
        self._rule = rule
        self._c = float(c)
        self._step = step

    def solve(self, problem: Problem) -> Solution:
        """Iterate until every test sample has stopped."""
        beta = problem.beta
        progress = Progress(problem, self._rule)
        W, QW = np.zeros_like(problem.k), np.zeros_like(problem.k)
        V, QV = W, QW
        start = 1.0 if self._step == "backtracking" else self._c
        b = np.full(problem.k.shape[1], beta + start)
        momentum = Momentum()
        while progress.running:
            gradient = QV + beta * V - problem.k[:, progress.active]
            Qg = problem.system.product(gradient)
            if self._step == "backtracking":
                b = _enlarge(b, beta, gradient, Qg)
            W_next, QW_next = V - gradient / b, QV - Qg / b
            push = momentum.advance()
            V, QV = W_next + push * (W_next - W), QW_next + push * (QW_next - QW)
            going_on = progress.step(W_next, QW_next, _norms(W_next - W))
            W, QW = W_next[:, going_on], QW_next[:, going_on]
            V, QV, b = V[:, going_on], QV[:, going_on], b[going_on]
        return progress.solution()


def _enlarge(b: Array, beta: float, gradient: Array, Qg: Array) -> Array:
    """Double each b until the step 1/b is safe along its gradient.

    ``Qg`` does not depend on b, so the search costs no product.
    """
    squares = np.einsum("im,im->m", gradient, gradient)
    bends = np.einsum("im,im->m", gradient, Qg)
    needed = np.divide(bends, squares, out=np.zeros_like(bends), where=squares > 0)
    factor = np.maximum(needed / (b - beta), 1.0)
    grown: Array = beta + (b - beta) * 2.0 ** np.ceil(np.log2(factor))
    return grown


class AcceleratedProximal:
    """Accelerated proximal gradient for any penalty (lasso, group lasso).

    Parameters
    ----------
    rule : StoppingRule
        When to stop.
    c : float
        Upper bound of Q's largest eigenvalue, or with backtracking the start value.
    step : {"fixed", "backtracking"}
        Backtracking starts at 1 and doubles until the quadratic model majorises.
    """

    def __init__(self, rule: StoppingRule, c: float, step: Step = "fixed") -> None:
        self._rule = rule
        self._c = float(c)
        self._step = step

    def solve(self, problem: Problem) -> Solution:
        """Iterate until every test sample has stopped."""
        progress = Progress(problem, self._rule)
        W, QW = np.zeros_like(problem.k), np.zeros_like(problem.k)
        V, QV = W, QW
        # One step length for the block: the largest any of its samples needed so far.
        c = 1.0 if self._step == "backtracking" else self._c
        momentum = Momentum()
        while progress.running:
            gradient = QV - problem.k[:, progress.active]
            W_next = problem.penalty.prox(V - gradient / c, 1.0 / c)
            QW_next = problem.system.product(W_next)
            while self._step == "backtracking" and _too_long(
                W_next - V, QW_next - QV, c
            ):
                c *= 2.0
                W_next = problem.penalty.prox(V - gradient / c, 1.0 / c)
                QW_next = problem.system.product(W_next)
            push = momentum.advance()
            V, QV = W_next + push * (W_next - W), QW_next + push * (QW_next - QW)
            going_on = progress.step(W_next, QW_next, _norms(W_next - W))
            W, QW = W_next[:, going_on], QW_next[:, going_on]
            V, QV = V[:, going_on], QV[:, going_on]
        return progress.solution()


def _too_long(move: Array, Q_move: Array, c: float) -> bool:
    bends = np.einsum("im,im->m", move, Q_move)
    allowed = c * np.einsum("im,im->m", move, move)
    return bool((bends > allowed * (1 + 1e-12)).any())
