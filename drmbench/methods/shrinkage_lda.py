"""Linear discriminant analysis whose covariance is drawn towards a sphere.

The covariance within classes, ``S``, becomes ``(1 − γ)S + γμI`` with its mean variance
``μ``. Its eigenvectors are those of ``S``, so one singular value decomposition of the
samples' deviations from their class means serves every ``γ``, and no matrix of all
pairs of features is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
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
    fewest_coordinates,
    left_out_by_refits,
)
from drmbench.methods.linear_scores import LinearScores, LogPosteriorMixin

#: Variance within classes that is assumed where there is none, as a share of the total.
_LEAST_SPREAD = 1e-12


@dataclass(frozen=True, eq=False)
class PooledCovariance:
    """Class means and the covariance within classes, ready for any shrinkage."""

    mean: Matrix  #: Overall mean
    differences: Matrix  #: Class means less the overall mean, (g, p)
    variances: Matrix  #: Eigenvalues of the covariance that are not zero
    directions: Matrix  #: Their eigenvectors, as rows
    mean_variance: float  #: Mean of all eigenvalues
    log_shares: Matrix  #: Logarithms of the classes' shares of the samples

    @classmethod
    def of(
        cls, X: Matrix, codes: NDArray[np.int64], n_features: int | None = None
    ) -> PooledCovariance:
        """Decompose the deviations from class means; classes have no gaps.

        With `n_features`, the samples are given in coordinates of a subspace that holds
        them all, and have so many features.
        """
        n, counts, mean = len(X), np.bincount(codes), X.mean(axis=0)
        means = np.stack([X[codes == c].mean(axis=0) for c in range(len(counts))])
        _, values, directions = np.linalg.svd(X - means[codes], full_matrices=False)
        # The covariance divides by n (maximum likelihood), as scikit-learn's.
        variances = values**2 / n
        mean_variance = variances.sum() / (n_features or X.shape[1])
        if not mean_variance > 0:
            mean_variance = _LEAST_SPREAD * X.var(axis=0).mean() or 1.0
        shares = np.log(counts / n)
        return cls(
            mean, means - mean, variances, directions, float(mean_variance), shares
        )

    def scores(self, shrinkage: float) -> LinearScores:
        """Return the scores of Gaussian classes with the shrunken covariance."""
        sphere = shrinkage * self.mean_variance
        shrunken = (1 - shrinkage) * self.variances + sphere
        inside = self.differences @ self.directions.T
        weights = self.differences / sphere
        weights += (inside * (1 / shrunken - 1 / sphere)) @ self.directions
        offsets = self.log_shares - 0.5 * (self.differences * weights).sum(axis=1)
        return LinearScores(self.mean, weights.T, offsets)


class ShrinkageLDA(LogPosteriorMixin, ClassifierMixin, BaseEstimator):
    """Linear discriminant analysis with a covariance that is shrunken to a sphere.

    Classes are Gaussian with one covariance, ``(1 − shrinkage) S + shrinkage·μI``, with
    ``S`` estimated within classes and its mean variance ``μ``. Their shares of the
    samples are the prior probabilities [1]_ [2]_.

    Parameters
    ----------
    shrinkage : float, default=0.1
        Share of the sphere, above 0 and at most 1; the nearest class mean decides at 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Notes
    -----
    It equals scikit-learn's ``LinearDiscriminantAnalysis`` with the solver "lsqr" and
    the same shrinkage, in time and memory linear in the number of features.

    References
    ----------
    .. [1] J. H. Friedman, "Regularized discriminant analysis", Journal of the American
       Statistical Association 84(405), 165-175, 1989.
    .. [2] Y. Guo, T. Hastie, R. Tibshirani, "Regularized linear discriminant analysis
       and its application in microarrays", Biostatistics 8(1), 86-100, 2007.

    Examples
    --------
    >>> X = [[0.0, 5.0], [0.2, 4.8], [1.0, 5.0], [1.2, 5.2]]
    >>> model = ShrinkageLDA().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[0.1, 5.0], [1.1, 5.0]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "shrinkage": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(self, *, shrinkage: float = 0.1) -> None:
        self.shrinkage = shrinkage

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Estimate the class means and the covariance.

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
        covariance = PooledCovariance.of(samples, codes)
        self._linear_scores = covariance.scores(self.shrinkage)
        return self

    def _scores(self, X: ArrayLike) -> Matrix:
        samples = check_samples(self, X)
        scores: Matrix = self._linear_scores.of(samples)
        return scores


def predict_grid(
    X_train: Matrix,
    y_train: Labels,
    X_test: Matrix,
    candidates: Grid,
    *,
    seed: int,
    n_features: int | None = None,
) -> GridPredictions:
    """Decompose the covariance once for every shrinkage."""
    classes, codes = np.unique(y_train, return_inverse=True)
    covariance = PooledCovariance.of(X_train, codes, n_features)
    answer = GridAnswer(len(candidates), len(X_test))
    for number, params in enumerate(candidates):
        scores = covariance.scores(params["shrinkage"]).of(X_test)
        answer.labels[number] = classes[scores.argmax(axis=1)]
    return answer.finished()


def predict_left_out(
    X: Matrix, y: Labels, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Fit without each sample, in the fewest coordinates that hold all of them."""
    refit = partial(predict_grid, n_features=X.shape[1])
    Z = fewest_coordinates(X)[0]
    return left_out_by_refits(refit, Z, y, candidates, seed=seed)


METHODS = (
    Method(
        name="lda-shrinkage",
        title="Linear discriminant analysis, shrunken covariance",
        family="lda",
        citation="J. H. Friedman: Regularized discriminant analysis. JASA"
        " 84(405):165-175, 1989; Y. Guo, T. Hastie, R. Tibshirani: Regularized linear"
        " discriminant analysis and its application in microarrays. Biostatistics"
        " 8(1):86-100, 2007.",
        build=lambda params, seed: ShrinkageLDA(**params),
        grid={"shrinkage": (0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)},
        predict_grid=predict_grid,
        predict_left_out=predict_left_out,
        prefer=lambda params: (-params["shrinkage"],),
    ),
)
