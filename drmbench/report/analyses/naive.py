"""What the same selection of parameters would have cost without its exact shortcuts.

Nothing is measured here: every refit of a naive search is taken to cost what the final
fit of the same split did. How each method selects is in the manifest.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from drmbench.protocol.protocol import SCALINGS, ScalingMode
from drmbench.report.analyses.seconds import machines
from drmbench.report.scores import TableSource
from drmbench.report.table import (
    NO_FIGURE,
    Cell,
    Marks,
    Table,
    figure_cell,
    left,
    right,
    three_digits,
)
from drmbench.running.results import Results
from drmbench.words import MODES

if TYPE_CHECKING:
    from drmbench.config.model import MethodRef
    from drmbench.protocol.selection import SelectionPlan

_UNITS = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0))

_NOTES = (
    "Sums over data sets, splits and scalings. Naively, every candidate is fitted again"
    " for each held-out part: for each left-out row, fold or random split, and for each"
    " scaling that selection chooses from.",
    "The naive time is an estimate, not a measurement: the refits times what the final"
    " fit of the same split took, and a share of its prediction for each held-out row."
    " That is the chosen candidate, while others are cheaper or dearer; a fit to the"
    " rows that remain is taken to cost as much as one to all, which is too much where"
    " folds are few; and what a call costs however few rows it predicts is not counted,"
    " which is too little for leave-one-out.",
)
_NO_SHORTCUT = (
    "has no shortcut for this selection: the search that was timed is the naive one, so"
    " the factor tells how far off the estimate is."
)
_SKIPPED = (
    "{skipped:,} of {runs:,} runs are not counted, since their selection looked at a"
    " subset of the training rows: the time of the final fit, which is to all rows,"
    " does not tell what a refit on the subset takes."
)


#: What a cost is made of, of each run.
_COLUMNS = [
    *("dataset", "method", "n_train", "n_test"),
    *("seconds_select", "seconds_fit", "seconds_predict"),
]


@dataclass(frozen=True)
class Search:
    """How a method selects in a scaling mode of an experiment."""

    plan: SelectionPlan  #: what is held out
    candidates: int  #: size of the grid, as it was when the results were made
    scalings: int  #: how many scalings selection chooses from
    shortcut: bool  #: whether the method shares any work between refits

    @classmethod
    def stored(cls, results: Results, ref: MethodRef, mode: ScalingMode) -> Search:
        """Return what the manifest says of a method."""
        facts = results.methods[ref.label]
        plan = results.experiment.selection_for(ref, mode)
        candidates = math.prod(len(values) for values in facts["grid"].values())
        tried = len(SCALINGS[results.experiment.preparation])
        scalings = tried if mode == "honest" and not facts["scale_invariant"] else 1
        shortcut = facts["shortcuts"]["loo" if plan.kind == "loo" else "grid"]
        return cls(plan, candidates, scalings, shortcut)

    def refits(self, n_train: int) -> int:
        """Return how many fits selection on a training part takes naively."""
        return self.candidates * self.scalings * self.plan.naive_fits(n_train)

    def seconds(self, n_train: int, fit: float, predict: float) -> float:
        """Return what they take, where a fit and a row's prediction take so long."""
        predictions = self.plan.naive_predictions(n_train)
        spent = self.plan.naive_fits(n_train) * fit + predictions * predict
        return self.candidates * self.scalings * spent


def naive_tables(source: TableSource) -> Iterator[Table]:
    """Give a table for each scaling mode in which anything was selected.

    Experiments whose stored config cannot be read any more are left out.
    """
    unread = [found.name for found in source.results if not found.plans_known]
    for mode in sorted(source.modes, key=lambda mode: mode != "honest"):
        read = [found for found in source.results if found.plans_known]
        costs = [cost for found in read if len(cost := naive_cost(found, mode))]
        if any(cost["refits_naive"].notna().any() for cost in costs):
            yield _table(source, mode, pd.concat(costs, ignore_index=True), unread)


