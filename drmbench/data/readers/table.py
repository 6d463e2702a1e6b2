"""What every reader takes and gives: named bytes in, one :class:`Table` out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Blob(NamedTuple):
    """A source file's name (for messages and format choice) and its bytes."""

    name: str
    data: bytes


@dataclass(frozen=True, eq=False)
class Table:
    """Samples as a reader finds them, before any check against the catalogue.

    Attributes
    ----------
    X : ndarray of shape (n, p), float64
        One sample a row; NaN marks a missing value.
    labels : ndarray of shape (n,), str
        Class label of every row, as text and stripped.
    feature_names : tuple of str or None
        Column names where the format has them.
    nominal : tuple of int
        Columns whose numbers are codes of categories.
    parts : ndarray of shape (n,), int
        Which of the blobs a row came from (all 0 for a single file).
    """

    X: NDArray[np.float64]
    labels: NDArray[np.str_]
    parts: NDArray[np.int64]
    feature_names: tuple[str, ...] | None = None
    nominal: tuple[int, ...] = ()


class Reader(Protocol):
    """A function that turns source files into a :class:`Table`."""

    def __call__(self, blobs: list[Blob], **options: Any) -> Table:
        """Read all blobs of one data set, in the order the catalogue lists them."""
        ...
