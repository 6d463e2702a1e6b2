"""What the two liberties of the paper's protocol are worth, each by itself.

Both are told apart with the parameters that were selected in paper mode, so that no
other way to select is mixed in: the leak by the same models on a test part scaled by
the training part's maxima, the choice on the test set by what the scores of selection
would have chosen on each split.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from drmbench.metrics import TIE_TOLERANCE, get_metric, mean_and_spread
from drmbench.report.scores import Row, ScoreCell, Scores, TableSource, scores_of
from drmbench.report.table import Cell, Column, Record, ReportTable
from drmbench.report.tables_scores import NO_FIGURE, metric_words, signed
from drmbench.run.results import OWN_MAXIMA, TRAINING_MAXIMA, Results

#: What `drmbench tables` cannot do itself, since it runs nothing.
COMMAND = "python tools/refit_test_scaling.py"
#: Differences that are rounding and no change of a test sample.
_ROUNDING = 1e-9

_NOTES = (
    "Means over data sets of differences between means over splits; positive: the"
    " protocol flatters the method. All with the parameters that paper mode selected.",
    "Leak: the figure on scaled data, where the test part is divided by its own"
    " maxima, minus that of the very same models where it is divided by the training"
    " part's. Helps and hurts count the data sets on which it is above and below zero.",
    "Choice: the better mean over the test parts of unscaled and scaled data, which is"
    " what paper mode reports, minus the mean if on each split the better score of"
    " selection had chosen between the two (of equal scores unscaled). Where the leak"
    " hurts, this choice also spares the method the damage.",
    "Both: what paper mode reports minus the mean with neither, the scaling chosen by"
    " score and the test part divided by the training part's maxima.",
    "A method with nothing to select has no score to choose by: a dash. A number in"
    " brackets says over how many data sets, where it is not all of those that are"
    " complete in paper mode.",
)
_HONEST_NOTE = (
    "Paper minus honest differs from both, because honest mode also selects the"
    " parameters in another way."
)

_Splits = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Worth:
    """A method on a data set: what is reported, and what it would be otherwise.

    Attributes
    ----------
    own, training : float
        Mean figure on scaled data with the test part scaled by its own maxima, and by
        the training part's; NaN if not all splits were fitted again.
    better, by_score : float
        The better mean of unscaled and scaled data, and the mean of what the scores of
        selection choose; NaN if a split is not there or has no score.
    neither : float
        The mean of what the scores choose, with scaled test parts divided by the
        training part's maxima.
    """

    own: float = math.nan
    training: float = math.nan
    better: float = math.nan
    by_score: float = math.nan
    neither: float = math.nan


def worth_table(source: TableSource, metric: str) -> ReportTable | None:
    """Return what the leak and the choice are worth; None without paper mode."""
    if "paper" not in source.modes:
        return None
    comparison = scores_of(source, "paper", metric, merged=False)
    differences = _differences(comparison)
    return ReportTable(
        f"{source.id}-{metric.replace('_', '-')}-protocol-worth",
        f"{source.title}: {metric_words(metric)}, what the leak and the choice on the"
        " test set are worth",
        _columns(source),
        tuple(
            _row(source, column.heading, part)
            for column in comparison.columns
            for part in [differences[differences["column"] == column.heading]]
        ),
        notes=tuple(_notes(source)),
        records=tuple(_records(differences)),
    )


def _columns(source: TableSource) -> tuple[Column, ...]:
    headings = [
        "data sets",
        *("leak, mean", "leak, median", "leak helps", "leak hurts"),
        *("choice, mean", "choice, median", "both, mean"),
        *(["paper minus honest, mean"] if "honest" in source.modes else []),
    ]
    return (Column("method"), *(Column(heading, "right") for heading in headings))


def _differences(comparison: Scores) -> pd.DataFrame:
    """Return a row a data set and method, with the figures and their differences."""
    source, sign = comparison.source, comparison.sign
    rows = {row.heading: row for row in comparison.rows}
    honest: dict[tuple[str, str], ScoreCell] = {}
    if "honest" in source.modes:
        honest = scores_of(source, "honest", comparison.metric, merged=False).entries
    records = []
    for (heading, column), entry in comparison.entries.items():
        worth = _worth(rows[heading], entry.ours.method, comparison.metric)
        paper, other = _mean(entry), _mean(honest.get((heading, column)))
        records.append(
            {
                "table": source.id,
                "dataset": rows[heading].dataset,
                "column": column,
                "method": entry.ours.method,
                "metric": comparison.metric,
                "scaled_own_maxima": worth.own,
                "scaled_training_maxima": worth.training,
                "leak": sign * (worth.own - worth.training),
                "better_on_test": worth.better,
                "chosen_by_score": worth.by_score,
                "choice": sign * (worth.better - worth.by_score),
                "with_neither": worth.neither,
                "both": sign * (worth.better - worth.neither),
                "paper_mode": paper,
                "honest_mode": other,
                "paper_minus_honest": sign * (paper - other),
            }
        )
    return pd.DataFrame(records)


def _mean(entry: ScoreCell | None) -> float:
    return entry.ours.mean if entry and entry.ours.complete else math.nan


def _worth(row: Row, method: str, metric: str) -> Worth:
    owner = next((r for r in row.results if method in r.methods), None)
    if owner is None or metric not in owner.rows.columns:
        return Worth()
    expected = int(owner.datasets[row.dataset]["splits"])
    none, separate = (
        owner.split_rows(row.dataset, method, "paper", scaling)
        for scaling in ("none", "separate")
    )
    better = owner.summary(row.dataset, method, mode="paper", metric=metric).mean
    if not len(none) == len(separate) == expected or math.isnan(better):
        return Worth()
    own, training = (
        _refitted(owner, separate, metric, ending)
        for ending in (OWN_MAXIMA, TRAINING_MAXIMA)
    )
    return Worth(
        _figure(own, metric),
        _figure(training, metric),
        better,
        _chosen_by_score(none, separate, metric),
        _chosen_by_score(none, training, metric),
    )


def _refitted(results: Results, rows: _Splits, metric: str, ending: str) -> _Splits:
    """Return the rows with a figure of their refits; none if a refit is not there.

    A split on which the method failed has no model to fit again, and stays.
    """
    refits = [results.refit_of(r) if r["status"] == "ok" else {} for r in rows]
    if any(r is None or (r and metric + ending not in r) for r in refits):
        return ()
    return [
        {**row, metric: refit[metric + ending]} if refit else row
        for row, refit in zip(rows, refits, strict=True)
    ]


def _figure(rows: _Splits, metric: str) -> float:
    """Return the mean over splits, a failed one counted as in the table of scores."""
    if all(row["status"] != "ok" for row in rows):
        return math.nan
    worst = get_metric(metric, scalar=True).worst
    figures = (row[metric] if row["status"] == "ok" else worst for row in rows)
    return mean_and_spread(figures)[0]


def _chosen_by_score(none: _Splits, scaled: _Splits, metric: str) -> float:
    """Return the mean figure if selection's scores choose the scaling of each split."""
    if len(none) != len(scaled):
        return math.nan
    chosen = [_better_score(*pair) for pair in zip(none, scaled, strict=True)]
    if any(row["status"] == "ok" and math.isnan(row["score"]) for row in chosen):
        return math.nan
    return _figure(chosen, metric)


