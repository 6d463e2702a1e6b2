"""What was done with each column of a person's own table, as a table."""

from __future__ import annotations

from drmbench.data.dataset import Dataset
from drmbench.report.table import Cell, Table, count_cell, left, right

_SHOWN_LEVELS = 4


def columns_table(dataset: Dataset) -> Table:
    """Return role, levels, missing values and reason of each column of the file."""
    rows = []
    for column in dataset.columns:
        levels = ", ".join(column.levels[:_SHOWN_LEVELS])
        if len(column.levels) > _SHOWN_LEVELS:
            levels += f", … ({len(column.levels)})"
        missing = count_cell(column.missing) if column.missing else Cell("")
        row = (Cell(column.name), Cell(column.role), missing)
        rows.append((*row, Cell(levels), Cell(column.why)))
    headings = (*left("column", "used as"), *right("missing"), *left("levels", "why"))
    return Table(
        experiment=dataset.name,
        kind="columns",
        title=f"Columns of {dataset.name}",
        columns=headings,
        rows=tuple(rows),
    )
