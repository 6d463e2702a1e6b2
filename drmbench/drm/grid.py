"""Predictions of every point of a parameter grid, sharing what the points can share.

One matrix of inner products or distances serves all kernels, one kernel matrix all
weights, and the linear kernel works on features where these cost less. The answers are
exactly what one estimator per candidate would give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from drmbench.drm.decision import dissimilarities, nearest_class
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.kernels import Kernel, Products
from drmbench.drm.linear import (
    ClassSums,
    LinearLeaveOneOut,
    LinearModel,
    features_are_cheaper,
)
from drmbench.drm.loo import loo_dissimilarities_in_class_order
from drmbench.drm.partition import Array, ClassPartition
from drmbench.drm.solvers import ClosedForm
from drmbench.drm.system import DenseSystem

#: A candidate's predicted labels, or why it has none.
Answer = NDArray[Any] | str
#: Dissimilarities for one pair of weights α and β.
Solve = Callable[[float, float], Array]


@dataclass(frozen=True)
class Candidate:
    """One point of the grid; `kernel` is None for a precomputed kernel matrix."""

    alpha: float
    beta: float
    kernel: Kernel | None

    def regularisation(self) -> tuple[Any, ...]:
        """Sort key, most regularised first: β, then α, then the simpler kernel."""
        complexity = self.kernel.complexity if self.kernel else (0, 0.0)
        return (-self.beta, -self.alpha, *complexity)


def held_out_answers(
    X_train: Array,
    y_train: NDArray[Any],
    X_test: Array,
    candidates: Sequence[Candidate],
    *,
    n_jobs: int | None = None,
) -> list[Answer]:
    """Fit every candidate to one part and predict another, with threads over kernels.

    Of a precomputed kernel, `X_train` is the matrix of the training samples, (n, n),
    and `X_test` has a row per test sample, (m, n).
    """
    partition = ClassPartition.of(y_train)
    order = partition.order
    rows = X_train[order]
    train, test = Products(rows), Products(X_test, rows)

    def prepare(kernel: Kernel | None) -> Solve:
        if _works_on_features(kernel, X_train, partition):
            codes, g = np.searchsorted(partition.classes, y_train), partition.n_classes

            def on_features(alpha: float, beta: float) -> Array:
                sums = ClassSums.of(X_train, codes, g, alpha, beta)
                return LinearModel.of(sums, alpha).dissimilarities(X_test)

            return on_features
        if kernel is None:
            K, k = rows[:, order], X_test[:, order].T
        else:
            K, k = train.gram(kernel), test.gram(kernel).T

        def on_kernel(alpha: float, beta: float) -> Array:
            system = DenseSystem(K, partition, alpha)
            # Not by a Solution: its objective would cost as much as the solution.
            W = ClosedForm(system, beta).representations(k)
            return dissimilarities(system, W, k)

        return on_kernel

    return _answers(candidates, prepare, partition.classes, n_jobs)


def left_out_answers(
    X: Array,
    y: NDArray[Any],
    candidates: Sequence[Candidate],
    *,
    n_jobs: int | None = None,
) -> list[Answer]:
    """Predict every sample by exact leave-one-out, with every candidate.

    Of a precomputed kernel, `X` is the matrix of all samples. Threads are over kernels.
    """
    partition = ClassPartition.of(y)
    order = partition.order
    rows = X[order]
    products = Products(rows)

    def prepare(kernel: Kernel | None) -> Solve:
        if _works_on_features(kernel, X, partition):
            return LinearLeaveOneOut(X, y).dissimilarities
        K = rows[:, order] if kernel is None else products.gram(kernel)

        def on_kernel(alpha: float, beta: float) -> Array:
            system = DenseSystem(K, partition, alpha)
            delta = loo_dissimilarities_in_class_order(system, beta)
            return partition.to_sample_order(delta)

        return on_kernel

    return _answers(candidates, prepare, partition.classes, n_jobs)


def _works_on_features(
    kernel: Kernel | None, X: Array, partition: ClassPartition
) -> bool:
    linear = kernel is not None and kernel.kind == "linear"
    return linear and features_are_cheaper(X, partition.n_classes)


def _answers(
    candidates: Sequence[Candidate],
    prepare: Callable[[Kernel | None], Solve],
    classes: NDArray[Any],
    n_jobs: int | None,
) -> list[Answer]:
    """Prepare each kernel once, and answer all candidates that have it."""
    groups: dict[Kernel | None, list[int]] = {}
    for number, candidate in enumerate(candidates):
        groups.setdefault(candidate.kernel, []).append(number)
    answers: list[Answer] = [""] * len(candidates)

    def answer_group(kernel: Kernel | None, numbers: list[int]) -> None:
        try:
            solve = prepare(kernel)
        # An IllConditionedError, or a kernel that refuses the data: chi2 takes no
        # negative features.
        except ValueError as error:
            for number in numbers:
                answers[number] = str(error)
            return
        for number in numbers:
            weights = candidates[number].alpha, candidates[number].beta
            try:
                answers[number] = nearest_class(solve(*weights), classes)
            except IllConditionedError as error:
                answers[number] = str(error)

    Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(
        delayed(answer_group)(kernel, numbers) for kernel, numbers in groups.items()
    )
    return answers
