"""Nearest shrunken centroids: features whose class means hardly differ drop out."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval

from drmbench.drm.partition import check_samples, check_training, check_two_classes
from drmbench.methods.base import (
    Grid,
    GridAnswer,
    GridPredictions,
    Labels,
    Matrix,
    Method,
    refit_left_out,
)
from drmbench.methods.linear_scores import LinearScores, LogPosteriorMixin

#: Spread within classes that is assumed where there is none, as a share of the total.
_LEAST_SPREAD = 1e-6
#: Spread of a constant feature, as a share of its size.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class CentroidContrasts:
    """How class means differ from the overall mean, ready for any threshold."""

    mean: Matrix  #: Overall mean of the features
    scale: Matrix  #: Spread of the features within classes, plus its median
    factors: Matrix  #: Standard error of a class mean, for a spread of one, (g, 1)
    contrasts: Matrix  #: Standardised differences of the class means, (g, p)
    log_shares: Matrix  #: Logarithms of the classes' shares of the samples

    @classmethod
    def of(cls, X: Matrix, codes: NDArray[np.int64]) -> CentroidContrasts:
        """Compare the means of classes, which are numbered without gaps."""
        n, counts = len(X), np.bincount(codes)
        means = np.stack([X[codes == c].mean(axis=0) for c in range(len(counts))])
        squares = ((X - means[codes]) ** 2).sum(axis=0)
        spread = np.sqrt(squares / max(n - len(counts), 1))
        scale = spread + np.median(spread)
        total, rounding = X.std(axis=0), _ROUNDING * np.abs(X).max(axis=0)
        assumed = np.where(total > rounding, _LEAST_SPREAD * total, 1.0)
        scale = np.where(scale > rounding, scale, assumed)
        factors = np.sqrt(1 / counts - 1 / n)[:, np.newaxis]
        mean = X.mean(axis=0)
        contrasts = (means - mean) / (factors * scale)
        return cls(mean, scale, factors, contrasts, np.log(counts / n))

    def shrunken(self, threshold: float) -> Matrix:
        """Return the differences of means, in units of ``scale``, drawn to zero."""
        sizes = np.maximum(np.abs(self.contrasts) - threshold, 0.0)
        differences: Matrix = self.factors * np.sign(self.contrasts) * sizes
        return differences

    def scores(self, threshold: float) -> LinearScores:
        """Return the scores of the classes with shrunken centroids."""
        differences = self.shrunken(threshold)
        offsets = self.log_shares - 0.5 * (differences**2).sum(axis=1)
        return LinearScores(self.mean, (differences / self.scale).T, offsets)


class ShrunkenCentroids(LogPosteriorMixin, ClassifierMixin, BaseEstimator):
    """Nearest shrunken centroids.

    The differences of class means and overall mean, divided by their standard errors,
    are drawn towards zero by the threshold; what reaches zero takes no part. A sample
    goes to the class with the nearest shrunken centroid, where features count by their
    spread within classes, plus its median over features, and large classes get the
    benefit of their share [1]_.

    Parameters
    ----------
    threshold : float, default=0.0
        By how much standardised differences shrink.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    centroids_ : ndarray of shape (n_classes, n_features)
        The shrunken centroids.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Notes
    -----
    scikit-learn's ``NearestCentroid`` shrinks to the same centroids. It then compares
    unscaled distances if classes have equal shares, and leaves the median out else.

    References
    ----------
    .. [1] R. Tibshirani, T. Hastie, B. Narasimhan, G. Chu, "Diagnosis of multiple
       cancer types by shrunken centroids of gene expression", PNAS 99(10), 6567-6572,
       2002.

    Examples
    --------
    >>> X = [[0.0, 5.0], [0.2, 4.8], [1.0, 5.0], [1.2, 5.2]]
    >>> model = ShrunkenCentroids(threshold=1.0).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[0.1, 7.0], [1.1, 7.0]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "threshold": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, threshold: float = 0.0) -> None:
        self.threshold = threshold

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Compute the shrunken centroids.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Their classes, at least two.
        """
        samples, labels = check_training(self, X, y)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        check_two_classes(self.classes_)
        contrasts = CentroidContrasts.of(samples, codes)
        shrunken = contrasts.shrunken(self.threshold)
        self.centroids_ = contrasts.mean + contrasts.scale * shrunken
        self._linear_scores = contrasts.scores(self.threshold)
        return self

    def _scores(self, X: ArrayLike) -> Matrix:
        samples = check_samples(self, X)
        scores: Matrix = self._linear_scores.of(samples)
        return scores


def predict_grid(
    X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Compare the class means once for every threshold."""
    classes, codes = np.unique(y_train, return_inverse=True)
    contrasts = CentroidContrasts.of(X_train, codes)
    answer = GridAnswer(len(candidates), len(X_test))
    for number, params in enumerate(candidates):
        scores = contrasts.scores(params["threshold"]).of(X_test)
        answer.labels[number] = classes[scores.argmax(axis=1)]
    return answer.finished()


METHODS = (
    Method(
        name="nsc",
        title="Nearest shrunken centroids",
        family="nsc",
        citation="R. Tibshirani, T. Hastie, B. Narasimhan, G. Chu: Diagnosis of"
        " multiple cancer types by shrunken centroids of gene expression. PNAS"
        " 99(10):6567-6572, 2002.",
        build=lambda params, seed: ShrunkenCentroids(**params),
        grid={
            "threshold": (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0)
        },
        predict_grid=predict_grid,
        predict_left_out=refit_left_out(predict_grid),
        prefer=lambda params: (-params["threshold"],),
    ),
)
