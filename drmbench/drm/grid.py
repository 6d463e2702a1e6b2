"""The points of a parameter grid: their predictions, scores, ranks and ties."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.drm.decision import nearest_class
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.kernels import Kernel
from drmbench.drm.loo import loo_dissimilarities_in_class_order
from drmbench.drm.partition import Array, ClassPartition
from drmbench.drm.solvers import closed_form_dissimilarities
from drmbench.drm.system import DenseSystem

Score = Callable[[NDArray[Any], NDArray[Any]], float]
#: Per candidate: the predicted rows and labels of each split, or why it failed.
Answer = list[tuple[NDArray[np.intp], NDArray[Any]]] | str


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
class Outcome:
    """A candidate's scores, one a split, and its predictions, or why it failed."""

    scores: tuple[float, ...] = ()
    predictions: NDArray[Any] | None = None
    failure: str = ""


def left_out_answers(
    K: Array, y: NDArray[Any], alphas: Sequence[float], betas: Sequence[float]
) -> Iterator[tuple[float, float, Answer]]:
    """Yield exact leave-one-out predictions for every (α, β)."""
    partition = ClassPartition.of(y)
    K = K[np.ix_(partition.order, partition.order)]
    for alpha in alphas:
        system = DenseSystem(K, partition, alpha)
        for beta in betas:
            answer: Answer
            try:
                delta = loo_dissimilarities_in_class_order(system, beta)
                predicted = nearest_class(delta, partition.classes)
                answer = [(partition.order, predicted)]
            except IllConditionedError as error:
                answer = str(error)
            yield float(alpha), float(beta), answer


def split_answers(
    K: Array,
    y: NDArray[Any],
    alphas: Sequence[float],
    betas: Sequence[float],
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
) -> Iterator[tuple[float, float, Answer]]:
    """Yield the predictions of every split for every (α, β)."""
    parts = []
    for train, test in splits:
        partition = ClassPartition.of(y[train])
        rows = np.asarray(train)[partition.order]
        parts.append((partition, K[np.ix_(rows, rows)], K[np.ix_(rows, test)], test))
    for alpha, beta in itertools.product(alphas, betas):
        answer: Answer
        try:
            answer = [
                (test, _predicted(DenseSystem(K_train, partition, alpha), k, beta))
                for partition, K_train, k, test in parts
            ]
        except IllConditionedError as error:
            answer = str(error)
        yield float(alpha), float(beta), answer


def _predicted(system: DenseSystem, k: Array, beta: float) -> NDArray[Any]:
    delta = closed_form_dissimilarities(system, k, beta)
    return nearest_class(delta, system.partition.classes)


def scored(answer: Answer, y: NDArray[Any], score: Score) -> Outcome:
    """Score the predictions of each split; a failed candidate keeps its reason."""
    if isinstance(answer, str):
        return Outcome(failure=answer)
    scores = tuple(float(score(y[rows], labels)) for rows, labels in answer)
    predictions = y.copy()
    for rows, labels in answer:
        predictions[rows] = labels
    return Outcome(scores, predictions)


def best_number(candidates: list[Candidate], means: Array, tie: str) -> int:
    """Return the best candidate's number; scores within 1e-12 are equal."""
    tied = np.flatnonzero(means >= np.nanmax(means) - 1e-12)
    if tie == "first":
        return int(tied[0])
    return int(min(tied, key=lambda number: candidates[number].regularisation()))


def results_table(
    candidates: list[Candidate], outcomes: list[Outcome], means: Array
) -> dict[str, list[Any]]:
    """Return one row a candidate, as ``pandas.DataFrame`` reads it."""
    ranks = np.full(means.size, means.size, dtype=np.int64)
    scored = ~np.isnan(means)
    ranks[scored] = [1 + int((means[scored] > m + 1e-12).sum()) for m in means[scored]]
    spreads = [float(np.std(o.scores)) if o.scores else float("nan") for o in outcomes]
    kernels = [c.kernel for c in candidates]
    return {
        "alpha": [c.alpha for c in candidates],
        "beta": [c.beta for c in candidates],
        "kernel": [k.name if k else "precomputed" for k in kernels],
        "gamma": [k.gamma if k and k.name == "rbf" else None for k in kernels],
        "degree": [k.degree if k and k.name == "poly" else None for k in kernels],
        "mean_test_score": means.tolist(),
        "std_test_score": spreads,
        "rank_test_score": ranks.tolist(),
        "status": [o.failure or "ok" for o in outcomes],
    }
