"""Scores as tables and figures show them: experiments, rows, columns and cells.

The paper's Table 3 is run as three experiments; a table of the paper has the paper's
rows and columns, any other the order of the experiment's config. Our figures stand
beside the paper's, cell by cell, in one scaling mode and metric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import pandas as pd

from drmbench.metrics import METRICS, get_metric
from drmbench.paper import PublishedCell, PublishedTable, published_table
from drmbench.protocol.protocol import ScalingMode
from drmbench.run.results import Results, Summary

#: How figures of a scaling mode came about, in titles.
MODE_TITLES: dict[ScalingMode, str] = {
    "paper": "paper mode (optimistic)",
    "honest": "honest mode",
    "none": "unscaled data",
    "maxabs": "max-abs scaling",
}


def merges(mode: ScalingMode) -> bool:
    """Tell whether tables of a mode may show the higher of several methods.

    Which is higher is known on the test part only, so honest mode may not.
    """
    return mode != "honest"


@dataclass(frozen=True, eq=False)
class Row:
    """A data set of a table.

    Attributes
    ----------
    heading : str
        The paper's spelling in a table of the paper, else the data set's name.
    dataset : str
        The data set's name.
    results : tuple of Results
        Those that have it; the first is asked first.
    published : str
        The paper's spelling, or empty.
    """

    heading: str
    dataset: str
    results: tuple[Results, ...]
    published: str = ""

    @property
    def entry(self) -> dict[str, Any]:
        """What the manifest says of the data set."""
        return self.results[0].datasets[self.dataset]


@dataclass(frozen=True)
class MethodColumn:
    """A method of a table, or several of which the best is shown.

    Attributes
    ----------
    heading : str
        The paper's column in a table of the paper, else the method's label.
    labels : tuple of str
        The methods' labels; several where the paper reports the higher of them.
    published : str
        The paper's column, or empty.
    competes : bool
        Whether it counts in wins and ranks. Variants that an experiment adds to a
        table of the paper are shown, and do not crowd the ranks.
    """

    heading: str
    labels: tuple[str, ...]
    published: str = ""
    competes: bool = True


@dataclass(frozen=True, eq=False)
class TableSource:
    """One or more experiments that are shown as one table.

    Attributes
    ----------
    id : str
        ``table3``, or the experiment's name.
    title : str
        What the table shows.
    results : tuple of Results
        The experiments; no data set is in two of them.
    published : PublishedTable or None
        The paper's table.
    lenders : tuple of Results
        Experiments that have methods which the paper's table borrows.
    """

    id: str
    title: str
    results: tuple[Results, ...]
    published: PublishedTable | None = None
    lenders: tuple[Results, ...] = field(default=())

    @property
    def metric(self) -> str:
        """The metric of the paper's table, else the experiment's first."""
        return self.published.metric if self.published else self.results[0].metric

    @property
    def digits(self) -> int:
        """Decimals to print."""
        return self.published.digits if self.published else 4

    @property
    def metrics(self) -> tuple[str, ...]:
        """One-number metrics that all rows have, the table's own first."""
        common = [
            name
            for name in self.results[0].experiment.metrics
            if name in METRICS
            and METRICS[name].scalar
            and all(name in results.rows.columns for results in self.results)
        ]
        return tuple(sorted(common, key=lambda name: name != self.metric))

    @property
    def modes(self) -> tuple[ScalingMode, ...]:
        """Scaling modes that any of the experiments was run in."""
        return tuple(
            dict.fromkeys(m for results in self.results for m in results.modes)
        )

    def rows(self) -> tuple[Row, ...]:
        """Return the data sets: the paper's in the paper's order, then others."""
        owners = {name: r for r in self.results for name in r.datasets}
        rows = {name: self._row(name, owner) for name, owner in owners.items()}
        order = self.published.rows if self.published else ()
        ranked = {name: number for number, name in enumerate(order)}
        return tuple(
            sorted(
                rows.values(), key=lambda row: ranked.get(row.published, len(ranked))
            )
        )

    def _row(self, dataset: str, owner: Results) -> Row:
        known = self.published.rows if self.published else ()
        spellings = owner.datasets[dataset].get("paper_names") or ()
        published = next((name for name in spellings if name in known), "")
        lenders = tuple(r for r in self.lenders if dataset in r.datasets)
        return Row(published or dataset, dataset, (owner, *lenders), published)

    def absent_rows(self) -> tuple[str, ...]:
        """Return the paper's rows that belong to none of the experiments."""
        there = {row.published for row in self.rows()}
        known = self.published.rows if self.published else ()
        return tuple(name for name in known if name not in there)

    def columns(self, *, merged: bool = True) -> tuple[MethodColumn, ...]:
        """Return the methods: the paper's columns in its order, then others.

        Parameters
        ----------
        merged : bool
            Whether methods of which the paper reports the higher are one column.
        """
        own = _labels_of_columns(self.results)
        if self.published is None:
            return tuple(MethodColumn(label, (label,)) for label in own)
        paper = [
            column
            for name in self.published.columns
            for column in self._columns_of(name, own, merged=merged)
        ]
        shown = {label for column in paper for label in column.labels}
        others = (MethodColumn(x, (x,), competes=False) for x in own if x not in shown)
        return (*paper, *others)

    def _columns_of(
        self, column: str, own: Mapping[str, str], *, merged: bool
    ) -> list[MethodColumn]:
        labels = self._labels(column, own)
        if len(labels) > 1 and not merged:
            return [MethodColumn(label, (label,)) for label in labels]
        return [MethodColumn(column, labels, column)]

    def _labels(self, column: str, own: Mapping[str, str]) -> tuple[str, ...]:
        """Return the methods that a column of the paper's table shows."""
        assert self.published is not None
        parts = self.published.higher_of.get(column)
        if parts is None:
            labels = tuple(label for label, name in own.items() if name == column)
            return labels if self.published.merges else _plainest(labels)
        known = {**_labels_of_columns(self.lenders), **own}
        return tuple(
            label
            for part in parts
            for label in _plainest(x for x, name in known.items() if name == part)
        )


