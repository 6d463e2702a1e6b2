"""Fitting the paper protocol's scaled rows again, to tell what its leak is worth.

For every stored row with the scaling ``separate`` the selected model is fitted again,
and scored on the test part scaled by its own maxima, which must give the stored figure,
and by the training part's. Both figures go to a file beside the rows.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from drmbench.config.model import MethodRef
from drmbench.errors import InputError, quoted
from drmbench.files import read_regular
from drmbench.methods.base import CANDIDATE_FAILURES
from drmbench.metrics import METRICS, ClassRoles, measure
from drmbench.protocol.allowance import ROUNDING, HeldOut
from drmbench.protocol.evaluate import refit_separate
from drmbench.running.execute import informed, load_planned
from drmbench.running.plan import make_plan
from drmbench.running.results import OWN_MAXIMA, REFITS_FILE, TRAINING_MAXIMA, Results
from drmbench.running.task import Task
from drmbench.running.view import write_csv

#: Data set, label of the method, and split.
Key = tuple[str, str, int]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class RefitCount:
    """What became of the scaled rows of an experiment."""

    rows: int  #: Rows that have a result, so a model to fit again
    computed: int  #: Those that were fitted now; the others were there
    #: Those whose figure is not the stored one, but within one test sample's worth
    inexact: int
    differing: int  #: Those whose figure is further from the stored one
    skipped: int  #: Those that could not be fitted this time

    def __str__(self) -> str:
        """Say it in one line."""
        return (
            f"{self.rows} scaled rows, {self.computed} fitted now;"
            f" {self.inexact} within one test sample of the stored figure,"
            f" {self.differing} further from it, {self.skipped} could not be fitted,"
            " all others exactly as stored"
        )


def refit_experiment(
    results: Results, folder: Path, *, tell: Callable[[str], None] = lambda line: None
) -> RefitCount:
    """Fit what was not fitted again yet, and write the file of an experiment.

    The results must have the mode ``paper``. The file in the experiment's folder is
    written, and ``tell`` gets a line, after every data set that was worked on.
    """
    path, names = folder / REFITS_FILE, results.experiment.metrics
    known = [METRICS[name] for name in names if name in METRICS]
    metrics = [m.name for m in known if m.scalar and m.needs == "labels"]
    figures = [m + ending for m in metrics for ending in (OWN_MAXIMA, TRAINING_MAXIMA)]
    columns = ["dataset", "method", "split", "status", "reason", *figures, "cell"]
    rows: dict[Key, Row] = {
        (dataset, method, int(row["split"])): row
        for dataset in results.datasets
        for method in results.methods
        for row in results.split_rows(dataset, method, "paper", "separate")
        if row["status"] == "ok"  # so it has a model
    }
    found = {
        key: old
        for key, old in _read(path, columns).items()
        if key in rows and _reproduces(old, rows[key], metrics)
    }
    missing = [key for key in rows if key not in found]
    tasks = _tasks(results, {key[0] for key in missing}, metrics)
    for dataset, group in itertools.groupby(missing, key=lambda key: key[0]):
        keys, started = list(group), time.perf_counter()
        for key in keys:
            if key not in tasks:
                raise InputError(
                    f"results.csv has a row of {key[1]} on {key[0]}, split {key[2]},"
                    " which the manifest does not expect"
                )
            found[key] = _refit(tasks[key], rows[key], metrics)
        write_csv(path, columns, [found[key] for key in rows if key in found])
        seconds = time.perf_counter() - started
        tell(f"{results.name}: {dataset}: {len(keys)} models in {seconds:.0f} s")
    if not missing:  # rows may have gone
        write_csv(path, columns, [found[key] for key in rows])
    states = [found[key]["status"] for key in rows]
    exact = sum(_reproduces(found[key], row, metrics) for key, row in rows.items())
    return RefitCount(
        rows=len(rows),
        computed=len(missing),
        inexact=states.count("ok") - exact,
        differing=states.count("differs"),
        skipped=states.count("skipped"),
    )


def _read(path: Path, columns: Sequence[str]) -> dict[Key, dict[str, str]]:
    """Read the file as text, so that what stays keeps every digit."""
    if not path.exists():
        return {}
    try:
        text = read_regular(path).decode("utf-8")
        reader = csv.DictReader(io.StringIO(text, newline=""))
        if reader.fieldnames != columns:  # of other metrics: none can be kept
            return {}
        return {(r["dataset"], r["method"], int(r["split"])): r for r in reader}
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"{path}: cannot be read as refits ({error}); delete it to make it again"
        ) from error


def _reproduces(old: Row, row: Row, metrics: Sequence[str]) -> bool:
    """Whether a refit is that of the stored row, and gave its figures."""
    if old["status"] != "ok" or old["cell"] != row["cell"]:
        return False
    return all(
        abs(float(old[m + OWN_MAXIMA]) - float(row[m])) <= ROUNDING for m in metrics
    )


def _tasks(
    results: Results, datasets: set[str], metrics: Sequence[str]
) -> dict[Key, Task]:
    """Return the cells in paper mode of some data sets, as the manifest has them."""
    stored = results.experiment
    experiment = stored.model_copy(
        update={
            "datasets": tuple(ref for ref in stored.datasets if ref.name in datasets),
            # What was fixed then is fixed now, whatever the registry says today.
            "methods": tuple(
                MethodRef(
                    name=ref.name,
                    label=ref.label,
                    params=results.methods[ref.label]["params"],
                    estimator=ref.estimator,
                    versions=ref.versions,
                )
                for ref in stored.methods
            ),
            "scaling": ("paper",),
            "metrics": tuple(metrics),
        }
    )
    plan = make_plan(experiment, wanted=lambda name: False, known=results.datasets)
    return {(t.dataset.name, t.method.label, t.number): t for t in plan.cells}


def _refit(task: Task, row: Row, metrics: Sequence[str]) -> dict[str, Any]:
    """Fit the model of a row again, and return its row of the file."""
    head = {
        "dataset": task.dataset.name,
        "method": task.method.label,
        "split": task.number,
        "cell": row["cell"],
    }
    dataset = load_planned(task)
    split = task.split.splits(dataset, seed=task.protocol.seed)[task.number]
    method = informed(task.method.method(), dataset)
    try:
        params = dict(json.loads(row["params"]))
    except (ValueError, TypeError) as error:
        raise InputError(
            f"results.csv: the params of {row['method']} on {row['dataset']} are not"
            f" JSON: {quoted(row['params'])}"
        ) from error
    try:
        # What a fit warns of stands in the row's notes.
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore")
            again = refit_separate(dataset, method, split, task.protocol, params)
    except CANDIDATE_FAILURES as error:
        return {**head, "status": "skipped", "reason": str(error)}
    truth, roles = dataset.y[split.test], ClassRoles.of(dataset.y)
    own = measure(metrics, truth, again.own, roles)
    training = measure(metrics, truth, again.training, roles)
    counts = np.unique(truth, return_counts=True)[1]
    part = HeldOut(len(truth), range(len(counts), len(counts) + 1), int(min(counts)))
    figures, moved = {}, []
    for metric in metrics:
        was, now = float(row[metric]), float(own[metric])
        if abs(now - was) > part.one_sample(metric, was, now) + ROUNDING:
            moved.append(f"{metric} is {was:.6g} in the stored row and {now:.6g} here")
        figures[metric + OWN_MAXIMA] = now
        figures[metric + TRAINING_MAXIMA] = float(training[metric])
    status = "differs" if moved else "ok"
    return {**head, "status": status, "reason": "; ".join(moved), **figures}
