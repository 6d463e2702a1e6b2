"""One method on one split: train on the training part, predict and score the test."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drmbench.data.dataset import Dataset
from drmbench.methods.base import CANDIDATE_FAILURES, Labels, Method
from drmbench.metrics import Task, get_metric, mean_and_spread, measure
from drmbench.protocol.protocol import Protocol, RowScaling
from drmbench.protocol.scaling import Scaling
from drmbench.protocol.seeds import stable_seed
from drmbench.protocol.splits import Rows, Split
from drmbench.protocol.training import train


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one method did on one split under one scaling.

    Attributes
    ----------
    scaling : {"none", "maxabs", "separate", "selected"}
        As the result row calls it.
    metrics : dict
        Value of each metric by name; empty if the method failed.
    params : dict
        The selected parameters.
    applied_scaling : {"none", "maxabs", "separate"}
        What was done to the features; tells what was ``selected``.
    predictions : ndarray of int
        Predicted class of each test row, in the split's order.
    score : float
        Selection's score of the parameters; NaN if there was nothing to select.
    seconds_select, seconds_fit, seconds_predict : float
        Wall-clock time.
    notes : tuple of str
        What a reader should know: a substituted selection, a clamped parameter,
        candidates that failed, warnings.
    failure : ValueError or None
        Why there is no result (one of
        :data:`~drmbench.methods.base.CANDIDATE_FAILURES`), or None.
    """

    scaling: RowScaling
    metrics: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    applied_scaling: Scaling = "none"
    predictions: Labels = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    score: float = float("nan")
    seconds_select: float = 0.0
    seconds_fit: float = 0.0
    seconds_predict: float = 0.0
    notes: tuple[str, ...] = ()
    failure: ValueError | None = None


def evaluate(
    dataset: Dataset, method: Method, split: Split, protocol: Protocol
) -> list[Outcome]:
    """Evaluate a method on one split of a data set.

    Parameters
    ----------
    dataset : Dataset
        The data.
    method : Method
        The method, with the grid to search.
    split : Split
        Training and test rows.
    protocol : Protocol
        The rules.

    Returns
    -------
    list of Outcome
        One outcome a result row: two in the scaling mode ``paper``, else one. A method
        that cannot be fitted gives an outcome with its ``failure``; other exceptions
        are bugs and escape.
    """
    used = protocol.method_as_used(method)
    return [_evaluate_row(dataset, used, split, protocol, r) for r in protocol.rows()]


def training_rows(
    dataset: Dataset, split: Split, protocol: Protocol
) -> tuple[Rows, int]:
    """Return a split's training rows as methods get them, and the split's seed."""
    rows = split.train[protocol.training_order(dataset.y[split.train])]
    return rows, stable_seed(protocol.seed, dataset.name, split.number)


def better_on_test(scores: Mapping[str, Sequence[float]], metric: str) -> str:
    """Return the scaling of the better mean over splits: the paper's choice on test.

    Figures chosen so are optimistic
    (:data:`~drmbench.protocol.protocol.OPTIMISTIC`) and must be labelled so. A scaling
    with fewer splits than another is incomplete and is not chosen; of equal means the
    first wins.

    Parameters
    ----------
    scores : mapping of str to sequence of float
        Values of the metric over the splits, by scaling.
    metric : str
        A one-number metric, which says whether higher is better.

    Examples
    --------
    >>> better_on_test({"none": [0.8, 0.9], "separate": [0.9, 0.9]}, "gmean")
    'separate'
    """
    sign = -1 if get_metric(metric, scalar=True).better == "lower" else 1
    complete = max(map(len, scores.values()))
    means = {
        scaling: sign * mean_and_spread(values)[0]
        for scaling, values in scores.items()
        if len(values) == complete
    }
    return max(means, key=means.__getitem__)


def _evaluate_row(
    dataset: Dataset,
    method: Method,
    split: Split,
    protocol: Protocol,
    row: RowScaling,
) -> Outcome:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            outcome = _run(dataset, method, split, protocol, row)
        except CANDIDATE_FAILURES as failure:
            outcome = Outcome(row, failure=failure)
    said = (f"{w.category.__name__}: {w.message}" for w in caught)
    notes = tuple(dict.fromkeys((*outcome.notes, *said)))
    return dataclasses.replace(outcome, notes=notes)


def _run(
    dataset: Dataset,
    method: Method,
    split: Split,
    protocol: Protocol,
    row: RowScaling,
) -> Outcome:
    rows, seed = training_rows(dataset, split, protocol)
    trained = train(method, dataset.X[rows], dataset.y[rows], protocol, row, seed=seed)
    started = time.perf_counter()
    predictions = trained.predict(dataset.X[split.test])
    seconds_predict = time.perf_counter() - started
    truth, task = dataset.y[split.test], Task.of(dataset.y)
    return Outcome(
        scaling=row,
        metrics=measure(protocol.metrics, truth, predictions, task),
        params=trained.selection.params,
        applied_scaling=trained.scaling,
        predictions=predictions,
        score=trained.selection.score,
        seconds_select=trained.seconds_select,
        seconds_fit=trained.seconds_fit,
        seconds_predict=seconds_predict,
        notes=trained.notes,
    )
