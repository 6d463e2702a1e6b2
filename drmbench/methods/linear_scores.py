"""Classifiers whose log posterior probabilities are linear in the sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from drmbench.methods.base import Matrix


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Log posterior probabilities of the classes, up to a constant per sample."""

    mean: Matrix  #: Subtracted from samples
    weights: Matrix  #: One column per class
    offsets: Matrix  #: Added, one per class

    def of(self, X: Matrix) -> Matrix:
        """Return the scores of samples, (m, n_classes)."""
        scores: Matrix = (X - self.mean) @ self.weights + self.offsets
        return scores


class LogPosteriorMixin:
    """What a classifier can say that has log posterior probabilities."""

    classes_: NDArray[Any]

    def _scores(self, X: ArrayLike) -> Matrix:
        """Return log posterior probabilities up to a constant per row."""
        raise AssertionError("every estimator has scores of its own")

    def decision_function(self, X: ArrayLike) -> Matrix:
        """Return the classes' log posterior probabilities up to a constant per row.

        For two classes these are the second's minus the first's, (n_samples,).
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each sample, the first in a tie."""
        best = self._scores(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """Return posterior probabilities, in the order of ``classes_``."""
        return np.asarray(softmax(self._scores(X), axis=1))
