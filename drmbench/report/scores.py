"""Scores as tables and figures show them: experiments, rows, columns and cells.

The paper's Table 3 is run as three experiments; a table of the paper has the paper's
rows and columns, any other the order of the experiment's config. Our figures stand
beside the paper's, cell by cell, in one scaling mode and metric.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import pandas as pd

from drmbench.metrics import METRICS, get_metric, mean_and_spread
from drmbench.paper import PublishedCell, PublishedTable, published_table
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.statistics import complete_part, win_counts
from drmbench.running.results import Results, Summary

#: How far figures without deviations may be apart before they are said to disagree.
NO_SPREAD = 0.005
#: Families of methods that are a DRM, as manifests have them.
DRM_FAMILIES = ("drm", "drm-large", "drm-balanced")
DISAGREEMENT = "≠"
DISAGREES = (
    "ours and the paper's disagree: they are further apart than the sum of both"
    " standard deviations, or than 0.005 where there is none."
)


def better_of(summaries: Sequence[Summary], metric: str) -> Summary:
    """Return the better of several methods on a data set: the paper's choice on test.

    That is the one with the best mean; while any is not complete, the least complete.
    """
    unfinished = [s for s in summaries if s.done < s.expected]
    if unfinished:
        return min(unfinished, key=lambda summary: summary.done)
    there = [s for s in summaries if not math.isnan(s.mean)]
    return max(
        there, key=lambda s: get_metric(metric).sign * s.mean, default=summaries[0]
    )


def figure_over_splits(
    rows: Iterable[Mapping[str, Any]], metric: str
) -> tuple[float, float]:
    """Return mean and deviation over result rows; failed ones have the worst value."""
    worst = get_metric(metric, scalar=True).worst
    return mean_and_spread(
        float(row[metric]) if row["status"] == "ok" else worst for row in rows
    )


def plain_first(methods: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the labels of methods, those without a label of their own first.

    A config that runs variants of a method gives them labels.

    Examples
    --------
    >>> plain_first({"rbf, wide": {"name": "drm-rbf"}, "drm-rbf": {"name": "drm-rbf"}})
    ['drm-rbf', 'rbf, wide']
    """
    return sorted(methods, key=lambda label: methods[label].get("name") != label)


@dataclass(frozen=True, eq=False)
class Row:
    """A data set of a table."""

    #: the paper's spelling in a table of the paper, else the data set's name
    heading: str
    dataset: str  #: the data set's name
    results: tuple[Results, ...]  #: those that have it; the first is asked first
    published: str = ""  #: the paper's spelling, or empty

    @property
    def entry(self) -> dict[str, Any]:
        """What the manifest says of the data set."""
        return self.results[0].datasets[self.dataset]

    def owner(self, method: str, metric: str) -> Results | None:
        """Return the results that have a method and a metric on this data set."""
        having = (r for r in self.results if metric in r.rows.columns)
        return next((r for r in having if method in r.methods), None)


@dataclass(frozen=True)
class MethodColumn:
    """A method of a table, or several of which the best is shown."""

    heading: str  #: the paper's column in a table of the paper, else the method's label
    #: the methods' labels; several where the paper reports the higher of them
    labels: tuple[str, ...]
    published: str = ""  #: the paper's column, or empty
    #: whether an experiment adds it to a table of the paper; it is ranked with the
    #: others unless that would cost the ranks a data set
    added: bool = False


