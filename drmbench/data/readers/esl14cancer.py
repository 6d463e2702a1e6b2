"""Read the 14-cancer data as *The Elements of Statistical Learning* publishes them."""

from __future__ import annotations

from drmbench.data.readers.arrays import array_table, stack
from drmbench.data.readers.columns import number_matrix
from drmbench.data.readers.pairs import pick
from drmbench.data.readers.rows import split_rows, text
from drmbench.data.readers.table import Blob, Table


def read(blobs: list[Blob]) -> Table:
    """Read ``*.xtrain``, ``*.ytrain``, ``*.xtest`` and ``*.ytest``, in any order.

    The x files have one gene a row and one sample a column, separated by white space;
    the y files have the class of every sample. Part 0 is the training set, part 1
    the test set.
    """
    tables = []
    for part in ("train", "test"):
        x, y = pick(blobs, [f".x{part}", f".y{part}"])
        genes = number_matrix(split_rows([x], None))
        tables.append(array_table(x.name, genes.T, text(y).split()))
    return stack(["the training set", "the test set"], tables)
