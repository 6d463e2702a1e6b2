"""A person's own data in memory: checked as files are, and written for workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from drmbench.data.dataset import Dataset, Provenance
from drmbench.data.readers.common import array_table, label_text
from drmbench.data.user import encode_labels
from drmbench.errors import InputError, did_you_mean, quoted
from drmbench.files import replacing


def dataset_in_memory(
    X: Any, y: Any, *, name: str, categorical: Sequence[str | int] = ()
) -> Dataset:
    """Return samples and labels as a data set.

    `X` is a matrix or a data frame, one sample per row; columns of text or categories
    become codes of their sorted categories and, as those in `categorical`, by name or
    number, are listed in ``nominal``. `y` has labels of any kind. Missing values stay
    NaN; what is no classification data set is an `InputError`.

    Examples
    --------
    >>> X = pd.DataFrame({"weight": [4.1, 9.5, 3.8], "fur": ["long", "short", "long"]})
    >>> pets = dataset_in_memory(X, ["cat", "dog", "cat"], name="pets")
    >>> pets.X.tolist(), pets.nominal, pets.class_names
    ([[4.1, 0.0], [9.5, 1.0], [3.8, 0.0]], (1,), ('cat', 'dog'))
    """
    matrix, names, coded = _matrix(X)
    table = array_table("X", matrix, label_text("y", y), names)
    numbers = {_number(column, table.X.shape[1], names) for column in categorical}
    table = replace(table, nominal=tuple(sorted({*coded, *numbers})))
    class_names, codes = encode_labels("y", table.labels)
    return Dataset(
        name=name,
        X=table.X,
        y=codes,
        class_names=class_names,
        provenance=Provenance("memory"),
        feature_names=names,
        nominal=table.nominal,
    )


def write_npz(dataset: Dataset, folder: Path) -> Path:
    """Write a data set into a folder, named by its content, unless it is there."""
    path = folder / f"data-{dataset.fingerprint[:16]}.npz"
    if not path.exists():
        labels = np.array(dataset.class_names, dtype=np.str_)[dataset.y]
        nominal = np.array(dataset.nominal, dtype=np.int64)
        with replacing(path) as temporary, temporary.open("wb") as stream:
            np.savez(stream, X=dataset.X, y=labels, nominal=nominal)
    return path


def _matrix(X: Any) -> tuple[Any, tuple[str, ...] | None, list[int]]:
    """Return numbers, the names of columns if any, and which of them hold codes."""
    if isinstance(X, pd.DataFrame):
        return _of_frame(X, tuple(map(str, X.columns)))
    if hasattr(X, "toarray"):
        raise InputError("X is sparse; methods take dense samples, such as X.toarray()")
    try:
        array = np.asarray(X)
        if array.dtype.kind in "biuf" or array.ndim != 2:
            return array, None, []
        # Rows of numbers and texts would all be texts in an array.
        rows = array if isinstance(X, np.ndarray) else [list(row) for row in X]
        return _of_frame(pd.DataFrame(rows), None)
    except ValueError as error:
        raise InputError(f"X is no matrix of samples: {error}") from error


def _of_frame(
    frame: pd.DataFrame, names: tuple[str, ...] | None
) -> tuple[NDArray[np.float64], tuple[str, ...] | None, list[int]]:
    matrix, coded = np.empty(frame.shape), []
    for number in range(frame.shape[1]):
        column = frame.iloc[:, number].infer_objects()
        kind = column.dtype
        if types.is_numeric_dtype(kind) and not types.is_complex_dtype(kind):
            matrix[:, number] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        elif getattr(kind, "kind", "O") in "cmM":
            what = quoted(names[number]) if names else number
            raise InputError(
                f"X: the column {what} has the type {kind}; turn it into numbers"
            )
        else:
            texts = column.astype(object).map(str, na_action="ignore")
            codes = pd.factorize(texts, sort=True)[0]
            matrix[:, number] = np.where(codes < 0, np.nan, codes)
            coded.append(number)
    return matrix, names, coded


def _number(column: str | int, p: int, names: tuple[str, ...] | None) -> int:
    """Return the number of a column that is called by its name or number."""
    if isinstance(column, str):
        if column in (names or ()):
            return (names or ()).index(column)
        near = did_you_mean(column, names or ())
        there = f" Columns: {', '.join(names)}" if names else " Columns have numbers"
        raise InputError(f"categorical: X has no column {quoted(column)}.{near}{there}")
    if not 0 <= column < p:
        raise InputError(f"categorical: a column from 0 to {p - 1}, not {column}")
    return int(column)
