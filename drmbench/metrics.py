"""How good predictions are: a registry of metrics, mean and spread, the best of many.

Every metric counts a sample without a prediction
(:data:`~drmbench.methods.base.NO_PREDICTION`) as wrong, because that number is no
class's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from drmbench.errors import InputError, did_you_mean

Values = NDArray[np.float64]

#: Scores this close are ties: sums of the same terms in another order may differ so.
TIE_TOLERANCE = 1e-12


@dataclass(frozen=True)
class ClassRoles:
    """What a metric must know of the problem besides the labels."""

    classes: tuple[int, ...]  #: All class numbers
    #: The minority class of a two-class problem; None for more classes
    positive: int | None = None

    @classmethod
    def of(cls, y: NDArray[np.int64]) -> ClassRoles:
        """Describe the problem that the labels ``y`` (of training rows) pose.

        The smaller of two classes is positive; of two equal ones, the second.
        """
        classes, counts = np.unique(y, return_counts=True)
        labels = tuple(int(label) for label in classes)
        if len(labels) != 2:
            return cls(labels)
        return cls(labels, labels[0] if counts[0] < counts[1] else labels[1])


def _recalls(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
) -> Values:
    """Recall of each class present in ``y_true``, classes sorted.

    A class is not present if its samples all have the weight 0.
    """
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    if truth.ndim != 1 or truth.shape != predicted.shape or not len(truth):
        raise ValueError(
            "y_true and y_pred must be one-dimensional, of the same length and not"
            f" empty; their shapes are {truth.shape} and {predicted.shape}"
        )
    _, numbers, counts = np.unique(truth, return_inverse=True, return_counts=True)
    right = np.asarray(truth == predicted, dtype=np.float64)
    if sample_weight is None:
        return np.asarray(np.bincount(numbers, right) / counts, dtype=np.float64)
    weights = np.asarray(sample_weight, dtype=np.float64)
    masses = np.bincount(numbers, weights)
    kept = masses > 0
    return np.asarray(np.bincount(numbers, right * weights)[kept] / masses[kept])


def accuracy_score(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Share of the samples whose label is predicted."""
    right = np.asarray(y_true) == np.asarray(y_pred)
    weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
    return float(np.average(right, weights=weights))


def gmean_score(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Geometric mean of the recalls of the classes present in ``y_true``.

    For two classes this is the G-mean of the imbalanced-learning literature, the
    square root of sensitivity times specificity, whichever class is called positive.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, of any kind.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts in the recall of its class.

    Returns
    -------
    float
        Between 0 (some class is never recognised) and 1.

    Examples
    --------
    >>> gmean_score(["a", "a", "a", "a", "b"], ["a", "a", "a", "b", "b"])
    0.866...
    """
    recalls = _recalls(y_true, y_pred, sample_weight)
    product = float(np.prod(recalls))
    if len(recalls) == 2:
        return math.sqrt(product)
    return float(product ** (1 / len(recalls)))


def balanced_accuracy_score(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Mean of the recalls of the classes present in ``y_true``."""
    return float(_recalls(y_true, y_pred, sample_weight).mean())


def confusion_matrix(
    y_true: ArrayLike, y_pred: ArrayLike, classes: Sequence[int]
) -> NDArray[np.int64]:
    """Count the samples of each true class (row) and predicted class (column).

    Samples without a prediction are in no column, so a row may sum to less than the
    class has samples.
    """
    truth = np.asarray(y_true)[:, None] == np.asarray(classes)
    predicted = np.asarray(y_pred)[:, None] == np.asarray(classes)
    return np.asarray(truth.T.astype(np.int64) @ predicted.astype(np.int64))


def recall_per_class(
    y_true: ArrayLike, y_pred: ArrayLike, classes: Sequence[int]
) -> Values:
    """Recall of each of ``classes``; NaN for one that ``y_true`` does not have."""
    labels = np.asarray(classes)
    sizes = (np.asarray(y_true)[:, None] == labels).sum(axis=0)
    correct = np.diag(confusion_matrix(y_true, y_pred, classes))
    recalls = np.full(len(labels), np.nan)
    np.divide(correct, sizes, out=recalls, where=sizes > 0)
    return recalls


def f1_score(y_true: ArrayLike, y_pred: ArrayLike, roles: ClassRoles) -> float:
    """F1 of the positive class; for more than two classes the mean over them (macro).

    The mean is over classes that are true or predicted for some sample; F1 is 0 where
    no sample of the class is recognised.
    """
    counts = confusion_matrix(y_true, y_pred, roles.classes)
    sizes = sum(
        (np.asarray(labels)[:, None] == np.asarray(roles.classes)).sum(axis=0)
        for labels in (y_true, y_pred)
    )
    scores = 2 * np.diag(counts) / np.maximum(sizes, 1)
    if roles.positive is not None:
        return float(scores[roles.classes.index(roles.positive)])
    return float(scores[sizes > 0].mean())


@dataclass(frozen=True)
class Metric:
    """One entry of the metric registry."""

    name: str  #: Name in configs, and the column in results
    label: str  #: What a reader sees
    #: ``function(y_true, y_pred, roles)`` returns a number, or an array for a metric
    #: that is not ``scalar``
    function: Callable[[ArrayLike, ArrayLike, ClassRoles], Any]
    #: Which of two values is the better one
    better: Literal["higher", "lower", "none"] = "higher"
    worst: float = 0.0  #: The worst value possible
    #: Whether it is one number, so that it can select parameters and be averaged
    scalar: bool = True

    def score(self, y_true: ArrayLike, y_pred: ArrayLike, roles: ClassRoles) -> float:
        """Return a scalar metric's value with the sign that makes higher better."""
        value = float(self.function(y_true, y_pred, roles))
        return -value if self.better == "lower" else value


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "Accuracy", lambda y, p, _: accuracy_score(y, p)),
        Metric(
            "gmean",
            "G-mean (geometric mean of recalls)",
            lambda y, p, _: gmean_score(y, p),
        ),
        Metric(
            "balanced_accuracy",
            "Balanced accuracy (mean recall)",
            lambda y, p, _: balanced_accuracy_score(y, p),
        ),
        Metric("f1", "F1 (minority class; macro mean if multi-class)", f1_score),
        Metric(
            "recall",
            "Recall of each class",
            lambda y, p, roles: recall_per_class(y, p, roles.classes),
            scalar=False,
        ),
        Metric(
            "confusion",
            "Confusion matrix (rows are true classes)",
            lambda y, p, roles: confusion_matrix(y, p, roles.classes),
            better="none",
            scalar=False,
        ),
    )
}


