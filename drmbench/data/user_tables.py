"""A person's own csv or tsv table: a row of column names, then the rows.

Nothing is declared, so everything is inferred: the delimiter, which columns hold
categories, what a missing value looks like. What remains doubtful is refused with a
message that says how to resolve it. Rows are read by pandas; only where that is not
sure to give the same, or something is wrong, they are read again cell by cell, which is
slow but can name the line and the value.
"""

from __future__ import annotations

import csv
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drmbench.data.chunks import (
    CHUNK_CELLS,
    Chunk,
    ChunkedFile,
    FeatureRequest,
    batches,
    refuse_missing,
)
from drmbench.data.fast_cells import DoubtfulError, Texts, parse_block
from drmbench.data.readers.cells import (
    MISSING,
    Coding,
    Rows,
    categories_of,
    coding_of,
    csv_reader,
    csv_records,
    is_nominal,
    is_number,
    labels,
    numbers,
    tabulate,
)
from drmbench.data.readers.common import RawTable
from drmbench.data.text_stream import DAMAGE, numbered_lines, open_text
from drmbench.errors import InputError, did_you_mean

MISSING_CELLS = MISSING | {"NA", "N/A", "NaN", "nan", "NULL", "null", "None"}
"""Cells that stand for a missing value."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+\Z")
_IDENTIFIER_ROWS = 20
_GUESS_ROWS = 100
_WIDE, _FEW_ROWS = 100, 200
"""Columns from which on, and rows up to which, pandas costs more than it saves."""


class WholeTable(NamedTuple):
    """A table and how messages name one of its rows."""

    table: RawTable
    place: Callable[[int], str]


class UserTable(ChunkedFile):
    """A csv or tsv file with a row of column names.

    `target` is the column that holds the class, None if the rows have none; the
    `delimiter` is found out from the first line unless it is given; `data` is the
    file's content, decompressed, if that is in memory already.
    """

    def __init__(
        self,
        path: Path,
        target: str | None,
        request: FeatureRequest,
        delimiter: str | None = None,
        data: bytes | None = None,
    ) -> None:
        self.path = path
        self._data = data
        if delimiter is None:
            lines = (line for _, line in numbered_lines(path, data))
            first = next((line for line in lines if line.strip()), "")
            delimiter = next((mark for mark in ",;\t" if mark in first), ",")
        self._delimiter = delimiter
        self._names = next((cells for _, cells in self._records()), [])
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
                    f"{path.name}: no column is named {target!r}."
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
        numeric = self._numeric_columns()
        done, complete = 0, False
        if len(numeric) <= _WIDE or chunksize >= _FEW_ROWS:
            with suppress(DoubtfulError, *DAMAGE):
                for lines in self._line_blocks(chunksize):
                    columns = parse_block(lines, self._delimiter, numeric)
                    yield self._quick_chunk(columns)
                    done += 1
                complete = done > 0
        if not complete:
            yield from self.slow_chunks(chunksize, done)

    def whole(self) -> WholeTable:
        """Return all rows at once, text columns as codes of their sorted categories."""
        with suppress(DoubtfulError, *DAMAGE):
            # This has no missing value to name the place of.
            return WholeTable(self._quick_table(), str)
        return self.slow_table()

    def cells(self) -> tuple[list[str], Rows]:
        """Return the names of all columns, and all rows cell by cell."""
        (rows,) = self._row_batches(None)
        return list(self._names), rows

    def _numeric_columns(self, lines: Sequence[str] = ()) -> list[bool]:
        """Tell of every column whether it is a feature, of numbers in these lines."""
        features = set(self._features)
        numeric = [column in features for column in range(len(self._names))]
        with suppress(csv.Error):  # the parser will refuse these lines too
            for cells in csv_reader(lines, self._delimiter):
                for column, cell in enumerate(cells[: len(numeric)]):
                    numeric[column] = numeric[column] and is_number(cell.strip())
        return numeric

    def _line_blocks(self, count: int) -> Iterator[list[str]]:
        """Yield the lines below the header that are not blank, `count` at a time."""
        empty = string.whitespace + self._delimiter
        with open_text(self.path, self._data) as text:
            for cells in csv_reader(text, self._delimiter):
                if any(map(str.strip, cells)):
                    break
            yield from batches((line for line in text if line.strip(empty)), count)

    def _quick_chunk(self, columns: Sequence[Any]) -> Chunk:
        """Return parsed columns as a chunk; no label must be missing."""
        X = np.column_stack([columns[column] for column in self._features])
        if self._label is None:
            return Chunk(X, None)
        texts: Texts = columns[self._label]
        if not MISSING_CELLS.isdisjoint(texts.values):
            raise DoubtfulError
        return Chunk(X, np.array(texts.values, dtype=np.str_)[texts.places])

    def _quick_table(self) -> RawTable:
        """Return the whole table, unless the slow way must decide."""
        numeric: list[bool] = []
        chunks: list[Chunk] = []
        categories: dict[int, list[Texts]] = {}
        width = len(self._names)
        for lines in self._line_blocks(max(1000, CHUNK_CELLS // width)):
            if not numeric:
                if width > _WIDE and len(lines) < _FEW_ROWS:
                    raise DoubtfulError
                numeric = self._numeric_columns(lines[:_GUESS_ROWS])
            columns = parse_block(lines, self._delimiter, numeric)
            for place, column in enumerate(self._features):
                texts = columns[column]
                if isinstance(texts, Texts):
                    categories.setdefault(place, []).append(texts)
                    columns[column] = np.zeros(len(lines))
            chunks.append(self._quick_chunk(columns))
        if not chunks:
            raise DoubtfulError
        X = np.concatenate([chunk.X for chunk in chunks])
        for place, parts in categories.items():
            X[:, place] = _quick_codes(parts, len(X))
        return RawTable(
            X=X,
            labels=np.concatenate([c.labels for c in chunks if c.labels is not None]),
            parts=np.zeros(len(X), dtype=np.int64),
            feature_names=self.feature_names,
            nominal=tuple(sorted(categories)),
        )

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and cells of each row that has any, header first."""
        lines = (line for _, line in numbered_lines(self.path, self._data))
        width = None
        for line, cells in csv_records(self.path.name, lines, self._delimiter):
            width = width or len(cells)
            if len(cells) != width:
                raise InputError(
                    f"{self.path.name}, line {line}: expected {width} columns as in"
                    f" the rows before, found {len(cells)}"
                )
            yield line, cells

    def _row_batches(self, chunksize: int | None, skip: int = 0) -> Iterator[Rows]:
        """Yield the rows below the header cell by cell, without a size all at once."""
        records = islice(self._records(), 1 + skip, None)
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

    def slow_table(self) -> WholeTable:
        """Return all rows, read cell by cell, or name what is wrong."""
        assert self._label is not None
        (rows,) = self._row_batches(None)
        codings: list[Coding | None] = [None] * rows.width
        for column in self._features:
            codings[column] = _infer_coding(rows, column, self._names[column])
        table = tabulate(
            rows, self._features, self._label, codings, self._names, MISSING_CELLS
        )
        return WholeTable(table, lambda row: f"line {rows.lines[row]}")


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


