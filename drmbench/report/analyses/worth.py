"""What the two liberties of the paper's protocol are worth, each by itself.

Both are told apart with the parameters that were selected in paper mode, so that no
other way to select is mixed in: the leak by the same models on a test part scaled by
the training part's maxima, the choice on the test set by what the scores of selection
would have chosen on each split.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from drmbench.metrics import TIE_TOLERANCE
from drmbench.report.analyses.comparison import shown_order
from drmbench.report.scores import (
    Row,
    Scores,
    TableSource,
    figure_over_splits,
    scores_of,
)
from drmbench.report.table import (
    NO_FIGURE,
    Cell,
    Table,
    count_cell,
    left,
    right,
    signed_cell,
)
from drmbench.running.results import OWN_MAXIMA, TRAINING_MAXIMA, Results
from drmbench.words import metric_words

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

_MODES_NOTES = (
    "Positive: the method looks better in paper mode, which scales the test part by its"
    " own maxima and takes the better of scaled and unscaled data on the test part."
    " Honest mode selects the scaling on the training part, and may select parameters"
    " in another way; the table of what the leak and the choice are worth has only"
    " those two.",
    "Only cells that are complete in both modes are compared.",
)

_Splits = Sequence[Mapping[str, Any]]


def paper_minus_honest(paper: pd.DataFrame, honest: pd.DataFrame) -> pd.DataFrame:
    """Return what each method gains by paper mode on each data set.

    Both are :attr:`Scores.frame`, cell by cell. The difference is that of scaling the
    test part by itself, of choosing the scaling on it and of selecting parameters in
    another way; :func:`worth` tells the first two apart.
    """
    frame = paper[["table", "dataset", "column", "metric"]].copy()
    for name, scores in (("paper_mode", paper), ("honest_mode", honest)):
        complete = scores["done"] == scores["expected"]
        frame[name] = scores["ours_mean"].where(complete)
    frame["difference"] = frame["paper_mode"] - frame["honest_mode"]
    return frame


def modes_table(source: TableSource, metric: str) -> Table | None:
    """Return paper mode minus honest mode, or None unless both were run."""
    if not {"paper", "honest"} <= set(source.modes):
        return None
    paper = scores_of(source, "paper", metric, merged=False)
    honest = scores_of(source, "honest", metric, merged=False)
    frame = paper_minus_honest(paper.frame, honest.frame)
    gains = paper.sign * paper.wide(frame["difference"]).iloc[:, shown_order(honest)]
    lines = [*gains.iterrows(), ("mean", gains.mean()), ("median", gains.median())]
    return Table(
        experiment=source.id,
        kind="modes",
        metric=metric,
        title=f"{source.title}: {metric_words(metric)}, paper mode minus honest mode",
        columns=(*left("data set"), *right(*gains.columns)),
        rows=tuple(
            (Cell(str(name)), *(signed_cell(float(v), source.digits) for v in values))
            for name, values in lines
        ),
        summaries=2,
        notes=_MODES_NOTES,
        frame=frame,
    )


def worth(paper: Scores, honest: Scores | None = None) -> pd.DataFrame:
    """Return what the leak and the choice are worth on each data set.

    Both are scores of each method by itself, the second if honest mode was run. One row
    per data set and method. ``scaled_own_maxima`` and ``scaled_training_maxima`` are
    means on scaled data with the test part divided by its own maxima and by the
    training part's, NaN if not all splits were fitted again; ``better_on_test`` is what
    is reported, ``chosen_by_score`` what the scores of selection choose,
    ``with_neither`` that without the leak; ``leak``, ``choice``, ``both`` and
    ``paper_minus_honest`` are differences, positive where the protocol flatters.
    """
    scores, sign = paper.frame, paper.sign
    rows = {row.dataset: row for row in paper.rows}
    found = [
        _figures(rows[dataset], method, paper.metric)
        for dataset, method in zip(scores["dataset"], scores["method"], strict=True)
    ]
    own, training, better, by_score, neither = np.reshape(found, (-1, 5)).T
    other = scores.assign(ours_mean=math.nan) if honest is None else honest.frame
    modes = paper_minus_honest(scores, other)
    return scores[["table", "dataset", "column", "method", "metric"]].assign(
        scaled_own_maxima=own,
        scaled_training_maxima=training,
        leak=sign * (own - training),
        better_on_test=better,
        chosen_by_score=by_score,
        choice=sign * (better - by_score),
        with_neither=neither,
        both=sign * (better - neither),
        paper_mode=modes["paper_mode"],
        honest_mode=modes["honest_mode"],
        paper_minus_honest=sign * modes["difference"],
    )


def _figures(row: Row, method: str, metric: str) -> tuple[float, ...]:
    """Return own, training, better, by score, neither; NaN where not known."""
    unknown = (math.nan,) * 5
    owner = row.owner(method, metric)
    if owner is None:
        return unknown
    expected = int(owner.datasets[row.dataset]["splits"])
    none, separate = (
        owner.split_rows(row.dataset, method, "paper", scaling)
        for scaling in ("none", "separate")
    )
    better = owner.summary(row.dataset, method, mode="paper", metric=metric).mean
    if not len(none) == len(separate) == expected or math.isnan(better):
        return unknown
    own, training = (
        _refitted(owner, separate, metric, ending)
        for ending in (OWN_MAXIMA, TRAINING_MAXIMA)
    )
    return (
        _mean(own, metric),
        _mean(training, metric),
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


def _mean(rows: _Splits, metric: str) -> float:
    if all(row["status"] != "ok" for row in rows):
        return math.nan
    return figure_over_splits(rows, metric)[0]


def _chosen_by_score(none: _Splits, scaled: _Splits, metric: str) -> float:
    """Return the mean if selection's scores choose the scaling of each split.

    Of equal scores, or without any, unscaled is chosen.
    """
    if len(none) != len(scaled):
        return math.nan
    chosen = []
    for one, other in zip(none, scaled, strict=True):
        if one["status"] == other["status"] == "ok":
            better = other["score"] > one["score"] + TIE_TOLERANCE
        else:
            better = one["status"] != "ok"
        chosen.append(other if better else one)
    if any(row["status"] == "ok" and math.isnan(row["score"]) for row in chosen):
        return math.nan
    return _mean(chosen, metric)


def worth_table(source: TableSource, metric: str) -> Table | None:
    """Return what the leak and the choice are worth; None without paper mode."""
    if "paper" not in source.modes:
        return None
    paper, honest = scores_of(source, "paper", metric, merged=False), None
    if "honest" in source.modes:
        honest = scores_of(source, "honest", metric, merged=False)
    frame = worth(paper, honest)
    return Table(
        experiment=source.id,
        kind="worth",
        metric=metric,
        title=f"{source.title}: {metric_words(metric)}, what the leak and the choice on"
        " the test set are worth",
        columns=(
            *left("method"),
            *right("data sets", "leak, mean", "leak, median", "leak helps"),
            *right("leak hurts", "choice, mean", "choice, median", "both, mean"),
            *(right("paper minus honest, mean") if honest else ()),
        ),
        rows=tuple(
            _row(column.heading, part, source.digits, with_honest=honest is not None)
            for column in paper.columns
            for part in [frame[frame["column"] == column.heading]]
        ),
        notes=tuple(_notes(source)),
        frame=frame,
    )


def _row(
    heading: str, part: pd.DataFrame, digits: int, *, with_honest: bool
) -> tuple[Cell, ...]:
    complete = int(part["paper_mode"].notna().sum())

    def cell(name: str, summary: str) -> Cell:
        values = part[name].dropna()
        count = f" ({len(values)})" if len(values) != complete else ""
        return signed_cell(float(values.agg(summary)), digits, count)

    leaks = part["leak"].dropna()
    signs = (int((leaks > _ROUNDING).sum()), int((leaks < -_ROUNDING).sum()))
    return (
        Cell(heading),
        count_cell(complete),
        cell("leak", "mean"),
        cell("leak", "median"),
        *(Cell(NO_FIGURE) if leaks.empty else count_cell(n) for n in signs),
        cell("choice", "mean"),
        cell("choice", "median"),
        cell("both", "mean"),
        *([cell("paper_minus_honest", "mean")] if with_honest else []),
    )


def _notes(source: TableSource) -> Iterator[str]:
    yield from _NOTES
    if "honest" in source.modes:
        yield _HONEST_NOTE
    owners = [r for r in (*source.results, *source.lenders) if "paper" in r.modes]
    done = " ".join(r.name for r in owners if r.refits is not None)
    open_ones = [r.name for r in owners if r.refits is None]
    if done:
        yield f"`{COMMAND} {done}` fitted the models again."
    if open_ones:
        yield (
            f"The models of {', '.join(open_ones)} were not fitted again, so the leak"
            f" there is not known; `{COMMAND} {' '.join(open_ones)}` would do it."
        )
