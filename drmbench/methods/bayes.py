"""Gaussian naive Bayes with the n - 1 variance, and its exact leave-one-out.

Leaving a sample out changes the mean and variance of its own class only (and the
smoothing term), so all leave-one-out predictions cost about as much as one fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from drmbench.drm.partition import check_samples, check_training
from drmbench.methods.base import (
    Grid,
    GridAnswer,
    GridPredictions,
    Labels,
    Matrix,
    Method,
    MethodFailedError,
)

#: A sum of squares that shrinks by more than this is computed again, not downdated.
_CANCELLED = 1e-4


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and sums of squared deviations of the columns of some samples.

    A constant column has a sum of exactly zero, whatever its mean rounds to.
    """

    count: int
    means: Matrix
    squares: Matrix

    @property
    def variances(self) -> Matrix:
        """The n - 1 variances; zero where a single sample leaves them undefined."""
        return self.squares / max(self.count - 1, 1)


def moments(X: Matrix) -> Moments:
    """Return the moments of the columns of `X`."""
    constant = X.min(axis=0) == X.max(axis=0)
    means = np.where(constant, X[0], X.mean(axis=0))
    squares = np.square(X - means).sum(axis=0)
    return Moments(len(X), means, squares)


def left_out_moments(X: Matrix) -> Moments:
    """Return the moments without each sample in turn, one row per sample left out.

    The sums are downdated; where that would cancel (the sample left out is most of the
    sum) they are computed again, so that a column that becomes constant is seen as
    such.
    """
    n = len(X)
    everything = moments(X)
    deviations = X - everything.means
    means = everything.means - deviations / (n - 1)
    squares = everything.squares - np.square(deviations) * (n / (n - 1))
    cancelled = squares <= _CANCELLED * everything.squares
    for column in np.flatnonzero(cancelled.any(axis=0)):
        for row in np.flatnonzero(cancelled[:, column]):
            rest = moments(np.delete(X[:, [column]], row, axis=0))
            means[row, column] = rest.means[0]
            squares[row, column] = rest.squares[0]
    return Moments(n - 1, means, squares)


def _log_density(X: Matrix, means: Matrix, variances: Matrix) -> Matrix:
    """Return each row's log density under independent normals, up to a constant."""
    with np.errstate(over="ignore"):
        terms = np.log(variances) + np.square(X - means) / variances
    return -0.5 * np.asarray(terms.sum(axis=1))


def _smoothing(share: float, largest_variance: Any) -> Any:
    """Return what is added to every variance; one if the data has no variance."""
    return np.where(largest_variance > 0, share * largest_variance, 1.0)


def _judge(
    variances: Matrix, zero_variance: str, class_name: Any
) -> tuple[Matrix, NDArray[np.bool_]]:
    """Return a class's variances, fit to divide by, and which rows have no density."""
    zero = variances == 0
    if zero_variance == "fail" and zero.any():
        raise MethodFailedError(
            f"naive Bayes: feature {np.argwhere(zero)[0, 1]} has no variance in class"
            f" {class_name}; use zero_variance='smooth'"
        )
    return np.where(zero, 1.0, variances), zero.any(axis=1)


def _most_probable(scores: Matrix) -> NDArray[np.intp]:
    """Return the best column of each row; a row without any density is a failure."""
    if np.isneginf(scores).all(axis=1).any():
        raise MethodFailedError(
            "naive Bayes: every class has only one sample, or a feature without"
            " variance; use zero_variance='smooth'"
        )
    best: NDArray[np.intp] = scores.argmax(axis=1)
    return best


class GaussianNaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes with a normal distribution per class and feature.

    Variances divide by n - 1; priors are the class frequencies.

    Parameters
    ----------
    zero_variance : {"smooth", "exclude", "fail"}, default="smooth"
        "smooth" adds ``var_smoothing`` times the largest variance of any feature to
        every variance, as scikit-learn does; a class of one sample has variance zero
        before that. The others add nothing. A class in which some feature does not vary
        (or that has only one sample) has no density: "exclude" never predicts it,
        which is how the published figures come about, and "fail" refuses the data.
    var_smoothing : float, default=1e-9
        Share of the largest variance that is added.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_prior_ : ndarray of shape (n_classes,)
        Their frequencies.
    theta_, var_ : ndarray of shape (n_classes, n_features)
        Means and (smoothed) variances.

    References
    ----------
    G. H. John and P. Langley, "Estimating continuous distributions in Bayesian
    classifiers", UAI 1995.

    Examples
    --------
    >>> model = GaussianNaiveBayes().fit([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> model.predict([[0.4], [4.0]])
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "zero_variance": [StrOptions({"smooth", "exclude", "fail"})],
        "var_smoothing": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self, *, zero_variance: str = "smooth", var_smoothing: float = 1e-9
    ) -> None:
        self.zero_variance = zero_variance
        self.var_smoothing = var_smoothing

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate means, variances and priors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Their classes.
        """
        X, y = check_training(self, X, y)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.class_prior_ = counts / len(y)
        parts = [moments(X[y == name]) for name in self.classes_]
        self.theta_ = np.array([part.means for part in parts])
        self.var_ = np.array([part.variances for part in parts])
        if self.zero_variance == "smooth":
            self.var_ += _smoothing(self.var_smoothing, X.var(axis=0).max())
        judged = [
            _judge(variances[None], self.zero_variance, name)
            for variances, name in zip(self.var_, self.classes_, strict=True)
        ]
        self.var_ = np.concatenate([variances for variances, _ in judged])
        excluded = np.concatenate([has_none for _, has_none in judged])
        self._log_weights = np.where(excluded, -np.inf, np.log(self.class_prior_))
        _most_probable(self._log_weights[None])  # at least one class has a density
        return self

    def predict_joint_log_proba(self, X: Any) -> Matrix:
        """Return log prior plus log density of each class, up to a constant."""
        X = check_samples(self, X)
        densities = [
            _log_density(X, means, variances)
            for means, variances in zip(self.theta_, self.var_, strict=True)
        ]
        return np.stack(densities, axis=1) + self._log_weights

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        best = _most_probable(self.predict_joint_log_proba(X))
        predicted: NDArray[Any] = self.classes_[best]
        return predicted

    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each class, (m, n_classes)."""
        joint = self.predict_joint_log_proba(X)
        _most_probable(joint)  # a row without any density has no probabilities either
        return np.asarray(softmax(joint, axis=1))


def left_out_labels(
    X: Matrix, y: Labels, *, zero_variance: str, var_smoothing: float
) -> Labels:
    """Return the class each sample gets from a fit on all the others.

    Raises
    ------
    MethodFailedError
        If any of those fits would fail.
    """
    added: Any = 0.0
    if zero_variance == "smooth":
        largest = (left_out_moments(X).squares / (len(X) - 1)).max(axis=1)
        added = _smoothing(var_smoothing, largest)[:, None]
    classes = np.unique(y)
    scores = np.full((len(X), len(classes)), -np.inf)
    for number, name in enumerate(classes):
        members = y == name
        whole = moments(X[members])
        means = np.tile(whole.means, (len(X), 1))
        variances = np.tile(whole.variances, (len(X), 1))
        if whole.count > 1:
            rest = left_out_moments(X[members])
            means[members], variances[members] = rest.means, rest.variances
        counts = whole.count - members.astype(np.float64)
        here = np.flatnonzero(counts)  # elsewhere the class went with its one sample
        usable, excluded = _judge((variances + added)[here], zero_variance, name)
        log_prior = np.log(counts[here] / (len(X) - 1))
        scores[here, number] = np.where(
            excluded, -np.inf, log_prior + _log_density(X[here], means[here], usable)
        )
    predicted: Labels = classes[_most_probable(scores)]
    return predicted


def predict_left_out(
    X: Matrix, y: Labels, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Leave-one-out predictions of every candidate (there is usually one)."""
    answer = GridAnswer(len(candidates), len(X))
    for number, params in enumerate(candidates):
        with answer.attempt([number]):
            answer.labels[number] = left_out_labels(X, y, **params)
    return answer.finished()


METHODS = (
    Method(
        name="nb",
        title="Gaussian naive Bayes",
        family="nb",
        citation="G. H. John, P. Langley: Estimating continuous distributions in"
        " Bayesian classifiers. UAI, 338-345, 1995.",
        build=lambda params, seed: GaussianNaiveBayes(**params),
        defaults={"zero_variance": "smooth", "var_smoothing": 1e-9},
        paper_params={"zero_variance": "exclude"},
        column="NB",
        predict_left_out=predict_left_out,
    ),
)
