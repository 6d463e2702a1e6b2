"""Checks of arguments shared by the functions of this package."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.kernels import check_symmetric
from drmbench.drm.partition import Array


def check_weights(alpha: Any, beta: Any) -> None:
    """Refuse weights outside ``alpha ≥ 0``, ``beta > 0``."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not isinstance(value, (int, float, np.integer, np.floating)):
            raise ValueError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(alpha) or alpha < 0:
        raise ValueError(f"alpha must be a finite number >= 0, got {alpha!r}")
    if not math.isfinite(beta) or beta <= 0:
        raise ValueError(f"beta must be a finite number > 0, got {beta!r}")


def check_labelled(X: Any, y: Any) -> tuple[Array, NDArray[Any]]:
    """Return X as finite float64 and y as labels, one a row, of two or more classes."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    y = np.asarray(y)
    if X.ndim != 2 or y.shape != (X.shape[0],):
        raise ValueError(
            f"expected a matrix and one label a row, got shapes {X.shape} and {y.shape}"
        )
    if not np.isfinite(X).all():
        raise ValueError("the matrix contains NaN or infinity")
    if np.unique(y).size < 2:
        raise ValueError("y has one class only; two or more are needed")
    return X, y


def check_kernel_problem(
    K: Any, y: Any, alpha: float, beta: float
) -> tuple[Array, NDArray[Any]]:
    """Check everything a leave-one-out on a kernel matrix needs."""
    check_weights(alpha, beta)
    K, y = check_labelled(K, y)
    check_symmetric(K)
    return K, y
