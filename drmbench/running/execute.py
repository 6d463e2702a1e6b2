"""What a worker does with a cell: load the data, evaluate or measure, return rows."""

from __future__ import annotations

import json
import math
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from drmbench.config.model import DatasetRef
from drmbench.data.dataset import Dataset
from drmbench.data.reading import Reading
from drmbench.drm.classifier import DRMClassifier
from drmbench.errors import CheckFailedError
from drmbench.methods.base import EstimatorRaisedError, Labels, Matrix, Method
from drmbench.methods.registry import with_overrides
from drmbench.protocol.evaluate import Outcome, evaluate
from drmbench.protocol.preparation import prepared_width
from drmbench.protocol.scaling import Scaling, scale_test, scale_train
from drmbench.protocol.splits import Split, random_splits, stable_seed
from drmbench.running.task import Task

Row = dict[str, Any]

_SOLVERS = {"drm-gd": "gd", "drm-ppa": "ppa", "drm-apg": "apg"}


def execute(task: Task) -> list[Row]:
    """Run a cell and return its rows, ready for JSON."""
    dataset = load_planned(task)
    substitute = dataset.name if dataset.provenance.substitute_for else ""
    if task.kind != "classification":
        return [_head(task, task.mode, substitute) | _solve_examples(task, dataset)]
    method = informed(task.method.method(), dataset)
    features = dataset.n_features
    if task.protocol.preparation == "table" and not method.takes_codes:
        features = prepared_width(dataset.X, dataset.nominal)
    if method.most_features is not None and features > method.most_features:
        reason = (
            f"{method.name} takes too long beyond {method.most_features:,} features;"
            f" there are {features:,}"
        )
        return failed_rows(task, "skipped", reason, substitute)
    split = task.split.splits(dataset, seed=task.protocol.seed)[task.number]
    sizes = {"n_train": len(split.train), "n_test": len(split.test)}
    return [
        {**_head(task, outcome.scaling, substitute), **_scored(task, outcome), **sizes}
        | {"notes": json.dumps(list(outcome.notes), ensure_ascii=False)}
        for outcome in evaluate(dataset, method, split, task.protocol)
    ]


def failed_rows(task: Task, status: str, reason: str, substitute: str) -> list[Row]:
    """Return the rows of a cell that has no result."""
    rows = task.protocol.rows() if task.kind == "classification" else (task.mode,)
    return [_head(task, scaling, substitute, status, reason) for scaling in rows]


def load_planned(task: Task) -> Dataset:
    """Load a cell's data set, which must be what the plan was made for."""
    dataset = load_dataset(task.dataset, task.substitutes)
    if dataset.fingerprint != task.fingerprint:
        raise CheckFailedError(
            f"{task.dataset.name} is not the data that the run was planned with:"
            f" fingerprint {dataset.fingerprint[:12]}, not {task.fingerprint[:12]}"
        )
    return dataset


def load_dataset(ref: DatasetRef, substitutes: bool) -> Dataset:
    """Load a data set; the last one is kept, since cells come data set by data set."""
    parameters = json.dumps(dict(ref.parameters), sort_keys=True)
    name = ref.name if ref.path is not None else ref.catalogue_name
    return _load(name, ref.path, ref.target, ref.reading, substitutes, parameters)


@lru_cache(maxsize=1)
def _load(
    name: str,
    path: Path | None,
    target: str | None,
    reading: Reading,
    substitutes: bool,
    parameters: str,
) -> Dataset:
    if path is not None:
        from drmbench.data.user import load_user_file

        return load_user_file(str(path), target=target, name=name, **vars(reading))
    from drmbench.data import load

    return load(name, substitutes=substitutes, **json.loads(parameters))


def informed(method: Method, dataset: Dataset) -> Method:
    """Tell a method that can use it which columns are codes of categories."""
    if "estimator" in method.origin:  # a user who says None means it
        return method
    if dataset.nominal and method.defaults.get("categorical_features", 0) is None:
        columns = list(dataset.nominal)
        return with_overrides(method, params={"categorical_features": columns})
    return method


def _head(
    task: Task, scaling: str, substitute: str, status: str = "ok", reason: str = ""
) -> Row:
    """Return the columns that every row begins with."""
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


