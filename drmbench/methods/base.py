"""What a method is to the benchmark: an estimator factory, a grid, and shortcuts.

A method always knows how to build one estimator for one set of parameters. It may also
know how to answer a whole grid at once for one training and test part
(:attr:`Method.predict_grid`), or all leave-one-out predictions of a grid
(:attr:`Method.predict_left_out`). The shortcuts must give exactly what the estimators
would: :func:`naive_grid_predictions` and :func:`naive_left_out_predictions` are the
oracle they are tested against, and the path of methods that have none. What shortcuts
share is here too: :class:`GridAnswer`, :func:`group_candidates`, :func:`group_all_but`,
:func:`fewest_coordinates`, :func:`only_of_class` and :func:`refit_left_out`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.errors import IllConditionedError
from drmbench.metrics import Needs

Params = Mapping[str, Any]
Matrix = NDArray[np.float64]
Labels = NDArray[np.int64]
#: Weights of the classes, as scikit-learn spells them.
ClassWeight = Mapping[Any, float] | Literal["balanced"] | None
#: The candidates of a grid, in grid order.
Grid = Sequence[Params]
Key = TypeVar("Key", bound=Hashable)

#: Stands for the prediction of a candidate that could not be fitted.
NO_PREDICTION = -1


class MethodFailedError(ValueError):
    """A candidate cannot be fitted on this data; selection records it and goes on.

    Examples
    --------
    A method's own estimator says so by raising it:

    >>> raise MethodFailedError("class 1 has one sample")
    Traceback (most recent call last):
    drmbench.methods.base.MethodFailedError: class 1 has one sample
    """


class EstimatorRaisedError(MethodFailedError):
    """An estimator from outside raised an error: the candidate's, and a malfunction."""


#: Errors that are a candidate's own: recorded for it, the others go on.
CANDIDATE_FAILURES = (MethodFailedError, IllConditionedError)


@dataclass(frozen=True, eq=False)
class GridPredictions:
    """Predictions of every candidate of a grid for the same samples."""

    #: Predicted class numbers; a row of ``NO_PREDICTION`` for a failed candidate
    labels: Labels
    #: Why a candidate failed, by its number
    failures: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class GridScores:
    """Scores or probabilities of every class, from every candidate of a grid."""

    values: NDArray[np.float64]  #: (candidates, samples, classes); NaN if one failed
    #: Why a candidate failed, by its number
    failures: dict[int, str] = field(default_factory=dict)


class GridPredictor(Protocol):
    """Fit every candidate on one part and predict another, sharing what they can."""

    def __call__(
        self,
        X_train: Matrix,
        y_train: Labels,
        X_test: Matrix,
        candidates: Grid,
        *,
        seed: int,
    ) -> GridPredictions:
        """Return the predictions of each candidate for ``X_test``."""
        ...


class LeftOutPredictor(Protocol):
    """Exact leave-one-out predictions of every candidate."""

    def __call__(
        self, X: Matrix, y: Labels, candidates: Grid, *, seed: int
    ) -> GridPredictions:
        """Return, per candidate, the class each sample gets when it is left out."""
        ...


class GridScorer(Protocol):
    """Scores of every class from every candidate; probabilities have no shortcut."""

    def __call__(
        self,
        X_train: Matrix,
        y_train: Labels,
        X_test: Matrix,
        candidates: Grid,
        *,
        seed: int,
    ) -> GridScores:
        """Return what the candidates' decision functions give for ``X_test``."""
        ...


class LeftOutScorer(Protocol):
    """Exact leave-one-out scores of every candidate."""

    def __call__(
        self, X: Matrix, y: Labels, candidates: Grid, *, seed: int
    ) -> GridScores:
        """Return, per candidate, the scores of each sample when it is left out."""
        ...


