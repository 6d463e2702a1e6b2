"""Read numpy's ``.npz`` archives, never unpickling anything."""

from __future__ import annotations

import io

import numpy as np

from drmbench.data.readers.arrays import array_table, decoding, stack
from drmbench.data.readers.table import Blob, Table
from drmbench.errors import InputError, did_you_mean


def read(blobs: list[Blob], *, x: str = "X", y: str = "y") -> Table:
    """Read one or several archives, each with the samples and their labels.

    Parameters
    ----------
    blobs : list of Blob
        The files.
    x, y : str
        Names of the arrays with the samples, one a row, and with their labels.

    Examples
    --------
    >>> file = io.BytesIO()
    >>> np.savez(file, X=[[1.0, 2.0], [3.0, 4.0]], y=["cat", "dog"])
    >>> read([Blob("a.npz", file.getvalue())]).labels.tolist()
    ['cat', 'dog']
    """
    return stack(
        [blob.name for blob in blobs], [_read_one(blob, x, y) for blob in blobs]
    )


def _read_one(blob: Blob, x: str, y: str) -> Table:
    with decoding(blob, "npz archive"):
        archive = np.load(io.BytesIO(blob.data), allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise InputError(f"{blob.name}: a single array, not an npz archive")
        for name in (x, y):
            if name not in archive.files:
                raise InputError(
                    f"{blob.name}: no array is named {name!r}."
                    f"{did_you_mean(name, archive.files)}"
                    f" Arrays: {', '.join(archive.files)}"
                )
        return array_table(blob.name, archive[x], archive[y])
