from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drmbench.data import assemble as assemble_module
from drmbench.data.assemble import assemble
from drmbench.data.catalogue import DatasetEntry, Source
from drmbench.data.dataset import Dataset, Provenance
from drmbench.data.readers.common import RawTable
from drmbench.errors import CheckFailedError

ROWS = 30


@pytest.fixture
def tiny(entry: DatasetEntry) -> DatasetEntry:
    """Thirty rows of two features, ten of class a, with folds."""
    return dataclasses.replace(
        entry, n=ROWS, class_counts={"b": 20, "a": 10}, folds=True, given_split=18
    )


def true_table() -> RawTable:
    return RawTable(
        X=np.arange(2.0 * ROWS).reshape(ROWS, 2) % 17,
        labels=np.array(["a", "b", "b"] * (ROWS // 3)),
        parts=np.zeros(ROWS, dtype=np.int64),
    )


def take(table: RawTable, order: list[int], parts: list[int] | None = None) -> RawTable:
    return dataclasses.replace(
        table,
        X=table.X[order],
        labels=table.labels[order],
        parts=np.array(parts or [0] * len(order), dtype=np.int64),
    )


def build(entry: DatasetEntry, table: RawTable, **changes: object) -> Dataset:
    source = dataclasses.replace(Source("files"), **changes)  # type: ignore[arg-type]
    return assemble(entry, source, table, Provenance("file"))


folds_and_last = st.tuples(
    st.lists(st.integers(1, 5), min_size=ROWS - 5, max_size=ROWS - 5).map(
        lambda digits: [*digits, 1, 2, 3, 4, 5]
    ),
    st.sets(st.integers(0, ROWS - 1)).map(sorted),
)


@settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(orders=folds_and_last)
def test_sources_with_other_row_orders_give_the_same_data(
    tiny: DatasetEntry, orders: tuple[list[int], list[int]]
) -> None:
    folds, last = orders
    facts = {"small": {"folds": "".join(map(str, folds)), "last": last}}
    by_fold = [i for k in range(1, 6) for i in range(ROWS) if folds[i] == k]
    moved = [i for i in range(ROWS) if i not in last] + last
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assemble_module, "row_orders", lambda: facts)
        plain = build(tiny, true_table())
        parts = [folds[i] - 1 for i in by_fold]
        from_folds = build(tiny, take(true_table(), by_fold, parts), rows="folds")
        from_last = build(tiny, take(true_table(), moved), rows="last")
    assert np.array_equal(plain.X, true_table().X)
    assert plain.folds is not None
    assert plain.folds.tolist() == [fold - 1 for fold in folds]
    assert from_folds.fingerprint == plain.fingerprint
    assert from_last.fingerprint == plain.fingerprint


@pytest.fixture
def plain(tiny: DatasetEntry) -> DatasetEntry:
    return dataclasses.replace(tiny, folds=False)


def test_classes_are_numbered_as_the_catalogue_lists_them(plain: DatasetEntry) -> None:
    dataset = build(plain, true_table())
    assert dataset.class_names == ("b", "a")
    assert dataset.y[:3].tolist() == [1, 0, 0]


def test_unlisted_classes_are_sorted_as_numbers(plain: DatasetEntry) -> None:
    unlisted = dataclasses.replace(plain, class_counts=None)
    renamed = {"a": "10", "b": "9"}
    assert build(unlisted, true_table(), labels=renamed).class_names == ("9", "10")


def test_the_given_split_is_by_row_number(plain: DatasetEntry) -> None:
    split = build(plain, true_table()).split
    assert split is not None
    assert split[0].tolist() == list(range(18))
    assert split[1].tolist() == list(range(18, ROWS))


def test_rows_can_be_left_out_by_label_or_gap(plain: DatasetEntry) -> None:
    table = take(true_table(), [*range(ROWS), 0, 1])
    table.X[-2, 0] = np.nan
    table.labels[-1] = "c"
    dataset = build(plain, table, drop_labels=("c",), drop_missing=True)
    assert np.array_equal(dataset.X, true_table().X)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 31}, "expected 31 samples, found 30"),
        ({"p": 3}, "expected 3 features, found 2"),
        (
            {"class_counts": {"a": 11, "b": 19}},
            r"expected {'a': 11, 'b': 19} samples per class, found {'a': 10, 'b': 20}",
        ),
        ({"class_counts": {"a": 30}, "classes": 1}, "class 'b' that the catalogue"),
        ({"class_counts": None, "classes": 3}, "expected 3 classes, found 2"),
    ],
)
def test_anything_else_than_the_catalogue_says_is_refused(
    plain: DatasetEntry, change: dict[str, object], message: str
) -> None:
    other = dataclasses.replace(plain, **change)  # type: ignore[arg-type]
    with pytest.raises(CheckFailedError, match=message):
        build(other, true_table())


def test_missing_values_are_refused(plain: DatasetEntry) -> None:
    table = true_table()
    table.X[3, 1] = np.nan
    with pytest.raises(CheckFailedError, match="missing or infinite"):
        build(plain, table)


def test_folds_of_other_sizes_are_refused(
    tiny: DatasetEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {"small": {"folds": "12345" * 6}}
    monkeypatch.setattr(assemble_module, "row_orders", lambda: facts)
    table = take(true_table(), list(range(ROWS)), [0] * 10 + [1, 2, 3, 4] * 5)
    with pytest.raises(CheckFailedError, match="rows per fold"):
        build(tiny, table, rows="folds")
