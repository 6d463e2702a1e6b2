"""Our figures beside the paper's, cell by cell, in one scaling mode and metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import pandas as pd

from drmbench.metrics import get_metric
from drmbench.paper import PublishedCell
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.tables_source import MethodColumn, Row, TableSource, merges
from drmbench.run.results import Summary

#: How far figures without deviations may be apart before they are said to disagree.
NO_SPREAD = 0.005
DISAGREES = (
    "≠ ours and the paper's disagree: they are further apart than the sum of both"
    " standard deviations, or than 0.005 where there is none"
)


@dataclass(frozen=True)
class Entry:
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
class Comparison:
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
    def entries(self) -> dict[tuple[str, str], Entry]:
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

    def of_row(self, row: Row) -> list[Entry]:
        """Return a row's entries, in the order of the columns."""
        return [self.entries[row.heading, column.heading] for column in self.columns]

    def _entry(self, row: Row, column: MethodColumn) -> Entry:
        paper = None
        if self.has_paper and self.source.published:
            paper = self.source.published.cells.get((row.published, column.published))
        return Entry(self._ours(row, column), paper)

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

    def _frame(self, value: Callable[[Entry], float]) -> pd.DataFrame:
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
def compare(
    source: TableSource, mode: ScalingMode, metric: str, *, merged: bool | None = None
) -> Comparison:
    """Return the comparison, made once for all tables that show it.

    Methods of which the paper reports the higher are merged where the mode allows it
    (:func:`.tables_source.merges`), unless ``merged`` says otherwise.
    """
    merged = merges(mode) if merged is None else merged
    return Comparison(source, mode, metric, merged)


def _nothing(dataset: str, method: str, expected: int, reason: str) -> Summary:
    return Summary(dataset, method, math.nan, math.nan, 0, expected, reason=reason)
