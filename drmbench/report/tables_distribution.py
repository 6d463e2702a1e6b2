"""Whether our figures on random splits agree in distribution with the published ones.

The paper's splits are not published, so a cell cannot be compared digit by digit; this
table counts the cells in which more differs than the draw of the splits explains.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from drmbench.paper import PublishedCell
from drmbench.report.scores import Scores, TableSource, scores_of
from drmbench.report.statistics import holm
from drmbench.report.statistics_tables import ALPHA
from drmbench.report.table import Cell, Column, Record, ReportTable
from drmbench.report.tables_scores import NO_FIGURE, metric_words, signed, table_id
from drmbench.run.results import Summary
from drmbench.words import OPTIMISTIC

#: Tables on random splits that print deviations, and how many splits they are over.
_SPLITS_OF_PAPER = {"table3": 5}
#: Digits of statistics: versions of scipy differ in the last ones.
_DIGITS = 10

_HEADINGS = (
    "cells",
    "not rejected",
    "rejected, ours higher",
    "rejected, ours lower",
    "expected by chance",
    "median difference",
    "rejected after Holm",
)

_DASH = "without a figure in the paper"
_SUBSTITUTED = "on data for which a relative stood in"
_NOT_OURS = "not run or not complete here"


@dataclass(frozen=True)
class CellTest:
    """A cell with a figure of ours and of the paper's, and Welch's test of the two.

    Attributes
    ----------
    dataset, method : str
        Row and column, as the paper spells them.
    ours : Summary
        Our figure.
    paper_mean, paper_sd : float
        The paper's.
    t, p : float
        Statistic, positive if ours is higher, and two-sided p value.
    p_holm : float
        The p value corrected over all cells of the table.
    """

    dataset: str
    method: str
    ours: Summary
    paper_mean: float
    paper_sd: float
    t: float
    p: float
    p_holm: float = math.nan

    @property
    def difference(self) -> float:
        """Ours minus the paper's."""
        return self.ours.mean - self.paper_mean

    @property
    def rejected(self) -> bool:
        """Whether the draw of the splits does not explain the difference."""
        return self.p < ALPHA


def distribution_tables(source: TableSource) -> list[ReportTable]:
    """Return counts by method; nothing if no figure on random splits is published.

    Parameters
    ----------
    source : TableSource
        The experiments. Only figures in paper mode, the protocol of the published
        ones, are compared with them.
    """
    published = source.published
    if not published or published.id not in _SPLITS_OF_PAPER:
        return []
    if "paper" not in source.modes:
        return []
    comparison = scores_of(source, "paper", published.metric)
    tested = _tested(comparison, _SPLITS_OF_PAPER[published.id])
    if not tested:
        return []
    words = metric_words(published.metric)
    table = ReportTable(
        f"{table_id(source, published.metric, 'paper')}-distribution",
        f"{source.title}: {words}, agreement with the paper in distribution",
        (Column("method"), *(Column(heading, "right") for heading in _HEADINGS)),
        tuple(_rows(published.columns, tested, source.digits)),
        notes=tuple(_notes(comparison, tested)),
        records=tuple(map(_record, tested)),
    )
    return [table]


def _tested(comparison: Scores, splits: int) -> list[CellTest]:
    """Test every cell that can be compared, in the paper's order."""
    published = comparison.source.published
    assert published is not None
    found = [
        _test(cell, comparison.entries[place].ours, splits, published.digits)
        for place, cell in published.cells.items()
        if not _left_out(comparison, cell)
    ]
    corrected = holm([cell.p for cell in found])
    return [
        replace(cell, p_holm=_stable(p))
        for cell, p in zip(found, corrected, strict=True)
    ]


def _left_out(comparison: Scores, cell: PublishedCell) -> str:
    """Return why a cell of the paper is not compared; empty if it is."""
    if cell.mean is None or cell.spread is None:
        return _DASH
    if cell.dataset in _substituted(comparison):
        return _SUBSTITUTED
    entry = comparison.entries.get((cell.dataset, cell.method))
    if entry is None or not entry.ours.complete or math.isnan(entry.ours.spread):
        return _NOT_OURS
    return ""


def _substituted(comparison: Scores) -> list[str]:
    return [row.heading for row in comparison.rows if row.entry.get("substitute")]


def _test(cell: PublishedCell, ours: Summary, splits: int, digits: int) -> CellTest:
    assert cell.mean is not None
    assert cell.spread is not None
    first = (ours.mean, ours.spread, ours.done)
    t, p = welch(first, (cell.mean, cell.spread, splits), digits)
    return CellTest(cell.dataset, cell.method, ours, cell.mean, cell.spread, t, p)