def _plainest(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the first label: a config gives variants of a method longer ones."""
    return tuple(sorted(labels, key=len)[:1])


def _labels_of_columns(results: Iterable[Results]) -> dict[str, str]:
    """Return the paper's column (or an empty text) of each method's label."""
    return {
        label: entry.get("column") or ""
        for found in results
        for label, entry in found.methods.items()
    }


def table_sources(results: Mapping[str, Results]) -> list[TableSource]:
    """Combine classification experiments to tables.

    Experiments that reproduce the same table of the paper are one table, unless a data
    set is in two of them. Of a single experiment that has only a part of the paper's
    rows the table is called after the experiment.
    """
    sources: list[TableSource] = []
    for found in results.values():
        if found.experiment.kind == "classification":
            _add(sources, found, results)
    return sources


def _add(
    sources: list[TableSource], found: Results, results: Mapping[str, Results]
) -> None:
    published = published_table(found.experiment.reproduces)
    for number, source in enumerate(sources):
        if published and source.published is published and _disjoint(source, found):
            sources[number] = _paper_source(
                (*source.results, found), published, results
            )
            return
    if published is None:
        title = found.experiment.title or found.name
        sources.append(TableSource(found.name, title, (found,)))
    else:
        taken = any(source.id == published.id for source in sources)
        source = _paper_source((found,), published, results, called_after_it=taken)
        sources.append(source)


def _disjoint(source: TableSource, found: Results) -> bool:
    return not any(set(r.datasets) & set(found.datasets) for r in source.results)


def _paper_source(
    parts: tuple[Results, ...],
    published: PublishedTable,
    results: Mapping[str, Results],
    *,
    called_after_it: bool = False,
) -> TableSource:
    lenders = tuple(
        other
        for other in results.values()
        if published.borrows_from
        and other.experiment.reproduces == published.borrows_from
    )
    title = f"Table {published.number}. {published.title}"
    source = TableSource(published.id, title, parts, published, lenders)
    partly = bool(source.absent_rows()) and len(parts) == 1
    if not (partly or called_after_it):
        return source
    name = parts[0].name
    return TableSource(name, f"{title} (part: {name})", parts, published, lenders)


#: How far figures without deviations may be apart before they are said to disagree.
NO_SPREAD = 0.005
DISAGREES = (
    "≠ ours and the paper's disagree: they are further apart than the sum of both"
    " standard deviations, or than 0.005 where there is none"
)


@dataclass(frozen=True)
class ScoreCell:
    """A method on a data set: ours and the paper's.

    Attributes
    ----------
    ours : Summary
        Our figure; of several methods the one with the best mean.
    paper : PublishedCell or None
        The paper's, if it has the row and the column and the metric is its own.
    """

    ours: Summary
    paper: PublishedCell | None = None

    @property
    def difference(self) -> float:
        """Ours minus the paper's; NaN if either is not there or ours not complete."""
        if self.paper is None or self.paper.mean is None or not self.ours.complete:
            return math.nan
        return self.ours.mean - self.paper.mean

    @property
    def disagrees(self) -> bool:
        """Whether they are further apart than both deviations together allow."""
        published = self.paper.spread if self.paper else None
        spreads = [s for s in (self.ours.spread, published) if s and not math.isnan(s)]
        allowed = sum(spreads) if spreads else NO_SPREAD
        return abs(self.difference) > allowed + 1e-9


@dataclass(frozen=True, eq=False)
class Scores:
    """All entries of a table.

    Attributes
    ----------
    source : TableSource
        Where they come from.
    mode : {"honest", "paper", "none", "maxabs"}
        Scaling mode of ours.
    metric : str
        A one-number metric.
    merged : bool
        Whether methods of which the paper reports the higher are one column.
    """

    source: TableSource
    mode: ScalingMode
    metric: str
    merged: bool

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The data sets."""
        return self.source.rows()

    @cached_property
    def columns(self) -> tuple[MethodColumn, ...]:
        """The methods."""
        return self.source.columns(merged=self.merged)

    @cached_property
    def entries(self) -> dict[tuple[str, str], ScoreCell]:
        """The entries by heading of the row and of the column, row by row."""
        return {
            (row.heading, column.heading): self._entry(row, column)
            for row in self.rows
            for column in self.columns
        }

    @property
    def ranked(self) -> tuple[MethodColumn, ...]:
        """The methods that compete."""
        return tuple(column for column in self.columns if column.competes)

    @property
    def lent(self) -> tuple[str, ...]:
        """The labels of competing methods that only a lender has."""
        own = {label for found in self.source.results for label in found.methods}
        lenders = {label for found in self.source.lenders for label in found.methods}
        labels = (label for column in self.ranked for label in column.labels)
        return tuple(x for x in labels if x in lenders and x not in own)

    @property
    def has_paper(self) -> bool:
        """Whether the paper published figures of this metric and these columns."""
        published = self.source.published
        return (
            published is not None
            and published.metric == self.metric
            and not self.splits_columns
        )

    @property
    def splits_columns(self) -> bool:
        """Whether a column of the paper, the higher of several methods, is taken apart.

        The paper's figures and ranks then have nothing of ours to stand beside.
        """
        in_paper = self.source.published is not None
        return in_paper and not all(column.published for column in self.ranked)

    def of_row(self, row: Row) -> list[ScoreCell]:
        """Return a row's entries, in the order of the columns."""
        return [self.entries[row.heading, column.heading] for column in self.columns]

    def _entry(self, row: Row, column: MethodColumn) -> ScoreCell:
        paper = None
        if self.has_paper and self.source.published:
            paper = self.source.published.cells.get((row.published, column.published))
        return ScoreCell(self._ours(row, column), paper)

    def _ours(self, row: Row, column: MethodColumn) -> Summary:
        found = [
            summary
            for label in column.labels
            if (summary := self._summary(row, label)) is not None
        ]
        if not found:
            expected = int(row.entry["splits"])
            reason = row.entry.get("missing") or "not run"
            labels = "/".join(column.labels)
            return _nothing(row.dataset, labels, expected, reason)
        return self._best(found)

    def _summary(self, row: Row, label: str) -> Summary | None:
        for results in row.results:
            if label in results.methods and self.metric in results.rows.columns:
                return results.summary(
                    row.dataset, label, mode=self.mode, metric=self.metric
                )
        return None

    def _best(self, found: Sequence[Summary]) -> Summary:
        """Return the best; while any is not complete, the least complete."""
        unfinished = [s for s in found if s.done < s.expected]
        if unfinished:
            return min(unfinished, key=lambda summary: summary.done)
        there = [s for s in found if not math.isnan(s.mean)]
        return max(there, key=lambda s: self.sign * s.mean) if there else found[0]

    @property
    def sign(self) -> int:
        """1 if higher is better, else -1."""
        return -1 if get_metric(self.metric).better == "lower" else 1

    def scores(self) -> pd.DataFrame:
        """Return data sets x methods: complete means, higher is better, else NaN."""
        return self._frame(lambda e: e.ours.mean if e.ours.complete else math.nan)

    def ranked_scores(self) -> pd.DataFrame:
        """Return :meth:`scores` of the methods that compete."""
        return self.scores()[[column.heading for column in self.ranked]]

    def published_scores(self) -> pd.DataFrame:
        """Return the paper's means, as :meth:`ranked_scores` does ours."""
        frame = self._frame(
            lambda e: math.nan if not e.paper or e.paper.mean is None else e.paper.mean
        )
        return frame[[column.heading for column in self.ranked]]

    def _frame(self, value: Callable[[ScoreCell], float]) -> pd.DataFrame:
        return pd.DataFrame(
            [[self.sign * value(e) for e in self.of_row(row)] for row in self.rows],
            index=[row.heading for row in self.rows],
            columns=[column.heading for column in self.columns],
            dtype=float,
        )

    def best_of_row(self, row: Row) -> set[str]:
        """Return the competing columns that print the best complete figure."""
        printed = {
            column.heading: round(self.sign * entry.ours.mean, self.source.digits)
            for column in self.ranked
            if (entry := self.entries[row.heading, column.heading]).ours.complete
        }
        best = max(printed.values(), default=math.nan)
        return {heading for heading, value in printed.items() if value == best}


@lru_cache(maxsize=32)
def scores_of(
    source: TableSource, mode: ScalingMode, metric: str, *, merged: bool | None = None
) -> Scores:
    """Return the comparison, made once for all tables that show it.

    Methods of which the paper reports the higher are merged where the mode allows it
    (:func:`merges`), unless ``merged`` says otherwise.
    """
    merged = merges(mode) if merged is None else merged
    return Scores(source, mode, metric, merged)


def _nothing(dataset: str, method: str, expected: int, reason: str) -> Summary:
    return Summary(dataset, method, math.nan, math.nan, 0, expected, reason=reason)
