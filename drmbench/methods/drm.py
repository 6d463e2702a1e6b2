"""The Discriminative Ridge Machine and its ablation (α = 0) in the registry.

A grid shares one matrix of inner products or distances; the exact leave-one-out of
:mod:`drmbench.drm.loo` and :mod:`drmbench.drm.linear` costs about three
factorisations per candidate, not one per sample.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from drmbench.drm.classifier import DRMClassifier, KernelRidgeRepresentationClassifier
from drmbench.drm.decision import check_defined, decision_values, nearest_class
from drmbench.drm.grid import Candidate, Evaluation, held_out, left_out
from drmbench.drm.kernels import DECADES, Kernel
from drmbench.drm.linear import ClassSums, LinearModel, SharedSums
from drmbench.drm.linear_classifier import LinearDRMClassifier
from drmbench.drm.low_rank import LowRankMap
from drmbench.drm.partition import ClassPartition
from drmbench.drm.weights import training_weights
from drmbench.methods.base import (
    Grid,
    GridAnswer,
    GridPredictions,
    GridScores,
    Labels,
    Matrix,
    Method,
    Params,
    group_candidates,
    refit_left_out,
)
from drmbench.methods.kernel_grid import (
    EVERY_KERNEL,
    KERNEL_DEFAULTS,
    KERNEL_GRIDS,
    estimator_arguments,
    kernel_of,
    kernel_simplicity,
)

_CITATION = (
    "C. Peng, Q. Cheng: Discriminative Ridge Machine: a classifier for high-dimensional"
    " data or imbalanced data. IEEE TNNLS 32(6), 2021; arXiv:1904.07496."
)

#: The paper's grid for large data.
LARGE_GRID = {
    "alpha": tuple(float(f"1e{e}") for e in range(-6, 0)),
    "beta": tuple(float(f"1e{e}") for e in range(-6, 9)),
}

#: Kernels and weights of the low-rank DRM; the widest kernel is nearly linear.
NYSTROEM_GRID = {
    "gamma": (0.01, 0.1, 1.0, 10.0),
    "alpha": (0.001, 0.1),
    "beta": (0.0001, 0.01, 1.0),
}

#: Features up to which matrices of that size, one per class, are worth it.
MOST_FEATURES = 1000


def _alpha(params: Params) -> float:
    """Return α, which is 0 for kernel ridge representation."""
    return float(params.get("alpha", 0.0))


def _as_candidates(candidates: Grid) -> list[Candidate]:
    return [Candidate(_alpha(p), float(p["beta"]), kernel_of(p)) for p in candidates]


#: Makes something of the classes of a training part and of dissimilarities from them.
Make = Callable[[Labels, Matrix], Any]
#: Each candidate's number, and what was made of its dissimilarities.
Found = Iterator[tuple[int, Evaluation]]


def held_out_grid(
    X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, make: Make
) -> Found:
    """Evaluate candidates on test samples, those of the same class weights together."""
    for numbers, some, class_weight in _by_class_weight(candidates):
        weights = training_weights(y_train, class_weight)
        use = partial(_made, make, _weighted_classes(y_train, weights))
        found = held_out(X_train, y_train, X_test, some, use, weights=weights)
        yield from zip(numbers, found, strict=True)


def left_out_grid(X: Matrix, y: Labels, candidates: Grid, make: Make) -> Found:
    """Evaluate candidates by exact leave-one-out; balanced classes are so again."""
    for numbers, some, class_weight in _by_class_weight(candidates):
        weights = training_weights(y, class_weight)
        use = partial(_made, make, _weighted_classes(y, weights))
        if class_weight == "balanced":
            found = left_out(X, y, some, use, balanced=True)
        else:
            found = left_out(X, y, some, use, weights=weights)
        yield from zip(numbers, found, strict=True)


def _by_class_weight(
    candidates: Grid,
) -> Iterator[tuple[list[int], list[Candidate], Any]]:
    def weight(params: Params) -> Any:
        given = params.get("class_weight")
        return tuple(given.items()) if isinstance(given, Mapping) else given

    for numbers in group_candidates(candidates, weight).values():
        some = [candidates[number] for number in numbers]
        yield numbers, _as_candidates(some), some[0].get("class_weight")


def _weighted_classes(y: Labels, weights: Matrix | None) -> Labels:
    return np.unique(y if weights is None else y[weights > 0])


def _made(make: Make, classes: Labels, _: int, delta: Matrix) -> Any:
    return make(classes, delta)


def _predictions(found: Found, n_candidates: int, n_samples: int) -> GridPredictions:
    answer = GridAnswer(n_candidates, n_samples)
    for number, evaluation in found:
        if evaluation.failure:
            answer.failures[number] = evaluation.failure
        else:
            answer.labels[number] = evaluation.value
    return answer.finished()


def _scores(found: Found, shape: tuple[int, int, int]) -> GridScores:
    values, failures = np.full(shape, np.nan), {}
    for number, evaluation in found:
        if evaluation.failure:
            failures[number] = evaluation.failure
        else:
            classes, scores = evaluation.value
            values[number][:, classes] = scores
    return GridScores(values, failures)


def _nearest(classes: Labels, delta: Matrix) -> Labels:
    return nearest_class(delta, classes)


def _decided(classes: Labels, delta: Matrix) -> tuple[Labels, Matrix]:
    """Return the classes, and decision values of each of them."""
    check_defined(delta)
    values = decision_values(delta)
    both = values.ndim == 1
    return classes, np.stack([-values, values], axis=1) if both else values


def predict_grid(
    X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Share one matrix of inner products or distances over the grid."""
    found = held_out_grid(X_train, y_train, X_test, candidates, _nearest)
    return _predictions(found, len(candidates), len(X_test))


