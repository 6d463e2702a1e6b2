"""Times: of selection, fitting and prediction, and what solvers were measured for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from drmbench.protocol.protocol import ScalingMode
from drmbench.report.scores import TableSource
from drmbench.report.table import (
    NO_FIGURE,
    Cell,
    Column,
    Marks,
    Table,
    figure_cell,
    left,
    right,
    sentence,
)
from drmbench.running.results import Results
from drmbench.words import MODES

_STAGES = {f"seconds_{step}": step for step in ("select", "fit", "predict")}
_SECONDS = {"seconds": "seconds for one test example"}
#: What is measured for one test example, in experiments of each kind.
_MEASURED = {
    "timing": _SECONDS,
    "convergence": {"iterations": "iterations until convergence", **_SECONDS},
}
#: Columns of the rows that have them; deviations are in ``seconds_sd`` and so on.
_VALUES = {"seconds": "seconds_example", "iterations": "iterations"}
_SECONDS_NOTE = (
    "Seconds of wall-clock time on one split, mean over the splits that succeeded."
)


def seconds(source: TableSource, mode: ScalingMode) -> pd.DataFrame:
    """Return one row per data set, method and step: the mean time over splits.

    In paper mode a split is run unscaled and scaled; the time is of one of the two.
    """
    means: dict[str, dict[Any, Any]] = {}
    for results in source.results:
        rows = results.rows
        done = rows[(rows["mode"] == mode) & (rows["status"] == "ok")]
        groups = done.groupby(["dataset", "method"])
        means[results.name] = groups[list(_STAGES)].mean().to_dict("index")
    records: list[tuple[str, str, str, str, float | None]] = []
    for row in source.rows():
        name, dataset = row.results[0].name, row.dataset
        for method in source.methods:
            found = means[name].get((dataset, method), {})
            for column, step in _STAGES.items():
                records.append((name, dataset, method, step, found.get(column)))
    columns = ["experiment", "dataset", "method", "step", "seconds"]
    return pd.DataFrame(records, columns=columns)


def seconds_table(source: TableSource, mode: ScalingMode) -> Table:
    """Return the time that selection, fitting and prediction took, mean over splits."""
    frame, methods = seconds(source, mode), list(source.methods)
    rows: list[tuple[Cell, ...]] = []
    for dataset, part in frame.groupby("dataset", sort=False):
        times = part["seconds"].to_numpy().reshape(len(methods), len(_STAGES)).T
        rows += [
            (Cell(str(dataset)), Cell(step), *map(figure_cell, line))
            for step, line in zip(_STAGES.values(), times.tolist(), strict=True)
        ]
    return Table(
        experiment=source.id,
        kind="seconds",
        mode=mode,
        title=f"{source.title}: the time it took, {MODES[mode].title}",
        columns=(
            *left("data set", "step"),
            *(Column(method, "right", "s") for method in methods),
        ),
        rows=tuple(rows),
        notes=(_SECONDS_NOTE, *machines(source.results)),
        frame=frame,
    )


def machines(results: Sequence[Results]) -> list[str]:
    """Say on which machines experiments were run."""
    parts = {
        **{"cpu": "{}", "cores": "{} cores", "memory": "{} of memory"},
        **{"threads": "BLAS threads: {}", "blas": "{}"},
        **{"python": "Python {}", "platform": "{}"},
    }
    facts = []
    for found in results:
        known = found.manifest.get("environment") or {}
        said = [text.format(known[key]) for key, text in parts.items() if key in known]
        facts.append(", ".join(said))
    return [f"Measured on {fact}." for fact in dict.fromkeys(facts) if fact]


def measured_tables(results: Results) -> Iterator[Table]:
    """Give the tables of a timing or convergence experiment."""
    rows, kind = results.rows, results.experiment.kind
    keys = ["dataset", "method", "n_train", "alpha", "beta", "status", "reason"]
    keys += ["converged"] * ("converged" in rows)
    for quantity, words in _MEASURED.get(kind, {}).items():
        by, heading = ("n_train", "n (training)") if kind == "timing" else ("beta", "β")
        value, spread = _VALUES[quantity], f"{quantity}_sd"
        examples = sorted(set(rows["examples"].dropna()))
        counts = " or ".join(f"{number:.0f}" for number in examples)
        note = f"Mean ± standard deviation over {counts} test examples."
        marks = Marks()
        yield Table(
            experiment=results.name,
            kind="measured",
            metric=quantity,
            title=f"{results.experiment.title or results.name}: {words}",
            columns=(*left("data set"), *right(heading, *results.methods)),
            rows=tuple(_measured_rows(results, by, value, spread, marks)),
            heads=2,
            footnotes=marks.footnotes,
            notes=(note, *_measured_notes(results), *machines([results])),
            frame=rows[[*keys, value, spread]],
        )


def _measured_rows(
    results: Results, by: str, value: str, spread: str, marks: Marks
) -> Iterator[tuple[Cell, ...]]:
    order = {name: number for number, name in enumerate(results.datasets)}
    groups: dict[Any, pd.DataFrame] = dict(iter(results.rows.groupby(["dataset", by])))
    for dataset, at in sorted(groups, key=lambda place: (order[place[0]], place[1])):
        part = groups[dataset, at].drop_duplicates("method").set_index("method")
        found: dict[Any, dict[Any, Any]] = part.to_dict("index")
        entry, mark = results.datasets[dataset], ""
        if entry.get("substitute"):
            mark = marks(f"{entry['substitute']} stood in for it.")
        cells = []
        for method in results.methods:
            row = found.get(method)
            if row is None or row["status"] != "ok":
                why = "not run" if row is None else f"{row['status']}: {row['reason']}"
                cells.append(Cell(NO_FIGURE, mark=marks(sentence(why)), title=why))
                continue
            cell = figure_cell(float(row[value]), float(row[spread]))
            share = float(row.get("converged", 1.0))
            part_of = "" if share >= 1.0 else f" ({share:.0%} converged)"
            cells.append(Cell(cell.text + part_of, cell.value))
        text = f"{at:,.0f}" if by == "n_train" else f"{at:g}"
        yield Cell(dataset, mark=mark), Cell(text, float(at)), *cells


def _measured_notes(results: Results) -> Iterator[str]:
    for name, entry in results.datasets.items():
        if entry.get("missing"):
            yield f"{name} is missing: {sentence(entry['missing'])}"
    yield from map(sentence, results.experiment.deviations)
