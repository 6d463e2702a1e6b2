"""Reading the tables that results give: by id, cell by cell, as records."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from drmbench.report.html import to_html_page
from drmbench.report.render import to_csv
from drmbench.report.table import Table
from drmbench.report.tables import experiment_tables
from drmbench.running.results import load_results


def tables_of(folder: Path, **options) -> dict[str, Table]:
    return {t.id: t for t in experiment_tables(load_results(folder), **options)}


def cells(table: Table) -> dict[tuple[str, ...], dict[str, object]]:
    """Return the cells by the row's texts on the left, then by heading."""
    left = [i for i, c in enumerate(table.columns) if c.align == "left"]
    return {
        tuple(row[i].text for i in left): {
            column.heading: cell
            for column, cell in zip(table.columns, row, strict=True)
        }
        for row in table.rows
    }


def to_html(table: Table) -> str:
    """Return what stands on the page of a table."""
    _, _, rest = to_html_page(table).partition("<body>\n")
    return rest.removesuffix("</body>\n</html>\n")


def records(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(table))))
