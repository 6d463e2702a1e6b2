"""Read the tic-tac-toe end games, from UCI's file or KEEL's rows."""

from __future__ import annotations

from drmbench.data.readers import delimited
from drmbench.data.readers.table import Blob, Table

CODES = {"x": 1.0, "o": 2.0, "b": 3.0}
"""Numbers of the three states of a square: cross, nought, blank.

The paper does not say which it used. The order is that of first appearance in the
file. It also agrees best with the published accuracies of the methods that depend on
nothing else: nearest neighbours under leave-one-out selection reach 0.83 (Euclidean)
and 0.85 (cosine) with it, published 0.842 and 0.843; any coding with the blank in the
middle gives 1.00 and one with the cross in the middle 0.88 (Euclidean).
"""


def read(blobs: list[Blob]) -> Table:
    r"""Read nine squares and the outcome a row; the squares are nominal columns.

    Examples
    --------
    >>> table = read([Blob("t.data", b"x,x,x,o,o,b,b,b,b,positive\n")])
    >>> table.X.tolist(), table.labels.tolist()
    ([[1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0]], ['positive'])
    """
    return delimited.read(blobs, delimiter=",", codes=CODES)
