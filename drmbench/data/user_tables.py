"""A person's own csv or tsv table in chunks: a row of column names, then the rows.

All features must be numbers. Rows are read by pandas; only where that is not sure to
give the same, or something is wrong, they are read again cell by cell, which is slow
but can name the line and the value.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from drmbench.data.chunks import (
    Chunk,
    ChunkedFile,
    FeatureRequest,
    batches,
    refuse_missing,
)
from drmbench.data.fast_cells import DoubtfulError, Texts, parse_block
from drmbench.data.readers.cells import (
    MISSING,
    Rows,
    csv_reader,
    csv_records,
    is_nominal,
    is_number,
    labels,
    numbers,
)
from drmbench.data.readers.common import label_array
from drmbench.data.text_stream import DAMAGE, numbered_lines, open_text
from drmbench.errors import InputError, did_you_mean, quoted

MISSING_CELLS = MISSING | {"NA", "N/A", "NaN", "nan", "NULL", "null", "None"}
"""Cells that stand for a missing value."""

_WIDE, _FEW_ROWS = 100, 200
"""Columns from which on, and rows up to which, pandas costs more than it saves."""


class UserTable(ChunkedFile):
    """A csv or tsv file with a row of column names, read in chunks.

    `target` is the column that holds the class, None if the rows have none; the
    `delimiter` is found out from the first line unless it is given.
    """

    def __init__(
        self,
        path: Path,
        target: str | None,
        request: FeatureRequest,
        delimiter: str | None = None,
    ) -> None:
        self.path = path
        if delimiter is None:
            lines = (line for _, line in numbered_lines(path))
            first = next((line for line in lines if line.strip()), "")
            delimiter = next((mark for mark in ",;\t" if mark in first), ",")
        self._delimiter = delimiter
        self._names = next(
            (cells for _, cells in table_records(self.path, None, self._delimiter)), []
        )
        if not self._names:
            raise InputError(f"{path}: the file is empty")
        if all(is_number(name) for name in self._names):
            raise InputError(
                f"{path.name}: the first row holds numbers"
                f" ({', '.join(self._names[:5])}); it must hold the names of the"
                f" columns"
            )
        check_names(path.name, self._names)
        self._label = None
        if target is not None:
            if target not in self._names:
                raise InputError(
                    f"{path.name}: no column is named {quoted(target)}."
                    f"{did_you_mean(target, self._names)}"
                    f" Columns: {', '.join(self._names)}"
                )
            self._label = self._names.index(target)
        self.labelled = target is not None
        self._features = self._feature_columns(request)
        self.n_features = len(self._features)
        self.feature_names = tuple(self._names[column] for column in self._features)

    def _feature_columns(self, request: FeatureRequest) -> list[int]:
        names = self._names
        left = [
            column
            for column, name in enumerate(names)
            if column != self._label
            and not (name == request.ignore and self._label is None)
        ]
        if request.names is not None:
            request.match_names(self.path.name, [names[j] for j in left])
            return [names.index(name) for name in request.names]
        if not left:
            raise InputError(
                f"{self.path.name}: no feature column beside the class label"
            )
        request.check_count(self.path.name, len(left))
        return left

    def chunks(self, chunksize: int) -> Iterator[Chunk]:
        """Yield the rows, at most `chunksize` at a time; all features are numbers."""
        features = set(self._features)
        numeric = [column in features for column in range(len(self._names))]
        done, complete = 0, False
        if len(numeric) <= _WIDE or chunksize >= _FEW_ROWS:
            with suppress(DoubtfulError, *DAMAGE):
                for lines in line_blocks(self.path, None, self._delimiter, chunksize):
                    columns = parse_block(lines, self._delimiter, numeric)
                    yield self._quick_chunk(columns)
                    done += 1
                complete = done > 0
        if not complete:
            yield from self.slow_chunks(chunksize, done)

    def _quick_chunk(self, columns: Sequence[Any]) -> Chunk:
        """Return parsed columns as a chunk; no label must be missing."""
        X = np.column_stack([columns[column] for column in self._features])
        if self._label is None:
            return Chunk(X, None)
        texts: Texts = columns[self._label]
        if not MISSING_CELLS.isdisjoint(texts.values):
            raise DoubtfulError
        return Chunk(X, label_array(self.path.name, texts.values, texts.places))

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        return table_records(self.path, None, self._delimiter)

    def _row_batches(self, chunksize: int | None, skip: int = 0) -> Iterator[Rows]:
        """Yield the rows below the header cell by cell, without a size all at once."""
        records = islice(
            table_records(self.path, None, self._delimiter), 1 + skip, None
        )
        found = skip > 0
        for batch in batches(records, chunksize):
            found = True
            lines, cells = zip(*batch, strict=True)
            yield Rows((self.path.name,), list(cells), [0] * len(cells), list(lines))
        if not found:
            raise InputError(f"{self.path.name}: no rows below the header")

    def slow_chunks(self, chunksize: int, done: int = 0) -> Iterator[Chunk]:
        """Yield the chunks after those done, cell by cell, or name what is wrong."""
        for rows in self._row_batches(chunksize, done * chunksize):
            X = np.empty((len(rows.cells), self.n_features))
            for place, column in enumerate(self._features):
                title = f"column {column + 1} ({self._names[column]})"
                try:
                    X[:, place] = numbers(rows, column, title, MISSING_CELLS)
                except InputError as error:
                    if not is_nominal(rows.columns[column], MISSING_CELLS):
                        raise
                    raise InputError(
                        f"{error}. Reading in chunks takes numbers only: correct the"
                        f" cell, or remove the column or code it as numbers if it holds"
                        f" categories"
                    ) from error
            refuse_missing(self.path.name, X, "line", rows.lines, self.feature_names)
            if self._label is None:
                yield Chunk(X, None)
            else:
                yield Chunk(X, labels(rows, self._label, missing=MISSING_CELLS))


def line_blocks(
    path: Path, data: bytes | None, delimiter: str, count: int, header: bool = True
) -> Iterator[list[str]]:
    """Yield the lines below the header that are not blank, `count` at a time."""
    empty = string.whitespace + delimiter
    with open_text(path, data) as text:
        for cells in csv_reader(text, delimiter) if header else ():
            if any(map(str.strip, cells)):
                break
        yield from batches((line for line in text if line.strip(empty)), count)


def table_records(
    path: Path, data: bytes | None, delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and cells of each row that has any, header first."""
    lines = (line for _, line in numbered_lines(path, data))
    width = None
    for line, cells in csv_records(path.name, lines, delimiter):
        width = width or len(cells)
        if len(cells) != width:
            raise InputError(
                f"{path.name}, line {line}: expected {width} columns as in the rows"
                f" before, found {len(cells)}"
            )
        yield line, cells


def check_names(file: str, names: Sequence[str]) -> None:
    """Refuse column names that are missing or repeated."""
    if "" in names:
        raise InputError(
            f"{file}: column {list(names).index('') + 1} has no name; give it one, or"
            f" remove it if it only numbers the rows"
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"{file}: duplicate column names: {', '.join(map(repr, twice))}; every"
            f" column needs a name of its own"
        )
