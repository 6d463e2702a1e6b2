"""What the same selection of parameters would have cost without its exact shortcuts.

Nothing is measured here: every refit of a naive search is taken to cost what the final
fit of the same split did.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drmbench.protocol.protocol import ScalingMode
from drmbench.report.scores import MODE_TITLES, TableSource
from drmbench.report.table import Cell, Column, Record, ReportTable
from drmbench.report.tables_scores import NO_FIGURE
from drmbench.report.tables_seconds import machines, three_digits
from drmbench.run.results import Results

if TYPE_CHECKING:
    from drmbench.protocol.selection import SelectionPlan

NO_SHORTCUT = "†"

_UNITS = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0))

_NOTES = (
    "Sums over data sets, splits and scalings. Naively, every candidate is fitted anew"
    " for each held-out part: for each left-out row, fold or random split, and for each"
    " scaling that selection chooses from.",
    "The naive time is an estimate, not a measurement: the refits times what the final"
    " fit of the same split took, and a share of its prediction for each held-out row."
    " That is the chosen candidate, while others are cheaper or dearer; a fit to the"
    " rows that remain is taken to cost as much as one to all, which is too much where"
    " folds are few; and what a call costs however few rows it predicts is not counted,"
    " which is too little for leave-one-out.",
)
_SKIPPED = (
    "{skipped:,} of {runs:,} runs are not counted, since their selection looked at a"
    " subset of the training rows: the time of the final fit, which is to all rows,"
    " does not tell what a refit on the subset takes."
)


@dataclass(frozen=True)
class Search:
    """How a method selects in a scaling mode of an experiment.

    Attributes
    ----------
    plan : SelectionPlan
        What is held out.
    candidates : int
        Size of the grid, as it was when the results were made.
    scalings : int
        Scalings that selection chooses from.
    shortcut : bool
        Whether the method shares any work between refits.
    """

    plan: SelectionPlan
    candidates: int
    scalings: int
    shortcut: bool

    @property
    def needed(self) -> bool:
        """Whether there is anything to choose from."""
        return self.candidates * self.scalings > 1

    def covers(self, n_train: int) -> bool:
        """Tell whether selection looks at all of a training part."""
        return self.plan.rows_used is None or n_train <= self.plan.rows_used

    def refits(self, n_train: int) -> int:
        """Return how many fits selection on a training part takes naively."""
        return self.candidates * self.scalings * self.plan.naive_fits(n_train)

    def seconds(self, n_train: int, fit: float, predict: float) -> float:
        """Return what they take, where a fit and a row's prediction take so long."""
        predictions = self.plan.naive_predictions(n_train)
        spent = self.plan.naive_fits(n_train) * fit + predictions * predict
        return self.candidates * self.scalings * spent


@dataclass(frozen=True)
class NaiveCost:
    """What selection of one method on one data set cost, and would have naively.

    Attributes
    ----------
    experiment, dataset, method : str
        Where.
    search : Search
        How it selects.
    runs : int
        Runs with a result.
    counted : int
        Those whose selection looked at all training rows; the sums are over them.
    refits : int
        Fits that a naive search takes.
    measured, naive : float
        Seconds of selection, and of a naive search as estimated.
    """

    experiment: str
    dataset: str
    method: str
    search: Search
    runs: int
    counted: int
    refits: int
    measured: float
    naive: float

    def record(self) -> Record:
        """Return the line of the CSV; empty where there is nothing to select."""
        there = self.search.needed and self.counted > 0
        return {
            "experiment": self.experiment,
            "dataset": self.dataset,
            "method": self.method,
            "selection": self.search.plan.describe(),
            "candidates": self.search.candidates,
            "scalings": self.search.scalings,
            "shortcut": self.search.shortcut,
            "runs": self.runs,
            "runs_counted": self.counted,
            "refits_naive": self.refits if there else None,
            "seconds_select": self.measured if there else None,
            "seconds_naive": self.naive if there else None,
            "factor": self.naive / self.measured if there and self.measured else None,
        }


def naive_tables(source: TableSource) -> Iterator[ReportTable]:
    """Give a table for each scaling mode in which anything was selected.

    Experiments whose stored config cannot be read any more are left out.
    """
    unread = [found.name for found in source.results if not found.plans_known]
    for mode in source.modes:
        costs = [
            cost
            for found in source.results
            if found.plans_known
            for cost in _costs(found, mode)
        ]
        if any(cost.search.needed and cost.counted for cost in costs):
            yield _table(source, mode, costs, unread)


def _costs(results: Results, mode: ScalingMode) -> Iterator[NaiveCost]:
    searches = _searches(results, mode)
    rows = results.rows
    done = rows[(rows["mode"] == mode) & (rows["status"] == "ok")]
    groups = dict(iter(done.groupby(["dataset", "method"])))
    for dataset in results.datasets:
        for method, search in searches.items():
            if (dataset, method) in groups:
                found = groups[dataset, method].to_dict("records")
                yield _cost(results.name, dataset, method, search, found)


