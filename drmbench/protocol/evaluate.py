"""One method on one split: select, fit, predict the test part and score it."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from drmbench.data.dataset import Dataset
from drmbench.errors import InputError
from drmbench.methods.base import (
    CANDIDATE_FAILURES,
    Labels,
    Matrix,
    Method,
    MethodFailedError,
    Params,
    calibrated,
    class_scores,
)
from drmbench.metrics import (
    ClassRoles,
    Needs,
    best_of,
    get_metric,
    mean_and_spread,
    measure,
)
from drmbench.protocol.preparation import TablePreparation, learns_from_rows
from drmbench.protocol.protocol import Preparation, Protocol, RowScaling
from drmbench.protocol.scaling import (
    Scaling,
    scale_test,
    scale_test_by_training,
    scale_train,
)
from drmbench.protocol.selection import (
    ABSENT,
    Selection,
    fit_seed,
    number_classes,
    original_classes,
    select,
)
from drmbench.protocol.splits import Rows, Split, stable_seed

#: Why leave-one-out gave way to folds on a training part.
FOLDS_FOR_TABLES = (
    "{k}-fold selection: each fold fills in missing values and lumps rare levels by the"
    " rows that train in it, which leave-one-out would not"
)


@dataclass(frozen=True, eq=False)
class Trained:
    """A method that was selected, and fitted to a training part."""

    #: The fitted scikit-learn classifier; its classes are positions in ``classes``
    model: Any
    classes: Labels  #: Classes of the training part, sorted
    X_train: Matrix  #: The training rows, neither prepared nor scaled
    scaling: Scaling  #: How features are scaled
    #: What makes rows what the model takes; None where they are scaled only
    preparation: TablePreparation | None
    selection: Selection  #: The selected parameters and how all candidates did
    #: Wall-clock time
    seconds_select: float
    seconds_fit: float
    notes: tuple[str, ...]  #: What a reader should know about selection and fit

    def predict(self, X_test: Matrix) -> Labels:
        """Return the class of each row; ``separate`` scales the rows by themselves."""
        predicted = self.model.predict(self.prepared(X_test))
        return original_classes(self.classes, predicted)

    def prepared(self, X: Matrix) -> Matrix:
        """Return rows as the model takes them."""
        if self.preparation is not None:
            return self.preparation.transform(X)
        return scale_test(self.scaling, self.X_train, X)

    def values(
        self, y_train: Labels, X_test: Matrix, needs: Needs, classes: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return scores or probabilities of each of `classes`, (m, g).

        A class that the training part lacks has probability 0 and a score below all
        others. A model that has no probabilities is calibrated on the training part.
        `MethodFailedError` is raised if the model gives none all the same.
        """
        model = self.model
        if needs == "probabilities" and not hasattr(model, "predict_proba"):
            _, numbers = number_classes(y_train)
            model = calibrated(clone(model), numbers)
            model.fit(self.prepared(self.X_train), numbers)
        found = class_scores(model, self.prepared(X_test), needs)
        values = np.full((len(found), len(classes)), ABSENT[needs])
        values[:, np.searchsorted(classes, self.classes)] = found
        return values


def train(
    method: Method,
    X_train: Matrix,
    y_train: Labels,
    protocol: Protocol,
    row: RowScaling,
    *,
    seed: int,
    nominal: Sequence[int] = (),
) -> Trained:
    """Select scaling and parameters on training rows, and fit to all of them.

    Test rows cannot leak into it, because it is never given any. `row` is one of
    ``protocol.rows()``, `seed` that of the split, and `nominal` has the columns that
    hold codes of categories. One of `CANDIDATE_FAILURES` is raised if the method cannot
    be selected or fitted.
    """
    classes, numbers = number_classes(y_train)
    if len(classes) < 2:
        raise MethodFailedError(f"all {len(y_train)} training rows are of one class")
    started = time.perf_counter()
    scaling, selection, notes = _select(
        method, X_train, numbers, protocol, row, seed, nominal
    )
    selected = time.perf_counter()
    preparation = None
    if protocol.preparation == "table":
        preparation = _preparation(method, nominal, scaling).fit(X_train)
        prepared = preparation.transform(X_train)
    else:
        prepared = scale_train(scaling, X_train)
    model = _fit(method, prepared, numbers, selection.params, seed)
    fitted = time.perf_counter()
    return Trained(
        model,
        classes,
        X_train,
        scaling,
        preparation,
        selection,
        selected - started,
        fitted - selected,
        # An estimator says in `notes_` what it did otherwise than asked.
        (*notes, *getattr(model, "notes_", ())),
    )