def _better_score(
    none: Mapping[str, Any], scaled: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the row of the better score; of equal ones, or without any, unscaled."""
    if none["status"] != "ok" or scaled["status"] != "ok":
        return none if none["status"] == "ok" else scaled
    return scaled if scaled["score"] > none["score"] + TIE_TOLERANCE else none


def _row(source: TableSource, heading: str, part: pd.DataFrame) -> tuple[Cell, ...]:
    complete = int(part["paper_mode"].notna().sum())
    shown = ["leak", "choice", "both"]
    shown += ["paper_minus_honest"] * ("honest" in source.modes)
    cells = {
        (name, summary): _summary(part[name], summary, complete, source.digits)
        for name in shown
        for summary in ("mean", "median")
    }
    leaks = part["leak"].dropna()
    signs = (int((leaks > _ROUNDING).sum()), int((leaks < -_ROUNDING).sum()))
    return (
        Cell(heading),
        Cell(str(complete), complete),
        *(cells["leak", "mean"], cells["leak", "median"]),
        *(Cell(NO_FIGURE) if leaks.empty else Cell(str(n), n) for n in signs),
        *(cells["choice", "mean"], cells["choice", "median"]),
        *(cells[name, "mean"] for name in shown[2:]),
    )


def _summary(column: pd.Series, summary: str, complete: int, digits: int) -> Cell:
    values = column.dropna()
    if values.empty:
        return Cell(NO_FIGURE)
    value = float(values.agg(summary))
    count = f" ({len(values)})" if len(values) != complete else ""
    return Cell(signed(value, digits) + count, value)


def _notes(source: TableSource) -> list[str]:
    notes = [*_NOTES, *([_HONEST_NOTE] if "honest" in source.modes else [])]
    owners = [r for r in (*source.results, *source.lenders) if "paper" in r.modes]
    done = [results.name for results in owners if results.refits is not None]
    open_ones = [results.name for results in owners if results.refits is None]
    if done:
        notes.append(f"`{COMMAND} {' '.join(done)}` fitted the models again.")
    if open_ones:
        notes.append(
            f"The models of {', '.join(open_ones)} were not fitted again, so the leak"
            f" there is not known; `{COMMAND} {' '.join(open_ones)}` would do it."
        )
    return notes


def _records(differences: pd.DataFrame) -> list[Record]:
    records: list[Record] = differences.to_dict("records")  # type: ignore[assignment]
    return records
