"""The paper's tables of data sets, beside what the catalogue has."""

from __future__ import annotations

from collections.abc import Mapping

from drmbench.data.catalogue import DatasetEntry, load_catalogue
from drmbench.paper import table_rows
from drmbench.report.table import Cell, Column, Table, right_columns

#: The published tables: number, kind of ours and title.
_TABLES = (
    (2, "small-datasets", "Small to medium data sets"),
    (4, "large-datasets", "Large-scale data sets"),
    (7, "imbalanced-datasets", "Imbalanced data sets (KEEL)"),
)
_COLUMNS = (
    Column("data set"),
    Column("in the paper"),
    *right_columns("n", "n (paper)", "p", "p (paper)", "classes"),
    *right_columns("train + test", "train + test (paper)", "IR", "IR (paper)"),
    Column("what differs"),
)


def dataset_tables() -> list[Table]:
    """Return the three tables of data sets, the paper's rows in the paper's order."""
    by_name = {
        spelling: entry
        for entry in load_catalogue()
        if entry.paper
        for spelling in entry.paper.names
    }
    tables = []
    for number, kind, title in _TABLES:
        published = table_rows(f"table{number}_{kind.replace('-', '_')}")
        rows = [_row(row, by_name[row["dataset"]]) for row in published]
        used = [i for i in range(len(_COLUMNS)) if any(line[i].text for line in rows)]
        tables.append(
            Table(
                experiment=f"table{number}",
                kind=kind,
                title=f"Table {number}. {title}: the catalogue against the paper",
                columns=tuple(_COLUMNS[i] for i in used),
                rows=tuple(tuple(line[i] for i in used) for line in rows),
            )
        )
    return tables


def _row(published: Mapping[str, str], entry: DatasetEntry) -> tuple[Cell, ...]:
    ratio = entry.imbalance_ratio if "ir" in published else None
    paper, sizes, published_sizes = entry.paper, "", ""
    if paper and paper.split == "given" and entry.given_split:
        sizes = f"{entry.given_split:,} + {entry.n - entry.given_split:,}"
    elif paper and paper.train:
        sizes = f"{paper.train:,} + {paper.test:,}"
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
        Cell(sizes),
        Cell(published_sizes),
        Cell(f"{ratio:.2f}", ratio) if ratio else Cell(""),
        Cell(published.get("ir", "")),
        Cell(entry.difference),
    )


def _count(number: int) -> Cell:
    return Cell(f"{number:,}", number)