def naive_cost(results: Results, mode: ScalingMode) -> pd.DataFrame:
    """Return what selection cost, and would have cost naively.

    One row per data set and method that has results. Sums are over the runs that are
    counted, those whose selection looked at all training rows; they are None where
    there is nothing to select or to count.
    """
    refs = results.experiment.methods
    searches = {ref.label: Search.stored(results, ref, mode) for ref in refs}
    rows = results.rows
    done = rows[(rows["mode"] == mode) & (rows["status"] == "ok")]
    groups: dict[tuple[str, str], list[dict[Any, Any]]] = defaultdict(list)
    for run in done[_COLUMNS].to_dict("records"):
        groups[run["dataset"], run["method"]].append(run)
    records = []
    for dataset in results.datasets:
        for method, search in searches.items():
            if (dataset, method) not in groups:
                continue
            runs = groups[dataset, method]
            most = search.plan.rows_used or math.inf
            counted = [run for run in runs if run["n_train"] <= most]
            there = search.candidates * search.scalings > 1 and bool(counted)
            measured = math.fsum(run["seconds_select"] for run in counted)
            naive = math.fsum(
                search.seconds(
                    int(run["n_train"]),
                    run["seconds_fit"],
                    run["seconds_predict"] / run["n_test"],
                )
                for run in counted
            )
            refits = sum(search.refits(int(run["n_train"])) for run in counted)
            records.append(
                {
                    "experiment": results.name,
                    "dataset": dataset,
                    "method": method,
                    "selection": search.plan.describe(),
                    "candidates": search.candidates,
                    "scalings": search.scalings,
                    "shortcut": search.shortcut,
                    "runs": len(runs),
                    "runs_counted": len(counted),
                    "refits_naive": refits if there else None,
                    "seconds_select": measured if there else None,
                    "seconds_naive": naive if there else None,
                    "factor": naive / measured if there and measured else None,
                }
            )
    return pd.DataFrame(records, dtype=object)  # counts may be None, and stay whole


def _table(
    source: TableSource, mode: ScalingMode, costs: pd.DataFrame, unread: Sequence[str]
) -> Table:
    parts = dict(iter(costs.groupby("method")))
    there, marks = [method for method in source.methods if method in parts], Marks()
    rows = [_row(method, parts[method], marks) for method in there]
    notes, selecting = list(_NOTES), _selecting(costs)
    runs = selecting["runs"].sum()
    if skipped := runs - selecting["runs_counted"].sum():
        notes.append(_SKIPPED.format(skipped=skipped, runs=runs))
    if len(selecting) < len(costs):
        notes.append(
            f"{NO_FIGURE} One candidate and one scaling leave nothing to select."
        )
    if unread:
        listed = ", ".join(unread)
        notes.append(f"Without {listed}: the stored config is no longer valid.")
    return Table(
        experiment=source.id,
        kind="naive",
        mode=mode,
        title=f"{source.title}: what selection would have cost naively,"
        f" {MODES[mode].title}",
        columns=(
            *left("method"),
            *right("candidates", "runs counted", "refits, naively"),
            *right("selection took", "naively, estimated", "factor"),
        ),
        rows=tuple(rows),
        footnotes=marks.footnotes,
        notes=(*notes, *machines(source.results)),
        frame=costs,
    )


def _selecting(costs: pd.DataFrame) -> pd.DataFrame:
    return costs[costs["candidates"] * costs["scalings"] > 1]


def _row(method: str, costs: pd.DataFrame, marks: Marks) -> tuple[Cell, ...]:
    sizes = sorted(set(costs["candidates"]))
    runs, counted = costs["runs"].sum(), costs["runs_counted"].sum()
    of_all = "" if counted == runs else f" of {runs:,}"
    known = (
        Cell(method),
        Cell(" or ".join(f"{size:,}" for size in sizes), sizes[-1]),
        Cell(f"{counted:,}{of_all}", counted),
    )
    used = costs[costs["refits_naive"].notna()]
    if used.empty:
        needed = len(_selecting(costs)) > 0
        reason = "selected on a subset" if needed else "nothing to select"
        return *known, *[Cell(NO_FIGURE, title=reason)] * 4
    refits = sum(used["refits_naive"])
    measured, naive = map(math.fsum, (used["seconds_select"], used["seconds_naive"]))
    factor = figure_cell(naive / measured if measured else None)
    if measured and not any(used["shortcut"]):
        factor = replace(factor, mark=marks(_NO_SHORTCUT))
    return (
        *known,
        Cell(f"{refits:,}", refits),
        Cell(in_one_unit(measured), measured),
        Cell(in_one_unit(naive), naive),
        factor,
    )


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
