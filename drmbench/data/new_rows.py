"""Rows for a fitted model: a file's columns found by name, its categories by level."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.data.chunks import FeatureRequest
from drmbench.data.dataset import Dataset
from drmbench.data.readers.cells import Rows, categories_of, labels, numbers
from drmbench.data.user import open_chunked, rows_per_chunk
from drmbench.data.user_tables import MISSING_CELLS, UserTable
from drmbench.errors import InputError, did_you_mean

#: Names that messages list, at most.
_SHOWN = 5


@dataclass(frozen=True)
class Feature:
    """A column that a model takes."""

    name: str | None = None  #: As the table's header has it; None without a header
    #: The texts of a column of categories, in the order of their codes 0, 1, …; None
    #: for a column of numbers
    levels: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class NewRows:
    """The rows of a file, as a model's features."""

    X: NDArray[np.float64]  #: Numbers and codes; NaN where a value is missing
    labels: NDArray[np.str_] | None = None  #: The true classes, if they were asked for
    ignored: tuple[str, ...] = ()  #: Columns that are none of the model's
    #: Levels that the model never saw, by column; their code is the number of levels
    unknown: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lines: Sequence[int] = ()  #: Line of each row, where the file has lines

    def place(self, row: int) -> str:
        """Return what messages call a row."""
        return f"line {self.lines[row]}" if self.lines else f"sample {row + 1}"


def features_of(dataset: Dataset, path: Path, target: str | None) -> list[Feature]:
    """Return the features of a table that a model is fitted to, with their levels."""
    names = dataset.feature_names
    if names is None:
        return [Feature()] * dataset.n_features
    levels = _levels(dataset, path, target) if dataset.nominal else {}
    return [Feature(name, levels.get(name)) for name in names]


def _levels(
    dataset: Dataset, path: Path, target: str | None
) -> dict[str, tuple[str, ...]]:
    """Return the levels of each nominal column, as their codes count them."""
    assert dataset.feature_names is not None
    nominal = [dataset.feature_names[column] for column in dataset.nominal]
    columns: Sequence[Any] = getattr(dataset, "columns", ())
    if columns:
        return {c.name: tuple(c.levels) for c in columns if c.name in nominal}
    table = open_chunked(path, target=target) if _is_table(path) else None
    if not isinstance(table, UserTable):
        return {}
    found, rows = table.cells()
    return {
        name: tuple(categories_of(rows.columns[found.index(name)], MISSING_CELLS))
        for name in nominal
    }


def _is_table(path: Path) -> bool:
    return bool({".csv", ".tsv"} & {suffix.lower() for suffix in path.suffixes})


def read_new_rows(
    path: Path,
    features: Sequence[Feature],
    *,
    target: str | None = None,
    ignore: Collection[str] = (),
) -> NewRows:
    """Read the rows of a file as a model takes them.

    Columns of csv and tsv files are found by name; others are left out and named in
    the answer. Formats without names need as many columns as there are features.
    `target` is the column of the true classes, if they are wanted, and `ignore` are
    left out without a word, such as the class of the training rows.
    """
    file = open_chunked(path, target=target)
    if not isinstance(file, UserTable):
        request = FeatureRequest(None, len(features))
        return _without_names(path, target, request)
    names, rows = file.cells()
    others = [name for name in names if name != target]
    if any(feature.name is None for feature in features):
        FeatureRequest(None, len(features)).check_count(path.name, len(others))
        features = [Feature(name) for name in others]
    wanted = [feature.name or "" for feature in features]
    _refuse_absent(path.name, wanted, others)
    X, unknown = np.empty((len(rows.cells), len(features))), {}
    for place, feature in enumerate(features):
        column = names.index(wanted[place])
        X[:, place], new = _column(rows, column, feature)
        if new:
            unknown[wanted[place]] = new
    found = None
    if target is not None:
        found = labels(rows, names.index(target), missing=MISSING_CELLS)
    ignored = [name for name in others if name not in {*wanted, *ignore}]
    return NewRows(X, found, tuple(ignored), unknown, rows.lines)


def _without_names(path: Path, target: str | None, request: FeatureRequest) -> NewRows:
    file = open_chunked(path, target=target, request=request)
    chunks = list(file.chunks(rows_per_chunk(file)))
    X = np.concatenate([chunk.X for chunk in chunks])
    found = [chunk.labels for chunk in chunks if chunk.labels is not None]
    return NewRows(X, np.concatenate(found) if found else None)


def _refuse_absent(file: str, wanted: Sequence[str], found: Sequence[str]) -> None:
    absent = [name for name in wanted if name not in found]
    if not absent:
        return
    more = f" and {len(absent) - _SHOWN} more" if len(absent) > _SHOWN else ""
    spare = [name for name in found if name not in wanted]
    raise InputError(
        f"{file}: the model needs the column{'s' if len(absent) > 1 else ''}"
        f" {', '.join(map(repr, absent[:_SHOWN]))}{more}, which the file does not have."
        f"{did_you_mean(absent[0], spare)} Columns: {', '.join(found)}"
    )


def _column(
    rows: Rows, column: int, feature: Feature
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return a column's numbers or codes, and its levels that have no code."""
    if feature.levels is None:
        title = f"column {column + 1} ({feature.name})"
        return numbers(rows, column, title, MISSING_CELLS), ()
    codes = {level: float(code) for code, level in enumerate(feature.levels)}
    codes |= dict.fromkeys(MISSING_CELLS - set(codes), np.nan)
    cells = rows.columns[column]
    values = [codes.get(cell, float(len(feature.levels))) for cell in cells]
    return np.array(values), tuple(sorted(set(cells) - set(codes)))
