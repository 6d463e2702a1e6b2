"""Other ways to read what the paper says of its methods' parameters and selection.

Each is a method whose candidates, kernel or leave-one-out differ from the registered
one; :mod:`keel_rules` shows which published cells they give.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from scipy.linalg import eigh

from drmbench.drm.decision import dissimilarities, nearest_class
from drmbench.drm.kernels import DECADES, Kernel, Products
from drmbench.drm.partition import ClassPartition
from drmbench.drm.system import DenseSystem
from drmbench.errors import InputError
from drmbench.methods.base import (
    GridAnswer,
    GridPredictions,
    Labels,
    Matrix,
    Method,
    Params,
)
from drmbench.methods.kernel_grid import group_by_kernel
from drmbench.methods.registry import get_method, with_overrides
from drmbench.methods.svm import GramSVC, left_out_labels
from drmbench.protocol.protocol import paper_protocol

#: The decades without 10, which the published SVM cells fit.
DECADES_WITHOUT_TEN = tuple(value for value in DECADES if value != 10.0)


def _with_gammas(name: str, gammas: Sequence[float], params: Params) -> Method:
    """Read the values as γ in exp(-γ‖x - y‖²), which is a variance of 1/(2γ)."""
    widths = [1 / (2 * gamma) for gamma in gammas]
    return with_overrides(
        get_method(name),
        grid={"sigma": widths},
        params={**params, "width": "variance"},
    )


def _default_polynomial(X: Matrix, degree: float) -> tuple[Matrix, Kernel]:
    """Return samples and kernel of (x·y/p)^degree, LIBSVM's default polynomial."""
    return X / math.sqrt(X.shape[1]), Kernel("poly", degree=degree, coef0=0.0)


def _libsvm_polynomial() -> Method:
    """Return an SVM with every parameter but the degree as LIBSVM has it."""

    def predict_grid(
        X_train: Matrix,
        y_train: Labels,
        X_test: Matrix,
        candidates: Sequence[Params],
        *,
        seed: int,
    ) -> GridPredictions:
        answer = GridAnswer(len(candidates), len(X_test))
        for number, params in enumerate(candidates):
            rows, kernel = _default_polynomial(X_train, params["degree"])
            new = X_test / math.sqrt(X_test.shape[1])
            machine = GramSVC(params["C"], params["max_iter"])
            machine.fit(Products(rows).gram(kernel), y_train)
            answer.labels[number] = machine.predict(Products(new, rows).gram(kernel))
        return answer.finished()

    def predict_left_out(
        X: Matrix, y: Labels, candidates: Sequence[Params], *, seed: int
    ) -> GridPredictions:
        answer = GridAnswer(len(candidates), len(X))
        for number, params in enumerate(candidates):
            rows, kernel = _default_polynomial(X, params["degree"])
            K = Products(rows).gram(kernel)
            labels = left_out_labels(K, y, params["C"], params["max_iter"])
            answer.labels[number] = labels
        return answer.finished()

    method = with_overrides(get_method("svm-poly"), params={"C": 1.0})
    return dataclasses.replace(
        method, predict_grid=predict_grid, predict_left_out=predict_left_out
    )


def labels_with_kept_sizes(
    system: DenseSystem, betas: Sequence[float]
) -> Iterator[Labels]:
    """Give leave-one-out labels for each β if two classes keep their full sizes.

    That is what comes out where ``H - B`` is made once, from all training samples, and
    each left-out sample's row and column are taken out of it. With M = (Q + βI)⁻¹ and
    k the sample's kernel values, its own entry zero, ``w = Mk - M_i (Mk)_i / M_ii``.
    The dissimilarities of two classes differ by ``w_cᵀk`` alone, so the eigenvectors of
    Q give the labels for every β without another product of matrices. Nothing is
    refused: a system near to singular is solved as well as double precision can.
    """
    others = system.K.copy()
    np.fill_diagonal(others, 0.0)
    # Narrow kernels have values whose squares underflow only if they are tiny
    # themselves, not because those of another sample are large.
    largest = np.abs(others).max(axis=1, keepdims=True)
    largest[largest == 0.0] = 1.0
    others /= largest
    values, V = eigh(system.matrix())
    blocks = system.partition.blocks
    shares = np.stack([others[:, block] @ V[block] for block in blocks])
    total = shares.sum(axis=0)
    for beta in betas:
        inverse = 1.0 / (values + beta)
        deleted = (V * total) @ inverse / (V**2 @ inverse)
        fits = (shares * total) @ inverse - (shares * V) @ inverse * deleted
        yield system.partition.classes[np.argmax(fits * largest[:, 0] ** 2, axis=0)]


