"""From what a reader found to a :class:`Dataset` in the catalogue's own order.

A data set has one identity whatever source it came from: the same rows in the same
order, the same class numbers, the same folds. This module establishes it, and refuses
anything that is not what the catalogue says.
"""

from __future__ import annotations

import json
import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drmbench.data.catalogue import DatasetEntry, Source
from drmbench.data.dataset import Dataset, Provenance
from drmbench.data.paths import catalogue_file
from drmbench.data.readers.cells import is_number
from drmbench.data.readers.common import RawTable
from drmbench.errors import CheckFailedError, quoted


@lru_cache(maxsize=1)
def row_orders() -> dict[str, dict[str, Any]]:
    """Return keel_folds.json: folds, and rows that some sources put at the end."""
    text = catalogue_file("keel_folds.json").read_text(encoding="utf-8")
    orders: dict[str, dict[str, Any]] = json.loads(text)
    return orders


def assemble(
    entry: DatasetEntry, source: Source, table: RawTable, provenance: Provenance
) -> Dataset:
    """Bring a table into the data set's own form and check it."""
    keep = ~np.isin(table.labels, list(source.drop_labels))
    if source.drop_missing:
        keep &= ~np.isnan(table.X).any(axis=1)
    X, labels, parts = table.X[keep], table.labels[keep], table.parts[keep]
    _check("samples", entry.n, X.shape[0], entry)
    _check("features", entry.p, X.shape[1], entry)
    if not np.isfinite(X).all():
        raise CheckFailedError(f"{entry.name} has missing or infinite values")
    order = _canonical_order(entry, source, parts)
    y, class_names = _encode(entry, source, labels[order])
    rows, first = np.arange(entry.n), entry.given_split
    dataset = Dataset(
        name=entry.name,
        X=X[order],
        y=y,
        class_names=class_names,
        provenance=provenance,
        feature_names=table.feature_names,
        nominal=table.nominal,
        split=None if first is None else (rows[:first], rows[first:]),
        folds=_folds(entry) if entry.folds else None,
    )
    check_counts(entry, dataset)
    return dataset


def check_counts(entry: DatasetEntry, dataset: Dataset) -> None:
    """Refuse a data set whose size or class counts are not the catalogue's."""
    _check("samples", entry.n, dataset.n_samples, entry)
    _check("features", entry.p, dataset.n_features, entry)
    _check("classes", entry.classes, dataset.n_classes, entry)
    if entry.class_counts is not None:
        _check("samples per class", entry.class_counts, dataset.class_counts, entry)


def _check(what: str, expected: object, found: object, entry: DatasetEntry) -> None:
    if found != expected:
        raise CheckFailedError(
            f"{entry.name} is not what the catalogue says: expected {expected} {what},"
            f" found {found}"
        )


def _canonical_order(
    entry: DatasetEntry, source: Source, parts: NDArray[np.int64]
) -> NDArray[np.intp]:
    """Return, for each row of the data set, its number in the source."""
    if source.rows == "file":
        return np.arange(entry.n)
    if source.rows == "folds":
        folds = _folds(entry)
        places = np.argsort(folds, kind="stable")
        sizes = np.bincount(folds).tolist()
        _check("rows per fold", sizes, np.bincount(parts).tolist(), entry)
    else:
        last = np.array(row_orders()[entry.name].get("last", []), dtype=np.intp)
        places = np.concatenate([np.setdiff1d(np.arange(entry.n), last), last])
    order = np.empty(entry.n, dtype=np.intp)
    order[places] = np.arange(entry.n)
    return order


def _folds(entry: DatasetEntry) -> NDArray[np.int64]:
    digits = row_orders()[entry.name]["folds"]
    _check("folds", entry.n, len(digits), entry)
    return np.array([int(digit) - 1 for digit in digits], dtype=np.int64)


def _encode(
    entry: DatasetEntry, source: Source, labels: NDArray[np.str_]
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return class numbers and names, in the catalogue's order or in that of labels."""
    found, inverse = np.unique(labels, return_inverse=True)
    names = [source.labels.get(str(label), str(label)) for label in found]
    if entry.class_counts is None:
        # Numbers come in numerical order, before other text.
        values = [float(name) if is_number(name) else math.inf for name in names]
        class_names = tuple(name for _, name in sorted(zip(values, names, strict=True)))
    else:
        class_names = tuple(entry.class_counts)
    unknown = sorted(set(names) - set(class_names))
    if unknown:
        raise CheckFailedError(
            f"{entry.name} has a class {quoted(unknown[0])} that the catalogue does"
            " not know;"
            f" it lists {', '.join(class_names)}"
        )
    numbers = np.array([class_names.index(name) for name in names], dtype=np.int64)
    return numbers[inverse.reshape(-1)], class_names
