"""A person's own table, all of it: rows with a class, and columns with a role."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drmbench.data.column_roles import Levels, Settled, Settler, label_levels
from drmbench.data.dataset import TableColumn
from drmbench.data.encodings import as_utf8
from drmbench.data.fast_cells import Texts
from drmbench.data.found_table import (
    OWN_MISSING,
    FoundColumn,
    FoundTable,
    TextTable,
)
from drmbench.data.number_text import NumberEvidence, evidence_of
from drmbench.data.readers.common import RawTable, label_array
from drmbench.data.reading import Reading
from drmbench.data.sheets import read_excel, read_json_lines, read_parquet
from drmbench.data.user_tables import check_names
from drmbench.errors import InputError, did_you_mean, quoted

TABLES = ("csv", "tsv", "jsonl", "excel", "parquet")
"""Formats whose columns have names and roles."""

_SEPARATOR_WORDS = {"\t": "tabs", " ": "spaces"}


@dataclass(frozen=True)
class LoadedTable:
    """A table, how messages name one of its rows, and what was done to get it."""

    table: RawTable
    place: Callable[[int], str]
    columns: tuple[TableColumn, ...] = ()  #: in the file's order
    assumed: tuple[str, ...] = ()  #: what was found out and not said


class SeenTable(NamedTuple):
    """A table as it stands in a file, and what was found out about the file."""

    table: FoundTable
    text: TextTable | None  #: the text that it is from, if it is
    assumed: list[str]  #: what was found out and not said

    def in_one_decimal_mark(
        self, evidence_of: Callable[[FoundTable], NumberEvidence], reading: Reading
    ) -> tuple[FoundTable, NumberEvidence]:
        """Return the columns, as texts if commas are decimal marks; and what says so.

        What was read as 1.234 may be a thousand and more.
        """
        evidence = evidence_of(self.table)
        if self.text is not None and (evidence.comma or reading.decimal == ","):
            again = self.text.read_as_text()
            return again, evidence_of(again)
        return self.table, evidence

    @property
    def commas_group(self) -> bool:
        """Whether a comma cannot be a decimal mark without quotes."""
        return self.text is not None and self.text.separator == ","


def find_table(
    kind: str,
    path: Path,
    data: bytes,
    reading: Reading,
    as_text: Collection[str],
    check: Callable[[TextTable], object] = lambda text: None,
) -> SeenTable:
    """Find the columns of a file's content, decompressed.

    Those named are read `as_text`; `check` may refuse a text by its header.
    """
    assumed: list[str] = []
    text: TextTable | None = None
    if kind in ("csv", "tsv", "jsonl"):
        data, encoding = as_utf8(path.name, data, reading.encoding)
        assumed += [encoding] if encoding else []
    if kind == "jsonl":
        found = read_json_lines(path, data)
    elif kind == "parquet":
        found = read_parquet(path, data)
    elif kind == "excel":
        found, sheet, header = read_excel(path, data, reading.sheet, reading.header)
        if sheet and reading.sheet is None:
            assumed.append(f"the first sheet, {quoted(sheet)}")
        assumed += _about_header(reading, header)
    else:
        usual = "\t" if kind == "tsv" else ","
        separator = reading.separator or ("\t" if kind == "tsv" else None)
        text = TextTable(path, data, separator, reading.header)
        if reading.sep is None and text.separator != usual:
            words = _SEPARATOR_WORDS.get(text.separator, repr(text.separator))
            assumed.append(f"separated by {words}")
        assumed += _about_header(reading, text.header)
        check(text)
        found = text.read(as_text)
    return SeenTable(found, text, assumed)


def load_table(
    kind: str, path: Path, data: bytes, target: str | None, reading: Reading
) -> LoadedTable:
    """Make a table of a file's content, decompressed."""
    found = find_table(
        *(kind, path, data, reading, {*reading.nominal, target or ""}),
        check=lambda text: _check_target(path.name, text.names, target, text.header),
    )
    label = _check_target(path.name, found.table.names, target)
    names = found.table.names
    reading.check_names(path.name, names, names[label])
    return _settled(found, label, reading)


