"""Read the two gene-expression sets that the ISLP package carries: NCI60 and Khan."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from drmbench.data.readers.arrays import array_table, decoding, stack
from drmbench.data.readers.columns import labels, number_matrix
from drmbench.data.readers.pairs import pick
from drmbench.data.readers.rows import csv_rows, without_headers
from drmbench.data.readers.table import Blob, Table


def read_nci60(blobs: list[Blob]) -> Table:
    """Read ``NCI60data.npy`` (samples in rows) and ``NCI60labs.csv``."""
    data, names = pick(blobs, [".npy", "labs.csv"])
    with decoding(data, "npy file"):
        X = np.load(io.BytesIO(data.data), allow_pickle=False)
    return array_table(data.name, X, _labels(names))


def read_khan(blobs: list[Blob]) -> Table:
    """Read ``Khan_xtrain.csv``, ``_ytrain``, ``_xtest`` and ``_ytest``, in any order.

    Part 0 is the training set, part 1 the test set.
    """
    tables = []
    for part in ("train", "test"):
        x, y = pick(blobs, [f"_x{part}.csv", f"_y{part}.csv"])
        rows, names = without_headers(csv_rows([x], ","), [True])
        genes = tuple(names) if names else None
        tables.append(array_table(x.name, number_matrix(rows), _labels(y), genes))
    return stack(["the training set", "the test set"], tables)


def _labels(blob: Blob) -> NDArray[np.str_]:
    """Return the labels in a csv file's only column, below its name."""
    rows, _ = without_headers(csv_rows([blob], ","), [True])
    return labels(rows, 0)