def _left_out_with_kept_sizes(
    X: Matrix, y: Labels, candidates: Sequence[Params], *, seed: int
) -> GridPredictions:
    answer = GridAnswer(len(candidates), len(X))
    partition = ClassPartition.of(y)
    products = Products(X[partition.order])
    for kernel, numbers in group_by_kernel(candidates).items():
        with answer.attempt(numbers):
            K = products.gram(kernel)
            by_alpha: dict[float, list[int]] = {}
            for number in numbers:
                by_alpha.setdefault(candidates[number]["alpha"], []).append(number)
            for alpha, some in by_alpha.items():
                system = DenseSystem(K, partition, alpha)
                betas = [candidates[number]["beta"] for number in some]
                found = labels_with_kept_sizes(system, betas)
                for number, labels in zip(some, found, strict=True):
                    answer.labels[number, partition.order] = labels
    return answer.finished()


def _with_kept_sizes(method: Method) -> Method:
    return dataclasses.replace(method, predict_left_out=_left_out_with_kept_sizes)


def _with_variances() -> Method:
    """Read the values as s in exp(-‖x - y‖²/(2s))."""
    return with_overrides(get_method("drm-rbf"), params={"width": "variance"})


def _with_whole_penalty(method: Method) -> Method:
    """Read the penalty as β‖w‖², not ½β‖w‖²: Q + 2βI is solved.

    The paper's general problem has β·ρ(‖w‖) and its ridge ρ(x) = ½x², but its remark on
    ridge regression has ρ(x) = x².
    """
    doubled = [2 * beta for beta in method.grid["beta"]]
    return with_overrides(method, grid={"beta": doubled})


def _with_inverse(method: Method) -> Method:
    """Predict as ``inv(Q + βI) * k`` does, which refuses nothing.

    MATLAB warns of a system near to singular and answers all the same; ours is refused
    if it cannot be factorised.
    """

    def predict_grid(
        X_train: Matrix,
        y_train: Labels,
        X_test: Matrix,
        candidates: Sequence[Params],
        *,
        seed: int,
    ) -> GridPredictions:
        answer = GridAnswer(len(candidates), len(X_test))
        partition = ClassPartition.of(y_train)
        rows = X_train[partition.order]
        for kernel, numbers in group_by_kernel(candidates).items():
            K = Products(rows).gram(kernel)
            k = Products(X_test, rows).gram(kernel).T
            for number in numbers:
                params = candidates[number]
                system = DenseSystem(K, partition, params["alpha"])
                W = np.linalg.inv(system.matrix(params["beta"])) @ k
                delta = dissimilarities(system, W, k)
                answer.labels[number] = nearest_class(delta, partition.classes)
        return answer.finished()

    return dataclasses.replace(method, predict_grid=predict_grid)


#: Other ways to read the paper's parameters, by method and name.
READINGS: Mapping[tuple[str, str], Callable[[], Method]] = {
    ("svm-rbf", "libsvm"): lambda: _with_gammas(
        "svm-rbf", DECADES_WITHOUT_TEN, {"C": 1.0}
    ),
    ("svm-rbf", "gamma"): lambda: _with_gammas("svm-rbf", DECADES, {"C": 1.0}),
    ("svm-poly", "libsvm"): _libsvm_polynomial,
    ("drm-rbf", "gamma"): lambda: _with_gammas("drm-rbf", DECADES, {}),
    ("drm-rbf", "variance"): _with_variances,
    ("drm-rbf", "kept-sizes"): lambda: _with_kept_sizes(get_method("drm-rbf")),
    ("drm-rbf", "variance-kept-sizes"): lambda: _with_kept_sizes(_with_variances()),
    ("drm-rbf", "penalty"): lambda: _with_whole_penalty(get_method("drm-rbf")),
    ("drm-rbf", "penalty-kept-sizes"): lambda: _with_kept_sizes(
        _with_whole_penalty(get_method("drm-rbf"))
    ),
    ("drm-rbf", "inverse"): lambda: _with_inverse(get_method("drm-rbf")),
    ("drm-poly", "inverse"): lambda: _with_inverse(get_method("drm-poly")),
    ("drm-poly", "kept-sizes"): lambda: _with_kept_sizes(get_method("drm-poly")),
    ("drm-poly", "penalty"): lambda: _with_whole_penalty(get_method("drm-poly")),
    ("drm-poly", "penalty-kept-sizes"): lambda: _with_kept_sizes(
        _with_whole_penalty(get_method("drm-poly"))
    ),
}


def read_method(name: str, reading: str) -> Method:
    """Return a method as registered, or under another reading of its parameters."""
    if reading == "registered":
        return paper_protocol("gmean").method_as_used(get_method(name))
    if (name, reading) not in READINGS:
        known = [f"{method} {other}" for method, other in READINGS]
        raise InputError(
            f"{name} has no reading {reading!r}; there are: {', '.join(known)}"
        )
    return READINGS[name, reading]()