def _about_header(reading: Reading, header: bool) -> list[str]:
    return ["no header"] if reading.header is None and not header else []


def _check_target(
    file: str, names: Sequence[str], target: str | None, header: bool = False
) -> int:
    """Return the number of the target's column; refuse names that do not do."""
    check_names(file, names)
    if target is None:
        raise no_target(file, names)
    if target not in names:
        hint = " (--no-header if the first row holds no names)" if header else ""
        raise InputError(
            f"{file}: no column is named {quoted(target)}.{did_you_mean(target, names)}"
            f" Columns: {', '.join(names)}{hint}"
        )
    if len(names) == 1:
        raise InputError(f"{file}: no feature column beside the class label")
    return names.index(target)


def no_target(file: str, names: Sequence[str] | None) -> InputError:
    """Return the error that the column with the class must be said."""
    columns = "Columns have numbers, from 0"
    if names:
        columns = f"Columns: {', '.join(names)}"
    return InputError(
        f"{file}: say which column holds the class (the target). {columns}"
    )


def _settled(whole: SeenTable, label: int, reading: Reading) -> LoadedTable:
    """Leave out rows without a class, and give each column its role."""
    assumed = whole.assumed
    found, evidence = whole.in_one_decimal_mark(
        lambda table: evidence_beside(table, [label]), reading
    )
    classes = label_levels(found.columns[label])
    kept = np.flatnonzero(classes.codes >= 0)
    unlabelled = len(classes.codes) - len(kept)
    if not kept.size:
        raise InputError(
            f"{found.file}: the target {quoted(found.names[label])} has no value in"
            " any row"
        )
    if unlabelled:
        found = _only(found, kept)
    settler = Settler(found, reading, evidence, whole.commas_group)
    settled = [
        Settled(TableColumn(name, "target", missing=unlabelled))
        if number == label
        else settler.settle(number)
        for number, name in enumerate(found.names)
    ]
    if settler.assumed_commas:
        assumed.append("decimal comma")
    if unlabelled:
        rows = "row" if unlabelled == 1 else "rows"
        assumed.append(f"{unlabelled} {rows} without a class left out")
    return LoadedTable(
        table=_raw_table(found.file, settled, classes, kept),
        place=found.place,
        columns=tuple(one.column for one in settled),
        assumed=tuple(assumed),
    )


def evidence_beside(found: FoundTable, others: Collection[int]) -> NumberEvidence:
    """Weigh what the texts beside some columns say about decimal commas."""
    return evidence_of(
        [value for value in column.values if value not in OWN_MISSING]
        for number, column in enumerate(found.columns)
        if number not in others and isinstance(column, Texts)
    )


def _only(found: FoundTable, rows: NDArray[np.intp]) -> FoundTable:
    """Return some rows of a table, which messages name as before."""
    columns: list[FoundColumn] = [
        Texts(column.values, column.places[rows])
        if isinstance(column, Texts)
        else column[rows]
        for column in found.columns
    ]
    place = found.place
    return replace(found, columns=columns, place=lambda row: place(int(rows[row])))


def _raw_table(
    file: str, settled: Sequence[Settled], classes: Levels, kept: NDArray[np.intp]
) -> RawTable:
    features = [(c, numbers) for c, numbers in settled if numbers is not None]
    empty = np.empty((len(kept), 0))
    return RawTable(
        X=np.column_stack([empty, *(numbers for _, numbers in features)]),
        labels=label_array(file, classes.values, classes.codes[kept]),
        parts=np.zeros(len(kept), dtype=np.int64),
        feature_names=tuple(column.name for column, _ in features),
        nominal=tuple(
            j for j, (column, _) in enumerate(features) if column.role == "nominal"
        ),
    )
