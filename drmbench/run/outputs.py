"""Writing what people read: tidy rows as CSV (and parquet), made from the store."""

from __future__ import annotations

import csv
import importlib.util
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from drmbench.config.model import Experiment
from drmbench.files import replacing
from drmbench.run.execute import FIRST_COLUMNS
from drmbench.run.plan import Plan
from drmbench.run.results import ROWS_FILE, read_rows
from drmbench.run.store import Store

_LAST_COLUMNS = {
    "classification": (
        "params",
        "applied_scaling",
        "score",
        "seconds_select",
        "seconds_fit",
        "seconds_predict",
        "n_train",
        "n_test",
        "notes",
        "cell",
    ),
    "timing": (
        "n_train",
        "alpha",
        "beta",
        "examples",
        "iterations",
        "seconds_example",
        "seconds_sd",
        "cell",
    ),
    "convergence": (
        "n_train",
        "alpha",
        "beta",
        "examples",
        "iterations",
        "iterations_sd",
        "seconds_example",
        "seconds_sd",
        "converged",
        "trace",
        "cell",
    ),
}


def columns_of(experiment: Experiment) -> list[str]:
    """Return the columns of an experiment's rows, in order."""
    metrics = experiment.metrics if experiment.kind == "classification" else ()
    return [*FIRST_COLUMNS, *metrics, *_LAST_COLUMNS[experiment.kind]]


def stored_rows(plan: Plan, store: Store) -> Iterator[dict[str, Any]]:
    """Give the rows of all finished cells of a plan, in the plan's order."""
    for task in plan.cells:
        record = store.records.get(task.key)
        for row in record["rows"] if record else ():
            yield {**row, "method": task.method.label, "cell": task.key}


def write_rows(plan: Plan, store: Store) -> Path:
    """Write all finished rows of an experiment; the order is always the same."""
    path = store.folder / ROWS_FILE
    text = csv_text(columns_of(plan.experiment), stored_rows(plan, store))
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
    return path


def csv_text(columns: list[str], rows: Iterable[dict[str, Any]]) -> str:
    """Return rows as CSV; numbers keep every digit."""
    stream = io.StringIO()
    writer = csv.DictWriter(
        stream, columns, restval="", extrasaction="ignore", lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def write_parquet(path: Path) -> Path | None:
    """Write the rows of a CSV file as parquet beside it, where pyarrow is there."""
    if importlib.util.find_spec("pyarrow") is None:
        return None
    target = path.with_suffix(".parquet")
    with replacing(target) as temporary:
        read_rows(path).to_parquet(temporary, index=False)
    return target
