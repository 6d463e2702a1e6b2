"""A method fitted to all rows of a table, with all it needs to predict new ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from drmbench.data.dataset import Dataset
from drmbench.data.new_rows import Feature
from drmbench.errors import InputError
from drmbench.methods.base import (
    CANDIDATE_FAILURES,
    Labels,
    Matrix,
    Method,
    MethodFailedError,
    calibrated,
    class_scores,
)
from drmbench.methods.foreign import GuardedClassifier
from drmbench.metrics import Needs
from drmbench.protocol.evaluate import Trained, check_filled, train
from drmbench.protocol.protocol import Protocol
from drmbench.protocol.scaling import feature_scales
from drmbench.protocol.splits import stable_seed

#: What a model raises whose parts do not fit together.
_UNFIT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
#: Rows that are predicted at a time.
_BATCH = 2000
#: Made-up rows whose predictions are kept, to know a model again elsewhere.
_PROBES = 20


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted method, from a table's numbers and codes to the names of classes."""

    #: The fitted classifier; its classes are positions in ``class_names``
    estimator: Any
    features: tuple[Feature, ...]  #: The columns it takes, in its order
    class_names: tuple[str, ...]  #: The classes
    target: str | None = None  #: Name of the column that held the class
    dropped: tuple[str, ...] = ()  #: Columns of the table that it does without
    #: What makes rows numbers without gaps (it has ``transform``), or None
    preparation: Any = None
    #: What features are divided by where there is no preparation, or None
    divisors: Matrix | None = None
    #: A classifier with probabilities where the estimator has none, or None
    calibrated: Any = None
    no_probabilities: str = ""  #: Why there are no probabilities, or empty
    #: Made-up rows as the estimator takes them, and the classes it gave them
    probes: Matrix = field(default_factory=lambda: np.empty((0, 0)))
    answers: Labels = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    #: Where the model comes from: data, method, protocol, selection and versions
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def predict(self, X: Matrix) -> NDArray[np.str_]:
        """Return the name of the class of each row of numbers and codes."""
        numbers = self._in_batches(self.estimator.predict, X)
        return np.array(self.class_names, dtype=np.str_)[numbers.astype(np.int64)]

    def values(self, X: Matrix, needs: Needs) -> Matrix:
        """Return scores or probabilities of each class, (rows, classes).

        Raises
        ------
        InputError
            If the method gives none.
        """
        model = self.estimator
        if needs == "probabilities" and not hasattr(model, "predict_proba"):
            model = self.calibrated
            if model is None:
                raise InputError(f"there are no probabilities: {self.no_probabilities}")
        try:
            return self._in_batches(lambda rows: class_scores(model, rows, needs), X)
        # Of a model out of a file only the predictions were tried.
        except (MethodFailedError, *_UNFIT) as error:
            raise InputError(f"there are no {needs}: {error}") from error

    def answers_as_before(self) -> bool:
        """Whether made-up rows are still given the classes they got at the fit."""
        try:
            now = self.estimator.predict(self.probes)
            return np.array_equal(now, self.answers)
        except Exception:  # what another version of a library makes of it
            return False

    def prepared(self, X: Matrix) -> Matrix:
        """Return rows as the estimator takes them."""
        if self.preparation is not None:
            return np.asarray(self.preparation.transform(X), dtype=np.float64)
        return X if self.divisors is None else X / self.divisors

    def _in_batches(
        self, answer: Callable[[Matrix], NDArray[Any]], X: Matrix
    ) -> NDArray[Any]:
        starts = range(0, len(X), _BATCH)
        return np.concatenate(
            [answer(self.prepared(X[start : start + _BATCH])) for start in starts]
        )


def fit_table_model(
    dataset: Dataset,
    method: Method,
    protocol: Protocol,
    features: Sequence[Feature],
    *,
    target: str | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> tuple[TableModel, Trained]:
    """Select and fit a method on all rows, as a comparison does on a training part.

    Also returned is what was trained, for its times and notes.

    Raises
    ------
    InputError
        If the method cannot be fitted to these rows, or the protocol scales test rows
        by themselves, which no model can do for new ones.
    """
    (row, *more) = protocol.rows()
    if more:
        raise InputError(
            f"the scaling mode {protocol.scaling!r} scales test rows by themselves,"
            " which a model cannot do; use honest, none or maxabs"
        )
    check_filled(dataset, protocol.preparation)
    seed = stable_seed(protocol.seed, dataset.seed_name, "all rows")
    X, y = dataset.X, dataset.y
    used = protocol.method_as_used(method)
    try:
        trained = train(
            *(used, X, y, protocol, row), seed=seed, nominal=dataset.nominal
        )
    except CANDIDATE_FAILURES as error:
        raise InputError(f"{method.name} cannot be fitted: {error}") from error
    model = TableModel(
        estimator=_unguarded(trained.model),
        features=tuple(features),
        class_names=dataset.class_names,
        target=target,
        dropped=tuple(
            column.name for column in dataset.columns if column.role == "dropped"
        ),
        provenance=dict(provenance or {}),
        **_preparing(trained),
    )
    prepared = model.prepared(X)
    return _with_checks(_with_probabilities(model, prepared, y), prepared), trained


def _preparing(trained: Trained) -> dict[str, Any]:
    """Return what makes new rows what the trained model takes, as fields."""
    if trained.preparation is not None:
        return {"preparation": trained.preparation}
    divided = trained.scaling == "maxabs"
    return {"divisors": feature_scales(trained.X_train) if divided else None}


def _unguarded(model: Any) -> Any:
    """Return a classifier of another package itself, which can then be written."""
    return model.model if isinstance(model, GuardedClassifier) else model


def _with_probabilities(model: TableModel, prepared: Matrix, y: Labels) -> TableModel:
    """Calibrate an estimator that has no probabilities, if it can be."""
    if hasattr(model.estimator, "predict_proba"):
        return model
    try:
        unfitted = calibrated(clone(model.estimator), y)
        return replace(model, calibrated=unfitted.fit(prepared, y))
    # An estimator of another package may refuse a fold in its own way.
    except (TypeError, ValueError) as error:
        return replace(model, no_probabilities=str(error))


def _with_checks(model: TableModel, prepared: Matrix) -> TableModel:
    """Keep what made-up rows are classified as, between the extremes of each column."""
    low, high = prepared.min(axis=0), prepared.max(axis=0)
    shares = np.random.default_rng(0).random((_PROBES, prepared.shape[1]))
    probes = low + shares * (high - low)
    answers = np.asarray(model.estimator.predict(probes), dtype=np.int64)
    return replace(model, probes=probes, answers=answers)
