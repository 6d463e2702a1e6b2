"""Selection of one of a method's candidates, from training rows alone.

Leave-one-out pools: the metric is computed once, from the predictions of all left-out
samples. K-fold and random splits average the metric over the held-out parts.

A sample can only be recognised if its class is among the rows that remain. Where it is
not (the only sample of its class, or a part that holds all of a class) the sample is
not scored, since no candidate could be right about it. Parts whose remaining rows are
all of one class are passed over for the same reason.

Where columns are prepared, k-fold and random splits prepare each part by the rows that
train in it. Leave-one-out, whose shortcuts take one matrix, prepares all rows at once:
a left-out sample then has had its share, one of n, in scales and in which levels have
columns, though not with its class.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from drmbench.methods.base import (
    CANDIDATE_FAILURES,
    NO_PREDICTION,
    EstimatorRaisedError,
    GridPredictions,
    GridScores,
    Labels,
    Matrix,
    Method,
    MethodFailedError,
    Params,
    left_out_by_refits,
    naive_grid_predictions,
    naive_grid_scores,
    naive_left_out_predictions,
)
from drmbench.metrics import ClassRoles, Metric, Needs, best_of, get_metric
from drmbench.protocol.preparation import TablePreparation
from drmbench.protocol.protocol import SelectionPlan as SelectionPlan
from drmbench.protocol.splits import Split, kfold_splits, random_splits, stable_seed

#: The value of a class that a training part lacks.
ABSENT: dict[Needs, float] = {"scores": -np.inf, "probabilities": 0.0}


def number_classes(y: Labels) -> tuple[Labels, Labels]:
    """Return the sorted classes of ``y``, and each label's position among them."""
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers.astype(np.int64)


def original_classes(classes: Labels, numbers: ArrayLike) -> Labels:
    """Undo :func:`number_classes`; samples without a prediction stay so.

    Examples
    --------
    >>> original_classes(np.array([2, 7]), [1, 0, -1])
    array([ 7,  2, -1])
    """
    positions = np.asarray(numbers)
    return np.where(positions == NO_PREDICTION, NO_PREDICTION, classes[positions])


def fit_seed(seed: int, method: Method) -> int:
    """Return the seed of a method's fits where ``seed`` is that of the splits."""
    return stable_seed(seed, method.name)


@dataclass(frozen=True, eq=False)
class Selection:
    """The selected parameters, and how every candidate did."""

    params: dict[str, Any]  #: The selected candidate
    #: Its score, higher is better; NaN if there was nothing to choose from
    score: float
    #: Scores in grid order; NaN for a candidate that failed
    scores: NDArray[np.float64]
    candidates: list[dict[str, Any]]  #: All candidates in grid order
    #: Why a candidate failed, by its number
    failures: dict[int, str] = field(default_factory=dict)


def select(
    method: Method,
    X: Matrix,
    y: Labels,
    plan: SelectionPlan,
    *,
    seed: int = 0,
    shortcut: bool = True,
    always_score: bool = False,
    preparation: TablePreparation | None = None,
) -> Selection:
    """Choose the best of a method's candidates from training rows.

    `seed` is that of subset and splits, shared by all methods; the seed of the fits is
    derived from it and the method's name. Without `shortcut` the method's exact
    shortcuts are not used: the slow oracle. A lone candidate is not scored, unless
    `always_score` says that its score is compared with another's. With a `preparation`,
    which need not be fitted, rows are prepared by those that train.
    `MethodFailedError` gives the reasons if no candidate could be scored.
    """
    candidates = method.candidates()
    metric = get_metric(plan.metric, scalar=True)
    if len(candidates) == 1 and not always_score:
        return Selection(candidates[0], math.nan, np.full(1, np.nan), candidates)
    scorer = _Scorer(
        method, candidates, metric, fit_seed(seed, method), shortcut, preparation
    )
    scores, failures = scorer.score(X, number_classes(y)[1], plan, seed=seed)
    if np.isnan(scores).all():
        reasons = sorted(set(failures.values()))
        failed = EstimatorRaisedError if method.origin else MethodFailedError
        raise failed(
            f"{method.name}: none of {len(candidates)} candidates could be fitted:"
            f" {'; '.join(reasons[:3])}" + ("; …" if len(reasons) > 3 else "")
        )
    preference = None
    if plan.tie == "preferred" and method.prefer is not None:
        preference = [method.prefer(candidate) for candidate in candidates]
    best = best_of(scores, preference)
    return Selection(
        candidates[best], float(scores[best]), scores, candidates, failures
    )


