"""Scaling of features, and from which rows it is taken.

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
Scaling = Literal["none", "standard", "robust", "maxabs", "separate"]


def feature_scales(X: Matrix) -> Matrix:
    """Return each column's largest absolute value, 1 for a column of zeros.

    Examples
    --------
    >>> feature_scales(np.array([[1.0, 0.0], [-4.0, 0.0]]))
    array([4., 1.])
    """
    largest = np.nanmax(np.abs(X), axis=0)
    largest[largest == 0] = 1.0
    return np.asarray(largest, dtype=np.float64)


def centre_and_scale(scaling: Scaling, X: Matrix) -> tuple[Matrix, Matrix]:
    """Return what is subtracted from each column, and what it is then divided by.

    ``standard`` has the mean and the standard deviation, ``robust`` the median and the
    distance of the quartiles, or the standard deviation where that is 0. A constant
    column is not divided, and missing values (NaN) are passed over; some must be known.

    Examples
    --------
    >>> centre_and_scale("standard", np.array([[1.0, 5.0], [3.0, 5.0]]))
    (array([2., 5.]), array([1., 1.]))
    """
    if scaling == "none":
        return np.zeros(X.shape[1]), np.ones(X.shape[1])
    if scaling in ("maxabs", "separate"):
        return np.zeros(X.shape[1]), feature_scales(X)
    centre, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    # What rounding leaves of the deviations from a constant is no deviation.
    scale[scale <= 10 * np.finfo(np.float64).eps * np.abs(centre)] = 1.0
    if scaling == "robust":
        low, centre, high = np.nanquantile(X, (0.25, 0.5, 0.75), axis=0)
        scale = np.where(high > low, high - low, scale)
    return centre, scale


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
    if scaling == "separate":
        return X * (1.0 / feature_scales(scaled_by))
    if scaling == "maxabs":
        return X / feature_scales(scaled_by)
    centre, scale = centre_and_scale(scaling, scaled_by)
    return (X - centre) / scale
