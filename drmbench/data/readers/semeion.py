"""Read UCI's semeion.data: 256 pixels and ten columns that mark the digit."""

from __future__ import annotations

import numpy as np

from drmbench.data.readers.columns import number_matrix
from drmbench.data.readers.rows import split_rows
from drmbench.data.readers.table import Blob, Table
from drmbench.errors import InputError

_PIXELS = 256
_DIGITS = 10


def read(blobs: list[Blob]) -> Table:
    """Read images of handwritten digits, 16 × 16 pixels of 0 or 1.

    Copies of the file in circulation end in a stray byte ``E`` after the last line
    end; exactly that is dropped.
    """
    rows = split_rows([_without_stray_byte(blob) for blob in blobs], None)
    if rows.width != _PIXELS + _DIGITS:
        raise InputError(
            f"{rows.where(0)}: expected {_PIXELS} pixels and {_DIGITS} columns for the"
            f" digit, found {rows.width} columns"
        )
    values = number_matrix(rows)
    marks = values[:, _PIXELS:]
    marked_once = (marks == 1).sum(axis=1) == 1
    wrong = np.flatnonzero(~marked_once | (np.abs(marks).sum(axis=1) != 1))
    if wrong.size:
        raise InputError(
            f"{rows.where(int(wrong[0]))}: expected a single 1 among the last"
            f" {_DIGITS} columns"
        )
    return Table(
        X=values[:, :_PIXELS].copy(),
        labels=marks.argmax(axis=1).astype(np.str_),
        parts=np.array(rows.parts, dtype=np.int64),
    )


def _without_stray_byte(blob: Blob) -> Blob:
    if blob.data.endswith(b"\nE"):
        return Blob(blob.name, blob.data[:-1])
    return blob