def _searches(results: Results, mode: ScalingMode) -> dict[str, Search]:
    """Return how each method selects in a mode, by label."""
    searches = {}
    for ref in results.experiment.methods:
        facts = results.methods[ref.label]
        plan = results.experiment.selection_for(ref, mode)
        choice = mode == "honest" and not facts["scale_invariant"]
        searches[ref.label] = Search(
            plan,
            candidates=math.prod(len(values) for values in facts["grid"].values()),
            scalings=2 if choice else 1,
            shortcut=facts["shortcuts"]["loo" if plan.kind == "loo" else "grid"],
        )
    return searches


def _cost(
    experiment: str,
    dataset: str,
    method: str,
    search: Search,
    rows: Sequence[Mapping[Any, Any]],
) -> NaiveCost:
    counted = [row for row in rows if search.covers(int(row["n_train"]))]
    return NaiveCost(
        experiment,
        dataset,
        method,
        search,
        runs=len(rows),
        counted=len(counted),
        refits=sum(search.refits(int(row["n_train"])) for row in counted),
        measured=math.fsum(row["seconds_select"] for row in counted),
        naive=math.fsum(
            search.seconds(
                int(row["n_train"]),
                row["seconds_fit"],
                row["seconds_predict"] / row["n_test"],
            )
            for row in counted
        ),
    )


def _table(
    source: TableSource,
    mode: ScalingMode,
    costs: Sequence[NaiveCost],
    unread: Sequence[str],
) -> ReportTable:
    methods = dict.fromkeys(m for r in source.results for m in r.methods)
    rows = [
        _row(method, own)
        for method in methods
        if (own := [cost for cost in costs if cost.method == method])
    ]
    return ReportTable(
        f"{source.id}-naive-selection-{mode}-mode",
        f"{source.title}: what selection would have cost naively, {MODE_TITLES[mode]}",
        (
            Column("method"),
            Column("candidates", "right"),
            Column("runs counted", "right"),
            Column("refits, naively", "right"),
            Column("selection took", "right"),
            Column("naively, estimated", "right"),
            Column("factor", "right"),
        ),
        tuple(rows),
        footnotes=tuple(_footnotes(rows)),
        notes=(*_NOTES, *_more_notes(source, costs, unread)),
        records=tuple(cost.record() for cost in costs),
    )


def _row(method: str, costs: Sequence[NaiveCost]) -> tuple[Cell, ...]:
    sizes = sorted({cost.search.candidates for cost in costs})
    runs, counted = sum(c.runs for c in costs), sum(c.counted for c in costs)
    of_all = "" if counted == runs else f" of {runs:,}"
    left = (
        Cell(method),
        Cell(" or ".join(f"{size:,}" for size in sizes), sizes[-1]),
        Cell(f"{counted:,}{of_all}", counted),
    )
    used = [cost for cost in costs if cost.search.needed and cost.counted]
    if not used:
        needed = any(cost.search.needed for cost in costs)
        reason = "selected on a subset" if needed else "nothing to select"
        return *left, *[Cell(NO_FIGURE, title=reason)] * 4
    refits = sum(cost.refits for cost in used)
    measured = math.fsum(cost.measured for cost in used)
    naive = math.fsum(cost.naive for cost in used)
    mark = "" if any(cost.search.shortcut for cost in used) else NO_SHORTCUT
    return (
        *left,
        Cell(f"{refits:,}", refits),
        Cell(in_one_unit(measured), measured),
        Cell(in_one_unit(naive), naive),
        _factor_cell(measured, naive, mark),
    )


def _factor_cell(measured: float, naive: float, mark: str) -> Cell:
    if not measured:
        return Cell(NO_FIGURE)
    return Cell(three_digits(naive / measured), naive / measured, mark=mark)


def _footnotes(rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    if any(row[-1].mark for row in rows):
        yield (
            f"{NO_SHORTCUT} has no shortcut for this selection: the search that was"
            " timed is the naive one, so the factor tells how far off the estimate is."
        )


def _more_notes(
    source: TableSource, costs: Sequence[NaiveCost], unread: Sequence[str]
) -> Iterator[str]:
    selecting = [cost for cost in costs if cost.search.needed]
    runs = sum(cost.runs for cost in selecting)
    if skipped := runs - sum(cost.counted for cost in selecting):
        yield _SKIPPED.format(skipped=skipped, runs=runs)
    if len(selecting) < len(costs):
        yield f"{NO_FIGURE} One candidate and one scaling leave nothing to select."
    if unread:
        yield f"Without {', '.join(unread)}: the stored config is not valid any more."
    yield from machines(source.results)


def in_one_unit(seconds: float) -> str:
    """Say a length of time with three significant digits in the unit that suits it.

    Examples
    --------
    >>> in_one_unit(0.0421), in_one_unit(75), in_one_unit(5400), in_one_unit(1e6)
    ('0.0421 s', '1.25 min', '1.50 h', '11.6 d')
    """
    for unit, size in _UNITS:
        if seconds >= size:
            return f"{three_digits(seconds / size)} {unit}"
    return f"{three_digits(seconds)} s"
