"""What the chunked formats share: the chunk, the features asked for, the checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from drmbench.errors import InputError


class Chunk(NamedTuple):
    """Some rows of a file.

    Attributes
    ----------
    X : ndarray of shape (m, p), float64
        The samples; all finite.
    labels : ndarray of shape (m,), str, or None
        Their class labels as text; None if the file is read without them.
    """

    X: NDArray[np.float64]
    labels: NDArray[np.str_] | None


class ChunkedFile(Protocol):
    """A file whose rows can be read a chunk at a time, as often as needed."""

    path: Path

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features where the format has them."""
        ...

    @property
    def n_features(self) -> int:
        """Number of features."""
        ...

    @property
    def labelled(self) -> bool:
        """Whether chunks have labels."""
        ...

    def chunks(self, chunksize: int) -> Iterator[Chunk]:
        """Yield the rows in order, at most `chunksize` at a time."""
        ...


@dataclass(frozen=True)
class FeatureRequest:
    """The features a reader of the file expects, as far as it knows them.

    Attributes
    ----------
    names : tuple of str or None
        Names of the columns, in the order they are wanted.
    count : int or None
        How many there must be.
    ignore : str or None
        A column to leave out if the file has it: the class, where it is not wanted.
    """

    names: tuple[str, ...] | None = None
    count: int | None = None
    ignore: str | None = None

    def check_count(self, file: str, found: int) -> None:
        """Refuse another number of features than the one expected."""
        if self.count is not None and found != self.count:
            raise InputError(
                f"{file}: {found} features, but the model has {self.count}; name the"
                f" column with the class by --target if the file has one"
            )


def refuse_missing(
    file: str,
    X: NDArray[np.float64],
    place: Callable[[int], str],
    names: tuple[str, ...] | None = None,
) -> None:
    """Refuse numbers that are not finite; say where the first one is.

    Parameters
    ----------
    file : str
        Name of the file.
    X : ndarray of shape (m, p)
        Rows of it.
    place : callable
        Gives the words for a row of X: "line 7", "sample 7".
    names : tuple of str or None
        Names of the columns.
    """
    bad = ~np.isfinite(X)
    if not bad.any():
        return
    row, column = np.argwhere(bad)[0]
    title = repr(names[column]) if names else str(column + 1)
    what = "is missing" if np.isnan(X[row, column]) else "is infinite"
    raise InputError(
        f"{file}, {place(int(row))}, column {title}: the value {what}; correct or fill"
        f" in such values, or remove those rows or columns"
    )
