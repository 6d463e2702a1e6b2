"""The paper's published cells, and how closely a figure of ours agrees with one."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources

from drmbench.errors import InputError

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
    """One cell of a table of the paper.

    Attributes
    ----------
    dataset, method : str
        The row and column as the paper spells them.
    mean, spread : float or None
        Mean and sample standard deviation; None where the paper prints dashes.
    bold : bool
        Whether the paper marks it as the best of its row.
    """

    dataset: str
    method: str
    mean: float | None
    spread: float | None
    bold: bool

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


def _units(value: float) -> int:
    return round(value / _UNIT)


def published_cells(table: str) -> list[PublishedCell]:
    """Return the cells of one of :data:`TABLES`, in the paper's order.

    Examples
    --------
    >>> cells = published_cells("table8_gmean")
    >>> cells[0].dataset, cells[0].method, cells[0].mean
    ('haberman', 'SVM(R)', 0.4212)
    """
    if table not in TABLES:
        raise InputError(f"no published table {table!r}; there are {', '.join(TABLES)}")
    source = resources.files("drmbench.report") / "paper" / f"{table}.csv"
    lines = source.read_text(encoding="utf-8").splitlines()
    return [
        PublishedCell(
            row["dataset"],
            row["method"],
            float(row["mean"]) if row["mean"] else None,
            float(row["std"]) if row["std"] else None,
            row["bold"] == "1",
        )
        for row in csv.DictReader(lines)
    ]


def find_cell(
    cells: Iterable[PublishedCell], dataset_names: Iterable[str], column: str | None
) -> PublishedCell | None:
    """Return the cell of a data set (by any of its names) and column, or None."""
    names = set(dataset_names)
    return next(
        (cell for cell in cells if cell.dataset in names and cell.method == column),
        None,
    )
