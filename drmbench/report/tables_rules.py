"""Which ways to read the paper were tried for its G-mean cells, and what they give.

The figures are in a file beside the results, written by ``tools/keel_rules.py``: the
protocol's own figures are in the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from drmbench.paper import Agreement, PublishedCell
from drmbench.report.scores import TableSource
from drmbench.report.table import Cell, Column, Record, ReportTable
from drmbench.report.tables_agreement import published_figure
from drmbench.run.results import Results

_COUNTS = ("cells tried", "reported", "either", "within 0.005")

COMMAND = "python tools/keel_rules.py --method METHOD --reading READING"

_NOTES = (
    "Reported: exact with the better mean of unscaled and scaled data, as the paper"
    " says it reports. Either: exact with one of the two. Exact: the same mean to four"
    " decimals, and a deviation that differs by at most one unit of the fourth. Within"
    " 0.005: the better mean is, exact ones among them.",
    "Readings: libsvm, LIBSVM with C = 1 always, γ from the decades without 10 and"
    " (x·y/p)^d for a polynomial; gamma, the decades as γ; variance, exp(−d²/(2s));"
    " kept-sizes, leave-one-out in which the classes keep the size they have with the"
    " left-out sample. Figure shares: the root of the share predicted minority times"
    " the share predicted majority, which does not depend on the true classes.",
    "Rules were tried until one fitted, so a single cell is no evidence; that one rule"
    " gives many cells is.",
    f"`{COMMAND}` computes them.",
)


@dataclass(frozen=True)
class TriedRule:
    """One way to read a column of the paper, on all data sets it was tried on.

    Attributes
    ----------
    column, method, reading, figure, rule : str
        What was tried, as in the file.
    figures : dict of str to dict
        Mean and deviation by data set, then by scaling.
    cells : dict of str to PublishedCell
        The published cells, by data set.
    """

    column: str
    method: str
    reading: str
    figure: str
    rule: str
    figures: dict[str, dict[str, tuple[float, float]]]
    cells: dict[str, PublishedCell]

    @cached_property
    def reported(self) -> list[str]:
        """Data sets on which the better scaling's figure is the published one."""
        return [name for name in self.cells if self._exact(name, self._better(name))]

    @cached_property
    def near(self) -> list[str]:
        """Data sets on which the better scaling's figure is at most 0.005 away."""
        agreed = (Agreement.EXACT, Agreement.NEAR)
        return [n for n in self.cells if self._agreement(n, self._better(n)) in agreed]

    @cached_property
    def either(self) -> list[str]:
        """Data sets on which the figure of some scaling is the published one."""
        return [
            name
            for name, by_scaling in self.figures.items()
            if any(self._exact(name, scaling) for scaling in by_scaling)
        ]

    def _better(self, dataset: str) -> str:
        found = self.figures[dataset]
        return max(found, key=lambda scaling: found[scaling][0])

    def _exact(self, dataset: str, scaling: str) -> bool:
        return self._agreement(dataset, scaling) is Agreement.EXACT

    def _agreement(self, dataset: str, scaling: str) -> Agreement:
        return self.cells[dataset].agreement(*self.figures[dataset][scaling])


def rules_tables(source: TableSource) -> list[ReportTable]:
    """Return what was tried and what gives which cell; nothing without such a file."""
    found = [way for r in source.results for way in _tried_rules(source, r)]
    if not found:
        return []
    assert source.published is not None
    stem = f"{source.id}-{source.published.metric}-rules"
    title = f"{source.title}: ways to read the paper that were tried"
    return [
        _rules_table(stem, title, found),
        _cells_table(f"{stem}-cells", f"{title}, cell by cell", source, found),
    ]


def _tried_rules(source: TableSource, results: Results) -> Iterator[TriedRule]:
    """Give the rules tried in an experiment, without those for single cells."""
    if results.rules is None or source.published is None:
        return
    spellings = {row.dataset: row.published for row in source.rows()}
    keys = ["column", "method", "reading", "figure", "rule"]
    selections = results.rules[~results.rules["rule"].str.startswith("always ")]
    for key, part in selections.groupby(keys, sort=False):
        figures: dict[str, dict[str, tuple[float, float]]] = {}
        cells: dict[str, PublishedCell] = {}
        for row in part.to_dict("records"):
            place = (spellings.get(row["dataset"], ""), row["column"])
            cell = source.published.cells.get(place)
            if cell is not None and cell.mean is not None:
                own = figures.setdefault(row["dataset"], {})
                own[row["scaling"]] = (float(row["mean"]), float(row["sd"]))
                cells[row["dataset"]] = cell
        column, method, reading, figure, rule = map(str, key)
        yield TriedRule(column, method, reading, figure, rule, figures, cells)


def _rules_table(stem: str, title: str, found: Sequence[TriedRule]) -> ReportTable:
    columns = (
        *(Column(name) for name in ("column", "method", "reading", "figure", "rule")),
        *(Column(name, "right") for name in _COUNTS),
    )
    return ReportTable(
        stem,
        title,
        columns,
        tuple(
            (*map(Cell, _names(a)), *(Cell(str(n), n) for n in _counts(a)))
            for a in found
        ),
        notes=_NOTES,
        records=tuple(_record(a) for a in found),
    )


def _names(way: TriedRule) -> tuple[str, ...]:
    return (
        way.column,
        way.method,
        way.reading,
        way.figure,
        way.rule,
    )


def _counts(way: TriedRule) -> tuple[int, int, int, int]:
    return len(way.cells), len(way.reported), len(way.either), len(way.near)


def _record(way: TriedRule) -> Record:
    tried, reported, either, near = _counts(way)
    return {
        "column": way.column,
        "method": way.method,
        "reading": way.reading,
        "figure": way.figure,
        "rule": way.rule,
        "cells": tried,
        "exact_reported": reported,
        "exact_either": either,
        "within_0.005_reported": near,
        "datasets_either": " ".join(way.either),
    }


def _cells_table(
    stem: str, title: str, source: TableSource, found: Sequence[TriedRule]
) -> ReportTable:
    tried = {(name, a.column): a.cells[name] for a in found for name in a.cells}
    order = [row.dataset for row in source.rows()]
    places = sorted(tried, key=lambda place: (order.index(place[0]), place[1]))
    rows: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for dataset, column in places:
        cell = tried[dataset, column]
        own = [a for a in found if a.column == column and dataset in a.either]
        texts = [_text(way, dataset) for way in own]
        figure = published_figure(cell)
        rows.append(
            (Cell(dataset), Cell(column), figure, Cell("; ".join(texts) or "none"))
        )
        records.append(_cell_record(dataset, cell, texts))
    headings = ("data set", "column", "paper", "exactly given by")
    return ReportTable(
        stem,
        title,
        tuple(Column(h, "right" if h == "paper" else "left") for h in headings),
        tuple(rows),
        notes=_NOTES,
        records=tuple(records),
    )


def _text(way: TriedRule, dataset: str) -> str:
    parts = [way.method]
    if way.reading != "registered":
        parts.append(way.reading)
    if way.figure != "gmean":
        parts.append(way.figure)
    text = f"{', '.join(parts)}: {way.rule}"
    return text if dataset in way.reported else f"{text} (not the better scaling)"


def _cell_record(dataset: str, cell: PublishedCell, texts: Sequence[str]) -> Record:
    record: dict[str, Any] = {
        "dataset": dataset,
        "column": cell.method,
        "paper_mean": cell.mean,
        "paper_sd": cell.spread,
        "exactly_given_by": "; ".join(texts),
    }
    return record
