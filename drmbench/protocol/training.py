"""All that happens before prediction: choose scaling and parameters, then fit.

Test rows cannot leak into it, because it is never given any.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from drmbench.methods.base import (
    CANDIDATE_FAILURES,
    Labels,
    Matrix,
    Method,
    MethodFailedError,
    Params,
)
from drmbench.protocol.labels import number_classes, original_classes
from drmbench.protocol.protocol import Protocol, RowScaling
from drmbench.protocol.scaling import Scaling, scale_test, scale_train
from drmbench.protocol.selection import TIE_TOLERANCE, Selection, fit_seed, select


@dataclass(frozen=True, eq=False)
class Trained:
    """A method that was selected, and fitted to a training part.

    Attributes
    ----------
    model : estimator
        The fitted scikit-learn classifier; its classes are positions in ``classes``.
    classes : ndarray of int
        Classes of the training part, sorted.
    X_train : ndarray
        The training rows, unscaled.
    scaling : {"none", "maxabs", "separate"}
        How features are scaled.
    selection : Selection
        The selected parameters and how all candidates did.
    seconds_select, seconds_fit : float
        Wall-clock time.
    notes : tuple of str
        What a reader should know about selection and fit.
    """

    model: Any
    classes: Labels
    X_train: Matrix
    scaling: Scaling
    selection: Selection
    seconds_select: float
    seconds_fit: float
    notes: tuple[str, ...]

    def predict(self, X_test: Matrix) -> Labels:
        """Return the class of each row; ``separate`` scales the rows by themselves."""
        scaled = scale_test(self.scaling, self.X_train, X_test)
        return original_classes(self.classes, self.model.predict(scaled))


def train(
    method: Method,
    X_train: Matrix,
    y_train: Labels,
    protocol: Protocol,
    row: RowScaling,
    *,
    seed: int,
) -> Trained:
    """Select scaling and parameters on training rows, and fit to all of them.

    Parameters
    ----------
    method : Method
        The method, with the grid to search.
    X_train, y_train : ndarray
        The training part.
    protocol : Protocol
        The rules.
    row : {"none", "maxabs", "separate", "selected"}
        The result row's scaling, one of ``protocol.rows()``.
    seed : int
        Seed of the split.

    Raises
    ------
    MethodFailedError, IllConditionedError
        If the method cannot be selected or fitted on this training part.
    """
    classes, numbers = number_classes(y_train)
    if len(classes) < 2:
        raise MethodFailedError(f"all {len(y_train)} training rows are of one class")
    started = time.perf_counter()
    scaling, selection, notes = _select(method, X_train, numbers, protocol, row, seed)
    selected = time.perf_counter()
    model = fit(method, X_train, numbers, scaling, selection.params, seed=seed)
    fitted = time.perf_counter()
    return Trained(
        model,
        classes,
        X_train,
        scaling,
        selection,
        selected - started,
        fitted - selected,
        (*notes, *_notes_of(model)),
    )


def fit(
    method: Method,
    X_train: Matrix,
    numbers: Labels,
    scaling: Scaling,
    params: Params,
    *,
    seed: int,
) -> Any:
    """Return a method's estimator for some parameters, fitted to a training part.

    Parameters
    ----------
    method : Method
        The method.
    X_train : ndarray
        The training rows, unscaled.
    numbers : ndarray of int
        Their class numbers, without gaps.
    scaling : {"none", "maxabs", "separate"}
        How the rows are scaled.
    params : mapping
        All parameters, those that are not searched included.
    seed : int
        Seed of the split.
    """
    model = method.build(params, fit_seed(seed, method))
    model.fit(scale_train(scaling, X_train), numbers)
    return model


def _notes_of(model: Any) -> tuple[str, ...]:
    """Return what a fitted estimator says it did otherwise than asked."""
    notes: tuple[str, ...] = getattr(model, "notes_", ())
    return notes


def _select(
    method: Method,
    X: Matrix,
    y: Labels,
    protocol: Protocol,
    row: RowScaling,
    seed: int,
) -> tuple[Scaling, Selection, list[str]]:
    plan = protocol.selection_for(method)
    notes = [plan.note] if plan.note else []
    tried = protocol.scalings_tried(row, method)
    selections: dict[Scaling, Selection] = {}
    errors: list[ValueError] = []
    for scaling in tried:
        try:
            selections[scaling] = select(
                method,
                scale_train(scaling, X),
                y,
                plan,
                seed=seed,
                always_score=len(tried) > 1,
            )
        except CANDIDATE_FAILURES as error:
            errors.append(error)
            notes.append(f"scaling {scaling}: {error}")
    if not selections:
        raise errors[0]
    scaling = _best_scaling(selections)
    return scaling, selections[scaling], notes + _failed_candidates(selections[scaling])


def _best_scaling(selections: dict[Scaling, Selection]) -> Scaling:
    """Return the scaling of the best score; of equal scores the first, so none."""
    if len(selections) == 1:
        return next(iter(selections))
    best = np.max([selection.score for selection in selections.values()])
    return next(
        scaling
        for scaling, selection in selections.items()
        if selection.score >= best - TIE_TOLERANCE
    )


def _failed_candidates(selection: Selection) -> list[str]:
    if not selection.failures:
        return []
    some_reason = next(iter(selection.failures.values()))
    return [
        f"{len(selection.failures)} of {len(selection.candidates)} candidates could not"
        f" be fitted, such as: {some_reason}"
    ]
