"""Read LIBSVM (svmlight) text: ``label index:value …``, indices from 1."""

from __future__ import annotations

import io
import re
from typing import Any

from sklearn.datasets import load_svmlight_file

from drmbench.data.readers.common import Blob, RawTable, array_table, decoding, stack
from drmbench.data.readers.compression import decompress
from drmbench.errors import InputError, quoted

MAX_DENSE_CELLS = 2**28
"""Largest samples × features that is made dense: 2 GiB of numbers."""

_NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_LINE = re.compile(
    rb"\s*(?:%(n)s(?:\s+\d+:%(n)s)*)?\s*(?:#.*)?\Z" % {b"n": _NUMBER}, re.DOTALL
)


def read(blobs: list[Blob], *, n_features: int | None = None) -> RawTable:
    r"""Read one or several LIBSVM files; plain, gzip, bzip2 or ``.Z``.

    By default, `n_features` is the largest index in any of the files.

    Examples
    --------
    >>> table = read([Blob("a.libsvm", b"+1 1:0.5 3:2\n-1 2:1\n")])
    >>> table.X.tolist(), table.labels.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], ['1', '-1'])
    """
    parsed = [_parse(blob) for blob in blobs]
    largest = max((sparse.shape[1] - 1 for sparse, _ in parsed), default=0)
    width = largest if n_features is None else n_features
    tables, files = [], [blob.name for blob in blobs]
    for file, (sparse, labels) in zip(files, parsed, strict=True):
        n_samples, columns = sparse.shape
        if columns > width + 1:
            raise InputError(
                f"{file}: feature index {columns - 1} in data of {width} features"
            )
        if n_samples * width > MAX_DENSE_CELLS:
            raise InputError(
                f"{file}: {n_samples} samples × {width} features would need"
                f" {n_samples * width * 8 / 2**30:.0f} GiB as a dense matrix, more than"
                f" the {MAX_DENSE_CELLS * 8 / 2**30:.0f} GiB allowed"
            )
        sparse.resize(n_samples, width + 1)
        tables.append(array_table(file, sparse[:, 1:].toarray(), labels))
    return stack(files, tables)


def parse_svmlight(data: bytes) -> tuple[Any, Any]:
    """Return a sparse matrix whose column 0 must stay unused, and the labels."""
    # Indices are taken as they stand: index 0 would otherwise become -1.
    return load_svmlight_file(io.BytesIO(data), zero_based=True)  # type: ignore[no-any-return]


def _parse(blob: Blob) -> tuple[Any, Any]:
    data = decompress(blob)
    with decoding(blob.name, "LIBSVM file"):
        try:
            sparse, labels = parse_svmlight(data)
        except Exception:  # whatever the parser raises; the line that does it tells
            for number, line in enumerate(data.split(b"\n"), start=1):
                if not _LINE.match(line):
                    shown = line[:60].decode("ascii", errors="replace")
                    raise InputError(
                        f"{blob.name}, line {number}: expected 'label index:value …',"
                        f" found {quoted(shown)}"
                    ) from None
            raise
    if sparse.shape[0] == 0:
        raise InputError(f"{blob.name}: no data in the file")
    if sparse.nnz and sparse.indices.min() < 1:
        raise InputError(f"{blob.name}: feature index 0 or less; indices start at 1")
    return sparse, labels
