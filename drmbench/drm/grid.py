"""Predictions of every point of a parameter grid, sharing what the points can share.

One matrix of inner products or distances serves all kernels, one kernel matrix all
weights, and the linear kernel works on features where these cost less. The answers are
exactly what one estimator per candidate would give.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from drmbench.drm.decision import dissimilarities
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

#: Dissimilarities for one pair of weights α and β.
Solve = Callable[[float, float], Array]
#: Prepares what all candidates with one kernel share.
Prepare = Callable[[Kernel | None], Solve]
#: Makes something of a candidate's number and its dissimilarities.
Use = Callable[[int, Array], Any]


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


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What became of a candidate; seconds of shared work are divided evenly."""

    value: Any = None  #: What was made of its dissimilarities
    failure: str = ""  #: Why there are none
    solve_seconds: float = 0.0  #: Time of the dissimilarities
    use_seconds: float = 0.0  #: Time of what was made of them


def left_out_dissimilarities(
    X: Array,
    y: NDArray[Any],
    candidate: Candidate,
    *,
    weights: Array | None = None,
) -> Array:
    """Return δ, (n, g), of every sample left out in turn, with one candidate."""
    solve = _left_out_solver(X, y, weights)(candidate.kernel)
    return solve(candidate.alpha, candidate.beta)


def held_out(
    X_train: Array,
    y_train: NDArray[Any],
    X_test: Array,
    candidates: Sequence[Candidate],
    use: Use,
    *,
    weights: Array | None = None,
    n_jobs: int | None = None,
) -> list[Evaluation]:
    """Fit every candidate to one part and use its δ, (m, g), of another.

    A training sample of weight 0 is none, and a class without other samples is not
    among the columns of δ.
    """
    prepare = _held_out_solver(X_train, y_train, X_test, weights)
    return _evaluations(candidates, prepare, use, n_jobs)


def left_out(
    X: Array,
    y: NDArray[Any],
    candidates: Sequence[Candidate],
    use: Use,
    *,
    weights: Array | None = None,
    balanced: bool = False,
    n_jobs: int | None = None,
) -> list[Evaluation]:
    """Use every candidate's exact leave-one-out δ, (n, g).

    The weights of other samples stay as they are when one is left out; leaving out a
    sample of weight 0 changes nothing, so the model of all others judges it. If
    `balanced`, the weights are those that balance the classes of the samples that
    remain, as if the candidate were fitted to these again.
    """
    prepare = _balanced_solver(X, y) if balanced else _left_out_solver(X, y, weights)
    return _evaluations(candidates, prepare, use, n_jobs)


def _held_out_solver(
    X_train: Array, y_train: NDArray[Any], X_test: Array, weights: Array | None
) -> Prepare:
    partition = ClassPartition.of(y_train, weights)
    order = partition.order
    rows = X_train[order]
    train, test = Products(rows), Products(X_test, rows)

    def prepare(kernel: Kernel | None) -> Solve:
        if _works_on_features(kernel, rows, partition):
            codes, g = partition.codes, partition.n_classes

            def on_features(alpha: float, beta: float) -> Array:
                sums = ClassSums.of(rows, codes, g, alpha, beta, partition.weights)
                return LinearModel.of(sums, alpha).dissimilarities(X_test)

            return on_features
        if kernel is None:
            K, k = rows[:, order], X_test[:, order].T
        else:
            K, k = train.gram(kernel), test.gram(kernel).T
        k = partition.times_roots(k)

        def on_kernel(alpha: float, beta: float) -> Array:
            system = DenseSystem(K, partition, alpha)
            # Not by a Solution: its objective would cost as much as the solution.
            W = ClosedForm(system, beta).representations(k)
            return dissimilarities(system, W, k)

        return on_kernel

    return prepare


def _left_out_solver(X: Array, y: NDArray[Any], weights: Array | None) -> Prepare:
    if weights is not None and not weights.all():
        return _with_weightless(X, y, weights)
    partition = ClassPartition.of(y, weights)
    order = partition.order
    rows = X[order]
    products = Products(rows)

    def prepare(kernel: Kernel | None) -> Solve:
        if _works_on_features(kernel, X, partition):
            return LinearLeaveOneOut(X, y, weights).dissimilarities
        K = rows[:, order] if kernel is None else products.gram(kernel)

        def on_kernel(alpha: float, beta: float) -> Array:
            system = DenseSystem(K, partition, alpha)
            delta = loo_dissimilarities_in_class_order(system, beta)
            return partition.to_sample_order(delta)

        return on_kernel

    return prepare