@dataclass(frozen=True, eq=False)
class TableSource:
    """One or more experiments that are shown as one table."""

    id: str  #: ``table3``, or the experiment's name
    title: str  #: what the table shows
    results: tuple[Results, ...]  #: the experiments; no data set is in two of them
    published: PublishedTable | None = None  #: the paper's table, or None
    #: experiments that have methods which the paper's table borrows
    lenders: tuple[Results, ...] = ()

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
        return tuple(dict.fromkeys(mode for r in self.results for mode in r.modes))

    @property
    def methods(self) -> dict[str, dict[str, Any]]:
        """What the experiments' manifests say of each method, by label."""
        return _methods_of(self.results)

    def rows(self) -> tuple[Row, ...]:
        """Return the data sets: the paper's in the paper's order, then others."""
        order = self.published.rows if self.published else ()
        rows = []
        for owner in self.results:
            for name, entry in owner.datasets.items():
                spellings = entry.get("paper_names") or ()
                published = next((s for s in spellings if s in order), "")
                lenders = tuple(r for r in self.lenders if name in r.datasets)
                rows.append(Row(published or name, name, (owner, *lenders), published))
        ranked = {name: number for number, name in enumerate(order)}
        rows.sort(key=lambda row: ranked.get(row.published, len(ranked)))
        return tuple(rows)

    def absent_rows(self) -> tuple[str, ...]:
        """Return the paper's rows that belong to none of the experiments."""
        there = {row.published for row in self.rows()}
        known = self.published.rows if self.published else ()
        return tuple(name for name in known if name not in there)

    def columns(self, *, merged: bool = True) -> tuple[MethodColumn, ...]:
        """Return the methods: the paper's columns in its order, then others.

        ``merged`` makes one column of methods of which the paper reports the higher.
        """
        if self.published is None:
            return tuple(MethodColumn(label, (label,)) for label in self.methods)
        columns: list[MethodColumn] = []
        for name in self.published.columns:
            labels = self._labels(name)
            if len(labels) > 1 and not merged:
                columns += [MethodColumn(label, (label,)) for label in labels]
            else:
                columns.append(MethodColumn(name, labels, name))
        shown = {label for column in columns for label in column.labels}
        others = [label for label in self.methods if label not in shown]
        return (*columns, *(MethodColumn(x, (x,), added=True) for x in others))

    def _labels(self, column: str) -> tuple[str, ...]:
        """Return the methods that a column of the paper's table shows."""
        assert self.published is not None
        parts, known = self.published.higher_of.get(column), self.methods
        if parts is None and self.published.merges:
            return tuple(x for x in known if known[x].get("column") == column)
        if parts is not None:
            known = {**_methods_of(self.lenders), **known}
        labels = plain_first(known)
        return tuple(
            label
            for part in parts or (column,)
            for label in [x for x in labels if known[x].get("column") == part][:1]
        )


def _methods_of(results: Iterable[Results]) -> dict[str, dict[str, Any]]:
    return {label: entry for r in results for label, entry in r.methods.items()}


def table_sources(results: Mapping[str, Results]) -> list[TableSource]:
    """Combine classification experiments to tables.

    Experiments that reproduce the same table of the paper are one table, unless a data
    set is in two of them. Of a single experiment that has only a part of the paper's
    rows the table is called after the experiment.
    """
    sources: list[TableSource] = []
    for found in results.values():
        if found.experiment.kind != "classification":
            continue
        published = published_table(found.experiment.reproduces)
        if published is None:
            title = found.experiment.title or found.name
            sources.append(TableSource(found.name, title, (found,)))
            continue
        same = [s for s in sources if s.published is published]
        new = _paper_source((found,), published, results)
        for source in same:
            if not any(r.datasets.keys() & found.datasets for r in source.results):
                new = _paper_source((*source.results, found), published, results)
                sources[sources.index(source)] = new
                break
        else:
            taken = any(source.id == published.id for source in same)
            if taken or new.absent_rows():
                part = f"{new.title} (part: {found.name})"
                new = replace(new, id=found.name, title=part)
            sources.append(new)
    return sources


def _paper_source(
    parts: tuple[Results, ...], published: PublishedTable, known: Mapping[str, Results]
) -> TableSource:
    by, title = published.borrows_from, f"Table {published.number}. {published.title}"
    lenders = (r for r in known.values() if by and r.experiment.reproduces == by)
    return TableSource(published.id, title, parts, published, tuple(lenders))


