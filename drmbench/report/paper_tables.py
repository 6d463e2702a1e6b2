"""The paper's tables of results as shipped: rows, columns, cells, what they show."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from drmbench.protocol.published import PublishedCell, published_cells


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A table of the paper.

    Attributes
    ----------
    id : str
        ``table3``, as experiments name what they reproduce.
    title : str
        What it shows.
    metric : str
        Its metric.
    digits : int
        Decimals it prints.
    cells : mapping of (str, str) to PublishedCell
        By data set and column as the paper spells them, in the paper's order.
    merges : bool
        Whether methods that share a column are merged, "whichever is higher".
    higher_of : mapping of str to tuple of str
        Columns that show the higher of other tables' columns.
    borrows_from : str
        The table that has those columns, or empty.
    """

    id: str
    title: str
    metric: str
    digits: int
    cells: Mapping[tuple[str, str], PublishedCell]
    merges: bool = False
    higher_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    borrows_from: str = ""

    @property
    def number(self) -> str:
        """The paper's number of the table."""
        return self.id.removeprefix("table")

    @property
    def rows(self) -> tuple[str, ...]:
        """Data sets, in the paper's order and spelling."""
        return tuple(dict.fromkeys(dataset for dataset, _ in self.cells))

    @property
    def columns(self) -> tuple[str, ...]:
        """Methods, in the paper's order and spelling."""
        return tuple(dict.fromkeys(method for _, method in self.cells))


@cache
def published_table(name: str) -> PublishedTable | None:
    """Return the paper's table ``table3``, ``table5``, ``table8`` or ``table9``.

    None for anything else, such as a figure.

    Examples
    --------
    >>> published_table("table8").columns[:2], len(published_table("table8").rows)
    (('SVM(R)', 'SVM(P)'), 15)
    """
    match name:
        case "table3":
            cells = published_cells("table3_accuracy")
            title = "Small to medium data sets"
            return PublishedTable(name, title, "accuracy", 4, _by_place(cells))
        case "table5":
            title = "Large-scale data sets, linear methods"
            return PublishedTable(name, title, "accuracy", 3, _by_place(_table5()))
        case "table8":
            cells = published_cells("table8_gmean")
            title = "Imbalanced data sets"
            return PublishedTable(name, title, "gmean", 4, _by_place(cells))
        case "table9":
            cells = published_cells("table9_gmean_sampling")
            title = "Imbalanced data sets, over-sampling against DRM"
            higher = {"DRM": ("DRM(R)", "DRM(P)")}
            return PublishedTable(
                name, title, "gmean", 4, _by_place(cells), True, higher, "table8"
            )
    return None


def _by_place(cells: list[PublishedCell]) -> dict[tuple[str, str], PublishedCell]:
    return {(cell.dataset, cell.method): cell for cell in cells}


def _table5() -> list[PublishedCell]:
    """Read the table that has one test part, and so no deviations."""
    source = resources.files("drmbench.report") / "paper" / "table5_large_scale.csv"
    lines = source.read_text(encoding="utf-8").splitlines()
    return [
        PublishedCell(
            row["dataset"],
            row["method"],
            float(row["accuracy"]),
            None,
            row["bold"] == "1",
        )
        for row in csv.DictReader(lines)
    ]
