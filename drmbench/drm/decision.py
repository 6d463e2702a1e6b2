"""The decision rule: how far a test sample is from a class (docs/math.md, section 2).

For a representation w of the test sample x,
``δ_c = w_cᵀKw_c + w_c̄ᵀKw_c̄ - 2 w_cᵀk_x``, and the predicted class has the smallest δ.
Expanding the second term gives all classes from one product ``K W`` and one with the
class blocks of K.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.errors import IllConditionedError
from drmbench.drm.partition import Array
from drmbench.drm.system import System


def dissimilarities(system: System, W: Array, k: Array) -> Array:
    """Return δ for each test sample and class, (m, g).

    The columns of `W` and `k`, both (n, m), are the test samples' representations and
    kernel values with the training samples; their rows are in class order.
    """
    own = system.partition.class_sums(W * system.block_product(W))
    total = system.partition.class_sums(W * system.kernel_product(W))
    fit = system.partition.class_sums(W * k)
    delta: Array = 2.0 * own + total.sum(axis=0) - 2.0 * total - 2.0 * fit
    return delta.T


def dissimilarities_of_vectors(vectors: Array, X: Array) -> Array:
    """Return the same from features: ``δ_c = ‖u_c‖² + ‖u - u_c‖² - 2 u_cᵀx``.

    The vectors, (g, p, m), are ``u_c = A_c w_c`` of each class and test sample
    (:meth:`~drmbench.drm.system.FactoredSystem.class_vectors`), the rows of X the
    samples.
    """
    others = vectors.sum(axis=0) - vectors
    delta: Array = (
        np.einsum("cpm,cpm->mc", vectors, vectors)
        + np.einsum("cpm,cpm->mc", others, others)
        - 2.0 * np.einsum("cpm,mp->mc", vectors, X)
    )
    return delta


def check_finite(values: Array) -> Array:
    """Return what was found for test samples, unless numbers overflowed on the way."""
    if not np.isfinite(values).all():
        raise IllConditionedError(
            "the representation or dissimilarity of a test sample overflows: its kernel"
            " values are too large; scale the features"
        )
    return values


def nearest_class(delta: Array, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the class with the smallest dissimilarity; the first of equals.

    Raises
    ------
    IllConditionedError
        If a dissimilarity is NaN, so that no class can honestly be named.
    """
    check_defined(delta)
    nearest: NDArray[Any] = classes[np.argmin(delta, axis=1)]
    return nearest


def check_defined(delta: Array) -> None:
    """Refuse dissimilarities that are NaN."""
    if np.isnan(delta).any():
        raise IllConditionedError(
            "a dissimilarity is not a number: the system is too ill-conditioned to"
            " name a class; scale the features or raise beta"
        )


def decision_values(delta: Array) -> Array:
    """Return scores, higher is better: -δ, or δ₀ - δ₁ for two classes, (m,)."""
    if delta.shape[1] == 2:
        scores: Array = delta[:, 0] - delta[:, 1]
        return scores
    return -delta


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
        return decision_values(self.dissimilarities(X))

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
