"""Labels as methods get them: class numbers without gaps, rows in a defined order."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from drmbench.methods.base import NO_PREDICTION, Labels


def number_classes(y: Labels) -> tuple[Labels, Labels]:
    """Return the sorted classes of ``y``, and each label's position among them."""
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers.astype(np.int64)


def original_classes(classes: Labels, numbers: ArrayLike) -> Labels:
    """Undo :func:`number_classes`; samples without a prediction stay so.

    Examples
    --------
    >>> original_classes(np.array([2, 7]), [1, 0, -1])
    array([ 7,  2, -1])
    """
    positions = np.asarray(numbers)
    return np.where(positions == NO_PREDICTION, NO_PREDICTION, classes[positions])


def smallest_class_first(y: Labels) -> NDArray[np.intp]:
    """Return row numbers grouped by class: the smallest first, of equal ones the last.

    The published figures were computed on such rows. It shows where neighbours of two
    classes are equally near and the first of them counts.

    Examples
    --------
    >>> smallest_class_first(np.array([0, 1, 0, 0, 1]))
    array([1, 4, 0, 2, 3])
    """
    sizes = np.bincount(y)
    return np.lexsort((-y, sizes[y]))
