"""What a worker does with a task: load, split, evaluate, and return result rows."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from typing import Any

from drmbench.config.model import DatasetRef
from drmbench.data.dataset import Dataset
from drmbench.errors import CheckFailedError
from drmbench.methods.base import Method
from drmbench.methods.registry import with_overrides
from drmbench.protocol.evaluate import Outcome, evaluate
from drmbench.run.task import Task

Row = dict[str, Any]

#: Columns that every row begins with.
FIRST_COLUMNS = (
    "dataset",
    "substitute",
    "method",
    "mode",
    "scaling",
    "split",
    "status",
    "reason",
)


def execute(task: Task) -> list[Row]:
    """Run a cell and return its rows, ready for JSON.

    Raises
    ------
    CheckFailedError
        If the data is not what the plan was made for.
    """
    dataset = load_planned(task)
    if task.kind == "timing":
        from drmbench.run.measure import time_examples

        return [_measured(task, dataset, time_examples(task, dataset))]
    if task.kind == "convergence":
        from drmbench.run.measure import trace_convergence

        return [_measured(task, dataset, trace_convergence(task, dataset))]
    return _classify(task, dataset)


def load_planned(task: Task) -> Dataset:
    """Load a task's data set.

    Raises
    ------
    CheckFailedError
        If the data is not what the plan was made for.
    """
    dataset = load_dataset(task.dataset, task.substitutes)
    if dataset.fingerprint != task.fingerprint:
        raise CheckFailedError(
            f"{task.dataset.name} is not the data that the run was planned with:"
            f" fingerprint {dataset.fingerprint[:12]}, not {task.fingerprint[:12]}"
        )
    return dataset


def _classify(task: Task, dataset: Dataset) -> list[Row]:
    method = informed(task.method.method(), dataset)
    if method.most_features is not None and dataset.n_features > method.most_features:
        reason = (
            f"{method.name} takes too long beyond {method.most_features:,} features;"
            f" there are {dataset.n_features:,}"
        )
        return failed_rows(task, "skipped", reason, _stand_in(dataset))
    split = task.split.splits(dataset, seed=task.protocol.seed)[task.number]
    sizes = {"n_train": len(split.train), "n_test": len(split.test)}
    return [
        {**_first(task, dataset, outcome.scaling), **_second(task, outcome), **sizes}
        | {"notes": json.dumps(list(outcome.notes), ensure_ascii=False)}
        for outcome in evaluate(dataset, method, split, task.protocol)
    ]


def informed(method: Method, dataset: Dataset) -> Method:
    """Tell a method that can use it which columns are codes of categories."""
    if dataset.nominal and method.defaults.get("categorical_features", 0) is None:
        columns = list(dataset.nominal)
        return with_overrides(method, params={"categorical_features": columns})
    return method


@lru_cache(maxsize=1)
def _load_from_catalogue(name: str, substitutes: bool, parameters: str) -> Dataset:
    from drmbench.data import load

    return load(name, substitutes=substitutes, **json.loads(parameters))


@lru_cache(maxsize=1)
def _load_from_file(path: str, target: str | None, name: str) -> Dataset:
    from drmbench.data.user import load_user_file

    return load_user_file(path, target=target, name=name)


def load_dataset(ref: DatasetRef, substitutes: bool) -> Dataset:
    """Load a data set; the last one is kept, since cells come data set by data set."""
    if ref.path is not None:
        return _load_from_file(str(ref.path), ref.target, ref.name)
    parameters = json.dumps(dict(ref.parameters), sort_keys=True)
    return _load_from_catalogue(ref.catalogue_name, substitutes, parameters)


def _stand_in(dataset: Dataset) -> str:
    return dataset.name if dataset.provenance.substitute_for else ""


def _head(
    task: Task, scaling: str, substitute: str, status: str = "ok", reason: str = ""
) -> Row:
    """Return the columns that every row begins with (:data:`FIRST_COLUMNS`)."""
    return {
        "dataset": task.dataset.name,
        "substitute": substitute,
        "method": task.method.label,
        "mode": task.mode,
        "scaling": scaling,
        "split": task.number,
        "status": status,
        "reason": reason,
    }


def _first(task: Task, dataset: Dataset, scaling: str) -> Row:
    return _head(task, scaling, _stand_in(dataset))


def _second(task: Task, outcome: Outcome) -> Row:
    if outcome.failure is not None:
        # It cannot be fitted to such data: that is a finding, not a malfunction.
        row: Row = {"status": "skipped", "reason": str(outcome.failure)}
        return row | dict.fromkeys(task.protocol.metrics) | _seconds(outcome)
    return {
        **{name: _number(value) for name, value in outcome.metrics.items()},
        "params": json.dumps(outcome.params, default=_plain),
        "applied_scaling": outcome.applied_scaling,
        "score": _number(outcome.score),
        **_seconds(outcome),
    }


def _seconds(outcome: Outcome) -> Row:
    return {
        "seconds_select": outcome.seconds_select,
        "seconds_fit": outcome.seconds_fit,
        "seconds_predict": outcome.seconds_predict,
    }


def _number(value: Any) -> Any:
    """Return a metric as JSON can hold it: arrays as text, NaN as nothing."""
    if isinstance(value, list):
        return json.dumps(value)
    return None if value is None or math.isnan(value) else float(value)


def _plain(value: Any) -> Any:
    """Return numpy's numbers as Python's."""
    return value.item() if hasattr(value, "item") else str(value)


def _measured(task: Task, dataset: Dataset, values: Row) -> Row:
    return {**_first(task, dataset, task.mode), **values}


def failed_rows(task: Task, status: str, reason: str, substitute: str) -> list[Row]:
    """Return the rows of a cell that did not come to an end by itself."""
    rows = task.protocol.rows() if task.kind == "classification" else (task.mode,)
    return [_head(task, scaling, substitute, status, reason) for scaling in rows]
