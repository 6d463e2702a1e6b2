"""Read the Broad Institute's expression files: ``.res`` with ``.cls`` beside it.

A ``.res`` file has tab-separated columns ``Description``, ``Accession`` and, for each
sample, its value and a present/absent call. A line of sample descriptions and one with
the number of genes may follow the header. A ``.cls`` file ends in a line with the
class of every sample; two lines with counts and class names may come before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from drmbench.data.readers.arrays import array_table, stack
from drmbench.data.readers.columns import numbers
from drmbench.data.readers.rows import gather, text
from drmbench.data.readers.table import Blob, Table
from drmbench.errors import InputError


def read(blobs: list[Blob]) -> Table:
    """Read ``.res`` files and, in the same order, the ``.cls`` files that label them.

    The n-th ``.res`` goes with the n-th ``.cls``; their samples are part n. A label is
    the class's name where the ``.cls`` file names it, else its number.
    """
    expressions = [blob for blob in blobs if blob.name.endswith(".res")]
    classes = [blob for blob in blobs if blob.name.endswith(".cls")]
    if not expressions or len(expressions) != len(classes):
        raise InputError(
            f"expected as many .cls as .res files, found {len(classes)} and"
            f" {len(expressions)}"
        )
    tables = [
        _read_pair(res, cls) for res, cls in zip(expressions, classes, strict=True)
    ]
    for res, table in zip(expressions, tables, strict=True):
        if table.feature_names != tables[0].feature_names:
            raise InputError(f"{res.name}: other genes than {expressions[0].name}")
    return stack([res.name for res in expressions], tables)


def _read_pair(res: Blob, cls: Blob) -> Table:
    values, genes = _read_res(res)
    labels = _read_cls(cls)
    if len(labels) != values.shape[0]:
        raise InputError(
            f"{cls.name}: {len(labels)} classes, but {res.name} has"
            f" {values.shape[0]} samples"
        )
    return array_table(res.name, values, labels, genes)


def _read_res(blob: Blob) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the values, one sample a row, and the genes' accessions."""
    # Gene descriptions come from many hands and are not always UTF-8.
    lines = text(blob, "latin-1").split("\n")
    header = lines[0].rstrip("\t\r ").split("\t")
    if [cell.strip().lower() for cell in header[:2]] != ["description", "accession"]:
        raise InputError(
            f"{blob.name}, line 1: expected the columns Description, Accession and"
            f" the samples"
        )
    n_samples = len(header[2::2])
    first, declared = _data_start(lines)
    width = 2 + 2 * n_samples
    rows = gather([blob], lambda _: _gene_rows(lines, first, width))
    if rows.width < width or (declared is not None and declared != len(rows.cells)):
        raise InputError(
            f"{blob.name}: expected {declared or 'some'} genes × {n_samples} samples,"
            f" found {len(rows.cells)} rows of {rows.width} columns"
        )
    values = np.array(
        [numbers(rows, 2 + 2 * j, f"sample {j + 1}") for j in range(n_samples)]
    )
    return values, rows.columns[1]


def _data_start(lines: list[str]) -> tuple[int, int | None]:
    """Return the index of the first gene's line and the number of genes, if told."""
    position, declared = 1, None
    while position < min(3, len(lines)):
        cells = lines[position].strip().split("\t")
        if len(cells) == 1 and cells[0].isdecimal():
            declared = int(cells[0])
        elif not lines[position].startswith("\t") and cells != [""]:
            break
        position += 1
    return position, declared


def _gene_rows(
    lines: list[str], first: int, width: int
) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines[first:], start=first + 1):
        if line.strip():
            cells = [cell.strip() for cell in line.split("\t")]
            trailing = cells[width:]
            yield number, cells if any(trailing) else cells[:width]


def _read_cls(blob: Blob) -> list[str]:
    lines = [line.strip() for line in text(blob).split("\n") if line.strip()]
    if len(lines) not in (1, 3):
        raise InputError(
            f"{blob.name}: expected one line of classes, or three with counts and"
            f" names before it, found {len(lines)} lines"
        )
    names: list[str] = []
    if len(lines) == 3:
        if not lines[1].startswith("#"):
            raise InputError(f"{blob.name}: the second line must start with '#'")
        names = lines[1][1:].split()
    return [_class_name(blob, label, names) for label in lines[-1].split()]


def _class_name(blob: Blob, label: str, names: Sequence[str]) -> str:
    """Return the name of a numbered class; one without a name keeps its number."""
    if label in names:
        return label
    if not label.isdecimal():
        raise InputError(f"{blob.name}: expected class numbers, found {label!r}")
    return names[int(label)] if int(label) < len(names) else label
