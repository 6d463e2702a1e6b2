"""HTML from Jinja2 templates, in which all text is escaped that is not markup."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from drmbench.report.table import ReportTable, anchor

#: First cells of the rows that sum up the others; they stay below when rows are sorted.
SUMMARIES = ("wins", "mean rank")
#: Columns from which a table on the page is printed in smaller letters.
WIDE = 16
#: Letters from which a cell's text on the page is broken into lines.
LONG = 30


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(SUMMARIES=SUMMARIES, WIDE=WIDE, LONG=LONG)
    environment.filters["anchor"] = anchor
    return environment


def render(template: str, **values: Any) -> Markup:
    """Return a template of the package, filled in.

    Parameters
    ----------
    template : str
        Name of its file in ``drmbench/report/templates``.
    **values
        What it speaks of; text is escaped unless it is ``Markup``.
    """
    return Markup(_environment().get_template(template).render(values))


def table_html(table: ReportTable) -> Markup:
    """Return a table as an HTML fragment with the table's id as its anchor.

    Examples
    --------
    >>> from drmbench.report.table import Cell, Column
    >>> table = ReportTable("t", "A & B", (Column("n"),), ((Cell("150", 150),),))
    >>> print(table_html(table))
    <table id="t">
    <caption>A &amp; B</caption>
    <thead><tr><th scope="col">n</th></tr></thead>
    <tbody>
    <tr><th scope="row">150</th></tr>
    </tbody></table>
    """
    macros: Any = _environment().get_template("table.html.j2").module
    return Markup(macros.alone(table))