def _quick_codes(parts: Sequence[Texts], n_rows: int) -> NDArray[np.float64]:
    """Return the codes of a column of categories, unless it may hold something else."""
    categories = sorted({text for part in parts for text in part.values})
    doubtful = any(
        text in MISSING_CELLS or is_number(text) or _DECIMAL_COMMA.match(text)
        for text in categories
    )
    if doubtful or len(categories) == n_rows >= _IDENTIFIER_ROWS:
        raise DoubtfulError
    coding = coding_of(categories)
    codes = [np.array([coding[text] for text in part.values]) for part in parts]
    places = [part.places for part in parts]
    return np.concatenate([c[p] for c, p in zip(codes, places, strict=True)])


def _infer_coding(rows: Rows, column: int, name: str) -> Coding | None:
    """Return codes if a column holds categories, None if it holds numbers.

    Refused are columns of mostly numbers, numbers with decimal commas, identifiers.
    """
    cells = rows.columns[column]
    present = [row for row, cell in enumerate(cells) if cell not in MISSING_CELLS]
    odd = [row for row in present if not is_number(cells[row])]
    if not odd:
        return None
    place = f"{rows.where(odd[0])}, column {name!r}"
    if len(odd) <= len(present) // 2:
        raise InputError(
            f"{place}: expected a number as in {len(present) - len(odd)} other rows,"
            f" found {cells[odd[0]]!r}"
        )
    if _DECIMAL_COMMA.match(cells[odd[0]]):
        raise InputError(
            f"{place}: {cells[odd[0]]!r} has a decimal comma; write numbers with a"
            f" decimal point"
        )
    categories = categories_of(cells, MISSING_CELLS)
    if len(categories) == len(cells) >= _IDENTIFIER_ROWS:
        raise InputError(
            f"{rows.names[0]}: column {name!r} has another text in each of its"
            f" {len(cells)} rows, like an identifier; remove it"
        )
    return coding_of(categories)
