"""Scores of all candidates of a grid on held-out training rows.

Leave-one-out pools: the metric is computed once, from the predictions of all left-out
samples. K-fold and random splits average the metric over the held-out parts.

A sample can only be recognised if its class is among the rows that remain. Where it is
not (the only sample of its class, or a part that holds all of a class) the sample is
not scored, since no candidate could be right about it. Parts whose remaining rows are
all of one class are passed over for the same reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from drmbench.methods.base import (
    CANDIDATE_FAILURES,
    NO_PREDICTION,
    GridPredictions,
    Labels,
    Matrix,
    Method,
    MethodFailedError,
    Params,
    naive_grid_predictions,
    naive_left_out_predictions,
)
from drmbench.metrics import Metric, Task
from drmbench.protocol.labels import number_classes, original_classes
from drmbench.protocol.splits import Split, kfold_splits, random_splits


@dataclass(frozen=True, eq=False)
class CandidateScores:
    """Scores of all candidates, higher is better; NaN for one that failed.

    Attributes
    ----------
    scores : ndarray of shape (n_candidates,)
        In grid order.
    failures : dict of int to str
        Why a candidate failed, by its number.
    """

    scores: NDArray[np.float64]
    failures: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scorer:
    """A method's candidates, to be scored by one metric.

    Class numbers given to its functions run from 0 without gaps.

    Attributes
    ----------
    method : Method
        The method the candidates belong to.
    candidates : sequence of mapping
        Parameters, in grid order.
    metric : Metric
        A scalar metric.
    seed : int
        Seed of every fit.
    shortcut : bool
        Whether to use the method's exact shortcuts.
    """

    method: Method
    candidates: Sequence[Params]
    metric: Metric
    seed: int
    shortcut: bool = True

    def leave_one_out(self, X: Matrix, y: Labels) -> CandidateScores:
        """Score the pooled predictions of each sample by a fit to all others."""
        sizes = np.bincount(y)
        scored = sizes[y] > 1
        if not scored.any():
            raise MethodFailedError(
                f"leave-one-out has nothing to score: each of the {len(sizes)} classes"
                " has a single training sample"
            )
        only_one_class_remains = np.count_nonzero(sizes) == 2 and not scored.all()
        if only_one_class_remains:  # without the single sample of one of two classes
            answer = self._left_out_one_by_one(X, y, scored)
        else:
            answer = self._left_out(X, y)
        scores = self._evaluate(y[scored], answer.labels[:, scored], Task.of(y))
        scores[list(answer.failures)] = np.nan
        return CandidateScores(scores, answer.failures)

    def kfold(
        self, X: Matrix, y: Labels, *, k: int, repeats: int, seed: int
    ) -> CandidateScores:
        """Average the scores of stratified folds."""
        parts = kfold_splits(y, min(k, len(y)), repeats=repeats, seed=seed)
        return self._mean_over(X, y, parts)

    def random(
        self,
        X: Matrix,
        y: Labels,
        *,
        train_share: float,
        repeats: int,
        seed: int,
    ) -> CandidateScores:
        """Average the scores of stratified random splits."""
        train_size = max(round(train_share * len(y)), len(np.unique(y)))
        parts = random_splits(y, train_size, repeats=repeats, seed=seed)
        return self._mean_over(X, y, parts)

    def _mean_over(
        self, X: Matrix, y: Labels, parts: Iterable[Split]
    ) -> CandidateScores:
        totals = np.zeros(len(self.candidates))
        failures: dict[int, str] = {}
        n_scored = 0
        for part in parts:
            classes = np.unique(y[part.train])
            test = part.test[np.isin(y[part.test], classes)]
            if len(classes) < 2 or not len(test):
                continue
            answer = self._held_out(X, y, part.train, test)
            totals += self._evaluate(y[test], answer.labels, Task.of(y))
            failures |= answer.failures
            n_scored += 1
        if not n_scored:
            raise MethodFailedError(
                f"no held-out part of the {len(y)} training rows can be scored: there"
                " are too few samples of all classes but one"
            )
        totals[list(failures)] = np.nan
        return CandidateScores(totals / n_scored, failures)

    def _evaluate(
        self, truth: Labels, predictions: NDArray[np.int64], task: Task
    ) -> NDArray[np.float64]:
        return np.array([self.metric.score(truth, row, task) for row in predictions])

    def _left_out(self, X: Matrix, y: Labels) -> GridPredictions:
        predictor = self.method.predict_left_out
        try:
            if predictor is not None and self.shortcut:
                return predictor(X, y, self.candidates, seed=self.seed)
            return naive_left_out_predictions(
                self.method, X, y, self.candidates, seed=self.seed
            )
        except CANDIDATE_FAILURES as error:
            return self._all_failed(len(y), error)

    def _left_out_one_by_one(
        self, X: Matrix, y: Labels, scored: NDArray[np.bool_]
    ) -> GridPredictions:
        labels = np.full((len(self.candidates), len(y)), NO_PREDICTION, dtype=np.int64)
        failures: dict[int, str] = {}
        everyone = np.arange(len(y))
        for row in np.flatnonzero(scored):
            answer = self._held_out(X, y, everyone[everyone != row], everyone[[row]])
            labels[:, row] = answer.labels[:, 0]
            failures |= answer.failures
        return GridPredictions(labels, failures)

    def _held_out(
        self, X: Matrix, y: Labels, train: NDArray[np.intp], test: NDArray[np.intp]
    ) -> GridPredictions:
        # Methods get class numbers without gaps, whichever classes a part lacks.
        classes, y_train = number_classes(y[train])
        arguments = (X[train], y_train, X[test], self.candidates)
        predictor = self.method.predict_grid
        try:
            if predictor is not None and self.shortcut:
                answer = predictor(*arguments, seed=self.seed)
            else:
                answer = naive_grid_predictions(self.method, *arguments, seed=self.seed)
        except CANDIDATE_FAILURES as error:
            return self._all_failed(len(test), error)
        labels = original_classes(classes, answer.labels)
        return GridPredictions(labels, answer.failures)

    def _all_failed(self, n_samples: int, error: ValueError) -> GridPredictions:
        shape = (len(self.candidates), n_samples)
        failures = dict.fromkeys(range(len(self.candidates)), str(error))
        return GridPredictions(np.full(shape, NO_PREDICTION, dtype=np.int64), failures)
