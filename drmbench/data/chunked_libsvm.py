"""A LIBSVM (svmlight) file in chunks of rows."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from drmbench.data.chunk import Chunk, FeatureRequest, refuse_missing
from drmbench.data.readers.arrays import label_text
from drmbench.data.readers.libsvm import MAX_DENSE_CELLS
from drmbench.data.text_stream import batches, numbered_lines
from drmbench.errors import InputError

TARGET = "first"
"""What a LIBSVM file's class may be called: it is the first number of a line."""

Line = tuple[int, str]


class ChunkedLibsvm:
    """A LIBSVM file, ``label index:value …``, indices from 1 and ascending.

    Parameters
    ----------
    path : Path
        The file.
    target : str or None
        None or ``"first"``: the class is the first number of every line.
    request : FeatureRequest
        Its ``count`` is the number of features, which a line may leave out; without
        it, the largest index in the file is, found in a pass over the lines.
    """

    feature_names = None
    labelled = True

    def __init__(self, path: Path, target: str | None, request: FeatureRequest) -> None:
        self.path = path
        if target not in (None, TARGET):
            raise InputError(
                f"{path.name}: LIBSVM files have no column names; the class is the"
                f" first number of a line: leave the target {target!r} out, or call it"
                f" {TARGET!r}"
            )
        self.n_features = request.count or self._largest_index()

    def chunks(self, chunksize: int) -> Iterator[Chunk]:
        """Yield the rows as dense matrices, at most `chunksize` at a time."""
        found = False
        for batch in batches(self._lines(), chunksize):
            found = True
            yield self._chunk(batch)
        if not found:
            raise InputError(f"{self.path.name}: no data in the file")

    def _lines(self) -> Iterator[Line]:
        """Yield the lines that hold a sample, without comments."""
        for number, line in numbered_lines(self.path):
            content = line.partition("#")[0].strip()
            if content:
                yield number, content

    def _largest_index(self) -> int:
        largest = 0
        for _, line in self._lines():
            # Indices ascend, or the line is refused when its turn comes.
            index = line.rpartition(" ")[2].rpartition("\t")[2].partition(":")[0]
            if ":" in line and index.isdecimal():
                largest = max(largest, int(index))
        if not largest:
            raise InputError(f"{self.path.name}: no features in the file")
        return largest

    def _chunk(self, batch: list[Line]) -> Chunk:
        try:
            sparse, labels = _parse([line for _, line in batch])
        except Exception:  # whatever the parser raises; the line that does it tells
            self._refuse_malformed(batch)
            raise
        self._check_indices(sparse, batch)
        self._check_size(len(batch))
        sparse.resize(len(batch), self.n_features + 1)
        X = np.ascontiguousarray(sparse[:, 1:].toarray())
        refuse_missing(self.path.name, X, lambda row: f"line {batch[row][0]}")
        if np.isnan(labels).any():
            line = batch[int(np.flatnonzero(np.isnan(labels))[0])][0]
            raise InputError(f"{self.path.name}, line {line}: the class is missing")
        return Chunk(X, label_text(self.path.name, labels))

    def _check_indices(self, sparse: Any, batch: list[Line]) -> None:
        outside = (sparse.indices < 1) | (sparse.indices > self.n_features)
        if not outside.any():
            return
        entry = int(np.flatnonzero(outside)[0])
        row = int(np.searchsorted(sparse.indptr, entry, side="right")) - 1
        raise InputError(
            f"{self.path.name}, line {batch[row][0]}: feature index"
            f" {sparse.indices[entry]} in data of {self.n_features} features; indices"
            f" start at 1"
        )

    def _check_size(self, rows: int) -> None:
        if rows * self.n_features > MAX_DENSE_CELLS:
            raise InputError(
                f"{self.path.name}: {rows} rows × {self.n_features} features are too"
                f" many to be made dense at once; read fewer rows at a time"
            )

    def _refuse_malformed(self, batch: list[Line]) -> None:
        for number, line in batch:
            try:
                _parse([line])
            except Exception as error:
                raise InputError(
                    f"{self.path.name}, line {number}: expected 'label index:value …'"
                    f" with ascending indices, found {line[:60]!r}"
                ) from error


def _parse(lines: list[str]) -> tuple[Any, Any]:
    """Return a sparse matrix whose column 0 must stay unused, and the labels."""
    data = "\n".join(lines).encode()
    # Indices are taken as they stand: index 0 would otherwise become -1.
    return load_svmlight_file(io.BytesIO(data), zero_based=True)  # type: ignore[no-any-return]