#: Scores of all candidates, NaN for one that failed, and why by its number.
_Scores = tuple[NDArray[np.float64], dict[int, str]]


@dataclass(frozen=True)
class _Scorer:
    """A method's candidates, to be scored by one metric; classes run from 0."""

    method: Method
    candidates: Sequence[Params]
    metric: Metric
    seed: int
    shortcut: bool
    preparation: TablePreparation | None

    def score(self, X: Matrix, y: Labels, plan: SelectionPlan, *, seed: int) -> _Scores:
        """Score all candidates as the plan says."""
        n_classes = len(np.unique(y))
        if plan.rows_used is not None and len(y) > plan.rows_used:
            size = max(plan.rows_used, n_classes)
            (drawn,) = random_splits(y, size, repeats=1, seed=seed, name="subset")
            X, y = X[drawn.train], y[drawn.train]
        if plan.kind == "loo":
            if self.preparation is not None:
                X = clone(self.preparation).fit_transform(X)
            return self.leave_one_out(X, y)
        if plan.kind == "kfold":
            k = min(plan.k, len(y))
            parts = kfold_splits(y, k, repeats=plan.repeats, seed=seed)
        else:
            size = max(round(plan.train_share * len(y)), n_classes)
            parts = random_splits(y, size, repeats=plan.repeats, seed=seed)
        return self.mean_over(X, y, parts)

    def leave_one_out(self, X: Matrix, y: Labels) -> _Scores:
        """Score the pooled predictions of each sample by a fit to all others."""
        sizes = np.bincount(y)
        scored = sizes[y] > 1
        if not scored.any():
            raise MethodFailedError(
                f"leave-one-out has nothing to score: each of the {len(sizes)} classes"
                " has a single training sample"
            )
        roles = ClassRoles.of(y)
        if self.metric.needs != "labels":
            found = self.left_out_values(X, y, np.flatnonzero(scored), roles)
            return self.measured(y[scored], found, roles), found.failures
        one_class_remains = np.count_nonzero(sizes) == 2 and not scored.all()
        grid, predict, seed = self.candidates, self.method.predict_left_out, self.seed
        try:
            if one_class_remains:  # without the single sample of one of two classes
                answer = left_out_by_refits(self.predict_part, X, y, grid, seed=seed)
            elif predict is not None and self.shortcut:
                answer = predict(X, y, grid, seed=seed)
            else:
                answer = naive_left_out_predictions(self.method, X, y, grid, seed=seed)
        except CANDIDATE_FAILURES as error:
            answer = self.all_failed(len(y), error)
        labels = GridPredictions(answer.labels[:, scored], answer.failures)
        return self.measured(y[scored], labels, roles), answer.failures

    def mean_over(self, X: Matrix, y: Labels, parts: Iterable[Split]) -> _Scores:
        """Average the scores of held-out parts."""
        totals = np.zeros(len(self.candidates))
        failures: dict[int, str] = {}
        n_scored = 0
        roles = ClassRoles.of(y)
        for part in parts:
            classes = np.unique(y[part.train])
            test = part.test[np.isin(y[part.test], classes)]
            if len(classes) < 2 or not len(test):
                continue
            X_train, X_test = X[part.train], X[test]
            if self.preparation is not None:
                prepared = clone(self.preparation).fit(X_train)
                X_train, X_test = map(prepared.transform, (X_train, X_test))
            known = X_train, y[part.train], X_test
            answer: GridPredictions | GridScores
            if self.metric.needs == "labels":
                answer = self.predict_part(*known, self.candidates, seed=self.seed)
            else:
                answer = self.values_of_part(*known, roles)
            scores = self.measured(y[test], answer, roles)
            failures |= answer.failures
            if np.isnan(scores).all() and not answer.failures:
                continue  # a part of one class cannot be ranked
            totals += scores
            n_scored += 1
        if not n_scored:
            raise MethodFailedError(
                f"no held-out part of the {len(y)} training rows can be scored: there"
                " are too few samples of all classes but one"
            )
        totals[list(failures)] = np.nan
        return totals / n_scored, failures

    def predict_part(
        self,
        X_train: Matrix,
        y_train: Labels,
        X_test: Matrix,
        candidates: Sequence[Params],
        *,
        seed: int,
    ) -> GridPredictions:
        """Predict held-out rows; no row of a part of one class gets a prediction."""
        # Methods get class numbers without gaps, whichever classes a part lacks.
        classes, numbers = number_classes(y_train)
        if len(classes) < 2:
            shape = (len(candidates), len(X_test))
            return GridPredictions(np.full(shape, NO_PREDICTION, dtype=np.int64))
        arguments = (X_train, numbers, X_test, candidates)
        predict = self.method.predict_grid
        try:
            if predict is not None and self.shortcut:
                answer = predict(*arguments, seed=seed)
            else:
                answer = naive_grid_predictions(self.method, *arguments, seed=seed)
        except CANDIDATE_FAILURES as error:
            return self.all_failed(len(X_test), error)
        labels = original_classes(classes, answer.labels)
        return GridPredictions(labels, answer.failures)

    def left_out_values(
        self, X: Matrix, y: Labels, rows: NDArray[np.intp], roles: ClassRoles
    ) -> GridScores:
        """Return scores or probabilities of rows, each by a fit to all others."""
        shortcut = self.method.score_left_out
        if shortcut is not None and self.shortcut and self.metric.needs == "scores":
            found = shortcut(X, y, self.candidates, seed=self.seed)
            return GridScores(found.values[:, rows], found.failures)
        values: list[NDArray[np.float64]] = []
        failures: dict[int, str] = {}
        for row in rows:
            rest = np.arange(len(y)) != row
            part = self.values_of_part(X[rest], y[rest], X[[row]], roles)
            values.append(part.values)
            failures |= part.failures
        return GridScores(np.concatenate(values, axis=1), failures)

    def values_of_part(
        self, X_train: Matrix, y_train: Labels, X_test: Matrix, roles: ClassRoles
    ) -> GridScores:
        """Return scores or probabilities of all classes, be it of too few in a part."""
        classes, numbers = number_classes(y_train)
        arguments = (X_train, numbers, X_test, self.candidates)
        needs, shortcut = self.metric.needs, self.method.score_grid
        if shortcut is not None and self.shortcut and needs == "scores":
            found = shortcut(*arguments, seed=self.seed)
        else:
            found = naive_grid_scores(
                self.method, *arguments, needs=needs, seed=self.seed
            )
        shape = (*found.values.shape[:2], len(roles.classes))
        values = np.full(shape, ABSENT[needs])
        values[:, :, classes] = found.values
        return GridScores(values, found.failures)

    def measured(
        self, truth: Labels, answer: GridPredictions | GridScores, roles: ClassRoles
    ) -> NDArray[np.float64]:
        """Return the metric of every candidate's answer; NaN where it failed."""
        rows = answer.labels if isinstance(answer, GridPredictions) else answer.values
        scores = np.full(len(self.candidates), np.nan)
        for number, row in enumerate(rows):
            if number not in answer.failures:
                scores[number] = self.metric.score(truth, row, roles)
        return scores

    def all_failed(self, n_samples: int, error: ValueError) -> GridPredictions:
        """Return no predictions at all, for the same reason."""
        shape = (len(self.candidates), n_samples)
        failures = dict.fromkeys(range(len(self.candidates)), str(error))
        return GridPredictions(np.full(shape, NO_PREDICTION, dtype=np.int64), failures)
