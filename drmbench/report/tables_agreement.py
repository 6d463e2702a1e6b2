"""How closely our G-means on KEEL's folds agree with the published ones, cell by cell.

The folds are given and most methods draw no random numbers, so cells can agree to the
last digit; these tables count those that do.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from drmbench.metrics import get_metric, mean_and_spread
from drmbench.paper import Agreement, PublishedCell
from drmbench.report.scores import Scores, TableSource, scores_of
from drmbench.report.table import Cell, Column, Record, ReportTable
from drmbench.report.tables_scores import NO_FIGURE, mean_and_spread_text
from drmbench.run.results import Results, Summary
from drmbench.words import OPTIMISTIC

#: Tables on KEEL's folds.
_ON_FOLDS = ("table8", "table9")

_NOTES = (
    "Exact: the same mean to four decimals, and a deviation that differs by at most one"
    " unit of the fourth; within 1 sd: of the paper's deviation.",
    "Exact with either: exact unscaled or with each part scaled by itself, although the"
    " paper says that it reports the better.",
    f"Ours are in paper mode, so {OPTIMISTIC}.",
)


@dataclass(frozen=True)
class ReproducedCell:
    """A figure of ours for a cell of the paper's table, and that of each scaling."""

    dataset: str
    method: str
    mean: float
    spread: float
    scaling: str
    figures: dict[str, tuple[float, float]]

    def exact_with(self, published: PublishedCell | None) -> str | None:
        """Return the scaling whose figure is exactly the published one, if any."""
        return published.exact_scaling(self.figures) if published else None

    def agreement(self, published: PublishedCell | None) -> Agreement:
        """Class this figure against the published one."""
        if published is None:
            return Agreement.UNPUBLISHED
        return published.agreement(self.mean, self.spread)


Pair = tuple[ReproducedCell, PublishedCell | None]


def agreement_tables(source: TableSource) -> list[ReportTable]:
    """Return counts by method and the list of cells; nothing if not on KEEL's folds."""
    published = source.published
    if not published or published.id not in _ON_FOLDS or "paper" not in source.modes:
        return []
    pairs = list(_pairs(scores_of(source, "paper", published.metric)))
    stem = f"{source.id}-{published.metric}-paper-mode-agreement"
    title = f"{source.title}: agreement of G-means with the paper"
    return [
        _counts_table(stem, title, pairs),
        _cells_table(f"{stem}-cells", f"{title}, cell by cell", pairs),
    ]


def _pairs(comparison: Scores) -> Iterator[Pair]:
    """Give every cell of the paper's columns that is complete, with the paper's."""
    source = comparison.source
    owners = (*source.results, *source.lenders)
    figures = {r.name: _figures(r, comparison.metric) for r in owners}
    for row in comparison.rows:
        entries = comparison.of_row(row)
        for column, entry in zip(comparison.columns, entries, strict=True):
            ours = entry.ours
            if column.published and ours.done == ours.expected:
                owner = next(r for r in row.results if ours.method in r.methods)
                found = figures[owner.name][row.dataset, ours.method]
                yield _reproduced(row.heading, column.heading, ours, found), entry.paper


def _reproduced(
    dataset: str, method: str, ours: Summary, figures: dict[str, tuple[float, float]]
) -> ReproducedCell:
    return ReproducedCell(
        dataset,
        method,
        ours.mean,
        ours.spread,
        ours.scaling,
        figures,
    )


def _figures(
    results: Results, metric: str
) -> defaultdict[tuple[str, str], dict[str, tuple[float, float]]]:
    """Return mean and deviation by data set and method, then by scaling.

    Splits that failed have the metric's worst value.
    """
    rows = results.rows[results.rows["mode"] == "paper"]
    worst = get_metric(metric).worst
    values = rows[metric].where(rows["status"] == "ok", worst)
    keys = [rows["dataset"], rows["method"], rows["scaling"]]
    figures: defaultdict[tuple[str, str], dict[str, tuple[float, float]]]
    figures = defaultdict(dict)
    for key, part in values.groupby(keys, sort=False):
        dataset, method, scaling = map(str, key)
        figures[dataset, method][scaling] = mean_and_spread(map(float, part))
    return figures


def _class_of(pair: Pair) -> Agreement:
    ours, theirs = pair
    if math.isnan(ours.mean) and theirs and theirs.mean is not None:
        return Agreement.DIFFERENT
    return ours.agreement(theirs)


def _counts_table(table_id: str, title: str, pairs: list[Pair]) -> ReportTable:
    counts: dict[str, Counter[Agreement]] = defaultdict(Counter)
    for pair in pairs:
        counts[pair[0].method][_class_of(pair)] += 1
    counts["all"] = Counter(map(_class_of, pairs))
    either = Counter(ours.method for ours, theirs in pairs if ours.exact_with(theirs))
    either["all"] = either.total()
    headings = [*map(str, Agreement), "exact with either", "cells"]
    return ReportTable(
        table_id,
        title,
        (Column("method"), *(Column(heading, "right") for heading in headings)),
        tuple(
            (Cell(method), *_counted(found, either[method]))
            for method, found in counts.items()
        ),
        notes=_NOTES,
    )


def _counted(found: Counter[Agreement], either: int) -> Iterable[Cell]:
    numbers = [*(found[kind] for kind in Agreement), either, found.total()]
    return (Cell(str(number), number) for number in numbers)


def _cells_table(table_id: str, title: str, pairs: list[Pair]) -> ReportTable:
    columns = (
        Column("data set"),
        Column("method"),
        Column("paper", "right"),
        Column("ours", "right"),
        Column("scaling"),
        Column("agreement"),
        Column("exact with"),
    )
    return ReportTable(
        table_id,
        title,
        columns,
        tuple(_cell_row(pair) for pair in pairs),
        notes=_NOTES,
        records=tuple(_cell_record(pair) for pair in pairs),
    )


def _cell_row(pair: Pair) -> tuple[Cell, ...]:
    ours, theirs = pair
    return (
        Cell(ours.dataset),
        Cell(ours.method),
        published_figure(theirs) if theirs else Cell(""),
        _figure(ours.mean, ours.spread),
        Cell(ours.scaling),
        Cell(str(_class_of(pair)), bold=_class_of(pair) is Agreement.EXACT),
        Cell(ours.exact_with(theirs) or ""),
    )


def published_figure(cell: PublishedCell) -> Cell:
    """Return a published cell as tables show it."""
    return _figure(cell.mean, cell.spread)


def _figure(mean: float | None, spread: float | None) -> Cell:
    if mean is None or math.isnan(mean):
        return Cell(NO_FIGURE)
    return Cell(mean_and_spread_text(mean, spread, 4), mean)


def _cell_record(pair: Pair) -> Record:
    ours, theirs = pair
    return {
        "dataset": ours.dataset,
        "method": ours.method,
        "paper_mean": theirs.mean if theirs else None,
        "paper_sd": theirs.spread if theirs else None,
        "ours_mean": ours.mean,
        "ours_sd": ours.spread,
        "scaling": ours.scaling,
        "agreement": str(_class_of(pair)),
        "exact_with": ours.exact_with(theirs) or "",
    }
