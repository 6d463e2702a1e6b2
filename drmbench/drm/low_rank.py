"""Low-rank kernels: features F with K ≈ F Fᵀ, for the linear algorithms.

The factor is a pivoted Cholesky factorisation stopped early: a Nyström approximation
whose landmarks are chosen one by one where the kernel is worst approximated. It is
deterministic, costs O(nr²), and its error ``trace(K - FFᵀ)`` is known exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from drmbench.drm.partition import Array

KernelFunction = Callable[[Any, Any], Array]


class LowRankMap:
    """Feature map of a kernel from a few landmarks among the training samples.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Training samples.
    kernel : callable
        ``kernel(X, Y)`` returns the kernel matrix between rows.
    diagonal : ndarray of shape (n,)
        ``k(x_i, x_i)``.
    rank : int
        Largest number of landmarks.
    tol : float, default=1e-12
        Stop early once the residual trace falls below this share of the trace.

    Attributes
    ----------
    landmarks : ndarray of shape (r,)
        Numbers of the chosen training samples.
    train_features : ndarray of shape (n, r)
        F.
    residual : float
        ``trace(K - FFᵀ) / trace(K)``.
    """

    def __init__(
        self,
        X: Any,
        kernel: KernelFunction,
        diagonal: Array,
        rank: int,
        tol: float = 1e-12,
    ) -> None:
        n = X.shape[0]
        self._kernel = kernel
        features = np.zeros((n, min(rank, n)))
        left = diagonal.astype(np.float64).copy()
        total = float(left.sum())
        chosen: list[int] = []
        for column in range(features.shape[1]):
            pivot = int(np.argmax(left))
            if left[pivot] <= tol * max(total, np.finfo(float).tiny):
                break
            values = kernel(X, X[[pivot]])[:, 0]
            values = values - features[:, :column] @ features[pivot, :column]
            features[:, column] = values / np.sqrt(left[pivot])
            left -= features[:, column] ** 2
            left[pivot] = 0.0
            np.maximum(left, 0.0, out=left)
            chosen.append(pivot)
        self.landmarks: NDArray[np.intp] = np.array(chosen, dtype=np.intp)
        self.train_features = np.ascontiguousarray(features[:, : len(chosen)])
        self.residual = float(left.sum()) / total if total else 0.0
        self._landmark_rows = X[self.landmarks]
        self._triangle = self.train_features[self.landmarks]

    def transform(self, X: Any) -> Array:
        """Return the features of new samples, (m, r)."""
        K = self._kernel(X, self._landmark_rows)
        features: Array = solve_triangular(self._triangle, K.T, lower=True).T
        return np.ascontiguousarray(features)
