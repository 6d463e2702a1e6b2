"""A person's own file by path, whole or in chunks: refuse what cannot be used."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from drmbench.data.chunks import (
    CHUNK_CELLS,
    ChunkedFile,
    ChunkedLibsvm,
    ChunkedNpy,
    FeatureRequest,
)
from drmbench.data.dataset import Dataset, Provenance
from drmbench.data.readers import get_reader
from drmbench.data.readers.cells import is_number
from drmbench.data.readers.common import Blob, RawTable
from drmbench.data.readers.compression import decompress
from drmbench.data.text_stream import opened
from drmbench.data.user_tables import UserTable, WholeTable, check_names
from drmbench.errors import InputError

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".npz": "npz",
    ".arff": "arff",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
    ".mat": "mat",
}
"""Format of a file by the end of its name."""

COMPRESSED = (".gz", ".bz2", ".z")
"""Ends that may follow those of text formats."""

MANY_ROWS = 20
"""Rows from which on a class for each of them is taken for a mistake."""

AnyFile = TypeVar("AnyFile", bound=ChunkedFile)

_ANYTHING = FeatureRequest()

_OPENERS: dict[str, Callable[[Path, str | None, FeatureRequest], ChunkedFile]] = {
    "csv": UserTable,
    "tsv": partial(UserTable, delimiter="\t"),
    "libsvm": ChunkedLibsvm,
    "npy": ChunkedNpy,
}

_CHUNKED_SUFFIXES = {
    ".npy": "npy",
    **{end: kind for end, kind in SUFFIXES.items() if kind in _OPENERS},
}


def load_user_file(
    path: str | Path, *, target: str | None = None, name: str | None = None
) -> Dataset:
    r"""Load a person's own data set, called `name` or else as the file is, from a file.

    It is a csv or tsv file whose first row holds the column names, or an npz, ARFF,
    LIBSVM or MATLAB file; text formats may be compressed (gz, bz2, Z). The `target` is
    what holds the class: for csv and tsv the name of a column (required); for ARFF an
    attribute (by default the last); for npz and MATLAB an array (by default ``y`` or a
    usual name). LIBSVM files have their labels in the first column.

    Classes are sorted, as numbers if all labels are numbers. Text columns of csv and
    tsv files become codes of their sorted categories and are listed in ``nominal``.
    What cannot be read, or is no complete classification data set, is an `InputError`
    that says where, and what would be valid.

    Notes
    -----
    npz: arrays ``X`` (one sample per row) and ``y``, and perhaps ``nominal``, the
    numbers of columns that hold codes of categories. MATLAB (up to version 7): a matrix
    called X, fea, data or features, or the only matrix beside the labels; samples may
    be its rows or its columns, whichever the number of labels fits.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "pets.csv"
    ...     _ = file.write_text("weight,kind\n4.1,cat\n9.5,dog\n3.8,cat\n")
    ...     pets = load_user_file(file, target="kind")
    >>> pets.name, pets.X.ravel().tolist(), pets.class_names, pets.y.tolist()
    ('pets', [4.1, 9.5, 3.8], ('cat', 'dog'), [0, 1, 0])
    """
    path = Path(path)
    kind = _format_of(path, SUFFIXES)
    if kind is None:
        _require_file(path)
        raise InputError(
            f"{path}: cannot tell the format from the name; it must end in"
            f" {', '.join(SUFFIXES)} (text formats also compressed:"
            f" {', '.join(COMPRESSED)})"
        )
    with opened(path) as stream:
        try:
            blob = Blob(path.name, stream.read())
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    if not blob.data.strip():
        raise InputError(f"{path}: the file is empty")
    table, place = _read(kind, path, blob, target)
    check_complete(blob.name, table, place)
    class_names, y = encode_labels(blob.name, table.labels)
    digest = hashlib.sha256(blob.data).hexdigest()
    stem = path
    while stem.suffix.lower() in (*SUFFIXES, *COMPRESSED):
        stem = stem.with_suffix("")
    return Dataset(
        name=name or stem.name,
        X=table.X,
        y=y,
        class_names=class_names,
        provenance=Provenance("file", files={path.name: f"sha256:{digest}"}),
        feature_names=table.feature_names,
        nominal=table.nominal,
    )


def _require_file(path: Path) -> None:
    """Refuse a folder, or a name without a suffix that no file has."""
    if path.is_dir() or not path.suffix:
        with opened(path):
            pass


def _format_of(path: Path, formats: dict[str, str]) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return formats.get(suffixes[-1]) if suffixes else None


def _read(kind: str, path: Path, blob: Blob, target: str | None) -> WholeTable:
    """Read a whole file; tables have lines to name, all other formats samples."""
    if kind in ("csv", "tsv"):
        data = decompress(blob)
        delimiter = "\t" if kind == "tsv" else None
        return _labelled(UserTable(path, target, _ANYTHING, delimiter, data)).whole()
    if kind == "libsvm" and target is not None:
        raise InputError(
            f"{blob.name}: LIBSVM files have no column names; the class is the first"
            f" number of a line, so leave the target {target!r} out"
        )
    options: dict[str, dict[str, Any]] = {
        "npz": {"y": target or "y"},
        "arff": {"target": target},
        "libsvm": {},
        "mat": {"y": target},
    }
    table = get_reader(kind)([blob], **options[kind])
    if kind == "arff":
        check_names(blob.name, table.feature_names or ())
    return WholeTable(table, lambda row: f"sample {row + 1}")


def check_complete(file: str, table: RawTable, place: Callable[[int], str]) -> None:
    """Refuse missing values: no method here could use them as they are."""
    missing = np.isnan(table.X)
    if not missing.any():
        return
    columns = np.flatnonzero(missing.any(axis=0))
    names = table.feature_names
    shown = [repr(names[j]) if names else str(j + 1) for j in columns[:5]]
    more = f" and {columns.size - 5} more" if columns.size > 5 else ""
    first = int(np.flatnonzero(missing.any(axis=1))[0])
    raise InputError(
        f"{file}: {int(missing.sum())} missing values, in column"
        f"{'s' if columns.size > 1 else ''} {', '.join(shown)}{more}, the first in"
        f" {place(first)}; fill them in or remove those rows or columns"
    )


def encode_labels(
    file: str, labels: NDArray[np.str_]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the sorted class names and every row's class number."""
    found, inverse = np.unique(labels, return_inverse=True)
    names = [str(label) for label in found]
    if len(names) == 1:
        raise InputError(
            f"{file}: all {labels.size} rows have the class {names[0]!r};"
            f" classification needs at least two classes"
        )
    check_discrete(file, names, labels.size)
    order = sorted(range(len(names)), key=sorting_key(names))
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return tuple(names[place] for place in order), rank[inverse]


