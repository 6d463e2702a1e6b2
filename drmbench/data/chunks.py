"""Files too large for memory: their rows in chunks, checked as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from drmbench.data.readers.common import decoding, label_text
from drmbench.data.readers.libsvm import MAX_DENSE_CELLS, parse_svmlight
from drmbench.data.text_stream import numbered_lines, opened
from drmbench.errors import InputError, did_you_mean, quoted

CHUNK_CELLS = 500_000
"""Cells of a chunk where its rows are not said: some tens of megabytes of text."""

FIRST = "first"
"""What a LIBSVM file's class may be called: it is the first number of a line."""

LAST = "last"
"""The word for the last column of an npy file."""

Item = TypeVar("Item")
Line = tuple[int, str]


class Chunk(NamedTuple):
    """Some rows of a file."""

    X: NDArray[np.float64]  #: the samples, one per row; all finite
    labels: NDArray[np.str_] | None  #: their classes; None if read without them


class ChunkedFile(Protocol):
    """A file whose rows can be read a chunk at a time, as often as needed."""

    path: Path
    feature_names: tuple[str, ...] | None  #: where the format has them
    n_features: int
    labelled: bool  #: whether chunks have labels

    def chunks(self, chunksize: int) -> Iterator[Chunk]:
        """Yield the rows in order, at most `chunksize` at a time."""


@dataclass(frozen=True)
class FeatureRequest:
    """The features a reader of the file expects, as far as it knows them."""

    names: tuple[str, ...] | None = None  #: of the columns, in the order wanted
    count: int | None = None  #: how many there must be
    ignore: str | None = None  #: a column to leave out: the class, if not wanted

    def check_count(self, file: str, found: int) -> None:
        """Refuse another number of features than the one expected."""
        if self.count is not None and found != self.count:
            raise InputError(
                f"{file}: {found} features, but the model has {self.count}; name the"
                f" column with the class by --target if the file has one"
            )

    def match_names(self, file: str, found: Sequence[str]) -> None:
        """Refuse columns that are not those wanted, in whatever order."""
        wanted = self.names or ()
        absent = [name for name in wanted if name not in found]
        extra = [name for name in found if name not in wanted]
        if absent:
            raise InputError(
                f"{file}: the model needs the column{_listed(absent)}, which the file"
                f" does not have.{did_you_mean(absent[0], extra)} Columns:"
                f" {', '.join(found)}"
            )
        if extra:
            raise InputError(
                f"{file}: the model does not know the column{_listed(extra)}; remove"
                f" what is no feature, or name the column with the class by --target"
            )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{'s' if len(names) > 1 else ''} {', '.join(map(repr, names[:5]))}{more}"


def batches(items: Iterator[Item], size: int | None) -> Iterator[list[Item]]:
    """Yield lists of `size` items, the last of them perhaps shorter.

    Examples
    --------
    >>> list(batches(iter("abcde"), 2)), list(batches(iter("abcde"), None))
    ([['a', 'b'], ['c', 'd'], ['e']], [['a', 'b', 'c', 'd', 'e']])
    """
    while batch := list(islice(items, size)):
        yield batch


def refuse_missing(
    file: str,
    X: NDArray[np.float64],
    unit: str,
    numbers: Sequence[int],
    names: tuple[str, ...] | None = None,
) -> None:
    """Refuse numbers that are not finite; say where the first one is.

    Rows of X are called by their `unit`, "line" or "sample", and their `numbers`.
    """
    bad = ~np.isfinite(X)
    if not bad.any():
        return
    row, column = np.argwhere(bad)[0]
    title = quoted(names[column]) if names else str(column + 1)
    what = "is missing" if np.isnan(X[row, column]) else "is infinite"
    raise InputError(
        f"{file}, {unit} {numbers[row]}, column {title}: the value {what}; correct or"
        f" fill in such values, or remove those rows or columns"
    )


