"""Tables of scores: ours, the paper's and the difference, with wins and mean ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal

from drmbench.metrics import get_metric
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.scores import (
    DISAGREEMENT,
    DISAGREES,
    DRM_FAMILIES,
    MethodColumn,
    Row,
    Scores,
    TableSource,
    scores_of,
)
from drmbench.report.statistics import complete_part, mean_ranks
from drmbench.report.table import (
    NO_FIGURE,
    Cell,
    Column,
    Footnote,
    Marks,
    Table,
    figure_cell,
    left,
    sentence,
    signed,
)
from drmbench.words import MODES, TABLE_PREPARED, metric_words

View = Literal["ours", "paper", "both", "difference"]

#: The lines that a data set has in a view.
LINES: dict[View, tuple[str, ...]] = {
    "ours": ("ours",),
    "paper": ("paper",),
    "both": ("ours", "paper"),
    "difference": ("difference",),
}
PRINTED_BOLD = "§"
#: Signs that speak for themselves: the same meaning in every table.
SIGNS = {
    DISAGREEMENT: DISAGREES,
    PRINTED_BOLD: "the paper prints it in bold, though another figure of its row is"
    " better.",
}

_Record = Mapping[Any, Any]


def score_table(
    source: TableSource, mode: ScalingMode, metric: str, view: View = "both"
) -> Table:
    """Return the table of a metric in a scaling mode.

    Where the paper has no figures of the metric, it shows ours whatever the view.
    """
    scores = scores_of(source, mode, metric)
    lines = LINES[view] if scores.has_paper else LINES["ours"]
    frame, digits, marks = scores.frame, source.digits, Marks()
    order = shown_order(scores)
    headings = [
        Column(column.heading, "right", mark=marks(*_overrides(scores, column)))
        for column in (scores.columns[i] for i in order)
    ]
    records, rows = iter(frame.to_dict("records")), []
    for row in scores.rows:
        found, entry = list(islice(records, len(scores.columns))), row.entry
        part, mark = [found[i] for i in order], marks(*_row_footnotes(row))
        head = Cell(row.heading, mark=mark, title=str(entry.get("title", "")))
        for line in lines:
            if line == "ours" and entry.get("missing"):
                cells = [Cell("missing", title=entry["missing"])] * len(part)
            elif line == "ours":
                cells = [_ours(record, digits, marks) for record in part]
            elif line == "paper":
                beside = "ours" in lines
                cells = [_theirs(record, digits, beside) for record in part]
                cells = _best_bold(cells, scores.sign)
            else:
                cells = [_difference(record, digits) for record in part]
            if line == "ours" or len(lines) == 1 or any(cell.text for cell in cells):
                rows.append((*_heads(head, line, lines), *cells))
    used = {mark for row in rows for cell in row for mark in cell.mark.split()}
    signs = [Footnote(*sign) for sign in SIGNS.items() if sign[0] in used]
    summaries = tuple(_summary_rows(scores, order, lines))
    return Table(
        experiment=source.id,
        kind="scores",
        metric=metric,
        mode=mode,
        title=f"{source.title}: {metric_words(metric)}, {MODES[mode].title}",
        columns=(
            *left("data set", *(["figure"] if len(lines) > 1 else [])),
            *headings,
        ),
        rows=(*rows, *summaries),
        summaries=len(summaries),
        footnotes=(*marks.footnotes, *signs),
        notes=tuple(_notes(scores, lines)),
        frame=frame,
    )


def shown_order(scores: Scores) -> list[int]:
    """Return the places of the columns: the DRM's first, then the best by mean rank."""
    drm = {
        label
        for results in (*scores.source.lenders, *scores.source.results)
        for label, entry in results.methods.items()
        if entry.get("family") in DRM_FAMILIES
    }
    ranks = mean_ranks(scores.ranked_scores())

    def place(number: int) -> tuple[bool, float]:
        column = scores.columns[number]
        if drm & set(column.labels):
            return False, 0.0
        rank = float(ranks.get(column.heading, math.nan))
        return True, math.inf if math.isnan(rank) else rank

    return sorted(range(len(scores.columns)), key=place)


def _heads(head: Cell, line: str, lines: Sequence[str]) -> tuple[Cell, ...]:
    return (head, Cell(line)) if len(lines) > 1 else (head,)


def _ours(record: _Record, digits: int, marks: Marks) -> Cell:
    """Return our figure, marked with its reason if it has one."""
    mark, text, done = "", record["reason"], record["done"]
    if text:
        if 0 < record["failed"] < done:
            worst = get_metric(record["metric"]).worst
            text = f"{record['failed']} of {done} splits count as {worst:g}: {text}"
        mark = marks(sentence(text))
    cell = figure_cell(record["ours_mean"], record["ours_sd"], digits)
    begun = 0 < done < record["expected"]
    shown = cell.text + (f" ({done}/{record['expected']})" if begun else "")
    if cell.value is None:
        return Cell(shown, mark=mark, title=record["reason"])
    title = f"{done} of {record['expected']} splits, scaling {record['scaling']}"
    return Cell(shown, cell.value, record["best"], mark, title)


def _difference(record: _Record, digits: int) -> Cell:
    """Return ours minus the paper's figure, empty where there is none."""
    value = record["difference"]
    if math.isnan(value):
        return Cell("")
    return Cell(signed(value, digits), value, mark=record["mark"])


def _theirs(record: _Record, digits: int, beside: bool) -> Cell:
    """Return the paper's figure, marked if it stands beside ours and disagrees."""
    if record["paper_best"] is None:
        return Cell("")
    cell = figure_cell(record["paper_mean"], record["paper_sd"], digits)
    bold = record["paper_best"] and cell.value is not None
    return replace(cell, bold=bold, mark=record["mark"] if beside else "")


