"""Rows and manifest as a view of the journal: written together, from all of it.

Several runs may write to one folder at a time, each with a part of the data sets. Under
one lock each of them takes over what the others' manifest knows, reads the whole
journal, and writes rows and manifest that belong together.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from drmbench.config.model import Experiment, experiment_identity
from drmbench.errors import InputError
from drmbench.files import locked, open_own, remove_leftovers, replacing
from drmbench.running.manifest import known_datasets, make_manifest, write_manifest
from drmbench.running.plan import Plan, completed
from drmbench.running.provenance import counted_makers
from drmbench.running.results import MANIFEST_FILE, ROWS_FILE, read_rows
from drmbench.running.signature import signed
from drmbench.running.store import Record, Store, names_of

try:
    import fcntl
except ImportError:  # not on Windows: two configs of one name at once are not noticed
    fcntl = None  # type: ignore[assignment]

PARQUET_FILE = "results.parquet"
_FIRST_COLUMNS = (
    *("dataset", "substitute", "method", "mode"),
    *("scaling", "split", "status", "reason"),
)
_LAST_COLUMNS = {
    "classification": (
        *("params", "applied_scaling", "score"),
        *("seconds_select", "seconds_fit", "seconds_predict"),
        *("n_train", "n_test", "notes", "cell"),
    ),
    "timing": (
        *("n_train", "alpha", "beta", "examples"),
        *("iterations", "seconds_example", "seconds_sd", "cell"),
    ),
    "convergence": (
        *("n_train", "alpha", "beta", "examples", "iterations", "iterations_sd"),
        *("seconds_example", "seconds_sd", "converged", "trace", "cell"),
    ),
}


def write_view(plan: Plan, store: Store, *, parquet: bool = False) -> None:
    """Write rows and manifest of all finished cells of a plan, in the plan's order.

    Of data sets that the plan did not look at, it takes what the manifest knows that is
    there by now. ``parquet`` asks for the rows as parquet too, if that can be written.
    """
    folder = store.folder
    with locked(folder, "results"):
        store.refresh()
        known = known_datasets(folder / MANIFEST_FILE)
        plan = completed(plan, known)
        keys = dict.fromkeys(task.key for task in plan.cells)
        records = [store.records[key] for key in keys if key in store.records]
        rows = _csv_text(_columns(plan.experiment), _rows(plan, store.records)).encode()
        manifest = {**make_manifest(plan), "made_by": counted_makers(records)}
        journal = {"generation": store.generation, "cells": len(records)}
        for name in (ROWS_FILE, MANIFEST_FILE, PARQUET_FILE):
            remove_leftovers(folder / name)
        # Rows first: a folder with a manifest always has rows, or a heading.
        with replacing(folder / ROWS_FILE) as temporary:
            temporary.write_bytes(rows)
        write_manifest(folder / MANIFEST_FILE, signed(manifest, rows, journal))
        if parquet and importlib.util.find_spec("pyarrow") is not None:
            with replacing(folder / PARQUET_FILE) as temporary:
                read_rows(folder / ROWS_FILE).to_parquet(temporary, index=False)


def _rows(plan: Plan, records: dict[str, Record]) -> Iterator[dict[str, Any]]:
    for task in plan.cells:
        if task.key in records:
            for row in records[task.key]["rows"]:
                yield {**row, **names_of(task), "cell": task.key}


def _columns(experiment: Experiment) -> list[str]:
    metrics = experiment.metrics if experiment.kind == "classification" else ()
    return [*_FIRST_COLUMNS, *metrics, *_LAST_COLUMNS[experiment.kind]]


def _csv_text(columns: list[str], rows: Iterable[dict[str, Any]]) -> str:
    """Return rows as CSV; numbers keep every digit."""
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(
        stream, columns, restval="", extrasaction="ignore", lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def write_csv(path: Path, columns: list[str], rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as CSV, all or nothing."""
    with replacing(path) as temporary:
        temporary.write_bytes(_csv_text(columns, rows).encode())


@contextmanager
def in_use(folder: Path, experiment: Experiment) -> Iterator[None]:
    """Hold a folder for the runs of one config; another of its name is refused.

    The system gives the folder back when a process ends, however it ends.
    """
    text = json.dumps(experiment_identity(experiment), sort_keys=True, default=str)
    identity = hashlib.sha256(text.encode()).hexdigest()
    with ExitStack() as stack:
        with locked(folder, "results"):
            held = open_own(folder / ".locks" / "config.lock", os.O_RDWR)
            stack.callback(os.close, held)
            if fcntl is not None:
                _share(held, identity.encode(), folder)
        yield


def _share(held: int, identity: bytes, folder: Path) -> None:
    """Lock a file that names a config, together with other runs of that config."""
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if os.read(held, len(identity)) != identity:
            raise InputError(
                f"{folder}: another config of the name {folder.name} is being run into"
                " this folder; give it another name or another --out"
            ) from None
    else:
        os.ftruncate(held, 0)
        os.write(held, identity)
    fcntl.flock(held, fcntl.LOCK_SH)
