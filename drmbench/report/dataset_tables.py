"""The paper's tables of data sets, beside what the catalogue has."""

from __future__ import annotations

from collections.abc import Mapping

from drmbench.data.catalogue import DatasetEntry, load_catalogue
from drmbench.paper import table_rows
from drmbench.report.table import Cell, Column, ReportTable

#: File of the published table, id and title of ours.
_TABLES = (
    ("table2_small_datasets", "table2-small-datasets", "Small to medium data sets"),
    ("table4_large_datasets", "table4-large-datasets", "Large-scale data sets"),
    (
        "table7_imbalanced_datasets",
        "table7-imbalanced-datasets",
        "Imbalanced data sets (KEEL)",
    ),
)
_COLUMNS = (
    Column("data set"),
    Column("in the paper"),
    Column("n", "right"),
    Column("n (paper)", "right"),
    Column("p", "right"),
    Column("p (paper)", "right"),
    Column("classes", "right"),
    Column("train + test", "right"),
    Column("train + test (paper)", "right"),
    Column("IR", "right"),
    Column("IR (paper)", "right"),
    Column("what differs"),
)


def dataset_tables() -> list[ReportTable]:
    """Return the three tables of data sets, the paper's rows in the paper's order."""
    by_name = {
        spelling: entry
        for entry in load_catalogue()
        if entry.paper
        for spelling in entry.paper.names
    }
    return [_table(*names, by_name) for names in _TABLES]


def _table(
    stem: str, table_id: str, title: str, by_name: Mapping[str, DatasetEntry]
) -> ReportTable:
    cells = [_row(row, by_name[row["dataset"]]) for row in table_rows(stem)]
    used = [i for i in range(len(_COLUMNS)) if any(line[i].text for line in cells)]
    number = table_id.partition("-")[0].removeprefix("table")
    return ReportTable(
        table_id,
        f"Table {number}. {title}: the catalogue against the paper",
        tuple(_COLUMNS[i] for i in used),
        tuple(tuple(line[i] for i in used) for line in cells),
    )


def _row(published: Mapping[str, str], entry: DatasetEntry) -> tuple[Cell, ...]:
    ratio = entry.imbalance_ratio if "ir" in published else None
    published_sizes = ""
    if published.get("train"):
        published_sizes = f"{int(published['train']):,} + {int(published['test']):,}"
    return (
        Cell(entry.name),
        Cell(published["dataset"]),
        _count(entry.n),
        _count(int(published["size"])),
        _count(entry.p),
        _count(int(published["dim"])),
        _count(entry.classes),
        Cell(_sizes(entry)),
        Cell(published_sizes),
        Cell(f"{ratio:.2f}", ratio) if ratio else Cell(""),
        Cell(published.get("ir", "")),
        Cell(entry.difference),
    )


def _count(number: int) -> Cell:
    return Cell(f"{number:,}", number)


def _sizes(entry: DatasetEntry) -> str:
    """Say how many samples train and how many test, if the paper fixes that."""
    if entry.paper and entry.paper.split == "given" and entry.given_split:
        return f"{entry.given_split:,} + {entry.n - entry.given_split:,}"
    if entry.paper and entry.paper.train:
        return f"{entry.paper.train:,} + {entry.paper.test:,}"
    return ""
