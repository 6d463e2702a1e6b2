"""The decision rule: a class's dissimilarity from a test sample (math note, section 2).

For a representation w of the test sample x,
``δ_c = w_cᵀKw_c + w_c̄ᵀKw_c̄ - 2 w_cᵀk_x``, and the predicted class has the smallest δ.
Expanding the second term gives all classes from one product ``K W`` and one with the
class blocks of K.
"""

from __future__ import annotations

import numpy as np

from drmbench.drm.partition import Array
from drmbench.drm.system import FactoredSystem, System


def dissimilarities(system: System, W: Array, k: Array) -> Array:
    """Return δ for each test sample and class.

    Parameters
    ----------
    system : System
        The training samples, in class order.
    W : ndarray of shape (n, m)
        Representation of each of m test samples, rows in class order.
    k : ndarray of shape (n, m)
        Kernel between training and test samples.

    Returns
    -------
    ndarray of shape (m, g)
    """
    own = system.partition.class_sums(W * system.block_product(W))
    total = system.partition.class_sums(W * system.kernel_product(W))
    fit = system.partition.class_sums(W * k)
    delta: Array = 2.0 * own + total.sum(axis=0) - 2.0 * total - 2.0 * fit
    return delta.T


def factored_dissimilarities(system: FactoredSystem, W: Array, X: Array) -> Array:
    """Return δ from features: the same, with ``u_c = A_c w_c`` and no kernel.

    Parameters
    ----------
    system : FactoredSystem
        The training samples, in class order.
    W : ndarray of shape (n, m)
        Representation of each of m test samples.
    X : ndarray of shape (m, p)
        Features of the test samples.

    Returns
    -------
    ndarray of shape (m, g)
    """
    return dissimilarities_of_vectors(system.class_vectors(W), X)


def dissimilarities_of_vectors(vectors: Array, X: Array) -> Array:
    """Return ``δ_c = ‖u_c‖² + ‖u - u_c‖² - 2 u_cᵀx``.

    Parameters
    ----------
    vectors : ndarray of shape (g, p, m)
        ``u_c`` of each class and test sample.
    X : ndarray of shape (m, p)
        The test samples.

    Returns
    -------
    ndarray of shape (m, g)
    """
    others = vectors.sum(axis=0) - vectors
    delta: Array = (
        np.einsum("cpm,cpm->mc", vectors, vectors)
        + np.einsum("cpm,cpm->mc", others, others)
        - 2.0 * np.einsum("cpm,mp->mc", vectors, X)
    )
    return delta
