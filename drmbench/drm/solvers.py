"""The closed form and the paper's iterative algorithms, on blocks of test samples.

Every test sample has its own problem and, in the iterative algorithms, stops by its own
rule (:class:`BlockProgress`). These start from w = 0 and spend one product with Q per
iteration: products of iterates are carried along by linearity instead of being computed
again.
"""

from __future__ import annotations

import math
import warnings
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from drmbench.drm.errors import ConditioningWarning, IllConditionedError
from drmbench.drm.partition import Array
from drmbench.drm.system import (
    CONVERGED,
    EXHAUSTED,
    BlockProblem,
    DenseSystem,
    Solution,
    StoppingRule,
)

Step = Literal["fixed", "backtracking"]

#: With a smaller 1/cond, about two digits of a solution or fewer can be trusted. No
#: system is that bad whose β is a larger share of the trace of K + αH.
TINY = 100 * float(np.finfo(float).eps)


def factorise(matrix: Array, what: str) -> Array:
    """Return the lower Cholesky factor of a positive definite matrix.

    The matrix is overwritten where LAPACK can. Only the lower triangle of the result
    is meaningful.

    Raises
    ------
    IllConditionedError
        If the matrix is not positive definite in double precision.
    """
    factor, info = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        raise IllConditionedError(
            f"{what} is not positive definite in double precision: the kernel's values"
            f" (up to {np.abs(np.diagonal(matrix)).max():.2g}) swamp the ridge; use a"
            " larger beta, scaled features or a lower polynomial degree"
        )
    result: Array = factor
    return result


def factorise_system(system: DenseSystem, beta: float) -> tuple[Array, float]:
    """Return the lower Cholesky factor of ``Q + βI``, and an estimate of 1/cond."""
    matrix = system.matrix(beta)
    norm = float(np.abs(matrix).sum(axis=0).max())
    factor = factorise(matrix, f"Q + βI with beta={beta:g}")
    rcond, _ = lapack.dpocon(factor, norm, uplo="L")
    return factor, float(rcond)


def reciprocal_condition(matrix: Array) -> float:
    """Estimate 1/cond of a symmetric matrix; 0 if it is not positive definite."""
    norm = float(np.abs(matrix).sum(axis=0).max(initial=0.0))
    factor, info = lapack.dpotrf(matrix, lower=1, clean=0)
    return float(lapack.dpocon(factor, norm, uplo="L")[0]) if info == 0 else 0.0


def warn_if_ill_conditioned(rcond: float, stacklevel: int = 3) -> None:
    """Warn when fewer than about two digits of a solution can be trusted."""
    if rcond < TINY:
        warnings.warn(
            f"the system is ill-conditioned (reciprocal condition {rcond:.1g})"
            ": close predictions depend on rounding; scale the features or raise"
            " beta",
            ConditioningWarning,
            stacklevel=stacklevel,
        )


def check_minimum(system: DenseSystem, beta: float) -> None:
    """Refuse a system that is indefinite although β is added, as far as one can tell.

    The closed form notices; an iterative solver would return some point on the way
    down. Negative eigenvalues that rounding may have caused pass.

    Raises
    ------
    IllConditionedError
        If there is no minimum, or none that is unique.
    """
    rounding = 1e-8 * float(np.abs(system.diagonal).sum())
    matrix = system.matrix(max(beta, rounding, np.finfo(float).tiny))
    if lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)[1] != 0:
        raise IllConditionedError(
            "the kernel matrix is not positive semidefinite and the problem has no"
            " minimum; with penalty='ridge' a larger beta may give it one"
        )


def solve_spd(matrix: Array, right: Array, what: str) -> Array:
    """Solve with a symmetric positive definite p × p matrix, or raise clearly."""
    factor = factorise(matrix.copy(), what)
    solution, info = lapack.dpotrs(factor, right, lower=1)
    if info != 0 or not np.isfinite(solution).all():
        raise IllConditionedError(f"{what} could not be solved in double precision")
    result: Array = solution
    return result


class Solver(Protocol):
    """Anything that solves a block of problems."""

    def solve(self, problem: BlockProblem) -> Solution:
        """Return the solution of every column of ``problem.k``."""
        ...


class ClosedForm:
    """Solver ``w = (Q + βI)⁻¹ k`` for a dense system; `rcond` estimates 1/cond."""

    def __init__(self, system: DenseSystem, beta: float) -> None:
        self._factor, self.rcond = factorise_system(system, beta)

    def warn_if_ill_conditioned(self) -> None:
        """Warn when fewer than about two digits of the solution can be trusted."""
        warn_if_ill_conditioned(self.rcond, stacklevel=5)

    def representations(self, k: Array) -> Array:
        """Return w for a block of test samples at once, (n, m) like ``k``.

        Raises
        ------
        IllConditionedError
            If one of them is not finite.
        """
        W, info = lapack.dpotrs(self._factor, k, lower=1)
        if info != 0 or not np.isfinite(W).all():
            raise IllConditionedError(
                "the representation of a test sample is not finite; its kernel values"
                " are too large: scale the features"
            )
        result: Array = W
        return result

    def solve(self, problem: BlockProblem) -> Solution:
        """Solve for a block of test samples, and tell the objective they reach."""
        return Solution.direct(problem, self.representations(problem.k))