@dataclass(frozen=True)
class ScoreCell:
    """A method on a data set: ours and the paper's."""

    ours: Summary  #: our figure; of several methods the one with the best mean
    #: the paper's, if it has the row and the column and the metric is its own
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
    """All entries of a table."""

    source: TableSource  #: where they come from
    mode: ScalingMode  #: scaling mode of ours
    metric: str  #: a one-number metric
    #: whether methods of which the paper reports the higher are one column
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
        paper: Mapping[tuple[str, str], PublishedCell] = {}
        if self.has_paper and self.source.published:
            paper = self.source.published.cells
        return {
            (row.heading, column.heading): ScoreCell(
                self._ours(row, column), paper.get((row.published, column.published))
            )
            for row in self.rows
            for column in self.columns
        }

    @cached_property
    def ranked(self) -> tuple[MethodColumn, ...]:
        """The methods that are ranked: all but added ones that lack data sets."""
        scores = self.scores()
        own = [column.heading for column in self.columns if not column.added]
        block = scores.loc[complete_part(scores[own]).means.index]
        return tuple(
            column
            for column in self.columns
            if not column.added or bool(block[column.heading].notna().all())
        )

    @property
    def unranked(self) -> tuple[MethodColumn, ...]:
        """The methods that are shown and not ranked."""
        return tuple(column for column in self.columns if column not in self.ranked)

    @property
    def lent(self) -> tuple[str, ...]:
        """The labels of ranked methods that only a lender has."""
        own, lenders = self.source.methods, _methods_of(self.source.lenders)
        labels = (label for column in self.ranked for label in column.labels)
        return tuple(x for x in labels if x in lenders and x not in own)

    @property
    def has_paper(self) -> bool:
        """Whether the paper published figures of this metric and these columns."""
        own = self.source.published and self.source.published.metric == self.metric
        return bool(own) and not self.splits_columns

    @property
    def splits_columns(self) -> bool:
        """Whether a column of the paper, the higher of several methods, is taken apart.

        The paper's figures and ranks then have nothing of ours to stand beside.
        """
        in_paper = self.source.published is not None
        own = (column for column in self.columns if not column.added)
        return in_paper and not all(column.published for column in own)

    @property
    def sign(self) -> int:
        """1 if higher is better, else -1."""
        return get_metric(self.metric).sign

    def of_row(self, row: Row) -> list[ScoreCell]:
        """Return a row's entries, in the order of the columns."""
        return [self.entries[row.heading, column.heading] for column in self.columns]

    def _ours(self, row: Row, column: MethodColumn) -> Summary:
        found = [
            owner.summary(row.dataset, label, mode=self.mode, metric=self.metric)
            for label in column.labels
            if (owner := row.owner(label, self.metric))
        ]
        if found:
            return better_of(found, self.metric)
        labels, expected = "/".join(column.labels), int(row.entry["splits"])
        reason, none = row.entry.get("missing") or "not run", math.nan
        return Summary(row.dataset, labels, none, none, 0, expected, reason=reason)

    def wide(self, values: pd.Series) -> pd.DataFrame:
        """Lay out numbers that belong to :attr:`frame` as data sets x methods."""
        shape = (len(self.rows), len(self.columns))
        return pd.DataFrame(
            values.to_numpy(dtype=float).reshape(shape),
            index=[row.heading for row in self.rows],
            columns=[column.heading for column in self.columns],
        )

    def scores(self) -> pd.DataFrame:
        """Return data sets x methods: complete means, higher is better, else NaN."""
        complete = self.frame["done"] == self.frame["expected"]
        return self.sign * self.wide(self.frame["ours_mean"].where(complete))

    def ranked_scores(self) -> pd.DataFrame:
        """Return :meth:`scores` of the methods that are ranked."""
        return self.scores()[[column.heading for column in self.ranked]]

    def published_scores(self) -> pd.DataFrame:
        """Return the paper's means of its own columns, as :meth:`scores` does ours."""
        means = self.sign * self.wide(self.frame["paper_mean"])
        return means[[column.heading for column in self.columns if not column.added]]

    def wins(self) -> pd.Series:
        """Return how often each shown method is the best of its row, as bold shows it.

        That is over the data sets on which all that are ranked are complete.
        """
        block = complete_part(self.ranked_scores()).means.index
        return win_counts(self.scores().loc[block].round(self.source.digits))

    def best_of_row(self, row: Row) -> set[str]:
        """Return the columns that print the best complete figure."""
        printed = {
            column.heading: round(self.sign * entry.ours.mean, self.source.digits)
            for column in self.columns
            if (entry := self.entries[row.heading, column.heading]).ours.complete
        }
        best = max(printed.values(), default=math.nan)
        return {heading for heading, value in printed.items() if value == best}

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per data set and method: ours, the paper's and the difference."""
        records = []
        for row in self.rows:
            best = self.best_of_row(row)
            for column, entry in zip(self.columns, self.of_row(row), strict=True):
                ours, paper = entry.ours, entry.paper
                records.append(
                    {
                        "table": self.source.id,
                        "experiment": row.results[0].name,
                        "dataset": row.dataset,
                        "paper_dataset": row.published,
                        "column": column.heading,
                        "method": ours.method,
                        "mode": self.mode,
                        "metric": self.metric,
                        "ours_mean": ours.mean,
                        "ours_sd": ours.spread,
                        "paper_mean": paper.mean if paper else None,
                        "paper_sd": paper.spread if paper else None,
                        "difference": entry.difference,
                        "mark": DISAGREEMENT if entry.disagrees else "",
                        "best": column.heading in best,
                        "paper_best": paper.bold if paper else None,
                        "done": ours.done,
                        "expected": ours.expected,
                        "failed": ours.failed,
                        "scaling": ours.scaling,
                        "substitute": row.entry.get("substitute") or "",
                        "reason": ours.reason,
                    }
                )
        return pd.DataFrame(records)


@lru_cache(maxsize=32)
def scores_of(
    source: TableSource, mode: ScalingMode, metric: str, *, merged: bool | None = None
) -> Scores:
    """Return the comparison, made once for all tables that show it.

    Methods of which the paper reports the higher are merged, unless ``merged`` says
    otherwise or the mode is honest: which is higher is known on the test part only.
    """
    merged = mode != "honest" if merged is None else merged
    return Scores(source, mode, metric, merged)
