"""What the exact shortcuts share: collecting answers, grouping candidates, refits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from drmbench.methods.base import (
    CANDIDATE_FAILURES,
    NO_PREDICTION,
    GridPredictions,
    GridPredictor,
    Labels,
    LeftOutPredictor,
    Matrix,
    Params,
    left_out_by_refits,
)

Key = TypeVar("Key", bound=Hashable)


class GridAnswer:
    """Predictions of a grid in the making.

    Parameters
    ----------
    n_candidates, n_samples : int
        Shape of the answer.

    Attributes
    ----------
    labels : ndarray of shape (n_candidates, n_samples)
        To be filled, one row a candidate.
    failures : dict of int to str
        Why a candidate failed, by its number.

    Examples
    --------
    >>> from drmbench.methods.base import MethodFailedError
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
        self.labels: Labels = np.full(shape, NO_PREDICTION, dtype=np.int64)
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
    candidates: Sequence[Params], key: Callable[[Params], Key]
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


def refit_left_out(predict_grid: GridPredictor) -> LeftOutPredictor:
    """Make leave-one-out from a grid predictor: one call for each sample left out.

    It saves what the grid predictor shares between candidates, nothing else.
    """

    def predict_left_out(
        X: Matrix, y: Labels, candidates: Sequence[Params], *, seed: int
    ) -> GridPredictions:
        return left_out_by_refits(predict_grid, X, y, candidates, seed=seed)

    return predict_left_out