class ChunkedLibsvm(ChunkedFile):
    """A LIBSVM file, ``label index:value …``, indices from 1 and ascending.

    Lines may leave features out, so the number of them is what `request` says or else
    the largest index in the file, found in a pass over the lines.
    """

    feature_names = None
    labelled = True

    def __init__(self, path: Path, target: str | None, request: FeatureRequest) -> None:
        self.path = path
        if target not in (None, FIRST):
            raise InputError(
                f"{path.name}: LIBSVM files have no column names; the class is the"
                f" first number of a line: leave the target {quoted(target)} out, or"
                " call it"
                f" {quoted(FIRST)}"
            )
        self.n_features = request.count or self._largest_index()

    def chunks(self, chunksize: int) -> Iterator[Chunk]:
        """Yield the rows as dense matrices, at most `chunksize` at a time."""
        batch: list[Line] = []
        for batch in batches(self._lines(), chunksize):
            yield self._chunk(batch)
        if not batch:
            raise InputError(f"{self.path.name}: no data in the file")

    def _lines(self) -> Iterator[Line]:
        """Yield the lines that hold a sample, without comments."""
        for number, line in numbered_lines(self.path):
            content = line.partition("#")[0].strip()
            if content:
                yield number, content

    def _largest_index(self) -> int:
        largest = 0
        for _, line in self._lines():
            # Indices ascend, or the line is refused when its turn comes.
            index = line.rpartition(" ")[2].rpartition("\t")[2].partition(":")[0]
            if ":" in line and index.isdecimal():
                largest = max(largest, int(index))
        if not largest:
            raise InputError(f"{self.path.name}: no features in the file")
        return largest

    def _chunk(self, batch: list[Line]) -> Chunk:
        file = self.path.name
        try:
            text = "\n".join(content for _, content in batch)
            sparse, labels = parse_svmlight(text.encode())
        except Exception:  # whatever the parser raises; the line that does it tells
            for number, content in batch:
                try:
                    parse_svmlight(content.encode())
                except Exception as error:
                    raise InputError(
                        f"{file}, line {number}: expected 'label index:value …' with"
                        f" ascending indices, found {quoted(content[:60])}"
                    ) from error
            raise
        outside = (sparse.indices < 1) | (sparse.indices > self.n_features)
        if outside.any():
            entry = int(np.flatnonzero(outside)[0])
            row = int(np.searchsorted(sparse.indptr, entry, side="right")) - 1
            raise InputError(
                f"{file}, line {batch[row][0]}: feature index {sparse.indices[entry]}"
                f" in data of {self.n_features} features; indices start at 1"
            )
        if len(batch) * self.n_features > MAX_DENSE_CELLS:
            raise InputError(
                f"{file}: {len(batch)} rows × {self.n_features} features are too many"
                f" to be made dense at once; read fewer rows at a time"
            )
        sparse.resize(len(batch), self.n_features + 1)
        X = np.ascontiguousarray(sparse[:, 1:].toarray())
        refuse_missing(file, X, "line", [number for number, _ in batch])
        if np.isnan(labels).any():
            line = batch[int(np.flatnonzero(np.isnan(labels))[0])][0]
            raise InputError(f"{file}, line {line}: the class is missing")
        return Chunk(X, label_text(file, labels))


class ChunkedNpy(ChunkedFile):
    """A matrix of real numbers, one sample per row, mapped into memory and not loaded.

    The class is in the column whose number is the target, counted from 0 as numpy
    does, negative from the right; or in the ``"last"`` one; None if rows have none.
    """

    feature_names = None

    def __init__(self, path: Path, target: str | None, request: FeatureRequest) -> None:
        self.path = path
        with opened(path), decoding(path.name, "npy file"):
            self._matrix: Any = np.lib.format.open_memmap(path, mode="r")
        shape, dtype = self._matrix.shape, self._matrix.dtype
        if len(shape) != 2 or 0 in shape:
            raise InputError(
                f"{path.name}: expected the samples as a matrix, found shape {shape}"
            )
        if dtype.kind not in "biuf":
            raise InputError(f"{path.name}: expected real numbers, found type {dtype}")
        width: int = shape[1]
        self._label = None
        if target is not None:
            try:
                column = -1 if target == LAST else int(target)
            except ValueError:
                column = width
            if not -width <= column < width:
                raise InputError(
                    f"{path.name}: no column {quoted(target)}; the target of an npy"
                    " file is"
                    f" the number of a column, 0 to {width - 1}, or {quoted(LAST)}"
                )
            self._label = column % width
        self._features = [j for j in range(width) if j != self._label]
        self.labelled, self.n_features = target is not None, len(self._features)
        if not self._features:
            raise InputError(f"{path.name}: no feature column beside the class label")
        request.check_count(path.name, self.n_features)

    def chunks(self, chunksize: int) -> Iterator[Chunk]:
        """Yield the rows, at most `chunksize` at a time."""
        file = self.path.name
        for start in range(0, self._matrix.shape[0], chunksize):
            rows = np.asarray(self._matrix[start : start + chunksize])
            numbers = range(start + 1, start + len(rows) + 1)
            X = np.ascontiguousarray(rows[:, self._features], dtype=np.float64)
            refuse_missing(file, X, "sample", numbers)
            if self._label is None:
                yield Chunk(X, None)
                continue
            labels = rows[:, [self._label]]
            refuse_missing(
                file, labels.astype(np.float64), "sample", numbers, ("the class",)
            )
            yield Chunk(X, label_text(file, labels))
