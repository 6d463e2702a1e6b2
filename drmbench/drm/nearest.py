"""From dissimilarities to scores and predicted classes, for every estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.errors import IllConditionedError
from drmbench.drm.partition import Array


def nearest_class(delta: Array, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the class with the smallest dissimilarity; the first of equals.

    Raises
    ------
    IllConditionedError
        If a dissimilarity is NaN, so that no class can honestly be named.
    """
    if np.isnan(delta).any():
        raise IllConditionedError(
            "a dissimilarity is not a number: the system is too ill-conditioned to"
            " name a class; scale the features or raise beta"
        )
    nearest: NDArray[Any] = classes[np.argmin(delta, axis=1)]
    return nearest


class NearestClassMixin:
    """`predict` and `decision_function` of an estimator that has `dissimilarities`."""

    classes_: NDArray[Any]

    def dissimilarities(self, X: Any) -> Array:
        """Return δ, (m, g)."""
        raise AssertionError("every estimator has dissimilarities of its own")

    def decision_function(self, X: Any) -> Array:
        """Return scores, higher is better: -δ, or δ₀ - δ₁ for two classes.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Test samples.

        Returns
        -------
        ndarray of shape (m, g), or (m,) for two classes
        """
        delta = self.dissimilarities(X)
        if self.classes_.size == 2:
            scores: Array = delta[:, 0] - delta[:, 1]
            return scores
        return -delta

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the smallest dissimilarity.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Test samples.

        Returns
        -------
        ndarray of shape (m,)
        """
        return nearest_class(self.dissimilarities(X), self.classes_)
