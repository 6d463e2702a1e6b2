"""Read tables in csv, tsv or white-space separated text, in any or in known layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from drmbench.data.readers.cells import (
    Coding,
    csv_rows,
    number_matrix,
    split_rows,
    tabulate,
    without_headers,
)
from drmbench.data.readers.common import Blob, RawTable
from drmbench.errors import InputError, did_you_mean, quoted

TIC_TAC_TOE_CODES = {"x": 1.0, "o": 2.0, "b": 3.0}
"""Numbers of the three states of a square: cross, nought, blank.

The paper does not say which it used. The order is that of first appearance in the
file. It also agrees best with the published accuracies of the methods that depend on
nothing else: nearest neighbours under leave-one-out selection reach 0.83 (Euclidean)
and 0.85 (cosine) with it, published 0.842 and 0.843; any coding with the blank in the
middle gives 1.00 and one with the cross in the middle 0.88 (Euclidean).
"""

_PIXELS, _DIGITS = 256, 10


def read(
    blobs: list[Blob],
    *,
    delimiter: str | None = None,
    header: bool | Sequence[bool] = False,
    label: int | str = -1,
    codes: Mapping[str, float] | None = None,
) -> RawTable:
    r"""Read one or several delimited files with the same columns.

    Cells are separated by the `delimiter`, by default by any white space. `header`
    says, perhaps of each file, whether its first row holds column names. The class is
    in the column `label`: its number, negative from the right, or its name in the
    header. With `codes`, all features are nominal; without, all are numeric.

    Examples
    --------
    >>> file = Blob("a.tsv", b"height\tkind\n1.5\tcat\n2.5\tdog\n")
    >>> table = read([file], delimiter="\t", header=True, label="kind")
    >>> table.X.tolist(), table.labels.tolist(), table.feature_names
    ([[1.5], [2.5]], ['cat', 'dog'], ('height',))
    """
    flags = [header] * len(blobs) if isinstance(header, bool) else list(header)
    rows = split_rows(blobs, None) if delimiter is None else csv_rows(blobs, delimiter)
    if len(flags) != len(blobs):
        raise InputError(
            f"the option header has {len(flags)} entries for {len(blobs)} files"
        )
    rows, names = without_headers(rows, flags)
    if isinstance(label, int):
        if not -rows.width <= label < rows.width:
            raise InputError(
                f"{rows.names[0]}: no column {label} among {rows.width} columns"
            )
        column = label % rows.width
    elif names is None or label not in names:
        listed = ", ".join(names or ["none, for the file has no header"])
        raise InputError(
            f"{rows.names[0]}: no column is named {quoted(label)}."
            f"{did_you_mean(label, names or [])} Columns: {listed}"
        )
    else:
        column = names.index(label)
    features = [j for j in range(rows.width) if j != column]
    codings: list[Coding | None] = [codes] * rows.width
    codings[column] = None
    return tabulate(rows, features, column, codings, names)


def read_tic_tac_toe(blobs: list[Blob]) -> RawTable:
    r"""Read UCI's or KEEL's end games: nine nominal squares and the outcome per row.

    Examples
    --------
    >>> table = read_tic_tac_toe([Blob("t.data", b"x,x,x,o,o,b,b,b,b,positive\n")])
    >>> table.X.tolist(), table.labels.tolist()
    ([[1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0]], ['positive'])
    """
    return read(blobs, delimiter=",", codes=TIC_TAC_TOE_CODES)


def read_semeion(blobs: list[Blob]) -> RawTable:
    """Read UCI's semeion.data: 16 × 16 pixels of 0 or 1, ten columns mark the digit.

    Copies of the file in circulation end in a stray byte ``E`` after the last line
    end; exactly that is dropped.
    """
    cleaned = [
        blob._replace(data=blob.data.removesuffix(b"E"))
        if blob.data.endswith(b"\nE")
        else blob
        for blob in blobs
    ]
    rows = split_rows(cleaned, None)
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
    return RawTable(
        X=values[:, :_PIXELS].copy(),
        labels=marks.argmax(axis=1).astype(np.str_),
        parts=np.array(rows.parts, dtype=np.int64),
    )