def _fit(method: Method, X: Matrix, numbers: Labels, params: Params, seed: int) -> Any:
    """Return an estimator fitted to rows as it takes them; classes have no gaps."""
    model = method.build(params, fit_seed(seed, method))
    model.fit(X, numbers)
    return model


def _preparation(
    method: Method, nominal: Sequence[int], scaling: Scaling
) -> TablePreparation:
    """Return what prepares a table for a method, not fitted yet."""
    return TablePreparation(nominal, scaling=scaling, encode=not method.takes_codes)


def _select(
    method: Method,
    X: Matrix,
    y: Labels,
    protocol: Protocol,
    row: RowScaling,
    seed: int,
    nominal: Sequence[int],
) -> tuple[Scaling, Selection, list[str]]:
    """Choose scaling and parameters; also return what a reader should know of it."""
    plan = protocol.selection
    notes = [plan.note] if plan.note else []
    tried = protocol.scalings_tried(row, method)
    table = protocol.preparation == "table"
    if table and len(set(nominal)) == X.shape[1]:
        tried = tried[:1]  # there is nothing to scale
    if table and plan.kind == "loo" and learns_from_rows(X, nominal):
        plan = dataclasses.replace(plan, kind="kfold")
        notes.append(FOLDS_FOR_TABLES.format(k=plan.k))
    selections: dict[Scaling, Selection] = {}
    errors: list[ValueError] = []
    for scaling in tried:
        try:
            selections[scaling] = select(
                method,
                X if table else scale_train(scaling, X),
                y,
                plan,
                seed=seed,
                always_score=len(tried) > 1,
                preparation=_preparation(method, nominal, scaling) if table else None,
            )
        except CANDIDATE_FAILURES as error:
            errors.append(error)
            notes.append(f"scaling {scaling}: {error}")
    if not selections:
        raise errors[0]
    # Of equal scores the first, so none; the score of one alone may be NaN.
    scores = [selection.score for selection in selections.values()]
    best = list(selections)[best_of(scores) if len(scores) > 1 else 0]
    selection = selections[best]
    if selection.failures:
        notes.append(
            f"{len(selection.failures)} of {len(selection.candidates)} candidates could"
            f" not be fitted, such as: {next(iter(selection.failures.values()))}"
        )
    return best, selection, notes


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one method did on one split under one scaling."""

    scaling: RowScaling  #: As the result row calls it
    #: Value of each metric by name; empty if the method failed
    metrics: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)  #: The selected parameters
    #: What was done to the features; tells what was ``selected``
    applied_scaling: Scaling = "none"
    #: Predicted class of each test row, in the split's order
    predictions: Labels = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    #: Selection's score of the parameters; NaN if there was nothing to select
    score: float = float("nan")
    #: Wall-clock time
    seconds_select: float = 0.0
    seconds_fit: float = 0.0
    seconds_predict: float = 0.0
    #: What a reader should know: a substituted selection, a clamped parameter,
    #: candidates that failed, warnings
    notes: tuple[str, ...] = ()
    #: Why there is no result (one of
    #: :data:`~drmbench.methods.base.CANDIDATE_FAILURES`), or None
    failure: ValueError | None = None


def evaluate(
    dataset: Dataset, method: Method, split: Split, protocol: Protocol
) -> list[Outcome]:
    """Evaluate a method on one split of a data set: one outcome per result row.

    There are two rows in the scaling mode ``paper``, else one. A method that cannot be
    fitted gives an outcome with its ``failure``; other exceptions are bugs and escape,
    but for the `InputError` that missing values are which nothing fills in.
    """
    check_filled(dataset, protocol.preparation)
    used = protocol.method_as_used(method)
    outcomes = []
    for row in protocol.rows():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            try:
                outcome = _run(dataset, used, split, protocol, row)
            except CANDIDATE_FAILURES as failure:
                outcome = Outcome(row, failure=failure)
        said = (f"{w.category.__name__}: {w.message}" for w in caught)
        notes = tuple(dict.fromkeys((*outcome.notes, *said)))
        outcomes.append(dataclasses.replace(outcome, notes=notes))
    return outcomes


def check_filled(dataset: Dataset, preparation: Preparation) -> None:
    """Refuse missing values where nothing fills them in."""
    if preparation == "codes" and (missing := int(np.isnan(dataset.X).sum())):
        raise InputError(
            f"{dataset.name}: {missing} missing values, which no method can use as they"
            " are; say `preparation: table` in the experiment's `protocol`, which fills"
            " them in"
        )


def _run(
    dataset: Dataset, method: Method, split: Split, protocol: Protocol, row: RowScaling
) -> Outcome:
    rows, seed = _training_rows(dataset, split, protocol)
    trained = train(
        *(method, dataset.X[rows], dataset.y[rows], protocol, row),
        seed=seed,
        nominal=dataset.nominal,
    )
    started = time.perf_counter()
    predictions = trained.predict(dataset.X[split.test])
    seconds_predict = time.perf_counter() - started
    truth, roles = dataset.y[split.test], ClassRoles.of(dataset.y)
    # Predicted labels are all that most experiments ask for.
    wanted = {get_metric(name).needs for name in protocol.metrics} - {"labels"}
    others: dict[Needs, Matrix] = {}
    notes = []
    for needs in sorted(wanted):
        try:
            others[needs] = trained.values(
                dataset.y[rows], dataset.X[split.test], needs, roles.classes
            )
        except MethodFailedError as error:
            notes.append(str(error))
    return Outcome(
        scaling=row,
        metrics=measure(protocol.metrics, truth, predictions, roles, others),
        params=trained.selection.params,
        applied_scaling=trained.scaling,
        predictions=predictions,
        score=trained.selection.score,
        seconds_select=trained.seconds_select,
        seconds_fit=trained.seconds_fit,
        seconds_predict=seconds_predict,
        notes=(*trained.notes, *notes),
    )


def _training_rows(
    dataset: Dataset, split: Split, protocol: Protocol
) -> tuple[Rows, int]:
    """Return a split's training rows as methods get them, and the split's seed."""
    rows = split.train[protocol.training_order(dataset.y[split.train])]
    return rows, stable_seed(protocol.seed, dataset.name, split.number)


def better_on_test(scores: Mapping[str, Sequence[float]], metric: str) -> str:
    """Return the scaling of the better mean over splits: the paper's choice on test.

    `scores` are values of the metric over the splits, by scaling. Figures chosen so are
    optimistic (:data:`~drmbench.words.OPTIMISTIC`) and must be labelled so. A scaling
    with fewer splits than another is incomplete and is not chosen; of equal means the
    first wins.

    Examples
    --------
    >>> better_on_test({"none": [0.8, 0.9], "separate": [0.9, 0.9]}, "gmean")
    'separate'
    """
    sign = get_metric(metric, scalar=True).sign
    complete = max(map(len, scores.values()))
    means = {
        scaling: sign * mean_and_spread(values)[0]
        for scaling, values in scores.items()
        if len(values) == complete
    }
    return max(means, key=means.__getitem__)


@dataclass(frozen=True, eq=False)
class RefitPredictions:
    """What one model predicts for a test part that is scaled in two ways."""

    own: Labels  #: Predicted classes where the test part is scaled by its own maxima
    training: Labels  #: Predicted classes where it is scaled by the training part's


def refit_separate(
    dataset: Dataset, method: Method, split: Split, protocol: Protocol, params: Params
) -> RefitPredictions:
    """Fit the model of a ``separate`` row again, to see what the paper's leak is worth.

    Such a row selects and fits on the training part scaled by its own maxima; the test
    part comes in at prediction only. So the same model can predict the test part scaled
    by its own maxima, as the row did, and by the training part's. `params` are those
    that the row says were selected. One of `CANDIDATE_FAILURES` is raised if the method
    cannot be fitted or cannot predict.
    """
    used = protocol.method_as_used(method)
    rows, seed = _training_rows(dataset, split, protocol)
    X_train, X_test = dataset.X[rows], dataset.X[split.test]
    classes, numbers = number_classes(dataset.y[rows])
    everything = {**used.defaults, **params}
    scaled = scale_train("separate", X_train)
    model = _fit(used, scaled, numbers, everything, seed)
    own = model.predict(scale_test("separate", X_train, X_test))
    training = model.predict(scale_test_by_training(X_train, X_test))
    return RefitPredictions(
        original_classes(classes, own), original_classes(classes, training)
    )
