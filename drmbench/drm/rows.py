"""Row-wise sums of dense or sparse samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from drmbench.drm.partition import Array


def row_products(X: Any, Y: Any) -> Array:
    """Return ``x_i · y_i`` of each pair of rows; X may be sparse."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(Y).sum(axis=1), dtype=np.float64).ravel()
    products: Array = np.einsum("ij,ij->i", X, Y)
    return products


def squared_norms(X: Any) -> Array:
    """Return ``‖x_i‖²`` of each row.

    Examples
    --------
    >>> squared_norms(np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([25.,  1.])
    """
    return row_products(X, X)
