"""How a search judges candidates: any scorer, without a refit.

A scorer asks an estimator for labels, decision values or probabilities. Here the
estimator is a stand-in that knows the dissimilarities of the samples to be judged.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer

from drmbench.drm.decision import decision_values, nearest_class
from drmbench.drm.partition import Array
from drmbench.drm.probability import SoftmaxMap
from drmbench.metrics import accuracy_score, balanced_accuracy_score, gmean_score

#: ``score(y_true, y_pred)``, higher is better.
LabelScore = Callable[..., float]
#: ``scorer(estimator, X, y)``, higher is better.
Scorer = Callable[..., float]

#: Functions that some of scikit-learn's scorers equal.
LABEL_SCORES: dict[str, LabelScore] = {
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
}


class HeldOutClassifier(ClassifierMixin, BaseEstimator):
    """Stands in for the estimators that certain samples were held out of.

    It knows the dissimilarities δ of these samples, X, and answers for them only;
    `calibration` returns the map from δ to probabilities.
    """

    def __init__(
        self,
        X: Array,
        delta: Array,
        classes: NDArray[Any],
        calibration: Callable[[], SoftmaxMap],
    ) -> None:
        self.X = X
        self.delta = delta
        self.classes = classes
        self.calibration = calibration
        self.classes_ = classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the nearest class of each held-out sample."""
        self._check(X)
        return nearest_class(self.delta, self.classes_)

    def decision_function(self, X: Any) -> Array:
        """Return -δ of the held-out samples, or δ₀ - δ₁ for two classes."""
        self._check(X)
        return decision_values(self.delta)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities of the held-out samples."""
        self._check(X)
        return self.calibration().log_probabilities(self.delta)

    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities of the held-out samples."""
        return np.exp(self.predict_log_proba(X))

    def _check(self, X: Any) -> None:
        if X is not self.X and not np.array_equal(X, self.X):
            raise ValueError(
                "a scorer may ask for the held-out samples only, all of them in order"
            )


class LabelClassifier(ClassifierMixin, BaseEstimator):
    """Stands in for an estimator whose predictions are known, and nothing else."""

    def __init__(self, labels: NDArray[Any], classes: NDArray[Any]) -> None:
        self.labels = labels
        self.classes = classes
        self.classes_ = classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the known labels."""
        return self.labels


@dataclass(frozen=True, eq=False)
class Scoring:
    """How good a candidate is; higher is better."""

    scorer: Scorer  #: Judges an estimator
    of_labels: LabelScore | None = None  #: The same, if predictions are all it needs

    @property
    def takes_weights(self) -> bool:
        """Whether samples may count more or less than once."""
        if self.of_labels is not None:
            return _has_weights(self.of_labels)
        asked = getattr(self.scorer, "_accept_sample_weight", None)
        return bool(asked()) if asked else _has_weights(self.scorer)

    def judge(
        self, model: Any, X: Any, y: NDArray[Any], weights: Array | None
    ) -> float:
        """Return the score of an estimator."""
        options = {} if weights is None else {"sample_weight": weights}
        return float(self.scorer(model, X, y, **options))

    def judge_labels(
        self, y: NDArray[Any], labels: NDArray[Any], weights: Array | None
    ) -> float:
        """Return the score of predictions, where they are all that it needs."""
        assert self.of_labels is not None
        options = {} if weights is None else {"sample_weight": weights}
        return float(self.of_labels(y, labels, **options))

    @classmethod
    def of(cls, scoring: Any) -> Scoring:
        """Find a scorer by name, or take a callable.

        A callable with two required arguments is ``score(y_true, y_pred)``, any other,
        and one whose first argument is called ``estimator``, is
        ``scorer(estimator, X, y)``.

        Raises
        ------
        ValueError
            If it is neither a callable nor a name that is known.

        Examples
        --------
        >>> Scoring.of("neg_log_loss").scorer
        make_scorer(log_loss, greater_is_better=False, response_method='predict_proba')
        >>> Scoring.of("gmean").scorer
        make_scorer(gmean_score, response_method='predict')
        """
        if callable(scoring):
            if _takes_labels(scoring):
                return cls(make_scorer(scoring), scoring)
            return cls(scoring)
        if isinstance(scoring, str):
            if scoring == "gmean":
                return cls(make_scorer(gmean_score), gmean_score)
            if scoring in get_scorer_names():
                return cls(get_scorer(scoring), LABEL_SCORES.get(scoring))
        raise ValueError(
            "scoring must be 'gmean', a name of sklearn.metrics.get_scorer_names(), a"
            " scorer(estimator, X, y) or a function score(y_true, y_pred), got"
            f" {scoring!r}"
        )


def _has_weights(function: Callable[..., Any]) -> bool:
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except ValueError:  # a builtin
        return False


def _takes_labels(scoring: Callable[..., Any]) -> bool:
    """Tell ``score(y_true, y_pred)`` from ``scorer(estimator, X, y)``."""
    try:
        parameters = inspect.signature(scoring).parameters.values()
    except ValueError:  # a builtin
        return True
    positional = [
        p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    required = [p for p in positional if p.default is p.empty]
    named = bool(positional) and positional[0].name == "estimator"
    return len(required) == 2 and not named
