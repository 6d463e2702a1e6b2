"""Files too large for memory: their rows in chunks, checked as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from drmbench.data.chunk import ChunkedFile, FeatureRequest
from drmbench.data.chunked_libsvm import ChunkedLibsvm
from drmbench.data.chunked_npy import ChunkedNpy
from drmbench.data.chunked_table import ChunkedTable
from drmbench.data.user import COMPRESSED, SUFFIXES
from drmbench.errors import InputError

CHUNK_CELLS = 500_000
"""Cells of a chunk where its rows are not said: some tens of megabytes of text."""

_ANYTHING = FeatureRequest()


def _open_tsv(path: Path, target: str | None, request: FeatureRequest) -> ChunkedFile:
    return ChunkedTable(path, target, request, "\t")


_OPENERS: dict[str, Callable[[Path, str | None, FeatureRequest], ChunkedFile]] = {
    "csv": ChunkedTable,
    "tsv": _open_tsv,
    "libsvm": ChunkedLibsvm,
    "npy": ChunkedNpy,
}

_SUFFIXES = {
    ".npy": "npy",
    **{end: kind for end, kind in SUFFIXES.items() if kind in _OPENERS},
}


def open_chunked(
    path: str | Path,
    *,
    target: str | None = None,
    request: FeatureRequest = _ANYTHING,
) -> ChunkedFile:
    """Open a file to be read in chunks, and check what its beginning tells.

    Parameters
    ----------
    path : str or Path
        A csv or tsv file whose first row holds the column names, a LIBSVM file (all
        plain, gzip or bzip2), or an npy file with a matrix.
    target : str or None
        What holds the class: for csv and tsv the name of a column; for npy the number
        of a column, from 0, or ``"last"``; LIBSVM files need none. None for rows
        without their class.
    request : FeatureRequest
        The features expected, where that is known beforehand.

    Raises
    ------
    InputError
        The file cannot be read, or is of another kind; the message says what is wrong.
    """
    path = Path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    kind = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise InputError(
            f"{path}: cannot be read in chunks; the name must end in"
            f" {', '.join(_SUFFIXES)} (text formats also compressed: .gz, .bz2)"
        )
    return _OPENERS[kind](path, target, request)


def open_labelled(path: str | Path, *, target: str | None = None) -> ChunkedFile:
    """Open a file as :func:`open_chunked` does, and refuse it without a class."""
    file = open_chunked(path, target=target)
    if file.labelled:
        return file
    names = file.feature_names
    columns = (
        f"Columns: {', '.join(names)}" if names else "Columns have numbers, from 0"
    )
    raise InputError(
        f"{file.path.name}: say which column holds the class (the target). {columns}"
    )


def rows_per_chunk(file: ChunkedFile, chunksize: int | None = None) -> int:
    """Return the rows of a chunk: as said, or what :data:`CHUNK_CELLS` allow."""
    if chunksize is None:
        return max(1, CHUNK_CELLS // file.n_features)
    if chunksize < 1:
        raise InputError(f"the chunk size must be at least 1, not {chunksize}")
    return chunksize


def iter_chunks(
    path: str | Path, *, target: str | None = None, chunksize: int | None = None
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.str_]]]:
    r"""Yield the samples and class labels of a file, some rows at a time.

    Parameters
    ----------
    path : str or Path
        A csv, tsv, LIBSVM or npy file, as :func:`open_chunked` takes it.
    target : str or None
        What holds the class; only a LIBSVM file needs none.
    chunksize : int or None
        Rows of a chunk, and so what memory is needed; by default about
        :data:`CHUNK_CELLS` cells.

    Yields
    ------
    X : ndarray of shape (m, p), float64
        Samples; all numbers are finite.
    labels : ndarray of shape (m,), str
        Their classes, as text.

    Raises
    ------
    InputError
        The file is no complete table of numbers and classes; the message names the
        line. A file whose first rows are well may fail later.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "pets.csv"
    ...     _ = file.write_text("weight,kind\n4.1,cat\n9.5,dog\n3.8,cat\n")
    ...     for X, labels in iter_chunks(file, target="kind", chunksize=2):
    ...         print(X.ravel().tolist(), labels.tolist())
    [4.1, 9.5] ['cat', 'dog']
    [3.8] ['cat']
    """
    file = open_labelled(path, target=target)
    for X, labels in file.chunks(rows_per_chunk(file, chunksize)):
        assert labels is not None
        yield X, labels
