"""Exact leave-one-out dissimilarities for kernel DRM in O(n³), not O(n⁴).

Leaving out sample i of class c deletes row and column i of ``Q + βI`` and changes its
class block from ``K_cc/n_c`` to ``K_cc/(n_c - 1)``. Both are low-rank corrections of
one inverse M, shared by all samples of the class (math note, section 6).

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

from drmbench.drm.closed_form import factorise, reciprocal_condition
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.left_out import LeftOutClass
from drmbench.drm.linear_loo import linear_loo_dissimilarities
from drmbench.drm.nearest import nearest_class
from drmbench.drm.partition import Array, ClassPartition
from drmbench.drm.system import DenseSystem
from drmbench.drm.validation import check_kernel_problem

#: The error of an unrefined solution grows with the square of the condition number;
#: below this reciprocal condition one refinement step is worth its price.
REFINE_BELOW = 1e-4

__all__ = [
    "linear_loo_dissimilarities",
    "loo_dissimilarities",
    "loo_dissimilarities_in_class_order",
    "loo_predict",
]


def loo_dissimilarities(K: Any, y: Any, alpha: float, beta: float) -> Array:
    """Return δ of every sample, each left out of the training set in turn.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric kernel matrix of the samples.
    y : array-like of shape (n,)
        Class labels.
    alpha : float
        Weight α ≥ 0 of the within-class scatter; 0 is kernel ridge representation.
    beta : float
        Ridge β > 0.

    Returns
    -------
    ndarray of shape (n, g)
        Columns are the sorted classes. A sample that is alone in its class finds
        ``inf`` there: without it the class does not exist.

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
    K, y = check_kernel_problem(K, y, alpha, beta)
    partition = ClassPartition.of(y)
    order = partition.order
    system = DenseSystem(K[np.ix_(order, order)], partition, alpha)
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
    M, rcond = _inverse(system.matrix(beta), beta)
    delta = np.empty((partition.n_samples, partition.n_classes))
    for code in range(partition.n_classes):
        left_out = LeftOutClass(system, M, beta, code)
        W = left_out.representations(refine=rcond < REFINE_BELOW)
        delta[partition.blocks[code]] = _left_out_decision(system, W, beta, code)
    return delta


def _inverse(matrix: Array, beta: float) -> tuple[Array, float]:
    """Invert a symmetric positive definite matrix; also return 1/condition."""
    norm = float(np.abs(matrix).sum(axis=0).max())
    factor = factorise(matrix, f"Q + βI with beta={beta:g}")
    rcond = reciprocal_condition(factor, norm)
    inverse, info = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if info != 0 or not np.isfinite(inverse).all():
        raise IllConditionedError("Q + βI could not be inverted in double precision")
    _mirror_lower(inverse)
    return inverse, rcond


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
