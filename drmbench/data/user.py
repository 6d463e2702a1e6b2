"""A person's own file by path, whole or in chunks: refuse what cannot be used."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

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
from drmbench.data.number_text import Decimal
from drmbench.data.readers import get_reader
from drmbench.data.readers.cells import is_number
from drmbench.data.readers.common import Blob, RawTable
from drmbench.data.readers.compression import decompress, zipped_name
from drmbench.data.reading import Reading
from drmbench.data.text_stream import opened
from drmbench.data.user_tables import UserTable, check_names
from drmbench.data.whole_tables import (
    TABLES,
    LoadedTable,
    SeenTable,
    find_table,
    load_table,
    no_target,
)
from drmbench.errors import InputError, quoted

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".npz": "npz",
    ".arff": "arff",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
    ".mat": "mat",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "excel",
    ".parquet": "parquet",
}
"""Format of a file by the end of its name."""

COMPRESSED = (".gz", ".bz2", ".z", ".xz", ".zip")
"""Ends that may follow those of text formats."""

MANY_ROWS = 20
"""Rows from which on a class for each of them is taken for a mistake."""

_ANYTHING = FeatureRequest()

_PREPARATION = ", or have them filled in: `protocol.preparation: table` in a config"

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
    path: str | Path,
    *,
    target: str | None = None,
    name: str | None = None,
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    numeric: Sequence[str] = (),
    sep: str | None = None,
    encoding: str | None = None,
    decimal: Decimal | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    complete: bool = False,
) -> Dataset:
    r"""Load a person's own data set, called `name` or else as the file is, from a file.

    It is a table (csv, tsv, JSON lines, Excel, parquet), or an npz, ARFF, LIBSVM or
    MATLAB file; text formats may be compressed (gz, bz2, Z, xz, a zip archive of one
    file). The `target` is what holds the class: for tables the name of a column
    (required); for ARFF an attribute (by default the last); for npz and MATLAB an array
    (by default ``y`` or a usual name). LIBSVM files have their labels in the first
    column.

    Of a table everything that is not said is found out: encoding, separator, decimal
    mark, whether there is a row of names (else columns are ``column1``, ``column2``,
    …). Numbers may have signs of a currency or per cent and separated thousands. Texts
    with few levels become codes of these, sorted, and are listed in ``nominal``.
    Columns without a value, constants, identifiers, free text and dates are left out.
    The data set's ``columns`` tell what was done with each column and why, ``assumed``
    what was assumed about the file. Rows without a class are left out; other missing
    values are NaN, or refused if the data must be `complete`.

    Classes are sorted, as numbers if all labels are numbers. What cannot be read, or is
    no classification data set, is an `InputError` that says where, and what would be
    valid.

    Parameters
    ----------
    path : path
        The file; the end of its name tells the format.
    target, name : str, optional
        What holds the class, and what the data set is called.
    drop, nominal, numeric : sequences of str
        Names of columns to leave out, to take as categories, and to take as numbers
        though they look like identifiers; of dates, the last makes days since 1970.
    sep : str, optional
        What separates columns: a character, "tab" or "space".
    encoding : str, optional
        Encoding of the text, as Python calls it.
    decimal : {".", ","}, optional
        What stands before the fraction of a number.
    header : bool, optional
        Whether the first row holds the names of the columns.
    sheet : str, optional
        Sheet of an Excel file; by default the first.
    complete : bool, default=False
        Whether to refuse missing values.

    Returns
    -------
    Dataset
        The data, and what was done to get it.

    Raises
    ------
    InputError
        If the file cannot be used.

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
    ...     _ = file.write_text("weight;kind\n4,1;cat\n;dog\n3,8;cat\n")
    ...     pets = load_user_file(file, target="kind")
    >>> pets.name, pets.X.ravel().tolist(), pets.class_names, pets.y.tolist()
    ('pets', [4.1, nan, 3.8], ('cat', 'dog'), [0, 1, 0])
    >>> pets.assumed
    ("separated by ';'", 'decimal comma')
    """
    path = Path(path)
    by_name = (tuple(drop), tuple(nominal), tuple(numeric))
    reading = Reading(*by_name, sep, encoding, decimal, header, sheet)
    kind, blob = _opened(path)
    reading.check_format(blob.name, kind)
    if kind in TABLES:
        loaded = load_table(kind, path, _decompressed(kind, blob), target, reading)
    else:
        loaded = _arrays(kind, blob, target)
    class_names, y = encode_labels(blob.name, loaded.table.labels)
    _require_features(blob.name, loaded)
    if complete:
        check_complete(blob.name, loaded.table, loaded.place, _PREPARATION)
    digest = hashlib.sha256(blob.data).hexdigest()
    columns = tuple(
        replace(column, levels=class_names) if column.role == "target" else column
        for column in loaded.columns
    )
    return Dataset(
        name=name or _stem(path),
        X=loaded.table.X,
        y=y,
        class_names=class_names,
        provenance=Provenance("file", files={path.name: f"sha256:{digest}"}),
        feature_names=loaded.table.feature_names,
        nominal=loaded.table.nominal,
        columns=columns,
        assumed=loaded.assumed,
    )


def _opened(path: Path) -> tuple[str, Blob]:
    """Return a file's format and bytes; a zip archive's format is that of its file."""
    kind = _format_of(path, SUFFIXES)
    zipped = path.suffix.lower() == ".zip"
    if kind is None and not zipped:
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
    if kind is None:
        inside = zipped_name(blob)
        kind = _format_of(Path(inside), SUFFIXES)
        if kind is None:
            raise InputError(
                f"{path}: cannot tell the format of the file in it, {quoted(inside)},"
                " from"
                f" its name; it must end in {', '.join(SUFFIXES)}"
            )
    return kind, blob


def _require_features(file: str, loaded: LoadedTable) -> None:
    if not loaded.table.X.shape[1]:
        dropped = [column for column in loaded.columns if column.role == "dropped"]
        why = "; ".join(f"{quoted(column.name)}: {column.why}" for column in dropped)
        raise InputError(f"{file}: no feature column is left. {why}")


def find_user_table(
    path: Path, reading: Reading, as_text: Collection[str]
) -> SeenTable | None:
    """Return the columns of a table as they stand in its file, by name.

    Those named are read `as_text`. None is returned for formats that are no tables.
    """
    if _format_of(path, _CHUNKED_SUFFIXES) in ("npy", "libsvm"):
        return None
    kind, blob = _opened(path)
    reading.check_format(blob.name, kind)
    if kind not in TABLES:
        return None
    found = find_table(kind, path, _decompressed(kind, blob), reading, as_text)
    check_names(blob.name, found.table.names)
    return found


def _decompressed(kind: str, blob: Blob) -> bytes:
    """Return the bytes of a table; Excel and parquet files are packed as they are."""
    if kind in ("excel", "parquet") and not blob.name.lower().endswith(COMPRESSED):
        return blob.data
    return decompress(blob)


def _stem(path: Path) -> str:
    while path.suffix.lower() in (*SUFFIXES, *COMPRESSED):
        path = path.with_suffix("")
    return path.name


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


def _arrays(kind: str, blob: Blob, target: str | None) -> LoadedTable:
    """Read a file of another format than a table; it has samples to name, not lines."""
    if kind == "libsvm" and target is not None:
        raise InputError(
            f"{blob.name}: LIBSVM files have no column names; the class is the first"
            f" number of a line, so leave the target {quoted(target)} out"
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
    return LoadedTable(table, lambda row: f"sample {row + 1}")


def check_complete(
    file: str, table: RawTable, place: Callable[[int], str], remedy: str = ""
) -> None:
    """Refuse missing values, which no method takes unprepared; say what helps."""
    missing = np.isnan(table.X)
    if not missing.any():
        return
    columns = np.flatnonzero(missing.any(axis=0))
    names = table.feature_names
    shown = [quoted(names[j]) if names else str(j + 1) for j in columns[:5]]
    more = f" and {columns.size - 5} more" if columns.size > 5 else ""
    first = int(np.flatnonzero(missing.any(axis=1))[0])
    raise InputError(
        f"{file}: {int(missing.sum())} missing values, in column"
        f"{'s' if columns.size > 1 else ''} {', '.join(shown)}{more}, the first in"
        f" {place(first)}; fill them in or remove those rows or columns{remedy}"
    )


def encode_labels(
    file: str, labels: NDArray[np.str_]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the sorted class names and every row's class number."""
    found, inverse = np.unique(labels, return_inverse=True)
    names = [str(label) for label in found]
    if len(names) == 1:
        raise InputError(
            f"{file}: all {labels.size} rows have the class {quoted(names[0])};"
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
    plain, gzip, bzip2 or xz), or an npy file with a matrix. The `target` is what holds
    the class: for csv and tsv the name of a column; for npy the number of a column,
    from 0, or ``"last"``; LIBSVM files need none. It is None for rows without a class.
    """
    path = Path(path)
    kind = _format_of(path, _CHUNKED_SUFFIXES)
    if kind is None:
        _require_file(path)
        raise InputError(
            f"{path}: cannot be read in chunks; the name must end in"
            f" {', '.join(_CHUNKED_SUFFIXES)} (text formats also compressed: .gz, .bz2,"
            f" .xz)"
        )
    return _OPENERS[kind](path, target, request)


def open_labelled(path: str | Path, *, target: str | None = None) -> ChunkedFile:
    """Open a file as :func:`open_chunked` does, and refuse it without a class."""
    file = open_chunked(path, target=target)
    if not file.labelled:
        raise no_target(file.path.name, file.feature_names)
    return file


def rows_per_chunk(file: ChunkedFile, chunksize: int | None = None) -> int:
    """Return the rows of a chunk: `chunksize`, or what :data:`CHUNK_CELLS` allow."""
    if chunksize is None:
        return max(1, CHUNK_CELLS // file.n_features)
    if chunksize < 1:
        raise InputError(f"the chunk size must be at least 1, not {chunksize}")
    return chunksize
