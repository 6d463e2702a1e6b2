"""Tables of scores: ours, the paper's and the difference, with wins and mean ranks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import pandas as pd

from drmbench.metrics import get_metric
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.scores import (
    DISAGREES,
    MODE_TITLES,
    Row,
    ScoreCell,
    Scores,
    TableSource,
    merges,
    scores_of,
)
from drmbench.report.statistics import complete_part, mean_ranks, win_counts
from drmbench.report.table import Cell, Column, Record, ReportTable
from drmbench.report.tables_marks import (
    DISAGREEMENT,
    Footnotes,
    column_mark,
    row_mark,
    source_footnotes,
)
from drmbench.report.tables_notes import score_notes

View = Literal["ours", "paper", "both", "difference"]

#: The lines that a data set has in a view.
LINES: dict[View, tuple[str, ...]] = {
    "ours": ("ours",),
    "paper": ("paper",),
    "both": ("ours", "paper", "difference"),
    "difference": ("difference",),
}
NO_FIGURE = "–"


def score_table(
    source: TableSource, mode: ScalingMode, metric: str, view: View = "both"
) -> ReportTable:
    """Return the table of a metric in a scaling mode.

    Parameters
    ----------
    source : TableSource
        The experiments.
    mode : {"honest", "paper", "none", "maxabs"}
        Scaling mode of our figures.
    metric : str
        A one-number metric of the rows.
    view : {"ours", "paper", "both", "difference"}
        What to show; where the paper has no figures of the metric, ours.
    """
    comparison = scores_of(source, mode, metric)
    lines = LINES[view] if comparison.has_paper else LINES["ours"]
    footnotes = Footnotes(metric)
    rows = [
        (*_row_heads(row, line, lines), *cells)
        for row in comparison.rows
        for line, cells in _row_lines(comparison, row, lines, footnotes)
    ]
    return ReportTable(
        table_id(source, metric, mode),
        f"{source.title}: {metric_words(metric)}, {MODE_TITLES[mode]}",
        (*_head_columns(lines), *_method_columns(source, comparison.mode)),
        (*rows, *_summary_rows(comparison, lines)),
        tuple(_footnotes(comparison, lines, footnotes)),
        tuple(score_notes(comparison, lines)),
        tuple(_records(comparison)),
    )


def table_id(source: TableSource, metric: str, mode: ScalingMode) -> str:
    """Return the id of a table of scores, which other tables' ids extend."""
    return f"{source.id}-{metric.replace('_', '-')}-{mode}-mode"


def metric_words(metric: str) -> str:
    """Return what a metric is called within a title.

    Examples
    --------
    >>> metric_words("gmean"), metric_words("balanced_accuracy")
    ('G-mean', 'balanced accuracy')
    """
    label = get_metric(metric).label.partition(" (")[0]
    return label if label[1:2] in "-1" else label[0].lower() + label[1:]


def _head_columns(lines: Sequence[str]) -> tuple[Column, ...]:
    return (Column("data set"), *([Column("figure")] if len(lines) > 1 else []))


def _method_columns(source: TableSource, mode: ScalingMode) -> Iterator[Column]:
    for column in source.columns(merged=merges(mode)):
        mark = column_mark(source, column, mode)
        yield Column(f"{column.heading} {mark}".strip(), "right")


def _row_heads(row: Row, line: str, lines: Sequence[str]) -> tuple[Cell, ...]:
    head = Cell(row.heading, mark=row_mark(row), title=str(row.entry.get("title", "")))
    return (head, Cell(line)) if len(lines) > 1 else (head,)


def _row_lines(
    comparison: Scores, row: Row, lines: Sequence[str], footnotes: Footnotes
) -> Iterator[tuple[str, list[Cell]]]:
    entries, digits = comparison.of_row(row), comparison.source.digits
    for line in lines:
        if line == "ours":
            yield line, _ours_of_row(comparison, row, footnotes)
        else:
            cell = _paper if line == "paper" else _difference
            cells = [cell(entry, digits) for entry in entries]
            if any(cell.text for cell in cells) or len(lines) == 1:
                yield line, cells


def _ours_of_row(comparison: Scores, row: Row, footnotes: Footnotes) -> list[Cell]:
    if row.entry.get("missing"):
        return [Cell("missing", title=row.entry["missing"])] * len(comparison.columns)
    best, digits = comparison.best_of_row(row), comparison.source.digits
    return [
        _ours(entry, digits, column.heading in best, footnotes)
        for column, entry in zip(
            comparison.columns, comparison.of_row(row), strict=True
        )
    ]


