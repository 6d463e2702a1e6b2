"""Lines of csv text parsed by pandas exactly as ``csv`` and ``float`` do, or not.

Whatever might be read otherwise than by the slow reader is left to it: quotes that do
not enclose a whole cell, cells that run over lines, rows of another length, anything
that is not a plain number in a column of numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from drmbench.data.readers.cells import csv_reader, is_number

#: Before 3.1 pandas read a last digit wrong unless asked; now asking is deprecated.
EVERY_DIGIT: dict[str, Any] = (
    {"float_precision": "round_trip"}
    if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
    else {}
)


class DoubtfulError(ValueError):
    """pandas may not read these lines as ``csv`` and ``float`` do."""


class Texts(NamedTuple):
    """A column of text: its distinct values, stripped, and each row's place there."""

    values: list[str]
    places: NDArray[np.integer[Any]]


def parse_block(
    lines: Sequence[str],
    delimiter: str,
    numeric: Sequence[bool],
    missing: Collection[str] = (),
) -> list[NDArray[np.float64] | Texts]:
    r"""Parse lines that each hold a row, or raise `DoubtfulError`.

    `numeric` says of every column whether all of it must be finite numbers; cells that
    are `missing` become NaN there.

    Examples
    --------
    >>> numbers, texts = parse_block(["1.5,cat\n", "2,dog \n"], ",", [True, False])
    >>> numbers.tolist(), texts.values, texts.places.tolist()
    ([1.5, 2.0], ['cat', 'dog'], [0, 1])
    >>> parse_block(["1.5,cat\n", "NA,NA\n"], ",", [True, False], ["NA"])[0].tolist()
    [1.5, nan]
    >>> parse_block(["1.5,cat\n", "NA,dog\n"], ",", [True, False])
    Traceback (most recent call last):
    drmbench.data.fast_cells.DoubtfulError
    """
    block = "".join(lines)
    if not _is_regular(lines, block, delimiter, numeric, missing):
        raise DoubtfulError
    missing_cells: Any = {j: list(missing) for j, n in enumerate(numeric) if n}
    try:
        frame = pd.read_csv(
            io.BytesIO(block.encode()),
            header=None,
            sep=delimiter,
            engine="c",
            dtype={j: np.float64 if n else object for j, n in enumerate(numeric)},
            na_filter=bool(missing),
            na_values=missing_cells,
            keep_default_na=False,
            skipinitialspace=delimiter != "\t",
            low_memory=False,
            **EVERY_DIGIT,
        )
    except ValueError as error:  # pandas' ParserError and UnicodeEncodeError are such
        raise DoubtfulError from error
    if frame.shape != (len(lines), len(numeric)):
        raise DoubtfulError
    columns: list[NDArray[np.float64] | Texts] = []
    for column, number in enumerate(numeric):
        values = frame[column].to_numpy()
        if number:
            if not (np.isfinite(values) | (bool(missing) & np.isnan(values))).all():
                raise DoubtfulError
            columns.append(values)
        else:
            places, found = pd.factorize(values)
            columns.append(Texts([text.strip() for text in found], places))
    return columns


def _is_regular(
    lines: Sequence[str],
    block: str,
    delimiter: str,
    numeric: Sequence[bool],
    missing: Collection[str],
) -> bool:
    """Tell whether pandas splits these lines at the same places as ``csv``."""
    plain = block if '"' not in block else _outside_quotes(block, delimiter)
    # pandas fills up short rows, but refuses long ones: the sum tells of both.
    separators = len(lines) * (len(numeric) - 1)
    if plain is None or plain.count(delimiter) != separators or "\0" in block:
        return False
    limit = csv.field_size_limit()
    if any(len(line) > limit for line in lines):
        cells = (cell for line in lines for cell in line.split(delimiter))
        if max(map(len, cells)) > limit:
            return False
    # A column of nothing but true and false would come back as 1 and 0.
    unseen = {column for column, number in enumerate(numeric) if number}
    for cells in csv_reader(lines, delimiter):
        if len(cells) != len(numeric):
            return False
        for column in tuple(unseen):
            cell = cells[column].strip()
            if is_number(cell):
                unseen.remove(column)
            elif cell not in missing:
                return False
        if not unseen:
            break
    return True


def _outside_quotes(block: str, delimiter: str) -> str | None:
    """Return the text outside quotes, or None if these do not enclose whole cells."""
    parts = block.split('"')
    outside, inside = parts[::2], "".join(parts[1::2])
    if len(parts) % 2 == 0 or "\n" in inside:
        return None
    gap, ends = "" if delimiter == "\t" else " ", ("\n", delimiter)
    # Nothing between two quotes is a quote inside a cell.
    closed = all(not part or part.startswith(ends) for part in outside[1:])
    begun = all(
        not part or part.rstrip(gap).endswith(ends)
        for part in ["\n" + outside[0], *outside[1:-1]]
    )
    return "".join(outside) if closed and begun else None