def get_metric(name: str, *, scalar: bool = False) -> Metric:
    """Return a metric by its name.

    Raises
    ------
    InputError
        If there is no such metric, or it is not one number but ``scalar`` is asked for.
    """
    valid = [key for key, metric in METRICS.items() if metric.scalar or not scalar]
    if name not in valid:
        kind = "one-number metric" if scalar else "metric"
        raise InputError(
            f"no {kind} is called {name!r}; there are {', '.join(valid)}."
            + did_you_mean(name, valid)
        )
    return METRICS[name]


def measure(
    names: Iterable[str], y_true: ArrayLike, y_pred: ArrayLike, roles: ClassRoles
) -> dict[str, Any]:
    """Evaluate metrics by name; arrays become nested lists, ready for JSON.

    Examples
    --------
    >>> roles = ClassRoles(classes=(0, 1), positive=1)
    >>> measure(["accuracy", "recall"], [0, 0, 1, 1], [0, 0, 1, 0], roles)
    {'accuracy': 0.75, 'recall': [1.0, 0.5]}
    """
    return {
        name: _as_json(get_metric(name).function(y_true, y_pred, roles))
        for name in dict.fromkeys(names)
    }


def _as_json(value: Any) -> Any:
    """Turn arrays into lists and NaN inside them, which JSON lacks, into None."""
    if not isinstance(value, np.ndarray):
        return value
    return np.where(np.isnan(value), np.array(None), value).tolist()


def mean_and_spread(values: Iterable[float]) -> tuple[float, float]:
    """Return the mean and the sample standard deviation (n - 1) over splits.

    The deviation of a single value is NaN: one split says nothing about spread.

    Examples
    --------
    >>> mean, spread = mean_and_spread([1.0, 1.0, 1.0, 1.0, 0.875])
    >>> f"{mean:.4f} ± {spread:.4f}"
    '0.9750 ± 0.0559'
    """
    array = np.fromiter(values, dtype=np.float64)
    if not len(array):
        raise ValueError("there is no value to average")
    spread = float(array.std(ddof=1)) if len(array) > 1 else math.nan
    return float(array.mean()), spread


def best_of(scores: ArrayLike, preference: Sequence[Any] | None = None) -> int:
    """Return the position of the highest score, the package's only rule for ties.

    Parameters
    ----------
    scores : array-like of float
        Higher is better; NaN is never the best, but one score must be a number.
    preference : sequence or None
        A sort key per position: of equal scores (within :data:`TIE_TOLERANCE`) the
        smallest key wins. None takes the first.

    Examples
    --------
    >>> best_of([0.5, 0.9, 0.9]), best_of([0.5, 0.9, 0.9], preference=[1, 3, 2])
    (1, 2)
    """
    values = np.asarray(scores, dtype=np.float64)
    tied = np.flatnonzero(values >= np.nanmax(values) - TIE_TOLERANCE).tolist()
    if preference is None:
        return int(tied[0])
    return int(min(tied, key=preference.__getitem__))
