"""The time that selection, fitting and prediction took, and on which machine."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from drmbench.protocol.protocol import ScalingMode
from drmbench.report.scores import MODE_TITLES, TableSource
from drmbench.report.table import Cell, Column, ReportTable
from drmbench.report.tables_scores import NO_FIGURE
from drmbench.run.results import Results

STAGES = {
    "seconds_select": "select",
    "seconds_fit": "fit",
    "seconds_predict": "predict",
}


def seconds_table(source: TableSource, mode: ScalingMode) -> ReportTable:
    """Return the time that selection, fitting and prediction took, mean over splits.

    In paper mode a split is run unscaled and scaled; the time is of one of the two.
    """
    methods = list(dict.fromkeys(m for r in source.results for m in r.methods))
    means = {r.name: _mean_seconds(r, mode) for r in source.results}
    records = [
        record
        for row in source.rows()
        for record in _seconds_records(row.results[0], row.dataset, methods, means)
    ]
    return ReportTable(
        f"{source.id}-seconds-{mode}-mode",
        f"{source.title}: the time it took, {MODE_TITLES[mode]}",
        (
            Column("data set"),
            Column("step"),
            *(Column(method, "right", "s") for method in methods),
        ),
        tuple(_seconds_rows(records, methods)),
        notes=(
            "Seconds of wall-clock time on one split, mean over the splits that"
            " succeeded.",
            *machines(source.results),
        ),
        records=tuple(records),
    )


def _mean_seconds(results: Results, mode: str) -> pd.DataFrame:
    rows = results.rows
    done = rows[(rows["mode"] == mode) & (rows["status"] == "ok")]
    return done.groupby(["dataset", "method"])[list(STAGES)].mean()


def _seconds_records(
    results: Results, dataset: str, methods: Sequence[str], means: dict[str, Any]
) -> Iterator[dict[str, object]]:
    frame = means[results.name]
    for method in methods:
        there = (dataset, method) in frame.index
        for column, step in STAGES.items():
            seconds = float(frame.loc[(dataset, method), column]) if there else None
            yield {
                "experiment": results.name,
                "dataset": dataset,
                "method": method,
                "step": step,
                "seconds": seconds,
            }


def _seconds_rows(
    records: Sequence[dict[str, Any]], methods: Sequence[str]
) -> Iterator[tuple[Cell, ...]]:
    by_place = {(r["dataset"], r["step"], r["method"]): r["seconds"] for r in records}
    for dataset in dict.fromkeys(r["dataset"] for r in records):
        for step in STAGES.values():
            cells = (seconds_cell(by_place[dataset, step, m]) for m in methods)
            yield Cell(dataset), Cell(step), *cells


def seconds_cell(seconds: float | None, spread: float | None = None) -> Cell:
    """Return a time with three significant digits, or a dash.

    Examples
    --------
    >>> seconds_cell(0.00012345).text, seconds_cell(1234.5).text
    ('0.000123', '1230')
    """
    if seconds is None or math.isnan(seconds):
        return Cell(NO_FIGURE)
    text = three_digits(seconds)
    if spread is not None and not math.isnan(spread):
        text += f" ± {three_digits(spread)}"
    return Cell(text, seconds)


def three_digits(value: float) -> str:
    """Return a number with three significant digits and no exponent.

    Examples
    --------
    >>> three_digits(0.0123), three_digits(12345.0)
    ('0.0123', '12300')
    """
    if not value:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, 2 - math.floor(math.log10(abs(value)))):.{decimals}f}"


def machines(results: Sequence[Results]) -> list[str]:
    """Say on which machines experiments were run."""
    facts = (_machine(found.manifest.get("environment") or {}) for found in results)
    return [f"Measured on {fact}." for fact in dict.fromkeys(facts) if fact]


def _machine(environment: dict[str, Any]) -> str:
    parts = {
        "cpu": "{}",
        "cores": "{} cores",
        "memory": "{} of memory",
        "threads": "BLAS threads: {}",
        "blas": "{}",
        "python": "Python {}",
        "platform": "{}",
    }
    return ", ".join(
        text.format(environment[key])
        for key, text in parts.items()
        if key in environment
    )
