"""Tables that are no csv text: JSON lines, Excel sheets, parquet files."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from drmbench.data.found_table import (
    FoundColumn,
    FoundTable,
    is_header,
    named,
    texts_of,
)
from drmbench.data.readers.common import decoding
from drmbench.data.readers.compression import Meter, check_unpacked
from drmbench.data.text_stream import numbered_lines
from drmbench.errors import InputError, did_you_mean, quoted

_EXCEL_ROWS = 2**20


def read_json_lines(path: Path, data: bytes) -> FoundTable:
    """Read one object per line; a key that a line does not have is a missing value."""
    lines: list[int] = []
    rows: list[dict[str, str]] = []
    for number, line in numbered_lines(path, data):
        if line.strip():
            rows.append(_parsed(f"{path.name}, line {number}", line))
            lines.append(number)
    if not rows:
        raise InputError(f"{path}: the file is empty")
    names = tuple(dict.fromkeys(key for row in rows for key in row))
    columns: list[FoundColumn] = [
        texts_of([row.get(name, "") for row in rows]) for name in names
    ]
    return FoundTable(path.name, names, columns, lambda row: f"line {lines[row]}")


def _parsed(where: str, line: str) -> dict[str, str]:
    """Return the values of a line's object as texts."""
    try:
        # Numbers keep their spelling, and every text is a mark of its own.
        found = json.loads(line, parse_float=_Figure, parse_int=_Figure)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error})") from error
    if not isinstance(found, dict):
        raise InputError(
            f'{where}: expected an object such as {{"age": 5, "kind": "cat"}}, found'
            f" {quoted(line.strip()[:60])}"
        )
    for key, value in found.items():
        if isinstance(value, list | dict):
            raise InputError(
                f"{where}, key {quoted(key)}: expected a number, text, true, false or"
                " null,"
                f" found {json.dumps(value, default=str)[:60]}"
            )
    return {str(key).strip(): _text(value) for key, value in found.items()}


class _Figure(str):
    """A number of JSON as it is spelt."""

    __slots__ = ()


def _text(value: Any) -> str:
    """Return a value as a csv file would have it; empty if there is none."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime | date | time):
        moment = value.isoformat()
        return moment.removesuffix("T00:00:00")
    return str(value).strip()


def read_excel(
    path: Path, data: bytes, sheet: str | None, header: bool | None
) -> tuple[FoundTable, str, bool]:
    """Read a sheet, by default the first.

    Return also its name, if there are others, and whether it has a header.
    """
    rows, chosen, others = _sheet_rows(path, data, sheet)
    if not rows:
        raise InputError(f"{path}: the sheet {quoted(chosen)} is empty")
    headed = is_header(rows[0][1]) if header is None else header
    names_row = named(rows[0][1] if headed else [""] * len(rows[0][1]))
    rows = rows[headed:]
    if not rows:
        raise InputError(f"{path.name}: no rows below the header")
    columns: list[FoundColumn] = [
        texts_of(cells) for cells in zip(*(cells for _, cells in rows), strict=True)
    ]
    place = [number for number, _ in rows]
    found = FoundTable(path.name, names_row, columns, lambda row: f"row {place[row]}")
    return found, chosen if others else "", headed


def _sheet_rows(
    path: Path, data: bytes, sheet: str | None
) -> tuple[list[tuple[int, list[str]]], str, bool]:
    """Return a sheet's rows that hold anything, its name, and if there are others."""
    check_unpacked(path.name, data)
    with decoding(path.name, "Excel file"), needing("openpyxl", "excel", path):
        import openpyxl

        options = {"read_only": True, "data_only": True, "keep_links": False}
        book = openpyxl.load_workbook(io.BytesIO(data), **options)
    with decoding(path.name, "Excel file"), closing(book):
        names = [str(one.title) for one in book.worksheets]
        chosen = names[0] if sheet is None else sheet
        if chosen not in names:
            raise InputError(
                f"{path.name}: no sheet is named {quoted(chosen)}."
                f"{did_you_mean(chosen, names)} Sheets: {', '.join(names)}"
            )
        rows = _filled_rows(path.name, book[chosen])
    width = max((len(cells) for _, cells in rows), default=0)
    padded = [(number, cells + [""] * (width - len(cells))) for number, cells in rows]
    return padded, chosen, len(names) > 1


def _filled_rows(file: str, sheet: Any) -> list[tuple[int, list[str]]]:
    """Return number and cells of the rows that hold anything, up to their last cell.

    One cell far to the right makes all rows as long: their cells are counted.
    """
    meter, width = Meter(file), 0
    rows: list[tuple[int, list[str]]] = []
    sheet.reset_dimensions()  # what is said of the size need not be so
    for number, found in enumerate(sheet.rows, start=1):
        if number > _EXCEL_ROWS:
            raise InputError(f"{file}: more than the {_EXCEL_ROWS:,} rows of Excel")
        cells = [_text(_value(cell)) for cell in found]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            rows.append((number, cells))
            width = max(width, len(cells))
            meter.check(8 * width * len(rows))
    return rows


def _value(cell: Any) -> Any:
    """Return what a cell holds; what is an error there is missing."""
    return None if cell.data_type == "e" else cell.value


def read_parquet(path: Path, data: bytes) -> FoundTable:
    """Read a parquet file; numbers keep all their bits."""
    with decoding(path.name, "parquet file"), needing("pyarrow", "parquet", path):
        from pyarrow import parquet

        with parquet.ParquetFile(io.BytesIO(data)) as stored:
            found = stored.metadata
        groups = [found.row_group(place) for place in range(found.num_row_groups)]
        meter = Meter(path.name, stored=8 * len(data))
        meter.check(8 * found.num_rows * found.num_columns)
        meter.check(sum(group.total_byte_size for group in groups))
        frame = pd.read_parquet(io.BytesIO(data), engine="pyarrow")
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()  # an index that was stored is a column
    if frame.empty:
        raise InputError(f"{path.name}: no rows in the table")
    names = tuple(str(name) for name in frame.columns)
    with decoding(path.name, "parquet file"):  # texts are decoded only now
        columns = [
            _of_series(f"{path.name}, column {quoted(name)}", frame.iloc[:, j])
            for j, name in enumerate(names)
        ]
    return FoundTable(path.name, names, columns, lambda row: f"row {row + 1}")


def _of_series(where: str, series: Any) -> FoundColumn:
    kind = series.dtype
    if types.is_numeric_dtype(kind) and not types.is_bool_dtype(kind):
        if types.is_complex_dtype(kind):
            raise InputError(f"{where}: complex numbers cannot be used")
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(values).any():
            row = int(np.flatnonzero(np.isinf(values))[0]) + 1
            raise InputError(f"{where}, row {row}: the value is not a finite number")
        return np.asarray(values, dtype=np.float64)
    cells = series.astype(object).where(series.notna(), None)
    odd = [cell for cell in cells if isinstance(cell, list | dict | np.ndarray | bytes)]
    if odd:
        raise InputError(
            f"{where}: expected numbers, texts, dates or true and false, found"
            f" {type(odd[0]).__name__}"
        )
    return texts_of([_text(cell) for cell in cells])


@contextmanager
def needing(package: str, extra: str, path: Path) -> Iterator[None]:
    """Say which package to install if it is missing."""
    try:
        yield
    except ImportError as error:
        raise InputError(
            f"{path.name}: reading it needs the package {package}, which is not"
            f" installed: pip install 'drmbench[{extra}]'"
        ) from error
