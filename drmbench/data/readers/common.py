"""What all readers share: named bytes in, one :class:`RawTable` out, and its checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from drmbench.errors import InputError

MAX_LABELS = 2**30
"""Bytes that the class labels of all rows may have in memory."""


class Blob(NamedTuple):
    """A source file's name (for messages and format choice) and its bytes."""

    name: str
    data: bytes
    #: Bytes that it may unpack to; None for a user's file, which has their limit
    most: int | None = None


@dataclass(frozen=True, eq=False)
class RawTable:
    """Samples as a reader finds them, before any check against the catalogue."""

    X: NDArray[np.float64]  #: one sample per row; NaN marks a missing value
    labels: NDArray[np.str_]  #: class label of every row, as text and stripped
    parts: NDArray[np.int64]  #: which of the blobs a row came from
    feature_names: tuple[str, ...] | None = None  #: where the format has them
    nominal: tuple[int, ...] = ()  #: columns whose numbers are codes of categories


class Reader(Protocol):
    """A function that turns source files into a :class:`RawTable`."""

    def __call__(self, blobs: list[Blob], **options: Any) -> RawTable:
        """Read all blobs of one data set, in the order the catalogue lists them."""
        ...


@contextmanager
def decoding(file: str, kind: str) -> Iterator[None]:
    """Turn whatever a third-party decoder raises on damaged bytes into InputError."""
    try:
        yield
    except InputError:
        raise
    # Decoders fail on damaged content with exceptions of almost every type.
    except Exception as error:
        raise InputError(
            f"{file}: not a readable {kind} ({type(error).__name__}: {error})"
        ) from error


def array_table(
    file: str, X: Any, labels: Any, feature_names: tuple[str, ...] | None = None
) -> RawTable:
    """Check arrays read from a file and make them a table of one part."""
    array = np.asarray(X)
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(
            f"{file}: expected the samples as a matrix, found shape {array.shape}"
        )
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"{file}: expected real numbers as features, found type {array.dtype}"
        )
    matrix = np.ascontiguousarray(array, dtype=np.float64)
    infinite = np.isinf(matrix)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise InputError(
            f"{file}: {int(infinite.sum())} infinite values, the first in sample"
            f" {row + 1}, feature {column + 1}"
        )
    names = label_text(file, labels)
    if names.shape[0] != matrix.shape[0]:
        raise InputError(
            f"{file}: {matrix.shape[0]} samples but {names.shape[0]} class labels"
        )
    parts = np.zeros(matrix.shape[0], dtype=np.int64)
    return RawTable(X=matrix, labels=names, parts=parts, feature_names=feature_names)


def label_text(file: str, labels: Any) -> NDArray[np.str_]:
    """Return class labels of any kind as text: ``True``, ``3``, ``0.5``, ``cat``.

    Examples
    --------
    >>> label_text("a.npz", np.array([[1.0], [2.5]])).tolist()
    ['1', '2.5']
    >>> label_text("a.npz", np.array([True, False])).tolist()
    ['True', 'False']
    """
    array = np.asarray(labels)
    if array.size != max(array.shape, default=0):
        raise InputError(
            f"{file}: expected one class label per sample, found shape {array.shape}"
        )
    flat = array.ravel()
    if flat.dtype.kind not in "biufSU":
        texts = [_label(item) for item in flat]
    else:
        # Large data sets have few distinct labels: make text of those only.
        distinct, inverse = np.unique(flat, return_inverse=True)
        distinct_texts = [_label(item) for item in distinct]
        texts = [distinct_texts[place] for place in inverse]
    for place, text in enumerate(texts):
        if not text:
            raise InputError(
                f"{file}: sample {place + 1} has no class label of its own:"
                f" {str(flat[place])[:40]!r}"
            )
    return label_array(file, texts)


def label_array(
    file: str, labels: Sequence[str], rows: NDArray[np.integer[Any]] | None = None
) -> NDArray[np.str_]:
    """Return labels as an array; with `rows`, each row's label by its place.

    All take the room of the longest, so one that is no name of a class is refused.

    Examples
    --------
    >>> label_array("a.csv", ["cat", "dog"], np.array([1, 0, 1])).tolist()
    ['dog', 'cat', 'dog']
    """
    longest = max(labels, key=len, default="")
    count = max(len(labels), 0 if rows is None else len(rows))
    if 4 * count * len(longest) > MAX_LABELS:
        raise InputError(
            f"{file}: a class label of {len(longest):,} characters, {longest[:20]!r}…;"
            " check that the target is the right column"
        )
    array = np.array(labels, dtype=np.str_)
    return array if rows is None else array[rows]


def _label(item: Any) -> str:
    """Return one label's text, empty if it is missing or not a single value."""
    if isinstance(item, np.ndarray) and item.size == 1:  # a cell of a MATLAB cell array
        item = item.item()
    if isinstance(item, bytes):
        item = item.decode("latin-1")
    if isinstance(item, float | np.floating):
        value = float(item)
        if np.isnan(value):
            return ""
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(item, str | int | np.integer | np.bool_):
        return str(item).strip()
    return ""


def read_each(blobs: Sequence[Blob], read_one: Callable[[Blob], RawTable]) -> RawTable:
    """Read each file with a function, and stack the tables."""
    return stack([blob.name for blob in blobs], [read_one(blob) for blob in blobs])


def stack(files: Sequence[str], tables: Sequence[RawTable]) -> RawTable:
    """Put tables with the same columns below each other and number their parts."""
    if not tables:
        raise InputError("no file to read")
    first = tables[0]
    if len(tables) == 1:  # large ones are not copied
        return first
    for file, table in zip(files, tables, strict=True):
        if table.X.shape[1] != first.X.shape[1]:
            raise InputError(
                f"{file}: {table.X.shape[1]} features, but {files[0]} has"
                f" {first.X.shape[1]}"
            )
    sizes = [table.X.shape[0] for table in tables]
    return RawTable(
        X=np.concatenate([table.X for table in tables]),
        labels=np.concatenate([table.labels for table in tables]),
        parts=np.repeat(np.arange(len(tables), dtype=np.int64), sizes),
        feature_names=first.feature_names,
        nominal=first.nominal,
    )
