"""A user's own table by path: read it, refuse what cannot be used, say exactly why."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drmbench.data.dataset import Dataset, Provenance
from drmbench.data.readers import get_reader
from drmbench.data.readers.columns import is_number
from drmbench.data.readers.headed import check_names, read_headed
from drmbench.data.readers.table import Blob, Table
from drmbench.errors import InputError, did_you_mean

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


class _Loaded(NamedTuple):
    """A table and how messages name one of its rows."""

    table: Table
    place: Callable[[int], str]


def load_user_file(
    path: str | Path, *, target: str | None = None, name: str | None = None
) -> Dataset:
    r"""Load a person's own data set from a file.

    Parameters
    ----------
    path : str or Path
        A csv or tsv file whose first row holds the column names, or an npz, ARFF,
        LIBSVM or MATLAB file. Text formats may be compressed (gz, bz2, Z).
    target : str or None
        What holds the class: for csv and tsv the name of a column (required); for ARFF
        an attribute (by default the last); for npz and MATLAB an array (by default
        ``y`` or a usual name). LIBSVM files have their labels in the first column.
    name : str or None
        Name of the data set; by default the file's, without its ending.

    Returns
    -------
    Dataset
        Classes are sorted, as numbers if all labels are numbers. Text columns of csv
        and tsv files become codes of their sorted categories and are listed in
        ``nominal``.

    Raises
    ------
    InputError
        The file cannot be read, or is no complete classification data set: the
        message says where and what would be valid.

    Notes
    -----
    npz: arrays ``X`` (one sample a row) and ``y``. MATLAB (up to version 7): a matrix
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
    load = _LOADERS[_format_of(path)]
    blob = Blob(path.name, _read_bytes(path))
    table, place = load(blob, target)
    _check_complete(blob.name, table, place)
    class_names, y = _encode(blob.name, table.labels)
    digest = hashlib.sha256(blob.data).hexdigest()
    return Dataset(
        name=name or _stem(path),
        X=table.X,
        y=y,
        class_names=class_names,
        provenance=Provenance("file", files={path.name: f"sha256:{digest}"}),
        feature_names=table.feature_names,
        nominal=table.nominal,
    )


def _format_of(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    kind = SUFFIXES.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise InputError(
            f"{path}: cannot tell the format from the name; it must end in"
            f" {', '.join(SUFFIXES)} (text formats also compressed:"
            f" {', '.join(COMPRESSED)})"
        )
    return kind


def _stem(path: Path) -> str:
    stem = path
    while stem.suffix.lower() in (*SUFFIXES, *COMPRESSED):
        stem = stem.with_suffix("")
    return stem.name


def _read_bytes(path: Path) -> bytes:
    if path.is_dir():
        raise InputError(f"{path}: a directory, not a file")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        folder = path.parent
        siblings = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        raise InputError(
            f"{path}: no such file.{did_you_mean(path.name, siblings)}"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    if not data.strip():
        raise InputError(f"{path}: the file is empty")
    return data


def _load_csv(blob: Blob, target: str | None) -> _Loaded:
    return _load_headed(blob, target, None)


def _load_tsv(blob: Blob, target: str | None) -> _Loaded:
    return _load_headed(blob, target, "\t")


def _load_headed(blob: Blob, target: str | None, delimiter: str | None) -> _Loaded:
    table, lines = read_headed(blob, target, delimiter)
    return _Loaded(table, lambda row: f"line {lines[row]}")


def _load_npz(blob: Blob, target: str | None) -> _Loaded:
    return _Loaded(get_reader("npz")([blob], y=target or "y"), _sample)


def _load_arff(blob: Blob, target: str | None) -> _Loaded:
    table = get_reader("arff")([blob], target=target)
    check_names(blob.name, table.feature_names or ())
    return _Loaded(table, _sample)


def _load_libsvm(blob: Blob, target: str | None) -> _Loaded:
    if target is not None:
        raise InputError(
            f"{blob.name}: LIBSVM files have no column names; the class is the first"
            f" number of a line, so leave the target {target!r} out"
        )
    return _Loaded(get_reader("libsvm")([blob]), _sample)


def _load_mat(blob: Blob, target: str | None) -> _Loaded:
    return _Loaded(get_reader("mat")([blob], y=target), _sample)


def _sample(row: int) -> str:
    return f"sample {row + 1}"


_LOADERS: dict[str, Callable[[Blob, str | None], _Loaded]] = {
    "csv": _load_csv,
    "tsv": _load_tsv,
    "npz": _load_npz,
    "arff": _load_arff,
    "libsvm": _load_libsvm,
    "mat": _load_mat,
}


def _check_complete(file: str, table: Table, place: Callable[[int], str]) -> None:
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


def _encode(
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
