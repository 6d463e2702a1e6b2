"""What a method is to the benchmark: an estimator factory, a grid, and shortcuts.

A method always knows how to build one estimator for one set of parameters. It may also
know how to answer a whole grid at once for one training and test part
(:attr:`Method.predict_grid`), or all leave-one-out predictions of a grid
(:attr:`Method.predict_left_out`). The shortcuts must give exactly what the estimators
would: :func:`naive_grid_predictions` and :func:`naive_left_out_predictions` are the
oracle they are tested against, and the path of methods that have none.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.errors import IllConditionedError

Params = Mapping[str, Any]
Matrix = NDArray[np.float64]
Labels = NDArray[np.int64]

#: Stands for the prediction of a candidate that could not be fitted.
NO_PREDICTION = -1


class MethodFailedError(ValueError):
    """A candidate cannot be fitted on this data; selection records it and goes on."""


#: Errors that are a candidate's own: recorded for it, the others go on.
CANDIDATE_FAILURES = (MethodFailedError, IllConditionedError)


@dataclass(frozen=True, eq=False)
class GridPredictions:
    """Predictions of every candidate of a grid for the same samples.

    Attributes
    ----------
    labels : ndarray of shape (n_candidates, n_samples)
        Predicted class numbers; a row of ``NO_PREDICTION`` for a failed candidate.
    failures : dict of int to str
        Why a candidate failed, by its number.
    """

    labels: Labels
    failures: dict[int, str] = field(default_factory=dict)


class GridPredictor(Protocol):
    """Fit every candidate on one part and predict another, sharing what they can."""

    def __call__(
        self,
        X_train: Matrix,
        y_train: Labels,
        X_test: Matrix,
        candidates: Sequence[Params],
        *,
        seed: int,
    ) -> GridPredictions:
        """Return the predictions of each candidate for ``X_test``."""
        ...


class LeftOutPredictor(Protocol):
    """Exact leave-one-out predictions of every candidate."""

    def __call__(
        self, X: Matrix, y: Labels, candidates: Sequence[Params], *, seed: int
    ) -> GridPredictions:
        """Return, per candidate, the class each sample gets when it is left out."""
        ...


@dataclass(frozen=True)
class Method:
    """One entry of the method registry.

    Attributes
    ----------
    name : str
        Name in configs and results, such as ``svm-rbf``.
    title : str
        What a reader sees in a table of ours.
    family : str
        Methods that differ in a kernel or a distance share a family.
    citation : str
        Where the method comes from.
    build : callable
        ``build(params, seed)`` returns an unfitted scikit-learn classifier.
    grid : mapping of str to tuple
        The paper's grid as the default, outermost loop first.
    defaults : mapping
        Parameters that are not searched.
    paper_params : mapping
        Values of ``defaults`` that the paper's figures were made with, where these
        would handicap the method; used in the protocol's ``paper`` mode only.
    column : str or None
        The method's column in the paper's tables.
    stochastic : bool
        Whether the seed changes the result.
    scale_invariant : bool
        Whether dividing features by positive constants changes nothing.
    large_scale : bool
        Whether it is meant for data too large for kernel matrices.
    most_features : int or None
        Features beyond which a run skips it, because it would take too long.
    predict_grid, predict_left_out : callable or None
        Exact shortcuts; None means the naive path.
    prefer : callable or None
        Sort key of a candidate, smaller is simpler (more regularised); breaks ties
        where the protocol asks for it.
    """

    name: str
    title: str
    family: str
    citation: str
    build: Callable[[Params, int], Any]
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    defaults: Params = field(default_factory=dict)
    paper_params: Params = field(default_factory=dict)
    column: str | None = None
    stochastic: bool = False
    scale_invariant: bool = False
    large_scale: bool = False
    most_features: int | None = None
    predict_grid: GridPredictor | None = None
    predict_left_out: LeftOutPredictor | None = None
    prefer: Callable[[Params], tuple[Any, ...]] | None = None

    def candidates(self) -> list[dict[str, Any]]:
        """All parameter sets, in grid order (the first name varies slowest)."""
        names = list(self.grid)
        return [
            {**self.defaults, **dict(zip(names, values, strict=True))}
            for values in itertools.product(*self.grid.values())
        ]


def naive_grid_predictions(
    method: Method,
    X_train: Matrix,
    y_train: Labels,
    X_test: Matrix,
    candidates: Sequence[Params],
    *,
    seed: int,
) -> GridPredictions:
    """Fit and predict with one estimator a candidate."""
    labels = np.full((len(candidates), len(X_test)), NO_PREDICTION, dtype=np.int64)
    failures: dict[int, str] = {}
    for number, params in enumerate(candidates):
        try:
            model = method.build(params, seed).fit(X_train, y_train)
            labels[number] = model.predict(X_test)
        except CANDIDATE_FAILURES as error:
            failures[number] = str(error)
    return GridPredictions(labels, failures)


def naive_left_out_predictions(
    method: Method, X: Matrix, y: Labels, candidates: Sequence[Params], *, seed: int
) -> GridPredictions:
    """Refit every candidate once for every sample that is left out."""
    predict_grid = partial(naive_grid_predictions, method)
    return left_out_by_refits(predict_grid, X, y, candidates, seed=seed)


def left_out_by_refits(
    predict_grid: GridPredictor,
    X: Matrix,
    y: Labels,
    candidates: Sequence[Params],
    *,
    seed: int,
) -> GridPredictions:
    """Predict every sample by one call of a grid predictor without it."""
    labels = np.full((len(candidates), len(X)), NO_PREDICTION, dtype=np.int64)
    failures: dict[int, str] = {}
    everyone = np.arange(len(X))
    for left_out in everyone:
        rest = everyone != left_out
        answer = predict_grid(X[rest], y[rest], X[[left_out]], candidates, seed=seed)
        labels[:, left_out] = answer.labels[:, 0]
        failures |= answer.failures
    labels[list(failures)] = NO_PREDICTION
    return GridPredictions(labels, failures)
