"""How good predictions are: a registry of metrics, mean and spread, the best of many.

Most metrics look at predicted labels; they count a sample without a prediction
(:data:`~drmbench.methods.base.NO_PREDICTION`) as wrong, because that number is no
class's. Others look at scores, of which only the order counts, or at probabilities: a
column per class of :attr:`ClassRoles.classes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from drmbench.errors import InputError, did_you_mean, quoted

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


def matthews_correlation(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Matthews correlation coefficient, for any number of classes (Gorodkin's R_K).

    0 where all samples are of one class or all predictions are the same.

    Examples
    --------
    >>> matthews_correlation([0, 0, 1, 1], [0, 0, 1, 0])
    0.577...
    """
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    labels = np.union1d(truth, predicted).tolist()
    counts = confusion_matrix(truth, predicted, labels).astype(np.float64)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    total = counts.sum()
    product = (total**2 - rows @ rows) * (total**2 - columns @ columns)
    if product == 0.0:
        return 0.0
    return float((total * np.trace(counts) - rows @ columns) / math.sqrt(product))


def _one_against_rest(
    y_true: ArrayLike,
    scores: Values,
    roles: ClassRoles,
    function: Callable[[NDArray[np.bool_], Values], float],
) -> float:
    """Apply a two-class metric to the positive class, or average it over the classes.

    The average is over classes that some but not all samples have; NaN if there is
    none, since nothing can be ranked.
    """
    truth = np.asarray(y_true)
    if roles.positive is not None:
        chosen = [roles.classes.index(roles.positive)]
    else:
        chosen = list(range(len(roles.classes)))
    values = []
    for column in chosen:
        is_class = truth == roles.classes[column]
        if is_class.any() and not is_class.all():
            values.append(function(is_class, scores[:, column]))
    return float(np.mean(values)) if values else math.nan


def _roc_auc(positive: NDArray[np.bool_], scores: Values) -> float:
    """Share of (positive, negative) pairs in the right order; ties count half."""
    _, numbers, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2.0
    m, rest = int(positive.sum()), int((~positive).sum())
    above = ranks[numbers][positive].sum() - m * (m + 1) / 2.0
    return float(above / (m * rest))


def _average_precision(positive: NDArray[np.bool_], scores: Values) -> float:
    """Mean precision at the rank of each positive sample; ties share a cut."""
    _, numbers = np.unique(-scores, return_inverse=True)
    found = np.cumsum(np.bincount(numbers, positive))
    taken = np.cumsum(np.bincount(numbers))
    gained = np.diff(found, prepend=0.0)
    return float((gained * found / taken).sum() / positive.sum())


def roc_auc_score(y_true: ArrayLike, scores: ArrayLike, roles: ClassRoles) -> float:
    """Area under the ROC curve of the positive class; mean one-against-rest if more.

    NaN where the samples are all of one class.

    Examples
    --------
    >>> scores = [[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]]
    >>> roc_auc_score([0, 0, 1, 1], scores, ClassRoles((0, 1), positive=1))
    0.75
    """
    return _one_against_rest(y_true, np.asarray(scores), roles, _roc_auc)


def average_precision_score(
    y_true: ArrayLike, scores: ArrayLike, roles: ClassRoles
) -> float:
    """Average precision of the positive class; mean one-against-rest if more.

    NaN where the samples are all of one class.
    """
    return _one_against_rest(y_true, np.asarray(scores), roles, _average_precision)


#: A probability of 0 counts as this much, so that one sample cannot cost infinitely.
SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)


def log_loss(y_true: ArrayLike, probabilities: ArrayLike, roles: ClassRoles) -> float:
    """Mean negative logarithm of the probability of the true class.

    A sample whose class has no column had no probability of it.
    """
    truth = np.asarray(y_true)[:, None] == np.asarray(roles.classes)
    given = (np.asarray(probabilities) * truth).sum(axis=1)
    return float(-np.log(np.clip(given, SMALLEST_PROBABILITY, 1.0)).mean())


