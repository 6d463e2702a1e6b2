"""The DRM with a threshold between two classes, chosen by leave-one-out.

Leave-one-out gives δ₀ - δ₁ of every training sample; the threshold t that puts them
right best, by a metric of labels, is one sort (docs/math.md, section 11). More classes
have no threshold: there the method is the plain DRM.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from drmbench.drm.classifier import DRMClassifier
from drmbench.drm.decision import check_defined, decision_values, nearest_class
from drmbench.drm.grid import Candidate, left_out_dissimilarities
from drmbench.drm.kernels import Kernel
from drmbench.drm.partition import check_samples, check_training, check_two_classes
from drmbench.drm.threshold import JudgedSamples, best_threshold
from drmbench.methods.base import (
    Grid,
    GridAnswer,
    GridPredictions,
    Labels,
    Matrix,
)
from drmbench.methods.drm import EVERY, held_out_grid, left_out_grid
from drmbench.methods.kernel_grid import estimator_arguments
from drmbench.metrics import (
    METRICS,
    ClassRoles,
    accuracy_score,
    balanced_accuracy_score,
    get_metric,
    gmean_score,
)

#: Metrics that a threshold can be chosen by.
THRESHOLD_METRICS = tuple(
    name for name, m in METRICS.items() if m.scalar and m.needs == "labels"
)


#: Those among them of which one sort tells the score at every threshold.
_COUNTED = {
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
    "gmean": gmean_score,
}


def tuned_threshold(values: Matrix, y: Labels, metric: str) -> float:
    """Return the threshold on δ₀ - δ₁ that is best for samples of classes 0 and 1."""
    found, roles = get_metric(metric, scalar=True), ClassRoles.of(y)

    def judge(_: int, ones: NDArray[np.bool_]) -> float:
        return found.score(y, ones.astype(np.int64), roles)

    samples = JudgedSamples(values, y == 1)
    return best_threshold([samples], _COUNTED.get(metric), judge).threshold


class ThresholdDRM(ClassifierMixin, BaseEstimator):
    """Discriminative Ridge Machine that moves the boundary between two classes.

    Class 1 is predicted where δ₀ - δ₁ exceeds a threshold that leave-one-out chose on
    the training samples. With more than two classes it is a :class:`DRMClassifier`.

    Parameters
    ----------
    alpha, beta, kernel, gamma, degree, coef0
        As in :class:`~drmbench.DRMClassifier`; a kernel is "linear", "poly" or "rbf".
    metric : str, default="gmean"
        A metric of predicted labels, which the threshold maximises.

    Attributes
    ----------
    threshold_ : float or None
        The threshold; None for more than two classes.
    model_ : DRMClassifier
        The machine itself.
    classes_ : ndarray of shape (g,)
        The class labels, sorted.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [0.3], [0.4], [0.5], [0.6], [0.7], [0.6], [0.9]]
    >>> y = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    >>> DRMClassifier(gamma=1.0).fit(X, y).predict([[0.8]])
    array([0])
    >>> ThresholdDRM(gamma=1.0).fit(X, y).predict([[0.8]])
    array([1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: DRMClassifier._parameter_constraints[name]
            for name in ("alpha", "beta", "gamma", "degree", "coef0")
        },
        "kernel": [StrOptions({"linear", "poly", "rbf"})],
        "metric": [StrOptions(set(THRESHOLD_METRICS))],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        metric: str = "gmean",
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.metric = metric

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.kernel == "linear"
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the machine, and choose the threshold by leave-one-out.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Training samples.
        y : array-like of shape (n,)
            Class labels of any kind.
        """
        X, y = check_training(self, X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        check_two_classes(self.classes_)
        settings = self.get_params()
        del settings["metric"]
        self.model_ = DRMClassifier(**settings).fit(X, y)
        self.threshold_: float | None = None
        if len(self.classes_) == 2:
            kernel: Kernel = self.model_._kernel
            candidate = Candidate(float(self.alpha), float(self.beta), kernel)
            delta = left_out_dissimilarities(X, codes, candidate)
            check_defined(delta)
            self.threshold_ = tuned_threshold(
                decision_values(delta), codes.astype(np.int64), self.metric
            )
        return self

    def decision_function(self, X: Any) -> Matrix:
        """Return -δ, or δ₀ - δ₁ less the threshold, positive for the second class."""
        X = check_samples(self, X)
        values: Matrix = self.model_.decision_function(X)
        return values if self.threshold_ is None else values - self.threshold_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        values = self.decision_function(X)
        if self.threshold_ is None:
            return nearest_class(-values, self.classes_)
        predicted: NDArray[Any] = self.classes_[(values > 0).astype(np.intp)]
        return predicted


def predict_grid(
    X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Choose each candidate's threshold by leave-one-out of the training part."""
    found = held_out_grid(X_train, y_train, X_test, candidates, _values)
    answer = GridAnswer(len(candidates), len(X_test))
    tuned = dict(left_out_grid(X_train, y_train, candidates, _values))
    for number, evaluation in found:
        left_out = tuned[number]
        if evaluation.failure or left_out.failure:
            answer.failures[number] = evaluation.failure or left_out.failure
            continue
        metric = str(candidates[number]["metric"])
        answer.labels[number] = _labels(
            evaluation.value, left_out.value, y_train, metric
        )
    return answer.finished()


def predict_left_out(
    X: Matrix, y: Labels, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Judge each candidate at the threshold that is best for the left-out samples.

    It is not what refits would give: these would choose a threshold without the sample.
    All candidates are flattered alike.
    """
    answer = GridAnswer(len(candidates), len(X))
    for number, evaluation in left_out_grid(X, y, candidates, _values):
        if evaluation.failure:
            answer.failures[number] = evaluation.failure
            continue
        metric, values = str(candidates[number]["metric"]), evaluation.value
        answer.labels[number] = _labels(values, values, y, metric)
    return answer.finished()


def _values(_: Labels, delta: Matrix) -> Matrix:
    check_defined(delta)
    return decision_values(delta)


def _labels(values: Matrix, left_out: Matrix, y: Labels, metric: str) -> Labels:
    """Return class numbers from decision values, with a threshold for two classes."""
    if values.ndim == 2:
        best: Labels = values.argmax(axis=1)
        return best
    threshold = tuned_threshold(left_out, y, metric)
    return (values - threshold > 0).astype(np.int64)


METHODS = (
    dataclasses.replace(
        EVERY,
        name="drm-threshold",
        title="DRM, selected kernel, threshold chosen by leave-one-out",
        citation=f"Not in the paper: a tuned threshold for {EVERY.citation}",
        build=lambda params, seed: ThresholdDRM(**estimator_arguments(params)),
        defaults={**EVERY.defaults, "metric": "gmean"},
        predict_grid=predict_grid,
        predict_left_out=predict_left_out,
        score_grid=None,
        score_left_out=None,
        exact_left_out=False,
    ),
)
