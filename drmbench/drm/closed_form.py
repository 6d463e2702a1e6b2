"""The closed form: one Cholesky factorisation, then triangular solves for a block."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import lapack

from drmbench.drm.decision import dissimilarities
from drmbench.drm.errors import ConditioningWarning, IllConditionedError
from drmbench.drm.partition import Array
from drmbench.drm.problem import DIRECT, Problem, Solution
from drmbench.drm.system import DenseSystem


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


def reciprocal_condition(factor: Array, norm: float) -> float:
    """Estimate 1/cond of a factorised matrix from its 1-norm, in O(n²)."""
    rcond, _ = lapack.dpocon(factor, norm, uplo="L")
    return float(rcond)


class ClosedForm:
    """Solver ``w = (Q + βI)⁻¹ k`` for a dense system.

    Parameters
    ----------
    system : DenseSystem
        The matrix Q.
    beta : float
        The ridge β > 0.

    Attributes
    ----------
    rcond : float
        Estimated reciprocal condition of ``Q + βI``.
    """

    def __init__(self, system: DenseSystem, beta: float) -> None:
        matrix = system.matrix(beta)
        norm = float(np.abs(matrix).sum(axis=0).max())
        self._factor = factorise(matrix, f"Q + βI with beta={beta:g}")
        self.rcond = reciprocal_condition(self._factor, norm)

    def warn_if_ill_conditioned(self) -> None:
        """Warn when fewer than about two digits of the solution can be trusted."""
        if self.rcond < 100 * np.finfo(float).eps:
            warnings.warn(
                f"the system is ill-conditioned (reciprocal condition {self.rcond:.1g})"
                ": close predictions depend on rounding; scale the features or raise"
                " beta",
                ConditioningWarning,
                stacklevel=4,
            )

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

    def solve(self, problem: Problem) -> Solution:
        """Solve for a block of test samples, and tell the objective they reach."""
        W = self.representations(problem.k)
        columns = np.arange(problem.k.shape[1])
        objective = problem.objective(W, problem.system.product(W), columns)
        return Solution(
            W,
            np.ones(columns.size, dtype=np.int64),
            objective[None, :],
            (DIRECT,) * columns.size,
        )


def closed_form_dissimilarities(system: DenseSystem, k: Array, beta: float) -> Array:
    """Return δ, (m, g), of test samples by the closed form.

    Parameters
    ----------
    system : DenseSystem
        The training samples, in class order.
    k : ndarray of shape (n, m)
        Kernel between training and test samples.
    beta : float
        The ridge β > 0.
    """
    # Not by way of a Solution: its objective would cost as much as the solution.
    return dissimilarities(system, ClosedForm(system, beta).representations(k), k)
