"""The paper's tables of data sets, beside what the catalogue has."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib.resources import files

from drmbench.data.entries import DatasetEntry
from drmbench.data.registry import load_catalogue
from drmbench.report.table import TextTable

_TITLES = {
    "table2_small_datasets": "Small to medium data sets",
    "table4_large_datasets": "Large-scale data sets",
    "table7_imbalanced_datasets": "Imbalanced data sets (KEEL)",
}
_COLUMNS = (
    "data set",
    "in the paper",
    "n",
    "n (paper)",
    "p",
    "p (paper)",
    "classes",
    "train + test",
    "train + test (paper)",
    "IR",
    "IR (paper)",
    "what differs",
)


def dataset_tables() -> list[TextTable]:
    """Return the three tables of data sets, the paper's rows in the paper's order."""
    by_name = {
        spelling: entry
        for entry in load_catalogue()
        if entry.paper
        for spelling in entry.paper.names
    }
    return [_table(stem, title, by_name) for stem, title in _TITLES.items()]


def _table(stem: str, title: str, by_name: Mapping[str, DatasetEntry]) -> TextTable:
    text = files("drmbench.report").joinpath(f"paper/{stem}.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    cells = tuple(_row(row, by_name[row["dataset"]]) for row in rows)
    used = [
        number for number in range(len(_COLUMNS)) if any(line[number] for line in cells)
    ]
    return TextTable(
        stem,
        f"{title}: the catalogue against the paper",
        tuple(_COLUMNS[number] for number in used),
        tuple(tuple(line[number] for number in used) for line in cells),
    )


def _row(published: Mapping[str, str], entry: DatasetEntry) -> tuple[str, ...]:
    ratio = entry.imbalance_ratio if "ir" in published else None
    published_sizes = ""
    if published.get("train"):
        published_sizes = f"{int(published['train']):,} + {int(published['test']):,}"
    return (
        entry.name,
        published["dataset"],
        f"{entry.n:,}",
        f"{int(published['size']):,}",
        f"{entry.p:,}",
        f"{int(published['dim']):,}",
        str(entry.classes),
        _sizes(entry),
        published_sizes,
        f"{ratio:.2f}" if ratio else "",
        published.get("ir", ""),
        entry.difference,
    )


def _sizes(entry: DatasetEntry) -> str:
    """Say how many samples train and how many test, if the paper fixes that."""
    if entry.paper and entry.paper.split == "given" and entry.given_split:
        return f"{entry.given_split:,} + {entry.n - entry.given_split:,}"
    if entry.paper and entry.paper.train:
        return f"{entry.paper.train:,} + {entry.paper.test:,}"
    return ""
