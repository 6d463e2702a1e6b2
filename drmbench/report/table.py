"""A table of the report with its marks and footnotes, in four formats.

The same table is written as Markdown, LaTeX and HTML for people and as tidy CSV, with
full precision and one record a cell, for everything else.
"""

from __future__ import annotations

import csv
import html
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from drmbench.report.tables_latex import latex_text

#: One line of a tidy CSV file: value by column.
Record = Mapping[str, object]

#: A LaTeX table with more rows than this breaks over pages.
_ROWS_OF_A_PAGE = 45


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    heading : str
        What stands above it, with its marks.
    align : {"left", "right"}
        Where its cells stand.
    unit : str
        Unit of its numbers, shown in the heading.
    """

    heading: str
    align: Literal["left", "right"] = "left"
    unit: str = ""

    @property
    def text(self) -> str:
        """The heading with its unit."""
        return f"{self.heading} [{self.unit}]" if self.unit else self.heading


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : str
        What is read.
    value : float or None
        The number behind it, with full precision.
    bold : bool
        Whether it is emphasised, as the best of its row.
    mark : str
        Reference to a footnote: †, ‡, ≠, [1] …; several are separated by spaces.
    title : str
        More about it, shown by a browser when one points at it.
    """

    text: str
    value: float | None = None
    bold: bool = False
    mark: str = ""
    title: str = ""


@dataclass(frozen=True)
class ReportTable:
    """A table with its footnotes.

    Attributes
    ----------
    id : str
        Stem of its files, and its anchor on a page.
    title : str
        Its caption.
    columns : tuple of Column
        Headings.
    rows : tuple of tuples of Cell
        The cells.
    footnotes : tuple of str
        What the marks mean, each beginning with its mark.
    notes : tuple of str
        Sentences below the table that belong to no mark.
    records : tuple of mappings
        What the CSV holds, one record a cell; without them it holds the cells' numbers
        (or texts) as they stand in the table.

    Examples
    --------
    >>> columns = (Column("set"), Column("n", "right"))
    >>> row = (Cell("iris"), Cell("150", 150, bold=True, mark="†"))
    >>> print(to_markdown(ReportTable("t", "Sizes", columns, (row,), ("† all",))))
    ### Sizes
    <BLANKLINE>
    | set | n |
    |:---|---:|
    | iris | **150** † |
    <BLANKLINE>
    † all
    <BLANKLINE>
    """

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    footnotes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    records: tuple[Record, ...] = ()


def to_markdown(table: ReportTable) -> str:
    """Return the table as Markdown, ending with a newline."""
    rules = [":---" if c.align == "left" else "---:" for c in table.columns]
    lines = [
        f"### {_markdown(table.title)}",
        "",
        _markdown_line(_markdown(column.text) for column in table.columns),
        f"|{'|'.join(rules)}|",
        *(_markdown_line(map(_markdown_cell, row)) for row in table.rows),
    ]
    below = [f"\n{_markdown(note)}" for note in (*table.footnotes, *table.notes)]
    return "\n".join([*lines, *below]) + "\n"


def _markdown_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: Cell) -> str:
    text = _markdown(cell.text)
    emphasised = f"**{text}**" if cell.bold and text else text
    return f"{emphasised} {cell.mark}".strip()


def _markdown(text: str) -> str:
    return re.sub(r"([\\|*<])", r"\\\1", _one_line(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def to_csv(table: ReportTable) -> str:
    """Return the records as CSV, or the cells of a table that has none.

    Numbers have full precision; what is not there is an empty field.
    """
    records = table.records or _records_of_cells(table)
    stream = io.StringIO()
    names = list(records[0]) if records else [c.text for c in table.columns]
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: _field(v) for k, v in record.items()} for record in records)
    return stream.getvalue()


def _records_of_cells(table: ReportTable) -> list[Record]:
    headings = [column.text for column in table.columns]
    return [
        {
            heading: cell.text if cell.value is None else cell.value
            for heading, cell in zip(headings, row, strict=True)
        }
        for row in table.rows
    ]


def _field(value: object) -> object:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return int(value) if isinstance(value, bool) else value


def to_latex(table: ReportTable) -> str:
    r"""Return the table as LaTeX to ``\input``; needs booktabs, graphicx, longtable.

    A wide table is shrunk to the line, a long one breaks over pages.
    """
    sides = "".join(column.align[0] for column in table.columns)
    head = _latex_line(latex_text(column.text) for column in table.columns)
    body = [_latex_line(map(_latex_cell, row)) for row in table.rows]
    notes = [rf"\par {latex_text(note)}" for note in (*table.footnotes, *table.notes)]
    title = rf"\caption{{{latex_text(table.title)}}}\label{{tab:{anchor(table.id)}}}"
    long = len(table.rows) > _ROWS_OF_A_PAGE
    lines = (_latex_long if long else _latex_float)(title, sides, head, body, notes)
    packages = r"% \usepackage{booktabs,graphicx,longtable}"
    return "\n".join([packages, *lines]) + "\n"


def _latex_float(
    title: str, sides: str, head: str, body: Sequence[str], notes: Sequence[str]
) -> list[str]:
    return [
        r"\begin{table}[htbp]",
        r"\centering\footnotesize",
        title,
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{sides}}}",
        *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
        r"\end{tabular}}",
        *notes,
        r"\end{table}",
    ]


def _latex_long(
    title: str, sides: str, head: str, body: Sequence[str], notes: Sequence[str]
) -> list[str]:
    return [
        r"{\footnotesize",
        rf"\begin{{longtable}}{{{sides}}}",
        rf"{title}\\",
        *(r"\toprule", head, r"\midrule", r"\endhead", *body, r"\bottomrule"),
        r"\end{longtable}",
        *notes,
        r"\par}",
    ]


def _latex_line(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    if cell.bold and text:
        text = rf"\textbf{{{text}}}"
    return text + (rf"\textsuperscript{{{latex_text(cell.mark)}}}" if cell.mark else "")


def to_html(table: ReportTable) -> str:
    """Return the table as an HTML fragment with the table's id as its anchor."""
    head = "".join(
        f'<th scope="col"{_side(column)}>{html.escape(column.text)}</th>'
        for column in table.columns
    )
    body = "\n".join(_html_row(table.columns, row) for row in table.rows)
    notes = "".join(
        f'<p class="{kind}">{html.escape(note)}</p>\n'
        for kind, texts in (("footnote", table.footnotes), ("note", table.notes))
        for note in texts
    )
    return (
        f'<table id="{anchor(table.id)}">\n'
        f"<caption>{html.escape(table.title)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>\n"
        f"{notes}"
    )


def _html_row(columns: Sequence[Column], row: Sequence[Cell]) -> str:
    cells = (
        _html_cell('th scope="row"' if column is columns[0] else "td", column, cell)
        for column, cell in zip(columns, row, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _html_cell(element: str, column: Column, cell: Cell) -> str:
    text = html.escape(cell.text)
    if cell.bold and text:
        text = f"<strong>{text}</strong>"
    mark = f"<sup>{html.escape(cell.mark)}</sup>" if cell.mark else ""
    title = f' title="{html.escape(_one_line(cell.title))}"' if cell.title else ""
    name = element.partition(" ")[0]
    return f"<{element}{_side(column)}{title}>{text}{mark}</{name}>"


def _side(column: Column) -> str:
    return ' class="number"' if column.align == "right" else ""


def anchor(text: str) -> str:
    """Return a text as a file's stem, a label or an anchor can have it.

    Examples
    --------
    >>> anchor("my sets/β")
    'my-sets-'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)