def sorting_key(names: Sequence[str]) -> Callable[[int], tuple[float, str]]:
    """Sort as numbers where all names are numbers, else as text."""
    numeric = all(is_number(name) for name in names)
    return lambda place: (float(names[place]) if numeric else 0.0, names[place])


def check_discrete(file: str, names: Sequence[str], n_samples: int) -> None:
    """Refuse a target that measures something instead of naming classes."""
    numeric = all(is_number(name) for name in names)
    fractions = numeric and not all(float(name).is_integer() for name in names)
    if fractions and len(names) > max(2, n_samples // 2):
        raise InputError(
            f"{file}: the target has {len(names)} different fractional numbers in"
            f" {n_samples} rows: that looks like regression, not like classes"
        )
    if len(names) == n_samples >= MANY_ROWS:
        raise InputError(
            f"{file}: every one of the {n_samples} rows has a class of its own; the"
            f" target must repeat, so check that it is the right column"
        )


def open_chunked(
    path: str | Path, *, target: str | None = None, request: FeatureRequest = _ANYTHING
) -> ChunkedFile:
    """Open a file to be read in chunks, and check what its beginning tells.

    It is a csv or tsv file whose first row holds the column names, a LIBSVM file (all
    plain, gzip or bzip2), or an npy file with a matrix. The `target` is what holds the
    class: for csv and tsv the name of a column; for npy the number of a column, from
    0, or ``"last"``; LIBSVM files need none. It is None for rows without their class.
    """
    path = Path(path)
    kind = _format_of(path, _CHUNKED_SUFFIXES)
    if kind is None:
        _require_file(path)
        raise InputError(
            f"{path}: cannot be read in chunks; the name must end in"
            f" {', '.join(_CHUNKED_SUFFIXES)} (text formats also compressed: .gz, .bz2)"
        )
    return _OPENERS[kind](path, target, request)


def open_labelled(path: str | Path, *, target: str | None = None) -> ChunkedFile:
    """Open a file as :func:`open_chunked` does, and refuse it without a class."""
    return _labelled(open_chunked(path, target=target))


def _labelled(file: AnyFile) -> AnyFile:
    if file.labelled:
        return file
    columns = "Columns have numbers, from 0"
    if file.feature_names:
        columns = f"Columns: {', '.join(file.feature_names)}"
    raise InputError(
        f"{file.path.name}: say which column holds the class (the target). {columns}"
    )


def rows_per_chunk(file: ChunkedFile, chunksize: int | None = None) -> int:
    """Return the rows of a chunk: `chunksize`, or what :data:`CHUNK_CELLS` allow."""
    if chunksize is None:
        return max(1, CHUNK_CELLS // file.n_features)
    if chunksize < 1:
        raise InputError(f"the chunk size must be at least 1, not {chunksize}")
    return chunksize
