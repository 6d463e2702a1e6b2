"""Rows for a fitted model: a file's columns found by name, its categories by level."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from drmbench.data.chunks import FeatureRequest
from drmbench.data.column_roles import Settled, Settler, label_levels
from drmbench.data.dataset import Dataset
from drmbench.data.readers.common import label_array
from drmbench.data.reading import Reading
from drmbench.data.user import find_user_table, open_chunked, rows_per_chunk
from drmbench.data.whole_tables import SeenTable, evidence_beside
from drmbench.errors import InputError, did_you_mean, quoted

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
    #: What messages call a row, by its number from 0
    place: Callable[[int], str] = lambda row: f"sample {row + 1}"


def features_of(dataset: Dataset) -> list[Feature]:
    """Return the features of a table that a model is fitted to, with their levels."""
    if dataset.feature_names is None:
        return [Feature()] * dataset.n_features
    levels = {c.name: c.levels for c in dataset.columns if c.role == "nominal"}
    return [Feature(name, levels.get(name)) for name in dataset.feature_names]


def read_new_rows(
    path: Path,
    features: Sequence[Feature],
    *,
    target: str | None = None,
    ignore: Collection[str] = (),
    reading: Reading | None = None,
) -> NewRows:
    """Read the rows of a file as a model takes them.

    Columns of tables are found by name; others are left out and named in the answer.
    Formats without names need as many columns as there are features. `target` is the
    column of the true classes, if they are wanted, and `ignore` are left out without a
    word, such as the class of the training rows. `reading` is what is said about the
    file; what it says of columns is not asked.
    """
    reading = reading or Reading()
    nominal = {feature.name or "" for feature in features if feature.levels is not None}
    found = find_user_table(path, reading, {*nominal, target or ""})
    if found is None:
        return _without_names(path, target, FeatureRequest(None, len(features)))
    names = found.table.names
    if target is not None and target not in names:
        raise InputError(
            f"{path.name}: no column is named {quoted(target)}."
            f"{did_you_mean(target, names)} Columns: {', '.join(names)}"
        )
    others = [name for name in names if name != target]
    if any(feature.name is None for feature in features):
        FeatureRequest(None, len(features)).check_count(path.name, len(others))
        features = [Feature(name) for name in others]
    wanted = [feature.name or "" for feature in features]
    _refuse_absent(path.name, wanted, others)
    rows = _settled(found, features, reading)
    ignored = tuple(name for name in others if name not in {*wanted, *ignore})
    truth = None
    if target is not None:
        classes = label_levels(found.table.columns[names.index(target)])
        if (classes.codes < 0).any():
            first = int(np.flatnonzero(classes.codes < 0)[0])
            where = f"{path.name}, {rows.place(first)}, column {quoted(target)}"
            raise InputError(f"{where}: the class is missing")
        truth = label_array(path.name, classes.values, classes.codes)
    return NewRows(rows.X, truth, ignored, rows.unknown, rows.place)


def _settled(
    found: SeenTable, features: Sequence[Feature], reading: Reading
) -> NewRows:
    """Make numbers and codes of the columns of a table, as the training rows had."""
    names = found.table.names
    numeric = tuple(f.name or "" for f in features if f.levels is None)
    nominal = tuple(f.name or "" for f in features if f.levels is not None)
    others = [j for j, name in enumerate(names) if name not in numeric]
    table, evidence = found.in_one_decimal_mark(
        lambda one: evidence_beside(one, others), reading
    )
    said = Reading(nominal=nominal, numeric=numeric, decimal=reading.decimal)
    settler = Settler(table, said, evidence, found.commas_group)
    columns, unknown = [], {}
    for feature in features:
        assert feature.name is not None
        settled = settler.settle(names.index(feature.name))
        if settled.numbers is None:  # no value in any row
            columns.append(np.full(settled.column.missing, np.nan))
            continue
        numbers, new = _coded(settled, feature)
        columns.append(numbers)
        if new:
            unknown[feature.name] = new
    return NewRows(np.column_stack(columns), unknown=unknown, place=table.place)


def _coded(
    settled: Settled, feature: Feature
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return a column with the model's codes, and its levels that have none."""
    assert settled.numbers is not None
    if feature.levels is None:
        return settled.numbers, ()
    codes = {level: float(code) for code, level in enumerate(feature.levels)}
    found = settled.column.levels
    here = [codes.get(level, float(len(codes))) for level in found]
    missing = np.isnan(settled.numbers)
    places = np.where(missing, len(found), settled.numbers).astype(np.intp)
    new = tuple(level for level in found if level not in codes)
    return np.array([*here, np.nan])[places], new


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
