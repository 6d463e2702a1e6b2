"""Tables on the page: made from plain values, and shown in a region that scrolls.

Every cell carries the number behind its text, by which the page's script sorts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from drmbench.report.markup import Html, bullets, joined, tag
from drmbench.report.table import Cell, Column, Table, anchor

#: First cells of the rows that sum up the others; they stay below when rows are sorted.
SUMMARIES = ("wins", "mean rank")
#: Columns from which a table is printed in smaller letters.
WIDE = 16
#: Letters from which a cell's text is broken into lines.
LONG = 30


def plain_table(
    name: str,
    title: str,
    headings: Sequence[str],
    cells: Iterable[Sequence[str | int]],
) -> Table:
    """Return a table of texts and whole numbers; columns of numbers align right."""
    lines = [tuple(row) for row in cells]
    columns = tuple(
        Column(heading, "right" if _all_numbers(lines, number) else "left")
        for number, heading in enumerate(headings)
    )
    rows = tuple(tuple(map(_plain_cell, line)) for line in lines)
    return Table(experiment=name, kind="", title=title, columns=columns, rows=rows)


def _all_numbers(lines: Sequence[Sequence[object]], column: int) -> bool:
    return bool(lines) and all(isinstance(line[column], int) for line in lines)


def _plain_cell(value: str | int) -> Cell:
    if isinstance(value, int):
        return Cell(f"{value:,}", float(value))
    return Cell(value)


def shown(table: Table) -> Html:
    """Return a table in a region that scrolls, its footnotes and notes below."""
    name = anchor(table.id)
    head = tag("tr", *(_heading(column) for column in table.columns))
    body = [row for row in table.rows if row[0].text not in SUMMARIES]
    foot = [row for row in table.rows if row[0].text in SUMMARIES]
    element = tag(
        "table",
        tag("caption", tag("span", table.title), id=f"{name}-caption"),
        tag("thead", head),
        tag("tbody", *(_row(table.columns, row) for row in body)),
        tag("tfoot", *(_row(table.columns, row) for row in foot)) if foot else "",
        id=name,
        class_="wide" if len(table.columns) > WIDE else False,
    )
    region = tag(
        "div",
        element,
        class_="scroll",
        role="region",
        tabindex="0",
        aria_labelledby=f"{name}-caption",
    )
    below = (*table.footnotes, *table.notes)
    return joined([region, bullets(below, class_="notes")] if below else [region])


def _heading(column: Column) -> Html:
    number = column.align == "right"
    return tag("th", column.text, scope="col", class_=number and "number")


def _row(columns: Sequence[Column], row: Sequence[Cell]) -> Html:
    return tag(
        "tr",
        *(
            _cell(column, cell, header=number == 0)
            for number, (column, cell) in enumerate(zip(columns, row, strict=True))
        ),
    )


def _cell(column: Column, cell: Cell, *, header: bool) -> Html:
    text = tag("strong", cell.text) if cell.bold and cell.text else cell.text
    return tag(
        "th" if header else "td",
        text,
        tag("sup", cell.mark) if cell.mark else "",
        scope=header and "row",
        class_=_class(column, cell),
        title=cell.title or False,
        data_value=False if cell.value is None else f"{cell.value!r}",
    )


def _class(column: Column, cell: Cell) -> str | bool:
    if column.align == "right":
        return "number"
    return "long" if len(cell.text) > LONG else False
