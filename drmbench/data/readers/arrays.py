"""Read files of named arrays: MATLAB's up to version 7, and numpy's ``.npz``."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.data.readers.common import (
    Blob,
    RawTable,
    array_table,
    decoding,
    read_each,
)
from drmbench.data.readers.matfile import Unsupported, Variable, decode
from drmbench.errors import InputError, did_you_mean

SAMPLE_NAMES = ("X", "x", "fea", "data", "DATA", "features")
"""Usual names of the matrix of samples."""

LABEL_NAMES = ("Y", "y", "gnd", "label", "Label", "labels", "target")
"""Usual names of the vector of labels."""


def read_npz(blobs: list[Blob], *, x: str = "X", y: str = "y") -> RawTable:
    """Read archives, each with the samples, one per row, and labels; never unpickle.

    `x` and `y` are the names of the arrays with the samples and with their labels. An
    array ``nominal`` beside them has the numbers of the columns, from 0, whose values
    are codes of categories.

    Examples
    --------
    >>> file = io.BytesIO()
    >>> np.savez(file, X=[[1.0, 2.0], [3.0, 4.0]], y=["cat", "dog"])
    >>> read_npz([Blob("a.npz", file.getvalue())]).labels.tolist()
    ['cat', 'dog']
    """

    def read_one(blob: Blob) -> RawTable:
        with decoding(blob.name, "npz archive"):
            archive = np.load(io.BytesIO(blob.data), allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise InputError(f"{blob.name}: a single array, not an npz archive")
            # numpy reads as much as an array's header says, which may be too little
            # to come to the checksum at the end.
            if archive.zip and (bad := archive.zip.testzip()) is not None:
                raise InputError(f"{blob.name}: {bad!r} in it is damaged")
            for name in (x, y):
                if name not in archive.files:
                    raise InputError(
                        f"{blob.name}: no array is named {name!r}."
                        f"{did_you_mean(name, archive.files)}"
                        f" Arrays: {', '.join(archive.files)}"
                    )
            table = array_table(blob.name, archive[x], archive[y])
            if "nominal" not in archive.files:
                return table
            return replace(table, nominal=_columns(blob, table, archive["nominal"]))

    return read_each(blobs, read_one)


def _columns(blob: Blob, table: RawTable, numbers: NDArray[Any]) -> tuple[int, ...]:
    """Return the numbers of columns that an archive has, which must be there."""
    p = table.X.shape[1]
    whole = numbers.ndim == 1 and (numbers.dtype.kind in "iu" or not numbers.size)
    if not whole or np.any((numbers < 0) | (numbers >= p)):
        raise InputError(
            f"{blob.name}: the array 'nominal' must be a list of column numbers from 0"
            f" to {p - 1}"
        )
    return tuple(np.unique(numbers).astype(int).tolist())


def read_mat(
    blobs: list[Blob],
    *,
    x: str | None = None,
    y: str | None = None,
    transpose: bool | None = None,
) -> RawTable:
    """Read one or several MATLAB files with the same variables.

    `x` and `y` name the variables with the samples and with their labels; by default a
    usual name, for the samples also that of the only matrix. Labels may be a row or a
    column, of numbers, characters or cells. `transpose` says whether a sample is a
    column of the matrix; by default whichever the number of labels fits, a row if both
    do.
    """

    def read_one(blob: Blob) -> RawTable:
        variables = load_variables(blob)
        label_name = y or _find(blob, variables, "labels", LABEL_NAMES)
        labels = variable(blob, variables, label_name)
        sample_name = x or _find(blob, variables, "samples", SAMPLE_NAMES, label_name)
        samples = variable(blob, variables, sample_name)
        columns = transpose
        if columns is None:
            columns = samples.shape[0] != labels.size == samples.shape[-1]
        return array_table(blob.name, samples.T if columns else samples, labels)

    return read_each(blobs, read_one)


def _find(
    blob: Blob,
    variables: Mapping[str, Variable],
    what: str,
    names: tuple[str, ...],
    taken: str | None = None,
) -> str:
    """Return the one variable of a usual name or, beside one taken, the one matrix."""
    usual = [name for name in names if name in variables and name != taken]
    matrices = [
        name
        for name, value in variables.items()
        if taken not in (None, name)
        and isinstance(value, np.ndarray)
        and value.ndim == 2
        and min(value.shape) > 1
    ]
    for candidates in (usual, matrices):
        if len(candidates) == 1:
            return candidates[0]
    raise InputError(
        f"{blob.name}: cannot tell which variable holds the {what}; exactly one must be"
        f" called {', '.join(names)}. Variables: {', '.join(variables)}"
    )


def load_variables(blob: Blob) -> dict[str, Variable]:
    """Return the variables of a MATLAB file by name."""
    if blob.data[:10] == b"MATLAB 7.3":
        raise InputError(
            f"{blob.name}: MATLAB 7.3 files (HDF5) are not supported; save it with"
            f" save(..., '-v7')"
        )
    with decoding(blob.name, "MATLAB file"):
        return decode(blob.data)


def variable(blob: Blob, variables: Mapping[str, Variable], name: str) -> NDArray[Any]:
    """Return one variable as an array."""
    if name not in variables:
        raise InputError(
            f"{blob.name}: no variable is named {name!r}."
            f"{did_you_mean(name, variables)} Variables: {', '.join(variables)}"
        )
    value = variables[name]
    if isinstance(value, Unsupported):
        raise InputError(
            f"{blob.name}: variable {name!r} is {value.kind}, not an array of real"
            f" numbers or labels"
        )
    return value
