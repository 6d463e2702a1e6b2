"""Read a person's own csv or tsv table: a row of column names, then the rows.

Nothing is declared, so everything is inferred: the delimiter, which columns hold
categories, what a missing value looks like. What remains doubtful is refused with a
message that says how to resolve it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from drmbench.data.readers.columns import (
    MISSING,
    Coding,
    categories_of,
    coding_of,
    is_number,
    tabulate,
)
from drmbench.data.readers.rows import Rows, csv_rows, text, without_headers
from drmbench.data.readers.table import Blob, Table
from drmbench.errors import InputError, did_you_mean

MISSING_CELLS = MISSING | {"NA", "N/A", "NaN", "nan", "NULL", "null", "None"}
"""Cells that stand for a missing value."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+\Z")
_IDENTIFIER_ROWS = 20


class HeadedTable(NamedTuple):
    """A table and the line number of each of its rows."""

    table: Table
    lines: list[int]


def read_headed(blob: Blob, target: str | None, delimiter: str | None) -> HeadedTable:
    r"""Read a table with column names.

    Parameters
    ----------
    blob : Blob
        The file.
    target : str or None
        Column that holds the class; without it the message lists the columns.
    delimiter : str or None
        What separates cells; None to find out from the first line.

    Examples
    --------
    >>> blob = Blob("a.csv", b"size,colour,kind\n1,red,cat\n2,blue,dog\n")
    >>> table, lines = read_headed(blob, "kind", ",")
    >>> table.X.tolist(), table.nominal, lines
    ([[1.0, 1.0], [2.0, 0.0]], (1,), [2, 3])
    """
    sought = delimiter or find_delimiter(blob)
    rows, names = without_headers(csv_rows([blob], sought), [True])
    assert names is not None
    refuse_numbers(blob.name, names)
    check_names(blob.name, names)
    label = target_column(blob.name, names, target)
    features = [column for column in range(rows.width) if column != label]
    codings: list[Coding | None] = [None] * rows.width
    for column in features:
        codings[column] = _infer_coding(rows, column, names[column])
    table = tabulate(rows, features, label, codings, names, MISSING_CELLS)
    return HeadedTable(table, rows.lines)


def find_delimiter(blob: Blob) -> str:
    """Return what separates the columns, judged by the first line."""
    first_line = text(blob).lstrip("\n").partition("\n")[0]
    return next((mark for mark in ",;\t" if mark in first_line), ",")


def refuse_numbers(file: str, names: Sequence[str]) -> None:
    """Refuse a first row of numbers, which is data and not names."""
    if all(is_number(name) for name in names):
        raise InputError(
            f"{file}: the first row holds numbers ({', '.join(names[:5])}); it must"
            f" hold the names of the columns"
        )


def check_names(file: str, names: Sequence[str]) -> None:
    """Refuse column names that are missing or repeated.

    Raises
    ------
    InputError
        One of these is the case; the text says which.
    """
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


def target_column(file: str, names: Sequence[str], target: str | None) -> int:
    """Return the place of the column with the classes."""
    listed = f"Columns: {', '.join(names)}"
    if target is None:
        raise InputError(
            f"{file}: say which column holds the class (the target). {listed}"
        )
    if target not in names:
        raise InputError(
            f"{file}: no column is named {target!r}.{did_you_mean(target, names)}"
            f" {listed}"
        )
    return list(names).index(target)


def _infer_coding(rows: Rows, column: int, name: str) -> Coding | None:
    """Return codes if a column holds categories, None if it holds numbers.

    Raises
    ------
    InputError
        The column is mostly numbers, but not all; or its numbers have decimal commas;
        or it is an identifier.
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
