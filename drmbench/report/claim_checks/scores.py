"""Figures by data set and column, from stored results or from the paper's tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pandas as pd

from drmbench.paper import published_table, table_rows
from drmbench.protocol.protocol import ScalingMode
from drmbench.run.results import Results

_NAMED = 3  # columns that are listed; of more, the number is said


@dataclass(frozen=True)
class ScoreTable:
    """Figures by data set (row) and column.

    Attributes
    ----------
    values : DataFrame
        The figures; NaN where there is none, as for the paper's dashes.
    names : mapping of str to str
        Row of each spelling of a data set's name, case folded.
    excluded : mapping of str to str
        Rows that are no evidence, and why.
    unfinished : frozenset of (str, str)
        Row and column of figures that are not complete.
    """

    values: pd.DataFrame
    names: Mapping[str, str]
    excluded: Mapping[str, str] = field(default_factory=dict)
    unfinished: frozenset[tuple[str, str]] = frozenset()

    def why_not(self, name: str, columns: Iterable[str]) -> str:
        """Return why a data set is no evidence on some columns; empty if it is."""
        row = self.names.get(name.casefold())
        if row is None:
            return "not in the run"
        if row in self.excluded:
            return self.excluded[row]
        undone = [column for column in columns if (row, column) in self.unfinished]
        if len(undone) > _NAMED:
            return f"{len(undone)} columns not complete"
        return f"{', '.join(undone)} not complete" if undone else ""

    def rows(self, names: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
        """Return the figures of data sets, the rows called as they are asked for."""
        found = [self.names[name.casefold()] for name in names]
        return self.values.loc[found, list(columns)].set_axis(list(names), axis=0)


@cache
def printed_scores(table: str) -> ScoreTable:
    """Return the figures that the paper prints in a table."""
    cells: dict[str, dict[str, float]] = {}
    for row in table_rows(table):
        figure = row["mean"] if "mean" in row else row["accuracy"]
        cells.setdefault(row["dataset"], {})[row["method"]] = (
            float(figure) if figure else math.nan
        )
    names = {name.casefold(): name for name in cells}
    return ScoreTable(pd.DataFrame.from_dict(cells, orient="index"), names)


def stored_scores(
    results: Results, mode: ScalingMode, metric: str | None = None
) -> ScoreTable:
    """Return the means of stored results, by label and by the paper's column."""
    columns = _columns(results)
    found = {
        (cell.dataset, cell.method): cell
        for cell in results.summaries(mode=mode, metric=metric)
    }
    cells: dict[str, dict[str, float]] = {}
    unfinished = set()
    for dataset in results.datasets:
        cells[dataset] = {}
        for column, labels in columns.items():
            figures = [found[dataset, label] for label in labels]
            cells[dataset][column] = _higher([figure.mean for figure in figures])
            if any(figure.done < figure.expected for figure in figures):
                unfinished.add((dataset, column))
    return ScoreTable(
        pd.DataFrame.from_dict(cells, orient="index", columns=list(columns)),
        _spellings(results.datasets),
        _not_evidence(results.datasets),
        frozenset(unfinished),
    )


def _columns(results: Results) -> dict[str, list[str]]:
    """Return the labels behind each column; every label is a column by itself too."""
    columns = {label: [label] for label in results.methods}
    table = published_table(results.experiment.reproduces)
    # Elsewhere a second method with the same column is a variant of ours.
    merging = table is not None and table.merges
    for label, method in results.methods.items():
        column = method.get("column")
        if column and (merging or column not in columns):
            columns.setdefault(column, []).append(label)
    return columns


def _higher(figures: Sequence[float]) -> float:
    there = [figure for figure in figures if not math.isnan(figure)]
    return max(there, default=math.nan)


def _spellings(datasets: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {
        spelling.casefold(): name
        for name, entry in datasets.items()
        for spelling in (name, *entry.get("paper_names", ()))
    }


def _not_evidence(datasets: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    reasons = {}
    for name, entry in datasets.items():
        if entry.get("substitute"):
            reasons[name] = f"{entry['substitute']} stands in for it"
        elif entry.get("missing"):
            reasons[name] = "data missing"
    return reasons


def joined(tables: Sequence[ScoreTable]) -> ScoreTable:
    """Join tables of other data sets, or of other columns of the same data sets."""
    first, *others = tables
    for other in others:
        first = ScoreTable(
            first.values.combine_first(other.values),
            {**other.names, **first.names},
            {**other.excluded, **first.excluded},
            first.unfinished | other.unfinished,
        )
    return first
