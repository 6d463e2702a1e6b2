"""A numpy ``.npy`` matrix in chunks of rows, mapped into memory and not loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from drmbench.data.chunk import Chunk, FeatureRequest, refuse_missing
from drmbench.data.readers.arrays import decoding, label_text
from drmbench.data.readers.table import Blob
from drmbench.data.text_stream import opened
from drmbench.errors import InputError

LAST = "last"
"""The word for the last column."""


class ChunkedNpy:
    """A matrix of real numbers, one sample a row, the class in one of its columns.

    Parameters
    ----------
    path : Path
        The file.
    target : str or None
        Number of the column with the class, counted from 0 as numpy does, negative
        from the right; or ``"last"``; None if the rows have none.
    request : FeatureRequest
        Its ``count`` is how many features there must be.
    """

    feature_names = None

    def __init__(self, path: Path, target: str | None, request: FeatureRequest) -> None:
        self.path = path
        self._matrix = _mapped(path)
        width = self._matrix.shape[1]
        self._label = None if target is None else _column(path.name, width, target)
        self._features = [j for j in range(width) if j != self._label]
        if not self._features:
            raise InputError(f"{path.name}: no feature column beside the class label")
        request.check_count(path.name, self.n_features)

    @property
    def labelled(self) -> bool:
        """Whether chunks have labels."""
        return self._label is not None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self._features)

    def chunks(self, chunksize: int) -> Iterator[Chunk]:
        """Yield the rows, at most `chunksize` at a time."""
        for start in range(0, self._matrix.shape[0], chunksize):
            yield self._chunk(
                start, np.asarray(self._matrix[start : start + chunksize])
            )

    def _chunk(self, start: int, rows: Any) -> Chunk:
        X = np.ascontiguousarray(rows[:, self._features], dtype=np.float64)

        def place(row: int) -> str:
            return f"sample {start + row + 1}"

        refuse_missing(self.path.name, X, place)
        if self._label is None:
            return Chunk(X, None)
        labels = rows[:, [self._label]]
        refuse_missing(self.path.name, labels.astype(np.float64), place, ("the class",))
        return Chunk(X, label_text(self.path.name, labels))


def _mapped(path: Path) -> Any:
    with opened(path), decoding(Blob(path.name, b""), "npy file"):
        matrix = np.lib.format.open_memmap(path, mode="r")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            f"{path.name}: expected the samples as a matrix, found shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "biuf":
        raise InputError(
            f"{path.name}: expected real numbers, found type {matrix.dtype}"
        )
    return matrix


def _column(file: str, width: int, target: str) -> int:
    try:
        column = -1 if target == LAST else int(target)
    except ValueError:
        column = width
    if not -width <= column < width:
        raise InputError(
            f"{file}: no column {target!r}; the target of an npy file is the number of"
            f" a column, 0 to {width - 1}, or {LAST!r}"
        )
    return column % width
