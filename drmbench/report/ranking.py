"""The methods of a comparison, best first, as a table."""

from __future__ import annotations

import math

from drmbench.report.table import Cell, Column, Table, left, right
from drmbench.report.verdict import judge, standing_words
from drmbench.running.compare import ranking, seconds_of
from drmbench.running.progress import duration
from drmbench.running.results import Results


def ranking_table(results: Results, *, interim: bool = False) -> Table:
    """Return place, figure, spread and time of each method of a one-data-set run.

    How many splits are done is only shown where not all are; a method without a figure
    has its reason instead. An interim ranking has no methods that have not run.
    """
    cells = ranking(results)
    if interim:
        cells = [cell for cell in cells if cell.done]
    words = standing_words(judge(results))
    partly = any(cell.done != cell.expected for cell in cells)
    rows = []
    for place, cell in enumerate(cells, 1):
        figure = Cell(cell.reason)
        if not math.isnan(cell.mean):
            best = cell.mean == cells[0].mean and cell.done == cells[0].done
            figure = Cell(f"{cell.mean:.4f}", cell.mean, best, title=cell.reason)
        spread = "" if math.isnan(cell.spread) else f"±{cell.spread:.4f}"
        done = "" if cell.done == cell.expected else f"{cell.done}/{cell.expected}"
        time = duration(seconds_of(results, cell.dataset, cell.method))
        row = [Cell(str(place), place), Cell(cell.method), figure, Cell(spread)]
        row += [Cell(words.get(cell.method, ""))] if words else []
        rows.append((*row, *([Cell(done)] if partly else []), Cell(time)))
    splits = right("splits") if partly else ()
    against = left("beside the best") if words else ()
    return Table(
        experiment=results.name,
        kind="ranking",
        metric=results.metric,
        title=results.experiment.title or results.name,
        columns=(
            *(Column("", "right"), *left("method"), *right(results.metric, "sd")),
            *(*against, *splits, *right("time")),
        ),
        rows=tuple(rows),
    )