def _ours(entry: ScoreCell, digits: int, best: bool, footnotes: Footnotes) -> Cell:
    ours = entry.ours
    mark = footnotes.mark(ours)
    begun = 0 < ours.done < ours.expected
    count = f" ({ours.done}/{ours.expected})" if begun else ""
    if math.isnan(ours.mean):
        return Cell(NO_FIGURE + count, mark=mark, title=ours.reason)
    text = mean_and_spread_text(ours.mean, ours.spread, digits) + count
    title = f"{ours.done} of {ours.expected} splits, scaling {ours.scaling}"
    return Cell(text, ours.mean, best, mark, title)


def mean_and_spread_text(mean: float, spread: float | None, digits: int) -> str:
    """Return ``mean ± spread``, or the mean alone where there is no spread.

    Examples
    --------
    >>> mean_and_spread_text(0.5, 0.1, 4), mean_and_spread_text(0.5, math.nan, 2)
    ('0.5000 ± 0.1000', '0.50')
    """
    if spread is None or math.isnan(spread):
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ± {spread:.{digits}f}"


def _paper(entry: ScoreCell, digits: int) -> Cell:
    paper = entry.paper
    if paper is None or paper.mean is None:
        return Cell(NO_FIGURE if paper else "")
    text = mean_and_spread_text(paper.mean, paper.spread, digits)
    return Cell(text, paper.mean, paper.bold)


def _difference(entry: ScoreCell, digits: int) -> Cell:
    if math.isnan(entry.difference):
        return Cell("")
    mark = DISAGREEMENT if entry.disagrees else ""
    return Cell(signed(entry.difference, digits), entry.difference, mark=mark)


def signed(value: float, digits: int) -> str:
    """Return a difference with its sign, but for one that is printed as zero.

    Examples
    --------
    >>> signed(0.01234, 4), signed(-0.5, 1), signed(-0.00001, 4)
    ('+0.0123', '−0.5', '0.0000')
    """
    text = f"{abs(value):.{digits}f}"
    if not float(text):
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def _summary_rows(
    comparison: Scores, lines: Sequence[str]
) -> Iterator[tuple[Cell, ...]]:
    """Give wins and mean ranks of ours and of the paper's, as far as they are shown."""
    ours, paper = comparison.ranked_scores(), comparison.published_scores()
    # What is printed the same is a tie, as bold shows it; the paper's bold is its own.
    wins = {
        "ours": win_counts(ours.round(comparison.source.digits)),
        "paper": _published_wins(comparison),
    }
    ranks = {"ours": mean_ranks(ours), "paper": mean_ranks(dashes_last(paper))}
    counted = not complete_part(ours).means.empty
    for title, found, text in (
        ("wins", wins, "{:.0f}"),
        ("mean rank", ranks, "{:.2f}"),
    ):
        for line in [name for name in lines if name in found]:
            values = found[line] if counted or line == "paper" else found[line][:0]
            heads = [Cell(title), Cell(line)] if len(lines) > 1 else [Cell(title)]
            yield (*heads, *_summary_cells(comparison, values, text, title))


def _published_wins(comparison: Scores) -> pd.Series:
    """Count the figures that the paper prints in bold."""
    entries = comparison.entries.items()
    bold = Counter(column for (_, column), e in entries if e.paper and e.paper.bold)
    return pd.Series({c.heading: bold[c.heading] for c in comparison.ranked})


def dashes_last(published: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's scores with a dash as the worst of its data set."""
    return published.dropna(how="all").fillna(-1.0)


def _summary_cells(
    comparison: Scores, found: pd.Series, text: str, title: str
) -> Iterator[Cell]:
    best = found.max() if title == "wins" else found.min()
    for column in comparison.columns:
        value = float(found.get(column.heading, math.nan))
        if math.isnan(value):
            yield Cell(NO_FIGURE if column in comparison.ranked else "")
        else:
            yield Cell(text.format(value), value, bold=bool(value == best))


def _footnotes(
    comparison: Scores, lines: Sequence[str], footnotes: Footnotes
) -> Iterator[str]:
    yield from source_footnotes(comparison.source, comparison.mode)
    if "difference" in lines and any(e.disagrees for e in comparison.entries.values()):
        yield f"{DISAGREES}."
    yield from footnotes.lines()


def _records(comparison: Scores) -> Iterator[Record]:
    for row in comparison.rows:
        best = comparison.best_of_row(row)
        for column, entry in zip(
            comparison.columns, comparison.of_row(row), strict=True
        ):
            ours, paper = entry.ours, entry.paper
            yield {
                "table": comparison.source.id,
                "experiment": row.results[0].name,
                "dataset": row.dataset,
                "paper_dataset": row.published,
                "column": column.heading,
                "method": ours.method,
                "mode": comparison.mode,
                "metric": comparison.metric,
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