def _balanced_solver(X: Array, y: NDArray[Any]) -> Prepare:
    """Leave out samples of which the others' classes are then balanced again.

    Their weights depend on the class of the sample that is left out, not on the sample:
    leave-one-out with these weights is done once for each class.
    """
    partition = ClassPartition.of(y)
    order, counts = partition.order, partition.counts
    rows = X[order]
    products = Products(rows)

    def weighted(code: int) -> Array:
        left = counts - (np.arange(partition.n_classes) == code)
        present = np.count_nonzero(left)
        # The only sample of a class takes its weight along, whatever it is.
        factors = (partition.n_samples - 1) / (present * np.maximum(left, 1))
        return np.repeat(factors, counts)

    weights = [weighted(code) for code in range(partition.n_classes)]
    parts = [ClassPartition.of(y[order], w) for w in weights]

    def prepare(kernel: Kernel | None) -> Solve:
        if _works_on_features(kernel, X, partition):
            linear = [LinearLeaveOneOut(rows, y[order], w) for w in weights]
            return joined(lambda code, *ab: linear[code].dissimilarities(*ab))
        K = rows[:, order] if kernel is None else products.gram(kernel)

        def on_kernel(code: int, alpha: float, beta: float) -> Array:
            system = DenseSystem(K, parts[code], alpha)
            return loo_dissimilarities_in_class_order(system, beta, code)

        return joined(on_kernel)

    def joined(solve: Callable[[int, float, float], Array]) -> Solve:
        def on_all(alpha: float, beta: float) -> Array:
            delta = np.empty((partition.n_samples, partition.n_classes))
            for code, block in enumerate(partition.blocks):
                delta[block] = solve(code, alpha, beta)[block]
            return partition.to_sample_order(delta)

        return on_all

    return prepare


def _with_weightless(X: Array, y: NDArray[Any], weights: Array) -> Prepare:
    """Leave out the samples that have a weight; the model of them judges the others."""
    kept, rest = np.flatnonzero(weights), np.flatnonzero(weights == 0.0)

    def prepare(kernel: Kernel | None) -> Solve:
        columns = kept if kernel is None else slice(None)
        known, new = X[kept][:, columns], X[rest][:, columns]
        solve = _left_out_solver(known, y[kept], weights[kept])(kernel)
        fitted = _held_out_solver(known, y[kept], new, weights[kept])(kernel)

        def on_both(alpha: float, beta: float) -> Array:
            parts = np.concatenate([solve(alpha, beta), fitted(alpha, beta)])
            delta = np.empty_like(parts)
            delta[np.concatenate([kept, rest])] = parts
            return delta

        return on_both

    return prepare


def _works_on_features(
    kernel: Kernel | None, X: Array, partition: ClassPartition
) -> bool:
    linear = kernel is not None and kernel.kind == "linear"
    return linear and features_are_cheaper(X, partition.n_classes)


def _evaluations(
    candidates: Sequence[Candidate], prepare: Prepare, use: Use, n_jobs: int | None
) -> list[Evaluation]:
    """Prepare each kernel once, and evaluate all candidates that have it."""
    groups: dict[Kernel | None, list[int]] = {}
    for number, candidate in enumerate(candidates):
        groups.setdefault(candidate.kernel, []).append(number)
    evaluations = [Evaluation()] * len(candidates)

    def evaluate_group(kernel: Kernel | None, numbers: list[int]) -> None:
        start = time.perf_counter()
        try:
            solve = prepare(kernel)
        # An IllConditionedError, or a kernel that refuses the data: chi2 takes no
        # negative features.
        except ValueError as error:
            for number in numbers:
                evaluations[number] = Evaluation(failure=str(error))
            return
        shared = (time.perf_counter() - start) / len(numbers)
        for number in numbers:
            evaluations[number] = _evaluation(
                number, candidates[number], solve, use, shared
            )

    Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(
        delayed(evaluate_group)(kernel, numbers) for kernel, numbers in groups.items()
    )
    return evaluations


def _evaluation(
    number: int, candidate: Candidate, solve: Solve, use: Use, shared: float
) -> Evaluation:
    start = time.perf_counter()
    try:
        delta = solve(candidate.alpha, candidate.beta)
        solved = time.perf_counter()
        value = use(number, delta)
    # An IllConditionedError, or a score that is not defined for these samples.
    except ValueError as error:
        return Evaluation(failure=str(error))
    used = time.perf_counter() - solved
    return Evaluation(value, "", shared + solved - start, used)
