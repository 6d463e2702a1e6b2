"""In no committed table is a figure bold that is not the best of its row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from drmbench.metrics import get_metric
from drmbench.report.table import Cell, Table


@pytest.fixture
def tables(committed_tables: list[Table]) -> list[Table]:
    return committed_tables


def figures(row: tuple[Cell, ...]) -> list[Cell]:
    """Return the complete figures of a row: a count in brackets is of the others."""
    return [c for c in row if c.value is not None and not c.text.endswith(")")]


def rows_with_bold(tables: list[Table]) -> Iterator[tuple[Table, tuple[Cell, ...]]]:
    for table in tables:
        for row in table.rows:
            if any(cell.bold and cell.value is not None for cell in row):
                yield table, row


def test_bold_is_the_best_of_all_methods_shown(tables):
    """As printed: figures that read the same are bold together."""
    seen = 0
    for table, row in rows_with_bold(tables):
        lower = row[0].text == "mean rank" or get_metric(table.metric).better == "lower"
        there = figures(row)
        printed = [float(cell.text.partition(" ")[0]) for cell in there]
        best = min(printed) if lower else max(printed)
        expected = [value == best for value in printed]
        assert [cell.bold for cell in there] == expected, (table.id, row[0].text)
        assert not any(cell.bold for cell in row if cell not in there)
        seen += 1
    assert seen > 500


def test_every_row_of_scores_has_a_bold_figure(tables):
    """So that the test above cannot pass because nothing is bold."""
    scores = [table for table in tables if table.kind == "scores"]
    assert len(scores) > 20
    for table in scores:
        for row in table.rows[: len(table.rows) - table.summaries]:
            line = row[1].text
            if figures(row) and line != "difference":
                assert any(cell.bold for cell in row), (table.id, row[0].text, line)


def test_svm_balanced_is_bold_where_it_is_best(tables):
    """The finding that began it: 0.6395 on haberman, where 0.6198 was bold."""
    (table,) = (t for t in tables if t.id == "table8-gmean-honest-mode")
    headings = [column.heading for column in table.columns]
    row = next(r for r in table.rows if (r[0].text, r[1].text) == ("haberman", "ours"))
    bold = [h for h, cell in zip(headings, row, strict=True) if cell.bold]
    assert bold == ["svm-balanced"]
