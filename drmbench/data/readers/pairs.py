"""Find the data file and the label file of each part among a data set's blobs."""

from __future__ import annotations

from collections.abc import Sequence

from drmbench.data.readers.table import Blob
from drmbench.errors import InputError


def pick(blobs: Sequence[Blob], endings: Sequence[str]) -> list[Blob]:
    """Return the one blob whose name ends in each of the endings, in their order.

    Raises
    ------
    InputError
        There is not exactly one such file for an ending.

    Examples
    --------
    >>> blobs = [Blob("a.ytrain", b""), Blob("a.xtrain", b"")]
    >>> [blob.name for blob in pick(blobs, [".xtrain", ".ytrain"])]
    ['a.xtrain', 'a.ytrain']
    """
    found = []
    for ending in endings:
        matches = [blob for blob in blobs if blob.name.endswith(ending)]
        if len(matches) != 1:
            names = ", ".join(blob.name for blob in blobs) or "none"
            raise InputError(f"expected one file *{ending} among the files: {names}")
        found.append(matches[0])
    return found
