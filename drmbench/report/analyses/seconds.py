"""Times: of selection, fitting and prediction, and what solvers were measured for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from drmbench.protocol.protocol import ScalingMode
from drmbench.report.scores import TableSource
from drmbench.report.table import (
    NO_FIGURE,
    Cell,
    Column,
    Table,
    right_columns,
    seconds_cell,
)
from drmbench.run.results import Results
from drmbench.words import MODES

STAGES = {
    "seconds_select": "select",
    "seconds_fit": "fit",
    "seconds_predict": "predict",
}
_SECONDS = "seconds for one test example"


def seconds(source: TableSource, mode: ScalingMode) -> pd.DataFrame:
    """Return one row per data set, method and step: the mean time over splits.

    In paper mode a split is run unscaled and scaled; the time is of one of the two.
    """
    means: dict[str, dict[Any, Any]] = {}
    for results in source.results:
        rows = results.rows
        done = rows[(rows["mode"] == mode) & (rows["status"] == "ok")]
        groups = done.groupby(["dataset", "method"])
        means[results.name] = groups[list(STAGES)].mean().to_dict("index")
    records = []
    for row in source.rows():
        experiment = row.results[0].name
        for method in source.methods:
            found = means[experiment].get((row.dataset, method), {})
            records += [
                {
                    "experiment": experiment,
                    "dataset": row.dataset,
                    "method": method,
                    "step": step,
                    "seconds": found.get(column),
                }
                for column, step in STAGES.items()
            ]
    return pd.DataFrame(records)


def seconds_table(source: TableSource, mode: ScalingMode) -> Table:
    """Return the time that selection, fitting and prediction took, mean over splits."""
    frame, methods = seconds(source, mode), list(source.methods)
    rows: list[tuple[Cell, ...]] = []
    for dataset, part in frame.groupby("dataset", sort=False) if len(frame) else ():
        times = part["seconds"].to_numpy().reshape(len(methods), len(STAGES)).T
        rows += [
            (Cell(str(dataset)), Cell(step), *map(seconds_cell, line))
            for step, line in zip(STAGES.values(), times.tolist(), strict=True)
        ]
    return Table(
        experiment=source.id,
        kind="seconds",
        mode=mode,
        title=f"{source.title}: the time it took, {MODES[mode].title}",
        columns=(
            Column("data set"),
            Column("step"),
            *(Column(method, "right", "s") for method in methods),
        ),
        rows=tuple(rows),
        notes=(
            "Seconds of wall-clock time on one split, mean over the splits that"
            " succeeded.",
            *machines(source.results),
        ),
        frame=frame,
    )


def machines(results: Sequence[Results]) -> list[str]:
    """Say on which machines experiments were run."""
    parts = {
        "cpu": "{}",
        "cores": "{} cores",
        "memory": "{} of memory",
        "threads": "BLAS threads: {}",
        "blas": "{}",
        "python": "Python {}",
        "platform": "{}",
    }
    facts = []
    for found in results:
        known = found.manifest.get("environment") or {}
        said = [text.format(known[key]) for key, text in parts.items() if key in known]
        facts.append(", ".join(said))
    return [f"Measured on {fact}." for fact in dict.fromkeys(facts) if fact]


@dataclass(frozen=True)
class Measured:
    """A quantity of a timing or convergence experiment.

    Attributes
    ----------
    name : str
        What it is called in ids.
    value, spread : str
        Columns of the rows.
    by : str
        Column by which it is told apart, besides data set and method.
    title : str
        What it is.
    heading : str
        Heading of ``by``.
    """

    name: str
    value: str
    spread: str
    by: str
    title: str
    heading: str


MEASURED = {
    "timing": (
        Measured(
            *("seconds", "seconds_example", "seconds_sd"),
            *("n_train", _SECONDS, "n (training)"),
        ),
    ),
    "convergence": (
        Measured(
            *("iterations", "iterations", "iterations_sd"),
            *("beta", "iterations until convergence", "β"),
        ),
        Measured(
            *("seconds", "seconds_example", "seconds_sd"), *("beta", _SECONDS, "β")
        ),
    ),
}


def measured_tables(results: Results) -> Iterator[Table]:
    """Give the tables of a timing or convergence experiment."""
    rows = results.rows
    for measured in MEASURED.get(results.experiment.kind, ()):
        keys = ["dataset", "method", "n_train", "alpha", "beta", "status", "reason"]
        keys += ["converged"] * ("converged" in rows)
        examples = sorted(set(rows["examples"].dropna()))
        counts = " or ".join(f"{number:.0f}" for number in examples)
        yield Table(
            experiment=results.name,
            kind="measured",
            metric=measured.name,
            title=f"{results.experiment.title or results.name}: {measured.title}",
            columns=(
                Column("data set"),
                *right_columns(measured.heading, *results.methods),
            ),
            rows=tuple(_measured_rows(results, measured)),
            footnotes=tuple(_measured_footnotes(results)),
            notes=(
                f"Mean ± standard deviation over {counts} test examples.",
                *machines([results]),
            ),
            frame=rows[[*keys, measured.value, measured.spread]],
        )


def _measured_rows(results: Results, measured: Measured) -> Iterator[tuple[Cell, ...]]:
    places = ["dataset", measured.by]
    order = {name: number for number, name in enumerate(results.datasets)}
    groups: dict[Any, pd.DataFrame] = dict(iter(results.rows.groupby(places)))
    for dataset, by in sorted(groups, key=lambda place: (order[place[0]], place[1])):
        part = groups[dataset, by].drop_duplicates("method").set_index("method")
        found: dict[Any, dict[Any, Any]] = part.to_dict("index")
        yield (
            Cell(dataset),
            Cell(f"{by:,.0f}" if measured.by == "n_train" else f"{by:g}", float(by)),
            *(_measured_cell(found.get(name), measured) for name in results.methods),
        )


def _measured_cell(row: dict[Any, Any] | None, measured: Measured) -> Cell:
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
    for row in bad.drop_duplicates(["dataset", "method"]).to_dict("records"):
        why = f"{row['status']}: {row['reason']}"
        yield f"{NO_FIGURE} {row['dataset']}, {row['method']}: {why}."
    for name, entry in results.datasets.items():
        if entry.get("missing"):
            yield f"{name} is missing: {entry['missing']}."
        elif entry.get("substitute"):
            yield f"† {name}: {entry['substitute']} stood in for it."
    yield from (f"‡ {text}" for text in results.experiment.deviations)
