"""Read numpy's ``.npz`` archives, never unpickling anything."""

from __future__ import annotations

import io

import numpy as np

from drmbench.data.readers.common import (
    Blob,
    RawTable,
    array_table,
    decoding,
    read_each,
)
from drmbench.errors import InputError, did_you_mean


def read(blobs: list[Blob], *, x: str = "X", y: str = "y") -> RawTable:
    """Read one or several archives, each with the samples and their labels.

    Parameters
    ----------
    blobs : list of Blob
        The files.
    x, y : str
        Names of the arrays with the samples, one per row, and with their labels.

    Examples
    --------
    >>> file = io.BytesIO()
    >>> np.savez(file, X=[[1.0, 2.0], [3.0, 4.0]], y=["cat", "dog"])
    >>> read([Blob("a.npz", file.getvalue())]).labels.tolist()
    ['cat', 'dog']
    """

    def read_one(blob: Blob) -> RawTable:
        with decoding(blob.name, "npz archive"):
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

    return read_each(blobs, read_one)
