"""The paper's own numbers: its tables as shipped, and how closely a figure agrees."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from importlib import resources

from drmbench.errors import InputError, quoted

#: Tables of the paper that have a mean and a standard deviation in every cell.
TABLES = ("table3_accuracy", "table8_gmean", "table9_gmean_sampling")

_UNIT = 1e-4  # of the last digit that the paper prints


class Agreement(StrEnum):
    """How closely a figure of ours agrees with the published one, best first."""

    EXACT = "exact"
    NEAR = "within 0.005"
    WITHIN_SPREAD = "within 1 sd"
    DIFFERENT = "not"
    UNPUBLISHED = "no figure"


@dataclass(frozen=True)
class PublishedCell:
    """One cell of a table of the paper."""

    #: The row and column as the paper spells them
    dataset: str
    method: str
    #: Mean and sample standard deviation; None where the paper prints dashes
    mean: float | None
    spread: float | None
    bold: bool  #: Whether the paper marks it as the best of its row

    def agreement(self, mean: float, spread: float) -> Agreement:
        """Class a figure of ours.

        ``EXACT`` is the same mean when rounded as the paper rounds, and a standard
        deviation that differs by at most one unit of the last digit. That allowance is
        for a single cell, naive Bayes on new-thyroid2, published as 0.9859 ± 0.0142:
        only one set of five G-means has that mean on KEEL's folds, and its deviation
        is 0.01409.
        """
        if self.mean is None or self.spread is None:
            return Agreement.UNPUBLISHED
        if math.isnan(mean):
            return Agreement.DIFFERENT
        same_mean = _units(mean) == _units(self.mean)
        if same_mean and abs(_units(spread) - _units(self.spread)) <= 1:
            return Agreement.EXACT
        if abs(mean - self.mean) <= 0.005:
            return Agreement.NEAR
        if abs(mean - self.mean) <= self.spread:
            return Agreement.WITHIN_SPREAD
        return Agreement.DIFFERENT

    def exact_scaling(self, figures: Mapping[str, tuple[float, float]]) -> str | None:
        """Return the first scaling whose mean and deviation are exactly the published.

        Some published cells are exactly our unscaled figure although our scaled one is
        better, and the paper says that the better is reported.
        """
        for scaling, (mean, spread) in figures.items():
            if self.agreement(mean, spread) is Agreement.EXACT:
                return scaling
        return None


def _units(value: float) -> int:
    return round(value / _UNIT)


def shipped_text(name: str) -> str:
    """Return the text of a file that is shipped here, such as ``claims.yaml``."""
    return (resources.files("drmbench.paper") / name).read_text(encoding="utf-8")


def table_rows(table: str) -> list[dict[str, str]]:
    """Return the rows of one of the paper's tables as they are shipped."""
    return list(csv.DictReader(shipped_text(f"{table}.csv").splitlines()))


def published_cells(table: str) -> list[PublishedCell]:
    """Return the cells of one of :data:`TABLES`, in the paper's order.

    Examples
    --------
    >>> cells = published_cells("table8_gmean")
    >>> cells[0].dataset, cells[0].method, cells[0].mean
    ('haberman', 'SVM(R)', 0.4212)
    """
    if table not in TABLES:
        raise InputError(
            f"no published table {quoted(table)}; there are {', '.join(TABLES)}"
        )
    return _cells(table, "mean")


def _cells(table: str, mean: str) -> list[PublishedCell]:
    """Read a table whose means are in the column `mean`; it may have no deviations."""
    return [
        PublishedCell(
            row["dataset"],
            row["method"],
            float(row[mean]) if row[mean] else None,
            float(row["std"]) if row.get("std") else None,
            row["bold"] == "1",
        )
        for row in table_rows(table)
    ]


def find_cell(
    cells: Iterable[PublishedCell], dataset_names: Iterable[str], column: str | None
) -> PublishedCell | None:
    """Return the cell of a data set (by any of its names) and column, or None."""
    names = set(dataset_names)
    found = (cell for cell in cells if cell.dataset in names and cell.method == column)
    return next(found, None)


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A table of the paper."""

    id: str  #: ``table3``, as experiments name what they reproduce
    title: str  #: What it shows
    metric: str  #: Its metric
    digits: int  #: Decimals it prints
    #: By data set and column as the paper spells them, in the paper's order
    cells: Mapping[tuple[str, str], PublishedCell]
    #: Whether methods that share a column are merged, "whichever is higher"
    merges: bool = False
    #: Columns that show the higher of other tables' columns
    higher_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    borrows_from: str = ""  #: The table that has those columns, or empty

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


#: Cells, title and metric of the tables that have deviations.
_PUBLISHED = {
    "table3": ("table3_accuracy", "Small to medium data sets", "accuracy"),
    "table8": ("table8_gmean", "Imbalanced data sets", "gmean"),
    "table9": (
        "table9_gmean_sampling",
        "Imbalanced data sets, over-sampling against DRM",
        "gmean",
    ),
}


@cache
def published_table(name: str) -> PublishedTable | None:
    """Return the paper's table ``table3``, ``table5``, ``table8`` or ``table9``.

    None for anything else, such as a figure.

    Examples
    --------
    >>> published_table("table8").columns[:2], len(published_table("table8").rows)
    (('SVM(R)', 'SVM(P)'), 15)
    """
    if name == "table5":  # one test part, and so no deviations
        cells = _cells("table5_large_scale", "accuracy")
        title, metric, digits = "Large-scale data sets, linear methods", "accuracy", 3
    elif name in _PUBLISHED:
        table, title, metric = _PUBLISHED[name]
        cells, digits = published_cells(table), 4
    else:
        return None
    places = {(cell.dataset, cell.method): cell for cell in cells}
    found = PublishedTable(name, title, metric, digits, places)
    if name != "table9":
        return found
    higher = {"DRM": ("DRM(R)", "DRM(P)")}
    return replace(found, merges=True, higher_of=higher, borrows_from="table8")
