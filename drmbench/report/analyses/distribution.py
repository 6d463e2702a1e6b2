"""Whether our figures on random splits agree in distribution with the published ones.

The paper's splits are not published, so a cell cannot be compared digit by digit; this
table counts the cells in which more differs than the draw of the splits explains.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import pandas as pd

from drmbench.paper import PublishedCell
from drmbench.report.scores import Scores, TableSource, scores_of
from drmbench.report.statistics import ALPHA, holm, stable, welch
from drmbench.report.table import (
    NO_FIGURE,
    Cell,
    Table,
    count_cell,
    left,
    right,
    signed_cell,
)
from drmbench.words import OPTIMISTIC, metric_words

#: Tables on random splits that print deviations, and how many splits they are over.
_SPLITS_OF_PAPER = {"table3": 5}

_HEADINGS = (
    *("cells", "not rejected", "rejected, ours higher", "rejected, ours lower"),
    *("expected by chance", "median difference", "rejected after Holm"),
)

_DASH = "without a figure in the paper"
_SUBSTITUTED = "on data for which a relative stood in"
_NOT_OURS = "not run or not complete here"


def distribution(scores: Scores, splits: int) -> pd.DataFrame:
    """Test by Welch's test every published cell that can be compared.

    ``scores`` are in paper mode, the protocol of the published figures, which are over
    so many ``splits``. One row per cell, in the paper's order: both figures, the
    statistic ``t``, positive if ours is higher, the p value, and ``p_holm``, corrected
    over all.
    """
    published = scores.source.published
    assert published is not None
    places = [at for at, c in published.cells.items() if not _left_out(scores, c)]
    figures = ["ours_mean", "ours_sd", "paper_mean", "paper_sd", "difference"]
    keys = ["dataset", "paper_dataset", "column", "method", *figures]
    by_place = scores.frame.set_index(["paper_dataset", "column"], drop=False)
    found = by_place.loc[places].reset_index(drop=True)
    tests = [
        welch(
            (cell["ours_mean"], cell["ours_sd"], cell["done"]),
            (cell["paper_mean"], cell["paper_sd"], splits),
            published.digits,
        )
        for cell in found.to_dict("records")
    ]
    p_values = [p for _, p in tests]
    corrected = [stable(p) for p in holm(p_values)]
    return found[keys].assign(
        t=[t for t, _ in tests], p=p_values, p_holm=corrected, failed=found["failed"]
    )


def _left_out(scores: Scores, cell: PublishedCell) -> str:
    """Return why a cell of the paper is not compared; empty if it is."""
    if cell.mean is None or cell.spread is None:
        return _DASH
    if cell.dataset in _substituted(scores):
        return _SUBSTITUTED
    entry = scores.entries.get((cell.dataset, cell.method))
    if entry is None or not entry.ours.complete or math.isnan(entry.ours.spread):
        return _NOT_OURS
    return ""


def _substituted(scores: Scores) -> list[str]:
    return [row.heading for row in scores.rows if row.entry.get("substitute")]


def distribution_table(source: TableSource) -> Table | None:
    """Return counts by method; None if no figure on random splits is published."""
    published = source.published
    splits = _SPLITS_OF_PAPER.get(published.id) if published else None
    if not published or not splits or "paper" not in source.modes:
        return None
    scores = scores_of(source, "paper", published.metric)
    tested = distribution(scores, splits)
    if tested.empty:
        return None
    words = metric_words(published.metric)
    parts = [(name, tested[tested["column"] == name]) for name in published.columns]
    return Table(
        experiment=source.id,
        kind="distribution",
        metric=published.metric,
        mode="paper",
        title=f"{source.title}: {words}, agreement with the paper in distribution",
        columns=(*left("method"), *right(*_HEADINGS)),
        rows=tuple(
            (Cell(name), *_counts(part, source.digits))
            for name, part in [*parts, ("all", tested)]
        ),
        notes=tuple(_notes(scores, tested)),
        frame=tested,
    )


def _counts(part: pd.DataFrame, digits: int) -> tuple[Cell, ...]:
    if part.empty:
        return (count_cell(0), *[Cell(NO_FIGURE)] * (len(_HEADINGS) - 1))
    rejected, expected = part[part["p"] < ALPHA], ALPHA * len(part)
    higher, bad = int((rejected["t"] > 0).sum()), len(rejected)
    return (
        *map(count_cell, (len(part), len(part) - bad, higher, bad - higher)),
        Cell(f"{expected:.2f}", expected),
        signed_cell(float(part["difference"].median()), digits),
        count_cell(int((part["p_holm"] < ALPHA).sum())),
    )


def _notes(scores: Scores, tested: pd.DataFrame) -> Iterator[str]:
    yield (
        "The paper's random splits are not published, so ours are others, and figures"
        " can agree in distribution only. Rejected: by Welch's two-sided t-test at"
        f" {ALPHA:g} of the two means, each with its deviation over splits; more"
        " differs than which splits were drawn. Where both deviations round to zero,"
        " means agree if no more than rounding parts them."
    )
    yield (
        f"Expected by chance: what the test rejects on average, {ALPHA:g} of the cells,"
        " if nothing differs but the splits. Rejected after Holm: with p values"
        f" corrected for all {len(tested)} tests of the table. Median difference: ours"
        " minus the paper's."
    )
    yield (
        "The test takes the splits of a data set as independent draws, which random"
        " splits of given rows are although they share rows; so it speaks of these"
        " rows and not of new samples. It takes accuracies to be normal, which few"
        " test samples make a rough approximation. Methods on a data set share its"
        " splits, so rejections come in groups, and their number varies more than that"
        " of independent tests. Not rejected does not mean equal: with five splits and"
        " the same deviation each, means are told apart from about 1.5 deviations on."
    )
    if counts := Counter(tested["paper_dataset"][tested["p"] < ALPHA]):
        listed = ", ".join(f"{name} {number}" for name, number in counts.items())
        yield f"Rejected by data set: {listed}."
    left = tested[tested["p_holm"] < ALPHA]
    if len(left):
        pairs = zip(left["column"], left["paper_dataset"], strict=True)
        listed = ", ".join(f"{method} on {dataset}" for method, dataset in pairs)
        yield f"Rejected after Holm: {listed}."
    yield (
        "A rejection does not say who is right: what is known to differ in data,"
        " methods and selection is said below the table of scores."
    )
    published = scores.source.published
    assert published is not None
    reasons = Counter(_left_out(scores, cell) for cell in published.cells.values())
    names = {_SUBSTITUTED: f" ({', '.join(_substituted(scores))})"}
    parts = [
        f"{reasons[reason]} {reason}{names.get(reason, '')}"
        for reason in (_DASH, _SUBSTITUTED, _NOT_OURS)
        if reasons[reason]
    ]
    left_out = f" Left out: {'; '.join(parts)}." if parts else ""
    total = len(published.cells)
    yield f"Compared are {len(tested)} of the paper's {total} cells.{left_out}"
    yield f"Ours are in paper mode, so {OPTIMISTIC}."
