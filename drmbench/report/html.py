"""HTML from Jinja2 templates, in which all text is escaped that is not markup."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from drmbench.report.table import Table, anchor

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
    environment.globals.update(WIDE=WIDE, LONG=LONG)
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


def to_html(table: Table) -> str:
    """Return a table as an HTML fragment with the table's id as its anchor.

    Examples
    --------
    >>> from drmbench.report.table import Cell, Column
    >>> rows = ((Cell("150", 150),),)
    >>> table = Table(
    ...     experiment="t", kind="", title="A & B", columns=(Column("n"),), rows=rows
    ... )
    >>> print(to_html(table))
    <table id="t">
    <caption>A &amp; B</caption>
    <thead><tr><th scope="col">n</th></tr></thead>
    <tbody>
    <tr><th scope="row">150</th></tr>
    </tbody></table>
    """
    macros: Any = _environment().get_template("table.html.j2").module
    return str(macros.alone(table))


def to_html_page(table: Table) -> str:
    """Return a table as an HTML page of its own."""
    return str(render("table_page.html.j2", table=table))
