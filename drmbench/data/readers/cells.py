"""Text files as rows of cells, and their columns as numbers, codes and labels."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.data.readers.common import Blob, RawTable, label_array
from drmbench.data.readers.compression import decompress
from drmbench.errors import InputError, quoted

NumberedCells = Iterator[tuple[int, list[str]]]


@dataclass(frozen=True)
class Rows:
    """Cells of one or several text files; all rows have the same number of cells."""

    names: tuple[str, ...]  #: name of every file
    cells: list[list[str]]  #: row by row
    parts: list[int]  #: number of the file each row stands in
    lines: list[int]  #: line number of each row in its file, from 1

    @property
    def width(self) -> int:
        """Number of cells in a row."""
        return len(self.cells[0])

    @cached_property
    def columns(self) -> list[tuple[str, ...]]:
        """The cells, column by column."""
        return list(zip(*self.cells, strict=True))

    def where(self, row: int) -> str:
        """Return a row's file and line, as messages name them."""
        return f"{self.names[self.parts[row]]}, line {self.lines[row]}"


def text(blob: Blob, encoding: str = "utf-8-sig") -> str:
    r"""Return a blob's text: decompressed, no byte-order mark, ``\n`` line ends."""
    data = decompress(blob)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise InputError(f"{blob.name}, line {line}: a zero byte; this is not text")
    try:
        decoded = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{blob.name}, line {line}: not UTF-8 text (byte {data[error.start]:#04x});"
            f" save the file as UTF-8"
        ) from error
    return decoded.replace("\r\n", "\n").replace("\r", "\n")


def split_rows(blobs: Sequence[Blob], delimiter: str | None) -> Rows:
    """Return the rows of plain text, split at a delimiter or (None) at white space."""

    def split(blob: Blob) -> NumberedCells:
        for number, line in enumerate(text(blob).split("\n"), start=1):
            if line.strip():
                yield number, [cell.strip() for cell in line.split(delimiter)]

    return gather(blobs, split)


def csv_reader(lines: Iterable[str], delimiter: str) -> Any:
    """Return Python's csv reader, as all csv and tsv text is read."""
    return csv.reader(
        lines, delimiter=delimiter, skipinitialspace=delimiter != "\t", strict=True
    )


def csv_records(file: str, lines: Iterable[str], delimiter: str) -> NumberedCells:
    """Yield the line number and cells of each row of csv text that is not empty."""
    reader = csv_reader(lines, delimiter)
    try:
        for record in reader:
            cells = [cell.strip() for cell in record]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(f"{file}, line {reader.line_num}: {error}") from error


def csv_rows(blobs: Sequence[Blob], delimiter: str) -> Rows:
    """Return the rows of csv text, where a quoted cell may hold the delimiter."""
    return gather(
        blobs, lambda blob: csv_records(blob.name, io.StringIO(text(blob)), delimiter)
    )


def gather(blobs: Sequence[Blob], split: Callable[[Blob], NumberedCells]) -> Rows:
    """Collect the rows of all blobs; refuse empty blobs and rows of another length."""
    if not blobs:
        raise InputError("no file to read")
    rows = Rows(tuple(blob.name for blob in blobs), [], [], [])
    for part, blob in enumerate(blobs):
        before = len(rows.cells)
        for line, cells in split(blob):
            rows.cells.append(cells)
            rows.lines.append(line)
            rows.parts.append(part)
        if len(rows.cells) == before:
            raise InputError(f"{blob.name}: no data in the file")
    for row, (cells, following) in enumerate(pairwise(rows.cells)):
        if len(following) != len(cells):
            raise InputError(
                f"{rows.where(row + 1)}: expected {len(cells)} columns as in the rows"
                f" before, found {len(following)}"
            )
    return rows


def without_headers(
    rows: Rows, has_header: Sequence[bool]
) -> tuple[Rows, list[str] | None]:
    """Return the rows without each file's header row, and the names in the first."""
    names: list[str] | None = None
    kept: list[int] = []
    for part, file in enumerate(rows.names):
        numbers = [row for row, owner in enumerate(rows.parts) if owner == part]
        if has_header[part]:
            found = rows.cells[numbers.pop(0)]
            names = names or found
            if found != names:
                raise InputError(f"{file}: other column names than {rows.names[0]}")
        if not numbers:
            raise InputError(f"{file}: no rows below the header")
        kept += numbers
    cells = [rows.cells[row] for row in kept]
    parts = [rows.parts[row] for row in kept]
    lines = [rows.lines[row] for row in kept]
    return Rows(rows.names, cells, parts, lines), names


Coding = Mapping[str, float]
"""Number of every category of a nominal column."""

MISSING = frozenset({"", "?", "<null>"})
"""Cells that stand for a missing value."""


def coding_of(categories: Iterable[str]) -> Coding:
    """Return the codes 0, 1, … of categories, in their order."""
    return {category: float(code) for code, category in enumerate(categories)}


def is_number(cell: str) -> bool:
    """Tell whether a cell is a number as data files write them.

    Examples
    --------
    >>> is_number("-1.5e3"), is_number("1_000"), is_number("40-49")
    (True, False, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_nominal(cells: Iterable[str], missing: Collection[str] = MISSING) -> bool:
    """Tell whether a column holds anything but numbers and missing values."""
    return any(not is_number(cell) for cell in cells if cell not in missing)


def categories_of(
    cells: Iterable[str], missing: Collection[str] = MISSING
) -> list[str]:
    """Return the sorted categories of a column."""
    return sorted(set(cells) - set(missing))


def numbers(
    rows: Rows, column: int, title: str, missing: Collection[str] = MISSING
) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where one is missing; refuse anything else."""
    cells = rows.columns[column]
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
        if not np.isinf(values).any() and not any("_" in cell for cell in cells):
            return values
    except ValueError:
        pass
    values = np.full(len(cells), math.nan)
    for row, cell in enumerate(cells):
        if cell in missing:
            continue
        if not is_number(cell):
            raise InputError(
                f"{rows.where(row)}, {title}: expected a number, found {quoted(cell)}"
            )
        values[row] = float(cell)
        if math.isinf(values[row]):
            raise InputError(
                f"{rows.where(row)}, {title}: {quoted(cell)} is not a finite number"
            )
    return values


def number_matrix(rows: Rows, first: int = 0) -> NDArray[np.float64]:
    """Return all columns from `first` on as numbers."""
    matrix = np.empty((len(rows.cells), rows.width - first))
    for column in range(first, rows.width):
        matrix[:, column - first] = numbers(rows, column, f"column {column + 1}")
    return matrix


def codes(
    rows: Rows,
    column: int,
    title: str,
    coding: Coding,
    missing: Collection[str] = MISSING,
) -> NDArray[np.float64]:
    """Return the codes of a nominal column, NaN where missing; refuse other cells."""
    values = np.empty(len(rows.cells))
    for row, cell in enumerate(rows.columns[column]):
        if cell in coding:
            values[row] = coding[cell]
        elif cell in missing:
            values[row] = math.nan
        else:
            raise InputError(
                f"{rows.where(row)}, {title}: expected one of {_listed(coding)},"
                f" found {quoted(cell)}"
            )
    return values


def labels(
    rows: Rows,
    column: int,
    classes: Collection[str] | None = None,
    missing: Collection[str] = MISSING,
) -> NDArray[np.str_]:
    """Return the class labels in a column; every row must have one of the classes."""
    cells = rows.columns[column]
    for row, cell in enumerate(cells):
        if cell in missing:
            raise InputError(
                f"{rows.where(row)}: the class label is missing, found {quoted(cell)}"
            )
        if classes is not None and cell not in classes:
            raise InputError(
                f"{rows.where(row)}: expected a class label out of {_listed(classes)},"
                f" found {quoted(cell)}"
            )
    return label_array(rows.names[0], cells)


def tabulate(
    rows: Rows,
    features: Sequence[int],
    label: int,
    codings: Sequence[Coding | None],
    names: Sequence[str] | None = None,
    missing: Collection[str] = MISSING,
) -> RawTable:
    """Build a table from rows: numeric and coded feature columns, and the labels.

    `codings` has the codes of every column's categories, None if it is numeric; those
    of the `label` column, if any, are the valid classes.
    """
    if not features:
        raise InputError(f"{rows.names[0]}: no feature column beside the class label")
    X = np.empty((len(rows.cells), len(features)))
    for place, column in enumerate(features):
        title = f"column {column + 1}" + (f" ({names[column]})" if names else "")
        coding = codings[column]
        if coding is None:
            X[:, place] = numbers(rows, column, title, missing)
        else:
            X[:, place] = codes(rows, column, title, coding, missing)
    return RawTable(
        X=X,
        labels=labels(rows, label, codings[label], missing),
        parts=np.array(rows.parts, dtype=np.int64),
        feature_names=tuple(names[column] for column in features) if names else None,
        nominal=tuple(place for place, j in enumerate(features) if codings[j]),
    )


def _listed(values: Iterable[str]) -> str:
    """Return values as a short list for a message."""
    shown = [quoted(value) for value in values]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:12], "…"])