@dataclass(frozen=True)
class Method:
    """One entry of the method registry.

    Examples
    --------
    >>> from drmbench.methods import get_method
    >>> method = get_method("knn-euclidean")
    >>> method.family, method.grid["n_neighbors"][:3]
    ('knn', (2, 3, 4))
    >>> method.build(method.candidates()[0], 0)
    NearestNeighbours(...)
    """

    name: str  #: Name in configs and results, such as ``svm-rbf``
    title: str  #: What a reader sees in our tables
    family: str  #: Methods that differ in a kernel or a distance share a family
    citation: str  #: Where the method comes from
    #: ``build(params, seed)`` returns an unfitted scikit-learn classifier
    build: Callable[[Params, int], Any]
    #: The paper's grid as the default, outermost loop first
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    defaults: Params = field(default_factory=dict)  #: Parameters that are not searched
    #: Values of ``defaults`` that the paper's figures were made with, where these would
    #: handicap the method; used in the protocol's ``paper`` mode only
    paper_params: Params = field(default_factory=dict)
    column: str | None = None  #: The method's column in the paper's tables
    stochastic: bool = False  #: Whether the seed changes the result
    #: Whether dividing features by positive constants changes nothing
    scale_invariant: bool = False
    #: Whether it is meant for data too large for kernel matrices
    large_scale: bool = False
    #: Features beyond which a run skips it, because it would take too long
    most_features: int | None = None
    #: Whether ``predict_left_out`` gives what refits would; if not, it is how the
    #: method is meant to be selected
    exact_left_out: bool = True
    #: Exact shortcuts; None means the naive path
    predict_grid: GridPredictor | None = None
    predict_left_out: LeftOutPredictor | None = None
    score_grid: GridScorer | None = None
    score_left_out: LeftOutScorer | None = None
    #: Sort key of a candidate, smaller is simpler (more regularised); breaks ties where
    #: the protocol asks for it
    prefer: Callable[[Params], tuple[Any, ...]] | None = None
    #: What tells a method that is not drmbench's own from others beyond its name: the
    #: ``versions`` of the packages that provide it, and perhaps its classes
    origin: Params = field(default_factory=dict)

    @property
    def takes_codes(self) -> bool:
        """Whether it was told which columns hold codes of categories."""
        return self.defaults.get("categorical_features") is not None

    def candidates(self) -> list[dict[str, Any]]:
        """All parameter sets, in grid order (the first name varies slowest)."""
        names = list(self.grid)
        return [
            {**self.defaults, **dict(zip(names, values, strict=True))}
            for values in itertools.product(*self.grid.values())
        ]


class GridAnswer:
    """Collects the predictions of a grid while they are computed.

    Examples
    --------
    >>> answer = GridAnswer(n_candidates=2, n_samples=3)
    >>> with answer.attempt([0]):
    ...     answer.labels[0] = 1
    >>> with answer.attempt([1]):
    ...     raise MethodFailedError("no variance")
    >>> answer.finished().labels
    array([[ 1,  1,  1],
           [-1, -1, -1]])
    """

    def __init__(self, n_candidates: int, n_samples: int) -> None:
        shape = (n_candidates, n_samples)
        #: To be filled, one row per candidate
        self.labels: Labels = np.full(shape, NO_PREDICTION, dtype=np.int64)
        #: Why a candidate failed, by its number
        self.failures: dict[int, str] = {}

    @contextmanager
    def attempt(self, numbers: Iterable[int]) -> Iterator[None]:
        """Record a failure inside the block as that of the candidates `numbers`."""
        try:
            yield
        except CANDIDATE_FAILURES as error:
            self.failures |= dict.fromkeys(numbers, str(error))

    def finished(self) -> GridPredictions:
        """Return the answer; failed candidates have no predictions at all."""
        self.labels[list(self.failures)] = NO_PREDICTION
        return GridPredictions(self.labels, self.failures)


def group_candidates(
    candidates: Grid, key: Callable[[Params], Key]
) -> dict[Key, list[int]]:
    """Return the numbers of the candidates that share a key, in grid order.

    Examples
    --------
    >>> group_candidates([{"C": 1, "d": 2}, {"C": 9, "d": 2}], lambda c: c["d"])
    {2: [0, 1]}
    """
    groups: dict[Key, list[int]] = {}
    for number, params in enumerate(candidates):
        groups.setdefault(key(params), []).append(number)
    return groups


def group_all_but(
    candidates: Grid, name: str
) -> dict[tuple[tuple[str, Any], ...], list[int]]:
    """Return the numbers of the candidates that differ in one parameter alone.

    The keys are the items of the other parameters.

    Examples
    --------
    >>> group_all_but([{"C": 1, "d": 2}, {"C": 9, "d": 2}], "C")
    {(('d', 2),): [0, 1]}
    """

    def others(params: Params) -> tuple[tuple[str, Any], ...]:
        return tuple(
            (other, tuple(value) if isinstance(value, list | np.ndarray) else value)
            for other, value in params.items()
            if other != name
        )

    return group_candidates(candidates, others)


def fewest_coordinates(Z: Matrix) -> tuple[Matrix, Matrix | None]:
    """Return the rows in coordinates of their span, and its basis.

    The basis (columns of length one) is None where the rows have no more features than
    there are rows, and stay as they are.
    """
    if Z.shape[1] <= len(Z):
        return Z, None
    basis, coordinates = np.linalg.qr(Z.T)
    return np.ascontiguousarray(coordinates.T), basis