def predict_left_out(
    X: Matrix, y: Labels, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Exact leave-one-out at the cost of a few factorisations per candidate."""
    found = left_out_grid(X, y, candidates, _nearest)
    return _predictions(found, len(candidates), len(X))


def score_grid(
    X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
) -> GridScores:
    """Return the decision values that :func:`predict_grid` decides by."""
    found = held_out_grid(X_train, y_train, X_test, candidates, _decided)
    return _scores(found, (len(candidates), len(X_test), len(np.unique(y_train))))


def score_left_out(X: Matrix, y: Labels, candidates: Grid, *, seed: int) -> GridScores:
    """Return the decision values that :func:`predict_left_out` decides by."""
    found = left_out_grid(X, y, candidates, _decided)
    return _scores(found, (len(candidates), len(X), len(np.unique(y))))


def _shared_by_weights(params: Params) -> tuple[Any, ...]:
    """Return what tells a candidate from those that differ in α and β alone."""
    return tuple(
        (name, tuple(value.items()) if isinstance(value, Mapping) else value)
        for name, value in params.items()
        if name not in ("alpha", "beta")
    )


def predict_feature_grid(
    X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Share features over α and β, and sums over those of one ratio α/β."""
    answer = GridAnswer(len(candidates), len(X_test))
    for numbers in group_candidates(candidates, _shared_by_weights).values():
        params = candidates[numbers[0]]
        weights = training_weights(y_train, params["class_weight"])
        partition = ClassPartition.of(y_train, weights)
        with answer.attempt(numbers):
            rows, test = X_train[partition.order], X_test
            if "rank" in params:
                kernel = Kernel("rbf", gamma=params["gamma"])
                features = LowRankMap.of(
                    rows, kernel, params["rank"], partition.weights
                )
                rows, test = features.transform(rows), features.transform(test)
            solve = _shared_solver(rows, partition, test)
            for number in numbers:
                with answer.attempt([number]):
                    delta = solve(
                        _alpha(candidates[number]), candidates[number]["beta"]
                    )
                    answer.labels[number] = nearest_class(delta, partition.classes)
    return answer.finished()


def _shared_solver(
    rows: Matrix, partition: ClassPartition, test: Matrix
) -> Callable[[float, float], Matrix]:
    """Return the function from α and β to dissimilarities of the test samples."""
    shared = SharedSums(
        lambda alpha, beta: ClassSums.of(
            rows,
            partition.codes,
            partition.n_classes,
            alpha,
            beta,
            partition.weights,
        )
    )

    def solve(alpha: float, beta: float) -> Matrix:
        return LinearModel.of(shared.of(alpha, beta), alpha).dissimilarities(test)

    return solve


def _most_regularised(params: Params) -> tuple[Any, ...]:
    return (-params["beta"], -_alpha(params), kernel_simplicity(params))


def _kernel_method(kernel: str, title: str, column: str | None) -> Method:
    return Method(
        name=f"drm-{kernel}",
        title=f"DRM, {title} kernel",
        family="drm",
        citation=_CITATION,
        build=lambda params, seed: DRMClassifier(**estimator_arguments(params)),
        grid={"alpha": DECADES, **KERNEL_GRIDS[kernel], "beta": DECADES},
        defaults=KERNEL_DEFAULTS[kernel],
        column=column,
        predict_grid=predict_grid,
        predict_left_out=predict_left_out,
        score_grid=score_grid,
        score_left_out=score_left_out,
        prefer=_most_regularised,
    )


def _ablation(kernel: str, title: str) -> Method:
    return dataclasses.replace(
        _kernel_method(kernel, title, None),
        name=f"krr-{kernel}",
        title=f"KRR (DRM without its scatter term), {title} kernel",
        family="krr",
        citation="C. Saunders, A. Gammerman, V. Vovk: Ridge regression learning"
        " algorithm in dual variables. ICML, 515-521, 1998; as in the ablation of"
        f" {_CITATION}",
        build=lambda params, seed: KernelRidgeRepresentationClassifier(
            **estimator_arguments(params)
        ),
        grid={**KERNEL_GRIDS[kernel], "beta": DECADES},
    )


def _iterative(solver: str, title: str) -> Method:
    return Method(
        name=f"drm-{solver}",
        title=f"Linear DRM by {title}",
        family="drm-large",
        citation=_CITATION,
        build=lambda params, seed: DRMClassifier(
            kernel="linear", solver=solver, **params
        ),
        grid=LARGE_GRID,
        defaults={"tol": 1e-5, "max_iter": 150},
        column=f"DRM-{solver.upper()}",
        large_scale=True,
        most_features=MOST_FEATURES,
        prefer=_most_regularised,
    )


#: The DRM with its kernel chosen inside the selection.
EVERY = dataclasses.replace(
    _kernel_method("linear", "selected", None),
    name="drm",
    grid={"alpha": DECADES, "kernel": EVERY_KERNEL, "beta": DECADES},
    defaults={"width": "sigma"},
    citation=f"{_CITATION} Not in the paper: linear, polynomial and rbf kernel in one"
    " grid.",
)

METHODS = (
    EVERY,
    dataclasses.replace(
        EVERY,
        name="drm-balanced",
        title="DRM, selected kernel, classes of equal weight",
        family="drm-balanced",
        citation=f"Not in the paper: class weights for {_CITATION}",
        defaults={**EVERY.defaults, "class_weight": "balanced"},
    ),
    _kernel_method("rbf", "rbf", "DRM(R)"),
    _kernel_method("poly", "polynomial", "DRM(P)"),
    _kernel_method("linear", "linear", None),
    _ablation("rbf", "rbf"),
    _ablation("poly", "polynomial"),
    _iterative("gd", "gradient descent"),
    _iterative("ppa", "proximal point algorithm"),
    _iterative("apg", "accelerated proximal gradient"),
    Method(
        name="drm-exact",
        title="Linear DRM, exact",
        family="drm-large",
        citation=_CITATION,
        build=lambda params, seed: LinearDRMClassifier(**params),
        grid=LARGE_GRID,
        large_scale=True,
        most_features=MOST_FEATURES,
        predict_grid=predict_grid,
        predict_left_out=predict_left_out,
        prefer=_most_regularised,
    ),
    Method(
        name="drm-linear-balanced",
        title="Linear DRM, exact, classes of equal weight",
        family="drm-balanced",
        citation=f"Not in the paper: class weights for {_CITATION}",
        build=lambda params, seed: LinearDRMClassifier(**params),
        grid=LARGE_GRID,
        defaults={"class_weight": "balanced"},
        large_scale=True,
        most_features=MOST_FEATURES,
        predict_grid=predict_feature_grid,
        predict_left_out=predict_left_out,
        prefer=_most_regularised,
    ),
    Method(
        name="drm-nystroem",
        title="DRM, rbf kernel of low rank, classes of equal weight",
        family="drm-balanced",
        citation="Not in the paper: a low-rank kernel and class weights for"
        f" {_CITATION} Landmarks: Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber:"
        " Randomly pivoted Cholesky. Communications on Pure and Applied Mathematics,"
        " 2024; arXiv:2207.06503.",
        build=lambda params, seed: DRMClassifier(kernel="rbf", **params),
        grid=NYSTROEM_GRID,
        defaults={"rank": 200, "class_weight": "balanced"},
        large_scale=True,
        predict_grid=predict_feature_grid,
        predict_left_out=refit_left_out(predict_feature_grid),
        prefer=lambda params: (*_most_regularised(params), params["gamma"]),
    ),
)