def welch(
    first: tuple[float, float, int], second: tuple[float, float, int], digits: int
) -> tuple[float, float]:
    """Test whether two means differ, by Welch's t-test from their deviations.

    Parameters
    ----------
    first, second : tuple of float, float and int
        Mean, standard deviation and number of values.
    digits : int
        Decimals that figures are rounded to. Where both deviations round to zero there
        is nothing to test with: means agree if no more than rounding parts them.

    Returns
    -------
    t, p : float
        Statistic, positive if the first is higher, and two-sided p value, to ten
        digits.

    Examples
    --------
    >>> welch((0.9, 0.02, 5), (0.88, 0.02, 5), 4)
    (1.58113883, 0.1525022852)
    >>> welch((0.97222, 0.0, 5), (0.9722, 0.0, 5), 4), welch((0.5, 0, 5), (1, 0, 5), 4)
    ((0.0, 1.0), (-inf, 0.0))
    """
    from scipy import stats

    rounding = 0.5 * 10.0**-digits + 1e-9
    if max(first[1], second[1]) <= rounding:
        difference = first[0] - second[0]
        if abs(difference) <= rounding:
            return 0.0, 1.0
        return math.copysign(math.inf, difference), 0.0
    t, p = stats.ttest_ind_from_stats(*first, *second, equal_var=False)
    return _stable(t), _stable(p)


def _stable(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _rows(
    methods: Sequence[str], tested: Sequence[CellTest], digits: int
) -> Iterator[tuple[Cell, ...]]:
    for method in methods:
        part = [cell for cell in tested if cell.method == method]
        yield Cell(method), *_counts(part, digits)
    yield Cell("all"), *_counts(tested, digits)


def _counts(part: Sequence[CellTest], digits: int) -> Iterator[Cell]:
    if not part:
        yield from (Cell("0", 0), *[Cell(NO_FIGURE)] * (len(_HEADINGS) - 1))
        return
    rejected = [cell for cell in part if cell.rejected]
    higher = sum(cell.t > 0 for cell in rejected)
    yield from (_count(len(part)), _count(len(part) - len(rejected)))
    yield from (_count(higher), _count(len(rejected) - higher))
    yield Cell(f"{ALPHA * len(part):.2f}", ALPHA * len(part))
    median = float(np.median([cell.difference for cell in part]))
    yield Cell(signed(median, digits), median)
    yield _count(sum(cell.p_holm < ALPHA for cell in part))


def _count(number: int) -> Cell:
    return Cell(str(number), number)


def _notes(comparison: Scores, tested: Sequence[CellTest]) -> Iterator[str]:
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
    yield from _rejected_notes(tested)
    yield (
        "A rejection does not say who is right: what is known to differ in data,"
        " methods and selection is marked ‡ in the table of scores."
    )
    yield _left_out_note(comparison, len(tested))
    yield f"Ours are in paper mode, so {OPTIMISTIC}."


def _rejected_notes(tested: Sequence[CellTest]) -> Iterator[str]:
    counts = Counter(cell.dataset for cell in tested if cell.rejected)
    if counts:
        listed = ", ".join(f"{name} {number}" for name, number in counts.items())
        yield f"Rejected by data set: {listed}."
    left = [f"{c.method} on {c.dataset}" for c in tested if c.p_holm < ALPHA]
    if left:
        yield f"Rejected after Holm: {', '.join(left)}."


def _left_out_note(comparison: Scores, number: int) -> str:
    published = comparison.source.published
    assert published is not None
    cells = published.cells.values()
    reasons = Counter(_left_out(comparison, cell) for cell in cells)
    names = {_SUBSTITUTED: f" ({', '.join(_substituted(comparison))})"}
    parts = [
        f"{reasons[reason]} {reason}{names.get(reason, '')}"
        for reason in (_DASH, _SUBSTITUTED, _NOT_OURS)
        if reasons[reason]
    ]
    left_out = f" Left out: {'; '.join(parts)}." if parts else ""
    return f"Compared are {number} of the paper's {len(cells)} cells.{left_out}"


def _record(cell: CellTest) -> Record:
    return {
        "dataset": cell.ours.dataset,
        "paper_dataset": cell.dataset,
        "column": cell.method,
        "method": cell.ours.method,
        "ours_mean": cell.ours.mean,
        "ours_sd": cell.ours.spread,
        "paper_mean": cell.paper_mean,
        "paper_sd": cell.paper_sd,
        "difference": cell.difference,
        "t": cell.t,
        "p": cell.p,
        "p_holm": cell.p_holm,
        "failed": cell.ours.failed,
    }