def brier_score(
    y_true: ArrayLike, probabilities: ArrayLike, roles: ClassRoles
) -> float:
    """Mean squared distance of the probabilities from the truth.

    Of two classes it is ``(p - y)²`` of one of them, Brier's score as it is usual, of
    more the sum over the classes.
    """
    truth = np.asarray(y_true)[:, None] == np.asarray(roles.classes)
    distances = ((np.asarray(probabilities) - truth) ** 2).sum(axis=1).mean()
    return float(distances / (2 if len(roles.classes) == 2 else 1))


#: What a metric looks at.
Needs = Literal["labels", "scores", "probabilities"]


@dataclass(frozen=True)
class Metric:
    """One entry of the metric registry."""

    name: str  #: Name in configs, and the column in results
    label: str  #: What a reader sees
    #: ``function(y_true, answer, roles)`` returns a number, or an array for a metric
    #: that is not ``scalar``; the answer is what the metric ``needs``
    function: Callable[[ArrayLike, ArrayLike, ClassRoles], Any]
    #: Which of two values is the better one
    better: Literal["higher", "lower", "none"] = "higher"
    worst: float = 0.0  #: The worst value possible
    #: Whether it is one number, so that it can select parameters and be averaged
    scalar: bool = True
    #: Predicted labels, (m,); or scores or probabilities of every class, (m, g)
    needs: Needs = "labels"

    @property
    def sign(self) -> int:
        """1, or -1 where lower is better: what makes a larger product better."""
        return -1 if self.better == "lower" else 1

    def score(self, y_true: ArrayLike, answer: ArrayLike, roles: ClassRoles) -> float:
        """Return a scalar metric's value with the sign that makes higher better."""
        return self.sign * float(self.function(y_true, answer, roles))


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
            "mcc",
            "MCC (Matthews correlation)",
            lambda y, p, _: matthews_correlation(y, p),
            worst=-1.0,
        ),
        Metric(
            "roc_auc",
            "ROC-AUC (minority class; mean one-against-rest if multi-class)",
            roc_auc_score,
            needs="scores",
        ),
        Metric(
            "average_precision",
            "Average precision (minority class; mean one-against-rest if multi-class)",
            average_precision_score,
            needs="scores",
        ),
        Metric(
            "log_loss",
            "Log-loss (of the true class's probability; lower is better)",
            log_loss,
            better="lower",
            worst=-math.log(SMALLEST_PROBABILITY),
            needs="probabilities",
        ),
        Metric(
            "brier",
            "Brier score (squared error of probabilities; lower is better)",
            brier_score,
            better="lower",
            worst=2.0,
            needs="probabilities",
        ),
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
            f"no {kind} is called {quoted(name)}; there are {', '.join(valid)}."
            + did_you_mean(name, valid)
        )
    return METRICS[name]


def measure(
    names: Iterable[str],
    y_true: ArrayLike,
    y_pred: ArrayLike,
    roles: ClassRoles,
    others: Mapping[Needs, ArrayLike] | None = None,
) -> dict[str, Any]:
    """Evaluate metrics by name; arrays become nested lists, ready for JSON.

    `others` has the scores and probabilities that the method gives; a metric that needs
    what is not there is NaN.

    Examples
    --------
    >>> roles = ClassRoles(classes=(0, 1), positive=1)
    >>> measure(["accuracy", "recall"], [0, 0, 1, 1], [0, 0, 1, 0], roles)
    {'accuracy': 0.75, 'recall': [1.0, 0.5]}
    """
    answers: dict[Needs, ArrayLike] = {"labels": y_pred, **(others or {})}
    values: dict[str, Any] = {}
    for name in dict.fromkeys(names):
        metric = get_metric(name)
        values[name] = math.nan
        if metric.needs in answers:
            values[name] = _as_json(
                metric.function(y_true, answers[metric.needs], roles)
            )
    return values


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
