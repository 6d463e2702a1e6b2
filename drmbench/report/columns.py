"""What was done with each column of a person's own table, as a table."""

from __future__ import annotations

from drmbench.data.dataset import Dataset
from drmbench.errors import shortened
from drmbench.report.table import Cell, Table, count_cell, left, right

#: Levels of a column that are shown, and characters of each and of a name.
_SHOWN_LEVELS, _SHOWN_LETTERS = 4, 40


def columns_table(dataset: Dataset) -> Table:
    """Return role, levels, missing values and reason of each column of the file."""
    rows = []
    for column in dataset.columns:
        first = column.levels[:_SHOWN_LEVELS]
        levels = ", ".join(shortened(level, _SHOWN_LETTERS) for level in first)
        if len(column.levels) > _SHOWN_LEVELS:
            levels += f", … ({len(column.levels)})"
        missing = count_cell(column.missing) if column.missing else Cell("")
        row = (Cell(shortened(column.name, _SHOWN_LETTERS)), Cell(column.role), missing)
        rows.append((*row, Cell(levels), Cell(column.why)))
    headings = (*left("column", "used as"), *right("missing"), *left("levels", "why"))
    return Table(
        experiment=dataset.name,
        kind="columns",
        title=f"Columns of {dataset.name}",
        columns=headings,
        rows=tuple(rows),
    )