class BlockProgress:
    """Keeps the samples still iterating, and collects those that have stopped.

    Solvers hold arrays for the active columns only: when samples stop, their columns
    are stored here and dropped from the solver's arrays, so a block never costs more
    than its slowest samples.
    """

    def __init__(self, problem: BlockProblem, rule: StoppingRule) -> None:
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
        """Record an iteration's ``‖w⁺ - w‖₂``; return which active columns go on."""
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


class IterativeSolver:
    """What the iterative algorithms are given.

    `c` is an upper bound of Q's largest eigenvalue, unused where a step length is
    searched; `step` says whether an accelerated algorithm searches it.
    """

    def __init__(
        self, rule: StoppingRule, c: float = 1.0, step: Step = "fixed"
    ) -> None:
        self._rule = rule
        self._c = float(c)
        self._step = step


class GradientDescent(IterativeSolver):
    """DRM-GD: steepest descent with exact line search (ridge only).

    ``g = (Q + βI)w - k``, step ``gᵀg / gᵀ(Q + βI)g``. The gradient is updated by the
    same product that gives the step.
    """

    def solve(self, problem: BlockProblem) -> Solution:
        """Iterate until every test sample has stopped."""
        beta = problem.beta
        progress = BlockProgress(problem, self._rule)
        W, QW = np.zeros_like(problem.k), np.zeros_like(problem.k)
        gradient = -problem.k
        while progress.running:
            Qg = problem.system.product(gradient)
            squares = np.einsum("im,im->m", gradient, gradient)
            curvature = np.einsum("im,im->m", gradient, Qg) + beta * squares
            # At the exact solution both are 0, and so is the step; NaN stays NaN.
            step = np.divide(
                squares, curvature, out=np.zeros_like(squares), where=~(curvature <= 0)
            )
            W -= step * gradient
            QW -= step * Qg
            going_on = progress.step(W, QW, step * np.sqrt(squares))
            gradient -= step * (Qg + beta * gradient)
            if not going_on.all():
                W, QW, gradient = W[:, going_on], QW[:, going_on], gradient[:, going_on]
        return progress.solution()


class ProximalPoint(IterativeSolver):
    """DRM-PPA: ``w⁺ = (k - Qw + cw)/(β + c)`` with ``c ≥ σ_max(Q)``.

    This is a proximal gradient step of length 1/c, and with the proximal map of
    another penalty it solves the lasso members of the family.
    """

    def solve(self, problem: BlockProblem) -> Solution:
        """Iterate until every test sample has stopped."""
        progress = BlockProgress(problem, self._rule)
        W, QW = np.zeros_like(problem.k), np.zeros_like(problem.k)
        while progress.running:
            forward = W - (QW - problem.k[:, progress.active]) / self._c
            W_next = problem.penalty.prox(forward, 1.0 / self._c)
            change = _norms(W_next - W)
            W, QW = W_next, problem.system.product(W_next)
            going_on = progress.step(W, QW, change)
            W, QW = W[:, going_on], QW[:, going_on]
        return progress.solution()


class AcceleratedGradient(IterativeSolver):
    """DRM-APG: Nesterov's accelerated gradient, step 1/b (ridge only).

    The fixed b is ``c + β``. With backtracking b starts at ``β + 1`` for every test
    sample and is doubled until ``gᵀQg ≤ (b - β) gᵀg``; it needs no eigenvalue.
    """

    def solve(self, problem: BlockProblem) -> Solution:
        """Iterate until every test sample has stopped."""
        beta = problem.beta
        progress = BlockProgress(problem, self._rule)
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
    """Double each b until the step 1/b is safe along its gradient; costs no product."""
    squares = np.einsum("im,im->m", gradient, gradient)
    bends = np.einsum("im,im->m", gradient, Qg)
    needed = np.divide(bends, squares, out=np.zeros_like(bends), where=squares > 0)
    factor = np.maximum(needed / (b - beta), 1.0)
    grown: Array = beta + (b - beta) * 2.0 ** np.ceil(np.log2(factor))
    return grown


class AcceleratedProximal(IterativeSolver):
    """Accelerated proximal gradient for any penalty (lasso, group lasso).

    Backtracking starts at 1 and doubles until the quadratic model majorises.
    """

    def solve(self, problem: BlockProblem) -> Solution:
        """Iterate until every test sample has stopped."""
        progress = BlockProgress(problem, self._rule)
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
