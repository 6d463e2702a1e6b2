"""What is made of scores: each analysis a function from frame to frame, and its table.

An analysis is added by a module with two functions, ``x`` that returns a tidy frame and
``x_table`` that lays it out, and a line in :func:`tables_of_source`.
"""

from __future__ import annotations

from collections.abc import Iterator

from drmbench.report.analyses.agreement import agreement_tables, rules_tables
from drmbench.report.analyses.comparison import View, score_table
from drmbench.report.analyses.distribution import distribution_table
from drmbench.report.analyses.naive import naive_tables
from drmbench.report.analyses.seconds import seconds_table
from drmbench.report.analyses.significance import significance_tables
from drmbench.report.analyses.worth import modes_table, worth_table
from drmbench.report.scores import TableSource
from drmbench.report.table import Table


def tables_of_source(
    source: TableSource, view: View = "both", metric: str | None = None
) -> Iterator[Table]:
    """Give all tables of the experiments that are shown as one.

    ``view`` is what tables of scores show; ``metric`` is the only one that is shown,
    None all there are, the table's own first.
    """
    metrics = [m for m in source.metrics if metric in (None, m)]
    for name in metrics:
        yield from (score_table(source, mode, name, view) for mode in source.modes)
    for name in metrics[:1]:
        yield from filter(None, (modes_table(source, name), worth_table(source, name)))
        for mode in source.modes:
            yield from significance_tables(source, mode, name)
    yield from agreement_tables(source)
    yield from rules_tables(source)
    yield from filter(None, [distribution_table(source)])
    yield from (seconds_table(source, mode) for mode in source.modes)
    yield from naive_tables(source)