def _best_bold(cells: Sequence[Cell], sign: int) -> list[Cell]:
    """Return the paper's figures with the best in bold, and a mark on what else was."""
    figures = [sign * cell.value for cell in cells if cell.value is not None]
    best = sign * max(figures, default=math.nan)
    return [
        replace(cell, bold=False, mark=f"{cell.mark} {PRINTED_BOLD}".strip())
        if cell.bold and cell.value != best
        else replace(cell, bold=cell.value == best)
        for cell in cells
    ]


def _summary_rows(
    scores: Scores, order: Sequence[int], lines: Sequence[str]
) -> Iterator[tuple[Cell, ...]]:
    """Give wins and mean ranks of ours and of the paper's, as far as they are shown."""
    ours, paper = scores.ranked_scores(), scores.published_scores()
    wins = {
        "ours": scores.wins()[scores.scores().notna().any()],
        "paper": scores.wide(scores.frame["paper_best"]).sum()[paper.columns],
    }
    dashes_last = paper.dropna(how="all").fillna(-1.0)
    ranks = {"ours": mean_ranks(ours), "paper": mean_ranks(dashes_last)}
    counted = not complete_part(ours).means.empty
    for title, found, digits in (("wins", wins, 0), ("mean rank", ranks, 2)):
        for line in [name for name in lines if name in found]:
            values = found[line] if counted or line == "paper" else found[line][:0]
            values = values.astype(float).round(digits)
            best = values.max() if title == "wins" else values.min()
            cells = []
            for column in (scores.columns[i] for i in order):
                value = float(values.get(column.heading, math.nan))
                if math.isnan(value):
                    none = line == "paper" and column.added
                    cells.append(Cell("" if none else NO_FIGURE))
                else:
                    text, is_best = f"{value:.{digits}f}", bool(value == best)
                    cells.append(Cell(text, value, is_best))
            yield (*_heads(Cell(title), line, lines), *cells)


def _overrides(scores: Scores, column: MethodColumn) -> dict[str, None]:
    """Return the other ways in which a column's parameters were selected."""
    texts: dict[str, None] = {}
    for results in scores.source.results:
        found = results.selection_overrides(scores.mode)
        texts |= dict.fromkeys(sentence(found[x]) for x in column.labels if x in found)
    return texts


def _row_footnotes(row: Row) -> Iterator[str]:
    """Give what is to be known of a data set: a stand-in, a remark, why it is away."""
    entry, note = row.entry, row.entry.get("note") or ""
    if substitute := entry.get("substitute"):
        text = f"{row.heading}: {substitute} stood in for it"
        yield sentence(f"{text}: {note}" if note else text)
    elif note:
        yield f"{row.heading}: {sentence(note)}"
    if missing := entry.get("missing"):
        how = f" `{entry['get']}` would get it." if entry.get("get") else ""
        yield f"{row.heading} is missing: {sentence(missing)}{how}"


def _notes(scores: Scores, lines: Sequence[str]) -> Iterator[str]:
    """Give the sentences below a table that shows some of ours, paper, difference."""
    source = scores.source
    splits = {int(row.entry["splits"]) for row in scores.rows}
    if "ours" in lines and max(splits, default=1) > 1:
        counts = " or ".join(map(str, sorted(splits)))
        yield (
            f"Ours is mean ± standard deviation over {counts} splits; a count in"
            " brackets says how many are done where not all are."
        )
    yield MODES[scores.mode].note
    if any(results.experiment.preparation == "table" for results in source.results):
        yield f"{TABLE_PREPARED}."
    yield from dict.fromkeys(
        f"Selection of parameters: {text}."
        for results in source.results
        if (text := results.selection(scores.mode))
    )
    yield from dict.fromkeys(
        sentence(text)
        for results in source.results
        for text in results.experiment.deviations
    )
    for lender in source.lenders:
        overrides = lender.selection_overrides(scores.mode)
        texts: dict[str, list[str]] = {}
        for label in (x for x in scores.lent if x in lender.methods):
            text = overrides.get(label) or lender.selection(scores.mode)
            texts.setdefault(text, []).append(label)
        for text, those in texts.items():
            listed = " and ".join(those)
            yield f"{listed} are those of {lender.name}; selection: {text}."
    if "ours" in lines:
        yield _block_note(scores)
    if "paper" in lines:
        yield (
            "Wins of the paper's are what it prints in bold; its mean ranks are among"
            " its own columns, and a dash is last."
        )
    if scores.splits_columns:
        yield (
            "The paper's columns are the higher of two kernels or distances on the test"
            " parts. This mode makes no choice there, so each has a column of its own;"
            " the paper's figures are beside ours in paper mode."
        )
    for column in scores.columns:
        if len(column.labels) > 1:
            yield (
                f"{column.heading} is the higher of {' and '.join(column.labels)} on"
                " the test parts, as the paper reports it."
            )
    if absent := ", ".join(source.absent_rows()):
        yield f"Rows of the paper that these experiments do not have: {absent}."


def _block_note(scores: Scores) -> str:
    """Say over which data sets wins and ranks are, and who is not ranked."""
    part = complete_part(scores.ranked_scores())
    text = (
        "Bold is the best complete figure of a row as printed, of all methods shown."
        f" Wins and mean ranks of ours are over the {len(part.means)} of"
        f" {len(scores.rows)} data sets on which every ranked method is complete."
    )
    names = (*part.dropped_methods, *(column.heading for column in scores.unranked))
    if names and len(part.means):
        there = scores.scores().notna().sum()
        counts = ", ".join(f"{name} ({there[name]})" for name in names)
        text += (
            " Not ranked, because they have no figure on some of these (in brackets,"
            f" on how many data sets they have one): {counts}."
        )
    return text
