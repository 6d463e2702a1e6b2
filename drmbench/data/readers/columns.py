"""Turn columns of text cells into numbers, codes and labels of a :class:`Table`."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from drmbench.data.readers.rows import Rows
from drmbench.data.readers.table import Table
from drmbench.errors import InputError

Coding = Mapping[str, float]
"""Number of every category of a nominal column."""

MISSING = frozenset({"", "?", "<null>"})
"""Cells that stand for a missing value."""


def coding_of(categories: Iterable[str]) -> Coding:
    """Return the codes 0, 1, … of categories, in their order.

    Examples
    --------
    >>> coding_of(["low", "high"])
    {'low': 0.0, 'high': 1.0}
    """
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
    """Return a column as numbers, NaN where one is missing.

    Raises
    ------
    InputError
        A cell is neither a finite number nor missing.
    """
    cells = rows.columns[column]
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
        suspicious = bool(np.isinf(values).any()) or any("_" in cell for cell in cells)
    except ValueError:
        suspicious = True
    if suspicious:
        checked = [
            _number(rows, row, cell, title, missing) for row, cell in enumerate(cells)
        ]
        values = np.array(checked)
    return values


def _number(
    rows: Rows, row: int, cell: str, title: str, missing: Collection[str]
) -> float:
    if cell in missing:
        return math.nan
    if not is_number(cell):
        raise InputError(
            f"{rows.where(row)}, {title}: expected a number, found {cell!r}"
        )
    value = float(cell)
    if math.isinf(value):
        raise InputError(f"{rows.where(row)}, {title}: {cell!r} is not a finite number")
    return value


def number_matrix(rows: Rows, first: int = 0) -> NDArray[np.float64]:
    """Return all columns from `first` on as numbers, one row a row."""
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
    """Return the codes of a nominal column, NaN where a value is missing.

    Raises
    ------
    InputError
        A cell is none of the categories.
    """
    values = np.empty(len(rows.cells))
    for row, cell in enumerate(rows.columns[column]):
        if cell in coding:
            values[row] = coding[cell]
        elif cell in missing:
            values[row] = math.nan
        else:
            raise InputError(
                f"{rows.where(row)}, {title}: expected one of {_listed(coding)},"
                f" found {cell!r}"
            )
    return values


def labels(
    rows: Rows,
    column: int,
    classes: Collection[str] | None = None,
    missing: Collection[str] = MISSING,
) -> NDArray[np.str_]:
    """Return the class labels in a column; every row must have one.

    Raises
    ------
    InputError
        A label is missing, or none of the given classes.
    """
    cells = rows.columns[column]
    for row, cell in enumerate(cells):
        if cell in missing:
            raise InputError(
                f"{rows.where(row)}: the class label is missing, found {cell!r}"
            )
        if classes is not None and cell not in classes:
            raise InputError(
                f"{rows.where(row)}: expected a class label out of {_listed(classes)},"
                f" found {cell!r}"
            )
    return np.array(cells, dtype=np.str_)


def tabulate(
    rows: Rows,
    features: Sequence[int],
    label: int,
    codings: Sequence[Coding | None],
    names: Sequence[str] | None = None,
    missing: Collection[str] = MISSING,
) -> Table:
    """Build a table from rows: numeric and coded feature columns, and the labels.

    Parameters
    ----------
    rows : Rows
        The cells.
    features : sequence of int
        Columns that become features, in this order.
    label : int
        Column of the class label; its coding, if any, lists the valid classes.
    codings : sequence of mapping or None
        For every column, the codes of its categories; None if it is numeric.
    names : sequence of str or None
        Name of every column.
    missing : collection of str
        Cells that stand for a missing value.
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
    return Table(
        X=X,
        labels=labels(rows, label, codings[label], missing),
        parts=np.array(rows.parts, dtype=np.int64),
        feature_names=tuple(names[column] for column in features) if names else None,
        nominal=tuple(
            place for place, column in enumerate(features) if codings[column]
        ),
    )


def _listed(values: Iterable[str]) -> str:
    """Return values as a short list for a message."""
    shown = [repr(value) for value in values]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:12], "…"])
