"""Gaussian classes with one covariance, where a direction may have no spread at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

#: Least variance within classes, as a share of the total variance.
_LEAST_SPREAD = 1e-12


@dataclass(frozen=True, eq=False)
class SharedCovarianceGaussians:
    """Linear discriminant scores of Gaussian classes with shares as priors.

    Attributes
    ----------
    weights : ndarray of shape (n_components, n_classes)
        Weights of the centred projections.
    offsets : ndarray of shape (n_classes,)
        Added to them.
    """

    weights: Matrix
    offsets: Vector

    @classmethod
    def fit(cls, Z: Matrix, codes: NDArray[np.int64]) -> SharedCovarianceGaussians:
        """Estimate class means, shares and the pooled covariance.

        Where the classes have no spread, a spread far below the distance of their
        means is assumed, so that the nearest mean decides; where nothing varies at
        all, the shares decide.

        Parameters
        ----------
        Z : ndarray of shape (n_samples, n_components)
            Projections with mean zero.
        codes : ndarray of shape (n_samples,)
            Class numbers 0 … n_classes − 1, each present.

        Returns
        -------
        SharedCovarianceGaussians
            The fitted classes.
        """
        spread = np.sqrt(np.mean(Z**2, axis=0))
        unit = np.where(spread > 0, spread, 1.0)
        scaled = Z / unit
        counts = np.bincount(codes)
        means = np.stack([scaled[codes == c].mean(axis=0) for c in range(len(counts))])
        precision = _pooled_precision(scaled - means[codes])
        weights = precision @ means.T
        offsets = np.log(counts / len(codes)) - 0.5 * np.sum(means.T * weights, axis=0)
        return cls(weights / unit[:, np.newaxis], offsets)

    def scores(self, Z: Matrix) -> Matrix:
        """Return log posterior probabilities up to a constant a row."""
        scores: Matrix = Z @ self.weights + self.offsets
        return scores


def _pooled_precision(deviations: Matrix) -> Matrix:
    """Invert the pooled covariance, in units in which the total variances are 1.

    The divisor is n (maximum likelihood), as in scikit-learn's discriminant analysis.
    """
    values, vectors = np.linalg.eigh(deviations.T @ deviations / len(deviations))
    precision: Matrix = vectors / np.maximum(values, _LEAST_SPREAD) @ vectors.T
    return precision
