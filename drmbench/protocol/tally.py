"""Scores of predictions that come in pieces, from counts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray


class RecallTally:
    """How many samples of each class came, and how many were recognised.

    Examples
    --------
    >>> tally = RecallTally()
    >>> tally.add(np.array(["a", "a", "b"]), np.array(["a", "b", "b"]))
    >>> tally.add(np.array(["b"]), np.array(["b"]))
    >>> tally.scores()
    {'accuracy': 0.75, 'balanced accuracy': 0.75, 'G-mean': 0.707...}
    """

    def __init__(self) -> None:
        self._came: Counter[str] = Counter()
        self._right: Counter[str] = Counter()

    def add(self, truth: NDArray[np.str_], predicted: NDArray[np.str_]) -> None:
        """Count some samples."""
        self._came.update(truth.tolist())
        self._right.update(truth[truth == predicted].tolist())

    def unknown(self, classes: Collection[str]) -> list[str]:
        """Return the labels that came and are none of `classes`, sorted."""
        return sorted(set(self._came) - set(classes))

    def scores(self) -> dict[str, float]:
        """Return accuracy, and the arithmetic and geometric mean of the recalls."""
        recalls = np.array([self._right[c] / n for c, n in self._came.items()])
        return {
            "accuracy": self._right.total() / self._came.total(),
            "balanced accuracy": float(recalls.mean()),
            "G-mean": float(np.prod(recalls) ** (1.0 / recalls.size)),
        }
