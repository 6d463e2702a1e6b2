"""Scaling of features by their largest absolute value, and from which rows it is taken.

``separate`` is what the published figures used: the test part is divided by maxima of
its own, so a test sample's features depend on the other test samples, and training and
test part are not even in the same units. It is kept to reproduce those figures only;
like them it multiplies by reciprocals, which rounds differently from a division and so
decides differently between neighbours at equal distances.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Scaling = Literal["none", "maxabs", "separate"]


def feature_scales(X: Matrix) -> Matrix:
    """Return each column's largest absolute value, 1 for a column of zeros.

    Examples
    --------
    >>> feature_scales(np.array([[1.0, 0.0], [-4.0, 0.0]]))
    array([4., 1.])
    """
    largest = np.abs(X).max(axis=0)
    largest[largest == 0] = 1.0
    return np.asarray(largest, dtype=np.float64)


def scale_train(scaling: Scaling, X_train: Matrix) -> Matrix:
    """Return the training part as ``scaling`` has it."""
    return _scaled(scaling, X_train, scaled_by=X_train)


def scale_test(scaling: Scaling, X_train: Matrix, X_test: Matrix) -> Matrix:
    """Return the test part as ``scaling`` has it."""
    own = scaling == "separate"
    return _scaled(scaling, X_test, scaled_by=X_test if own else X_train)


def scale_test_by_training(X_train: Matrix, X_test: Matrix) -> Matrix:
    """Return the test part as ``separate`` would have it without its leak.

    It is scaled by the training part's maxima, with the same reciprocals as the
    training part was, so that only the maxima differ from ``separate``.

    Examples
    --------
    >>> scale_test_by_training(np.array([[2.0], [-4.0]]), np.array([[1.0]]))
    array([[0.25]])
    """
    return _scaled("separate", X_test, scaled_by=X_train)


def _scaled(scaling: Scaling, X: Matrix, *, scaled_by: Matrix) -> Matrix:
    if scaling == "none":
        return X
    if scaling == "maxabs":
        return X / feature_scales(scaled_by)
    return X * (1.0 / feature_scales(scaled_by))
