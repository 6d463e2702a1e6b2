"""What a person's own table holds, before anything is made of it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from drmbench.data.chunks import CHUNK_CELLS
from drmbench.data.fast_cells import DoubtfulError, Texts, parse_block
from drmbench.data.readers.cells import csv_reader, is_number
from drmbench.data.text_stream import DAMAGE
from drmbench.data.user_tables import MISSING_CELLS, line_blocks, table_records
from drmbench.errors import InputError

OWN_MISSING = MISSING_CELLS | {"n/a", "na", "#N/A", "-"}
"""Cells that stand for a missing value; "-" only where there is no "+"."""

SEPARATORS = ",;\t|"
"""What separates columns, if not said: whichever of these splits all rows alike."""

_GUESS_ROWS = 100
_SNIFFED_ROWS = 20
_WIDE, _FEW_ROWS = 100, 200

FoundColumn = NDArray[np.float64] | Texts
"""Numbers, NaN where missing; or texts, among them those for missing values."""


@dataclass(frozen=True)
class FoundTable:
    """Columns by name, as they stand in the file."""

    file: str  #: for messages
    names: tuple[str, ...]
    columns: list[FoundColumn]
    #: How messages name a row, by its number from 0: "line 7"
    place: Callable[[int], str]


def texts_of(cells: Sequence[str]) -> Texts:
    """Return a column's cells as its distinct values and places."""
    places, found = pd.factorize(np.array(cells, dtype=object))
    return Texts([str(text) for text in found], places)


def named(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns; one without is called by its number, from 1."""
    return tuple(cell or f"column{j}" for j, cell in enumerate(cells, start=1))


def is_header(cells: Sequence[str]) -> bool:
    """Tell whether a first row holds names: it has no number that cannot be one.

    Whole numbers are names if there is other text beside them and none is there twice,
    as years are, or if they count the columns.

    Examples
    --------
    >>> is_header(["age", "2019", "2020"]), is_header(["5.1", "3.5", "Iris-setosa"])
    (True, False)
    >>> is_header(["0", "1", "2"]), is_header(["4", "1", "2"])
    (True, False)
    """
    numbers = [cell for cell in cells if is_number(cell)]
    if not all(number.isdecimal() for number in numbers):
        return False
    if len(numbers) == len(cells):
        counted = [int(number) for number in numbers]
        return counted in (
            list(range(len(cells))),
            list(range(1, len(cells) + 1)),
        )
    return len(set(numbers)) == len(numbers)


class TextTable:
    """A whole csv text in memory, as UTF-8.

    The `separator` and whether there is a `header` are found out unless given.
    """

    def __init__(
        self, path: Path, data: bytes, separator: str | None, header: bool | None
    ) -> None:
        self._path, self._data = path, data
        self.separator = separator or self._sniffed()
        first = next((cells for _, cells in self._records()), None)
        if first is None:
            raise InputError(f"{path}: the file is empty")
        self.header = is_header(first) if header is None else header
        self.names = named(first if self.header else [""] * len(first))

    def _sniffed(self) -> str:
        """Return the separator that splits the first rows into the most columns."""
        best, widest = "", 1
        for mark in SEPARATORS:
            with suppress(InputError):
                records = table_records(self._path, self._data, mark)
                widths = [len(cells) for _, cells in islice(records, _SNIFFED_ROWS)]
                if max(widths, default=0) > widest:
                    best, widest = mark, max(widths)
        return best or self._first_separator()

    def _first_separator(self) -> str:
        """Return what the first line has, where no separator splits all rows alike."""
        blocks = line_blocks(self._path, self._data, ",", 1, header=False)
        first = next(blocks, [""])[0]
        return max(SEPARATORS, key=first.count) if first else ","

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        return table_records(self._path, self._data, self.separator)

    def read(self, as_text: Collection[str]) -> FoundTable:
        """Return the columns; those named are read as texts, whatever they hold."""
        for numbers in (True, False):
            with suppress(DoubtfulError, *DAMAGE):
                return self._found(self.quick_columns(as_text, numbers))
        return self._found(self.slow_columns())

    def read_as_text(self) -> FoundTable:
        """Return all columns as texts."""
        with suppress(DoubtfulError, *DAMAGE):
            return self._found(self.quick_columns((), numbers=False))
        return self._found(self.slow_columns())

    def _found(self, columns: list[FoundColumn]) -> FoundTable:
        return FoundTable(
            self._path.name, self.names, columns, lambda row: f"line {self._lines[row]}"
        )

    @cached_property
    def _lines(self) -> list[int]:
        return [line for line, _ in self._records()][self.header :]

    def quick_columns(
        self, as_text: Collection[str], numbers: bool = True
    ) -> list[FoundColumn]:
        """Return the columns as pandas reads them, unless that is doubtful."""
        width = len(self.names)
        count = max(1000, CHUNK_CELLS // width)
        blocks: list[list[FoundColumn]] = []
        numeric: list[bool] = []
        for lines in line_blocks(
            self._path, self._data, self.separator, count, self.header
        ):
            if not numeric:
                if width > _WIDE and len(lines) < _FEW_ROWS:
                    raise DoubtfulError
                numeric = [
                    numbers and guess and name not in as_text
                    for guess, name in zip(
                        self._guessed(lines), self.names, strict=True
                    )
                ]
            _refuse_doubtful_blanks(lines, self.separator)
            blocks.append(parse_block(lines, self.separator, numeric, OWN_MISSING))
        if not blocks:
            raise DoubtfulError
        return [_joined([block[j] for block in blocks]) for j in range(width)]

    def _guessed(self, lines: Sequence[str]) -> list[bool]:
        """Tell of every column whether the first lines have numbers only."""
        width = len(self.names)
        numeric, seen = [True] * width, [False] * width
        with suppress(csv.Error):  # the parser will refuse these lines too
            for cells in csv_reader(lines[:_GUESS_ROWS], self.separator):
                for column, cell in enumerate(map(str.strip, cells[:width])):
                    number = is_number(cell)
                    seen[column] |= number
                    numeric[column] &= number or cell in OWN_MISSING
        return [a and b for a, b in zip(numeric, seen, strict=True)]

    def slow_columns(self) -> list[FoundColumn]:
        """Return the columns read cell by cell, as texts, or name what is wrong."""
        rows = [cells for _, cells in self._records()][self.header :]
        if not rows:
            raise InputError(f"{self._path.name}: no rows below the header")
        return [texts_of(cells) for cells in zip(*rows, strict=True)]


def _refuse_doubtful_blanks(lines: Sequence[str], separator: str) -> None:
    """Leave lines to the slow way that have only blanks and quotes."""
    for line in lines:
        if not line.replace(separator, "").replace('"', "").strip():
            raise DoubtfulError


def _joined(parts: Sequence[FoundColumn]) -> FoundColumn:
    """Return the parts of a column, which are all numbers or all texts, as one."""
    if len(parts) == 1:
        return parts[0]
    texts = [part for part in parts if isinstance(part, Texts)]
    if not texts:
        return np.concatenate([part for part in parts if isinstance(part, np.ndarray)])
    values = list(dict.fromkeys(text for part in texts for text in part.values))
    number = {text: place for place, text in enumerate(values)}
    places = [
        np.array([number[text] for text in part.values])[part.places] for part in texts
    ]
    return Texts(values, np.concatenate(places))