def _scored(task: Task, outcome: Outcome) -> Row:
    """Return the metrics, parameters and times of an outcome, as JSON can hold them."""
    seconds: Row = {
        "seconds_select": outcome.seconds_select,
        "seconds_fit": outcome.seconds_fit,
        "seconds_predict": outcome.seconds_predict,
    }
    if outcome.failure is not None:
        # It cannot be fitted to such data: that is a finding, not a malfunction.
        raised = isinstance(outcome.failure, EstimatorRaisedError)
        status = "failed" if raised else "skipped"
        row: Row = {"status": status, "reason": str(outcome.failure)}
        return row | dict.fromkeys(task.protocol.metrics) | seconds
    return {
        **{name: _number(value) for name, value in outcome.metrics.items()},
        # numpy's numbers become Python's
        "params": json.dumps(
            outcome.params, default=lambda v: v.item() if hasattr(v, "item") else str(v)
        ),
        "applied_scaling": outcome.applied_scaling,
        "score": _number(outcome.score),
        **seconds,
    }


def _number(value: Any) -> Any:
    """Return a metric as JSON can hold it: arrays as text, NaN as nothing."""
    if isinstance(value, list):
        return json.dumps(value)
    return None if value is None or math.isnan(value) else float(value)


def sizes_within(sizes: tuple[int, ...], n_train: int) -> list[int]:
    """Return the training sizes that a data set has, and all of it at the end.

    Examples
    --------
    >>> sizes_within((1000, 2000, 5000), 2500)
    [1000, 2000, 2500]
    """
    return [size for size in sizes if size < n_train] + [n_train]


def _solve_examples(task: Task, dataset: Dataset) -> Row:
    """Solve single test examples: timing to a fixed iteration, else to a tolerance.

    Like the paper, timing takes the n weights of an example, not the shortcut for
    linear kernels that never forms them; and it leaves fitting out.
    """
    measure, timing = task.measure, task.kind == "timing"
    split = task.split.splits(dataset, seed=task.protocol.seed)[0]
    size = len(split.train)
    if timing:
        size, beta = sizes_within(measure.sizes, size)[task.number], measure.betas[0]
    else:
        beta = measure.betas[task.number]
    X, y, examples = _arrays(task, dataset, split, size)
    model = DRMClassifier(
        kernel="linear",
        solver=_SOLVERS[task.method.name],
        alpha=measure.alpha,
        beta=beta,
        # A tolerance of zero is never met: every solve runs to the last iteration.
        tol=0.0 if timing else measure.tol,
        max_iter=measure.iterations,
    ).fit(X, y)
    seconds, traces = [], []
    for x in examples:
        started = time.perf_counter()
        if timing:
            model.representation(x[None, :])
        else:
            traces.append(model.solve_trace(x))
        seconds.append(time.perf_counter() - started)
    row: Row = {"n_train": size, "alpha": measure.alpha, "beta": beta}
    row |= {"examples": len(seconds), "seconds_example": float(np.mean(seconds))}
    row["seconds_sd"] = _sd(seconds)
    if timing:
        return row | {"iterations": measure.iterations}
    iterations = [trace.n_iter for trace in traces]
    return row | {
        "iterations": float(np.mean(iterations)),
        "iterations_sd": _sd(iterations),
        "converged": float(np.mean([t.stop_reason == "tolerance" for t in traces])),
        "trace": json.dumps([float(value) for value in traces[0].objective]),
    }


def _arrays(
    task: Task, dataset: Dataset, split: Split, size: int
) -> tuple[Matrix, Labels, Matrix]:
    """Return a stratified part of the training rows, and the test examples."""
    X, y = dataset.X[split.train], dataset.y[split.train]
    seed, name = task.protocol.seed, task.dataset.name
    scaling: Scaling = "none" if task.mode == "none" else "maxabs"
    X_test = scale_test(scaling, X, dataset.X[split.test])
    X = scale_train(scaling, X)
    if size < len(y):
        (drawn,) = random_splits(y, size, repeats=1, seed=seed, name=name)
        X, y = X[drawn.train], y[drawn.train]
    rng = np.random.default_rng(stable_seed(seed, name, "examples"))
    count = min(task.measure.examples, len(X_test))
    return X, y, X_test[np.sort(rng.choice(len(X_test), count, replace=False))]


def _sd(values: list[Any]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None
