"""The Discriminative Ridge Machine and its ablation (α = 0) in the registry.

A grid shares one matrix of inner products or distances; the exact leave-one-out of
:mod:`drmbench.drm.loo` and :mod:`drmbench.drm.linear` costs about three
factorisations a candidate, not one for each sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from drmbench.drm.classifier import DRMClassifier, KernelRidgeRepresentationClassifier
from drmbench.drm.decision import nearest_class
from drmbench.drm.kernels import Products
from drmbench.drm.linear import LinearLeaveOneOut, features_are_cheaper
from drmbench.drm.linear_classifier import LinearDRMClassifier
from drmbench.drm.loo import loo_dissimilarities_in_class_order
from drmbench.drm.partition import ClassPartition
from drmbench.drm.solvers import closed_form_dissimilarities
from drmbench.drm.system import DenseSystem
from drmbench.methods.base import GridPredictions, Labels, Matrix, Method, Params
from drmbench.methods.grids import GridAnswer
from drmbench.methods.kernel_grid import (
    DECADES,
    KERNEL_DEFAULTS,
    KERNEL_GRIDS,
    estimator_arguments,
    group_by_kernel,
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

#: Features up to which matrices of that size a class are worth it.
MOST_FEATURES = 1000


def _alpha(params: Params) -> float:
    """Return α, which is 0 for kernel ridge representation."""
    return float(params.get("alpha", 0.0))


def _systems(
    K: Matrix,
    partition: ClassPartition,
    candidates: Sequence[Params],
    numbers: Sequence[int],
) -> Iterator[tuple[int, DenseSystem, float]]:
    """Yield number, system and β of the candidates that share a kernel.

    Candidates that follow each other and differ in β alone share a system, and with it
    the matrix Q.
    """
    system: DenseSystem | None = None
    for number in numbers:
        alpha = _alpha(candidates[number])
        if system is None or system.alpha != alpha:
            system = DenseSystem(K, partition, alpha)
        yield number, system, float(candidates[number]["beta"])


def predict_grid(
    X_train: Matrix,
    y_train: Labels,
    X_test: Matrix,
    candidates: Sequence[Params],
    *,
    seed: int,
) -> GridPredictions:
    """Share one matrix of inner products or distances over the grid."""
    answer = GridAnswer(len(candidates), len(X_test))
    partition = ClassPartition.of(y_train)
    rows = X_train[partition.order]
    train, test = Products(rows), Products(X_test, rows)
    for kernel, numbers in group_by_kernel(candidates).items():
        with answer.attempt(numbers):
            K, k = train.gram(kernel), test.gram(kernel).T
            for number, system, beta in _systems(K, partition, candidates, numbers):
                with answer.attempt([number]):
                    delta = closed_form_dissimilarities(system, k, beta)
                    answer.labels[number] = nearest_class(delta, partition.classes)
    return answer.finished()


def predict_left_out(
    X: Matrix, y: Labels, candidates: Sequence[Params], *, seed: int
) -> GridPredictions:
    """Exact leave-one-out from one inverse a candidate."""
    answer = GridAnswer(len(candidates), len(X))
    partition = ClassPartition.of(y)
    products = Products(X[partition.order])
    for kernel, numbers in group_by_kernel(candidates).items():
        with answer.attempt(numbers):
            K = products.gram(kernel)
            for number, system, beta in _systems(K, partition, candidates, numbers):
                with answer.attempt([number]):
                    delta = loo_dissimilarities_in_class_order(system, beta)
                    labels = nearest_class(delta, partition.classes)
                    answer.labels[number, partition.order] = labels
    return answer.finished()


def predict_linear_grid(
    X_train: Matrix,
    y_train: Labels,
    X_test: Matrix,
    candidates: Sequence[Params],
    *,
    seed: int,
) -> GridPredictions:
    """Work on features or on the kernel matrix, whichever costs less."""
    if not features_are_cheaper(X_train, len(np.unique(y_train))):
        return predict_grid(X_train, y_train, X_test, candidates, seed=seed)
    answer = GridAnswer(len(candidates), len(X_test))
    for number, params in enumerate(candidates):
        with answer.attempt([number]):
            model = LinearDRMClassifier(alpha=_alpha(params), beta=params["beta"])
            answer.labels[number] = model.fit(X_train, y_train).predict(X_test)
    return answer.finished()


def predict_linear_left_out(
    X: Matrix, y: Labels, candidates: Sequence[Params], *, seed: int
) -> GridPredictions:
    """Exact leave-one-out from features or kernel matrix, whichever costs less."""
    if not features_are_cheaper(X, len(np.unique(y))):
        return predict_left_out(X, y, candidates, seed=seed)
    answer = GridAnswer(len(candidates), len(X))
    left_out, classes = LinearLeaveOneOut(X, y), np.unique(y)
    for number, params in enumerate(candidates):
        with answer.attempt([number]):
            delta = left_out.dissimilarities(_alpha(params), params["beta"])
            answer.labels[number] = nearest_class(delta, classes)
    return answer.finished()


def _most_regularised(params: Params) -> tuple[Any, ...]:
    return (-params["beta"], -_alpha(params), kernel_simplicity(params))


def _kernel_method(kernel: str, title: str, column: str | None) -> Method:
    linear = kernel == "linear"
    return Method(
        name=f"drm-{kernel}",
        title=f"DRM, {title} kernel",
        family="drm",
        citation=_CITATION,
        build=lambda params, seed: DRMClassifier(**estimator_arguments(params)),
        grid={"alpha": DECADES, **KERNEL_GRIDS[kernel], "beta": DECADES},
        defaults=KERNEL_DEFAULTS[kernel],
        column=column,
        predict_grid=predict_linear_grid if linear else predict_grid,
        predict_left_out=predict_linear_left_out if linear else predict_left_out,
        prefer=_most_regularised,
    )


def _ablation(kernel: str, title: str) -> Method:
    return Method(
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
        defaults=KERNEL_DEFAULTS[kernel],
        predict_grid=predict_grid,
        predict_left_out=predict_left_out,
        prefer=_most_regularised,
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


METHODS = (
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
        predict_grid=predict_linear_grid,
        predict_left_out=predict_linear_left_out,
        prefer=_most_regularised,
    ),
)
