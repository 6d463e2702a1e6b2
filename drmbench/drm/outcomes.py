"""Scores of every candidate of a search on every split of its samples."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.decision import check_defined, decision_values, nearest_class
from drmbench.drm.grid import Candidate, Evaluation, Use, held_out, left_out
from drmbench.drm.partition import Array
from drmbench.drm.probability import SoftmaxMap, TrainingSet, left_out_map
from drmbench.drm.scoring import HeldOutClassifier, LabelClassifier, Scoring
from drmbench.drm.search_table import CandidateOutcome
from drmbench.drm.threshold import JudgedSamples, best_threshold


@dataclass(frozen=True, eq=False)
class SplitSamples:
    """Samples to fit candidates to, and others to judge them by.

    They are taken out of all samples when they are needed, one split at a time.
    """

    X: Array  #: All samples, or the matrix of a precomputed kernel
    y: NDArray[Any]  #: Their labels
    precomputed: bool  #: Whether X is the matrix of a kernel
    #: Numbers of the training samples; None for leave-one-out, which judges all
    train: NDArray[np.intp] | None
    test: NDArray[np.intp]  #: Numbers of the samples to judge by
    weights: Array | None  #: Weights of the training samples; None if all are 1
    test_weights: Array | None  #: How much the others count; None if all do once

    @property
    def X_train(self) -> Array:  # noqa: N802
        """The training samples."""
        return self.X if self.train is None else self._taken(self.train)

    @property
    def X_test(self) -> Array:  # noqa: N802
        """The samples to judge by."""
        return self.X if self.train is None else self._taken(self.test)

    def _taken(self, rows: NDArray[np.intp]) -> Array:
        if not self.precomputed:
            return self.X[rows]
        return self.X[np.ix_(rows, self.train if self.train is not None else rows)]

    @property
    def y_train(self) -> NDArray[Any]:
        """Labels of the training samples."""
        return self.y if self.train is None else self.y[self.train]

    @property
    def y_test(self) -> NDArray[Any]:
        """Labels of the samples to judge by."""
        return self.y[self.test]

    @cached_property
    def kept(self) -> NDArray[np.intp]:
        """Which of the training samples have a weight."""
        if self.weights is None:
            return np.arange(len(self.y_train))
        return np.flatnonzero(self.weights)

    @cached_property
    def classes(self) -> NDArray[Any]:
        """Their class labels, sorted."""
        return np.unique(self.y_train[self.kept])

    def evaluations(
        self, candidates: Sequence[Candidate], use: Use, n_jobs: int | None
    ) -> list[Evaluation]:
        """Use every candidate's δ of the test samples."""
        X, y = self.X_train, self.y_train
        options: Any = {"weights": self.weights, "n_jobs": n_jobs}
        if self.train is None:
            return left_out(X, y, candidates, use, **options)
        return held_out(X, y, self.X_test, candidates, use, **options)

    def judged(
        self, scoring: Scoring, candidate: Candidate, delta: Array
    ) -> tuple[float, NDArray[Any]]:
        """Return the score of the test samples, and their predicted classes."""
        labels = nearest_class(delta, self.classes)
        if scoring.of_labels is not None:
            return self.label_score(scoring, labels), labels
        X = self.X_test
        calibration = partial(self._calibration, candidate, delta)
        model = HeldOutClassifier(X, delta, self.classes, calibration)
        return scoring.judge(model, X, self.y_test, self.test_weights), labels

    def _calibration(self, candidate: Candidate, delta: Array) -> SoftmaxMap:
        """Return the map from δ to probabilities of a candidate's model.

        Leave-one-out has a model for every sample; all have the map of δ itself.
        """
        kernel = candidate.kernel
        samples = TrainingSet(self.X_train, self.y_train, self.weights, kernel)
        if self.weights is not None:
            samples = samples.part(self.kept)
        if self.train is None:
            return SoftmaxMap.fit(delta[self.kept], samples.codes, samples.weights)
        return left_out_map(samples, candidate.alpha, candidate.beta)

    def label_score(self, scoring: Scoring, labels: NDArray[Any]) -> float:
        """Return the score of predicted classes of the test samples."""
        if scoring.of_labels is not None:
            return scoring.judge_labels(self.y_test, labels, self.test_weights)
        model = LabelClassifier(labels, self.classes)
        return scoring.judge(model, self.X_test, self.y_test, self.test_weights)


def outcomes(
    splits: Sequence[SplitSamples],
    candidates: Sequence[Candidate],
    scoring: Scoring,
    n_jobs: int | None = None,
) -> list[CandidateOutcome]:
    """Score every candidate on every split."""

    def evaluations(split: SplitSamples) -> list[Evaluation]:
        return split.evaluations(
            candidates,
            lambda number, delta: split.judged(scoring, candidates[number], delta),
            n_jobs,
        )

    rows = zip(*(evaluations(split) for split in splits), strict=True)
    return [_outcome(row) for row in rows]


def tuned_outcomes(
    splits: Sequence[SplitSamples],
    candidates: Sequence[Candidate],
    scoring: Scoring,
    n_jobs: int | None = None,
) -> list[CandidateOutcome]:
    """Score every candidate at the threshold between two classes that suits it best."""
    evaluations = [s.evaluations(candidates, _separation, n_jobs) for s in splits]
    rows = zip(*evaluations, strict=True)
    return [_tuned(splits, scoring, row) for row in rows]


def _separation(_: int, delta: Array) -> Array:
    """Return δ₀ - δ₁ of samples."""
    check_defined(delta)
    if delta.shape[1] != 2:
        raise ValueError("one of the two classes has no training sample in a split")
    return decision_values(delta)


def _tuned(
    splits: Sequence[SplitSamples], scoring: Scoring, row: Sequence[Evaluation]
) -> CandidateOutcome:
    failure = next((e.failure for e in row if e.failure), "")
    if failure:
        return _failed(row, failure)
    classes = splits[0].classes
    judged = [
        JudgedSamples(e.value, split.y_test == classes[1], split.test_weights)
        for e, split in zip(row, splits, strict=True)
    ]

    def judge(number: int, ones: NDArray[np.bool_]) -> float:
        return splits[number].label_score(scoring, classes[ones.astype(np.intp)])

    start = time.perf_counter()
    try:
        best = best_threshold(judged, scoring.of_labels, judge)
    except ValueError as error:
        return _failed(row, str(error))
    share = (time.perf_counter() - start) / len(row)
    return CandidateOutcome(
        best.scores,
        fit_seconds=tuple(e.solve_seconds for e in row),
        score_seconds=tuple(e.use_seconds + share for e in row),
        threshold=best.threshold,
        labels=classes[(judged[0].values > best.threshold).astype(np.intp)],
    )


def _failed(row: Sequence[Evaluation], failure: str) -> CandidateOutcome:
    unknown, none = (float("nan"),) * len(row), (0.0,) * len(row)
    return CandidateOutcome(unknown, failure, none, none)


def _outcome(row: Sequence[Evaluation]) -> CandidateOutcome:
    """Gather a candidate's scores and predictions of all splits."""
    return CandidateOutcome(
        tuple(float("nan") if e.failure else e.value[0] for e in row),
        next((e.failure for e in row if e.failure), ""),
        tuple(e.solve_seconds for e in row),
        tuple(e.use_seconds for e in row),
        labels=None if row[0].failure else row[0].value[1],
    )
