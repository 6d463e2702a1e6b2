"""Tables of the timing and convergence experiments: seconds and iterations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from drmbench.report.table import Cell, Column, Record, ReportTable
from drmbench.report.tables_scores import NO_FIGURE
from drmbench.report.tables_seconds import machines, seconds_cell
from drmbench.run.results import Results


@dataclass(frozen=True)
class Measured:
    """A quantity of a timing or convergence experiment.

    Attributes
    ----------
    value, spread : str
        Columns of the rows.
    by : str
        Column by which it is told apart, besides data set and method.
    title : str
        What it is.
    heading : str
        Heading of ``by``.
    """

    value: str
    spread: str
    by: str
    title: str
    heading: str


_SECONDS = "seconds for one test example"
MEASURED = {
    "timing": (
        Measured("seconds_example", "seconds_sd", "n_train", _SECONDS, "n (training)"),
    ),
    "convergence": (
        Measured(
            "iterations", "iterations_sd", "beta", "iterations until convergence", "β"
        ),
        Measured("seconds_example", "seconds_sd", "beta", _SECONDS, "β"),
    ),
}


def measured_tables(results: Results) -> list[ReportTable]:
    """Return the tables of a timing or convergence experiment."""
    kinds = MEASURED.get(results.experiment.kind, ())
    return [_measured_table(results, measured) for measured in kinds]


def _measured_table(results: Results, measured: Measured) -> ReportTable:
    stem = measured.value.partition("_")[0]
    title = results.experiment.title or results.name
    rows = results.rows
    return ReportTable(
        f"{results.name}-{stem}",
        f"{title}: {measured.title}",
        (
            Column("data set"),
            Column(measured.heading, "right"),
            *(Column(method, "right") for method in results.methods),
        ),
        tuple(_measured_rows(results, measured)),
        footnotes=tuple(_measured_footnotes(results)),
        notes=(
            f"Mean ± standard deviation over {_examples(rows)} test examples.",
            *machines([results]),
        ),
        records=tuple(_measured_records(rows, measured)),
    )


def _examples(rows: pd.DataFrame) -> str:
    return " or ".join(f"{n:.0f}" for n in sorted(set(rows["examples"].dropna())))


def _measured_rows(results: Results, measured: Measured) -> Iterator[tuple[Cell, ...]]:
    keys = ["dataset", measured.by, "method"]
    cells = {tuple(key): part.iloc[0] for key, part in results.rows.groupby(keys)}
    places = results.rows[["dataset", measured.by]].drop_duplicates()
    order = {name: number for number, name in enumerate(results.datasets)}
    for dataset, by in sorted(
        places.itertuples(index=False), key=lambda place: (order[place[0]], place[1])
    ):
        found = (cells.get((dataset, by, method)) for method in results.methods)
        yield (
            Cell(dataset),
            Cell(f"{by:,.0f}" if measured.by == "n_train" else f"{by:g}", float(by)),
            *(_measured_cell(row, measured) for row in found),
        )


def _measured_cell(row: pd.Series | None, measured: Measured) -> Cell:
    if row is None or row["status"] != "ok":
        reason = "not run" if row is None else f"{row['status']}: {row['reason']}"
        return Cell(NO_FIGURE, title=reason)
    cell = seconds_cell(float(row[measured.value]), float(row[measured.spread]))
    share = float(row.get("converged", 1.0))
    if share >= 1.0:
        return cell
    return Cell(f"{cell.text} ({share:.0%} converged)", cell.value)


def _measured_footnotes(results: Results) -> Iterator[str]:
    bad = results.rows[results.rows["status"] != "ok"]
    for (dataset, method), part in bad.groupby(["dataset", "method"], sort=False):
        first = part.iloc[0]
        yield f"{NO_FIGURE} {dataset}, {method}: {first['status']}: {first['reason']}."
    for name, entry in results.datasets.items():
        if entry.get("missing"):
            yield f"{name} is missing: {entry['missing']}."
        elif entry.get("substitute"):
            yield f"† {name}: {entry['substitute']} stood in for it."
    yield from (f"‡ {text}" for text in results.experiment.deviations)


def _measured_records(rows: pd.DataFrame, measured: Measured) -> Iterator[Record]:
    columns = ["dataset", "method", "n_train", "alpha", "beta", "status", "reason"]
    if "converged" in rows:
        columns.append("converged")
    for _, row in rows[[*columns, measured.value, measured.spread]].iterrows():
        yield {str(name): value for name, value in row.items()}