def only_of_class(y: Labels) -> NDArray[np.intp]:
    """Return the numbers of the samples that are the only one of their class.

    Examples
    --------
    >>> only_of_class(np.array([2, 0, 0, 1]))
    array([0, 3])
    """
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    return np.flatnonzero(counts[codes] == 1)


def left_out_by_refits(
    predict_grid: GridPredictor,
    X: Matrix,
    y: Labels,
    candidates: Grid,
    *,
    seed: int,
    samples: NDArray[np.intp] | None = None,
) -> GridPredictions:
    """Predict every sample by one call of a grid predictor without it.

    With `samples` only those are predicted; the others have no prediction.
    """
    answer = GridAnswer(len(candidates), len(X))
    everyone = np.arange(len(X))
    for left_out in everyone if samples is None else samples:
        rest = everyone != left_out
        part = predict_grid(X[rest], y[rest], X[[left_out]], candidates, seed=seed)
        answer.labels[:, left_out] = part.labels[:, 0]
        answer.failures |= part.failures
    return answer.finished()


def refit_left_out(predict_grid: GridPredictor) -> LeftOutPredictor:
    """Make leave-one-out from a grid predictor, see :func:`left_out_by_refits`.

    It saves what the grid predictor shares between candidates, nothing else.
    """
    return partial(left_out_by_refits, predict_grid)


def naive_grid_predictions(
    method: Method,
    X_train: Matrix,
    y_train: Labels,
    X_test: Matrix,
    candidates: Grid,
    *,
    seed: int,
) -> GridPredictions:
    """Fit and predict with one estimator per candidate."""
    answer = GridAnswer(len(candidates), len(X_test))
    for number, params in enumerate(candidates):
        with answer.attempt([number]):
            model = method.build(params, seed).fit(X_train, y_train)
            answer.labels[number] = model.predict(X_test)
    return answer.finished()


def naive_left_out_predictions(
    method: Method, X: Matrix, y: Labels, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Refit every candidate once for every sample that is left out."""
    predict_grid = partial(naive_grid_predictions, method)
    return left_out_by_refits(predict_grid, X, y, candidates, seed=seed)


#: Folds whose held-out scores calibrate an estimator that has no probabilities.
CALIBRATION_FOLDS = 5


def calibrated(estimator: Any, y: Labels) -> Any:
    """Return an unfitted estimator that has probabilities.

    One that has none of its own gets those of Platt's map of its scores, which is
    fitted to held-out parts of the training samples.

    Raises
    ------
    MethodFailedError
        If it gives no scores either, or a class has a single sample.
    """
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import StratifiedKFold

    if hasattr(estimator, "predict_proba"):
        return estimator
    if not hasattr(estimator, "decision_function"):
        raise MethodFailedError(f"{type(estimator).__name__} gives no probabilities")
    folds = min(CALIBRATION_FOLDS, int(np.bincount(y).min()))
    if folds < 2:
        raise MethodFailedError(
            f"{type(estimator).__name__} gives no probabilities, and a class of one"
            " training sample is too small to calibrate its scores"
        )
    return CalibratedClassifierCV(estimator, cv=StratifiedKFold(folds), ensemble=False)


def class_scores(model: Any, X: Matrix, needs: Needs) -> NDArray[np.float64]:
    """Return a fitted estimator's scores or probabilities of its classes, (m, g).

    Scores are decision values where the estimator has them, else probabilities; those
    of two classes are opposite numbers.

    Raises
    ------
    MethodFailedError
        If the estimator gives neither.
    """
    if needs == "scores" and hasattr(model, "decision_function"):
        values = np.asarray(model.decision_function(X), dtype=np.float64)
        return np.stack([-values, values], axis=1) if values.ndim == 1 else values
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    raise MethodFailedError(f"{type(model).__name__} gives no {needs}")


def naive_grid_scores(
    method: Method,
    X_train: Matrix,
    y_train: Labels,
    X_test: Matrix,
    candidates: Grid,
    *,
    needs: Needs,
    seed: int,
) -> GridScores:
    """Fit one estimator per candidate and ask it for scores or probabilities."""
    shape = (len(candidates), len(X_test), len(np.unique(y_train)))
    values, failures = np.full(shape, np.nan), {}
    for number, params in enumerate(candidates):
        try:
            estimator = method.build(params, seed)
            if needs == "probabilities":
                estimator = calibrated(estimator, y_train)
            model = estimator.fit(X_train, y_train)
            values[number] = class_scores(model, X_test, needs)
        except CANDIDATE_FAILURES as error:
            failures[number] = str(error)
    return GridScores(values, failures)
