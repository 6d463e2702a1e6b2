"""Scores in paper mode minus those in honest mode.

The difference is that of scaling the test part by itself, of choosing the scaling on it
and of selecting parameters in another way; :mod:`drmbench.report.tables_worth` tells
the first two apart.
"""

from __future__ import annotations

import math

import pandas as pd

from drmbench.protocol.protocol import ScalingMode
from drmbench.report.scores import Scores, TableSource, scores_of
from drmbench.report.table import Cell, Column, Record, ReportTable
from drmbench.report.tables_scores import NO_FIGURE, metric_words, signed

_NOTES = (
    "Positive: the method looks better in paper mode, which scales the test part by its"
    " own maxima and takes the better of scaled and unscaled data on the test part."
    " Honest mode selects the scaling on the training part, and may select parameters"
    " in another way; the table of what the leak and the choice are worth has only"
    " those two.",
    "Only cells that are complete in both modes are compared.",
)


def modes_table(source: TableSource, metric: str) -> ReportTable | None:
    """Return paper mode minus honest mode, or None unless both were run."""
    if not {"paper", "honest"} <= set(source.modes):
        return None
    modes: tuple[ScalingMode, ...] = ("paper", "honest")
    paper, honest = (scores_of(source, mode, metric, merged=False) for mode in modes)
    differences = paper.scores() - honest.scores()
    methods = [str(name) for name in differences.columns]
    summaries = {"mean": differences.mean(), "median": differences.median()}
    return ReportTable(
        f"{source.id}-{metric.replace('_', '-')}-paper-minus-honest",
        f"{source.title}: {metric_words(metric)}, paper mode minus honest mode",
        (Column("data set"), *(Column(name, "right") for name in methods)),
        tuple(
            _row(str(name), values, source.digits)
            for rows in (differences.iterrows(), summaries.items())
            for name, values in rows
        ),
        notes=_NOTES,
        records=tuple(_records(source, metric, paper, honest)),
    )


def _row(heading: str, values: pd.Series, digits: int) -> tuple[Cell, ...]:
    return (
        Cell(heading),
        *(
            Cell(NO_FIGURE) if math.isnan(value) else Cell(signed(value, digits), value)
            for value in map(float, values)
        ),
    )


def _records(
    source: TableSource, metric: str, paper: Scores, honest: Scores
) -> list[Record]:
    frames = (paper.scores() * paper.sign, honest.scores() * honest.sign)
    return [
        {
            "table": source.id,
            "dataset": row.dataset,
            "column": column.heading,
            "metric": metric,
            "paper_mode": frames[0].loc[row.heading, column.heading],
            "honest_mode": frames[1].loc[row.heading, column.heading],
            "difference": (frames[0] - frames[1]).loc[row.heading, column.heading],
        }
        for row in paper.rows
        for column in paper.columns
    ]
