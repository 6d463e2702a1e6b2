"""Text files as rows of cells, each with the place it came from for messages."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from drmbench.data.readers.decompress import decompress
from drmbench.data.readers.table import Blob
from drmbench.errors import InputError

NumberedCells = Iterable[tuple[int, list[str]]]


@dataclass(frozen=True)
class Rows:
    """Cells of one or several text files; all rows have the same number of cells.

    Attributes
    ----------
    names : tuple of str
        Name of every file.
    cells : list of list of str
        The cells, row by row.
    parts : list of int
        Number of the file each row stands in.
    lines : list of int
        Line number of each row in its file, from 1.
    """

    names: tuple[str, ...]
    cells: list[list[str]]
    parts: list[int]
    lines: list[int]

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
    r"""Return a blob's text: decompressed, without byte-order mark, ``\n`` line ends.

    Raises
    ------
    InputError
        The bytes are not text in this encoding.
    """
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

    def split(blob: Blob) -> Iterator[tuple[int, list[str]]]:
        for number, line in enumerate(text(blob).split("\n"), start=1):
            if line.strip():
                yield number, [cell.strip() for cell in line.split(delimiter)]

    return gather(blobs, split)


def csv_rows(blobs: Sequence[Blob], delimiter: str) -> Rows:
    """Return the rows of csv text, where a quoted cell may hold the delimiter."""

    def split(blob: Blob) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(
            io.StringIO(text(blob)),
            delimiter=delimiter,
            skipinitialspace=delimiter != "\t",
            strict=True,
        )
        try:
            for record in reader:
                cells = [cell.strip() for cell in record]
                if any(cells):
                    yield reader.line_num, cells
        except csv.Error as error:
            raise InputError(f"{blob.name}, line {reader.line_num}: {error}") from error

    return gather(blobs, split)


def gather(blobs: Sequence[Blob], split: Callable[[Blob], NumberedCells]) -> Rows:
    """Collect the rows of all blobs and check that none is shorter or longer.

    Raises
    ------
    InputError
        There is no blob, a blob has no row, or a row has another number of cells
        than the first.
    """
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
    _check_widths(rows)
    return rows


def _check_widths(rows: Rows) -> None:
    for row, (cells, following) in enumerate(pairwise(rows.cells)):
        if len(following) != len(cells):
            raise InputError(
                f"{rows.where(row + 1)}: expected {len(cells)} columns as in the rows"
                f" before, found {len(following)}"
            )


def without_headers(
    rows: Rows, has_header: Sequence[bool]
) -> tuple[Rows, list[str] | None]:
    """Return the rows without each file's header row, and the names in the first.

    Raises
    ------
    InputError
        Headers differ between files, or a file has nothing but its header.
    """
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
    return _select(rows, kept), names


def _select(rows: Rows, kept: list[int]) -> Rows:
    return Rows(
        rows.names,
        [rows.cells[row] for row in kept],
        [rows.parts[row] for row in kept],
        [rows.lines[row] for row in kept],
    )
