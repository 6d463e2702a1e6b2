"""Cells of the timing and convergence experiments: one test example at a time."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np

from drmbench.data.dataset import Dataset
from drmbench.drm.classifier import DRMClassifier
from drmbench.methods.base import Labels, Matrix
from drmbench.protocol.scaling import Scaling, scale_test, scale_train
from drmbench.protocol.splits import Split, random_splits, stable_seed
from drmbench.run.task import Task

Row = dict[str, Any]

_SOLVERS = {"drm-gd": "gd", "drm-ppa": "ppa", "drm-apg": "apg"}


def sizes_within(sizes: tuple[int, ...], n_train: int) -> list[int]:
    """Return the training sizes that a data set has, and all of it at the end.

    Examples
    --------
    >>> sizes_within((1000, 2000, 5000), 2500)
    [1000, 2000, 2500]
    """
    return [size for size in sizes if size < n_train] + [n_train]


def time_examples(task: Task, dataset: Dataset) -> Row:
    """Time the solver on single examples, with a fixed number of iterations.

    Like the paper, it times the n weights of an example, not the shortcut for linear
    kernels that never forms them; and it leaves fitting out.
    """
    split = _only_split(task, dataset)
    size = sizes_within(task.measure.sizes, len(split.train))[task.number]
    X, y, examples = _arrays(task, dataset, split, size)
    # A tolerance of zero is never met, so that every solve runs to the last iteration.
    model = _model(task, task.measure.betas[0], tol=0.0).fit(X, y)
    seconds = []
    for x in examples:
        started = time.perf_counter()
        model.representation(x[None, :])
        seconds.append(time.perf_counter() - started)
    return _row(task, size, task.measure.betas[0], seconds) | {
        "iterations": task.measure.iterations
    }


def trace_convergence(task: Task, dataset: Dataset) -> Row:
    """Solve single examples to the tolerance: iterations, time, objective."""
    split = _only_split(task, dataset)
    beta = task.measure.betas[task.number]
    X, y, examples = _arrays(task, dataset, split, len(split.train))
    model = _model(task, beta, tol=task.measure.tol).fit(X, y)
    seconds, traces = [], []
    for x in examples:
        started = time.perf_counter()
        traces.append(model.solve_trace(x))
        seconds.append(time.perf_counter() - started)
    done = np.array([trace.n_iter for trace in traces])
    stopped = [trace.stop_reason == "tolerance" for trace in traces]
    return _row(task, len(split.train), beta, seconds) | {
        "iterations": float(done.mean()),
        "iterations_sd": _sd(done),
        "converged": float(np.mean(stopped)),
        "trace": json.dumps([float(value) for value in traces[0].objective]),
    }


def _model(task: Task, beta: float, *, tol: float) -> DRMClassifier:
    return DRMClassifier(
        kernel="linear",
        solver=_SOLVERS[task.method.name],
        alpha=task.measure.alpha,
        beta=beta,
        tol=tol,
        max_iter=task.measure.iterations,
    )


def _only_split(task: Task, dataset: Dataset) -> Split:
    return task.split.splits(dataset, seed=task.protocol.seed)[0]


def _arrays(
    task: Task, dataset: Dataset, split: Split, size: int
) -> tuple[Matrix, Labels, Matrix]:
    """Return a stratified part of the training rows, and the test examples."""
    X, y = dataset.X[split.train], dataset.y[split.train]
    scaling: Scaling = "none" if task.mode == "none" else "maxabs"
    X_test = scale_test(scaling, X, dataset.X[split.test])
    X = scale_train(scaling, X)
    if size < len(y):
        seed, name = task.protocol.seed, task.dataset.name
        (drawn,) = random_splits(y, size, repeats=1, seed=seed, name=name)
        X, y = X[drawn.train], y[drawn.train]
    rng = np.random.default_rng(
        stable_seed(task.protocol.seed, task.dataset.name, "examples")
    )
    count = min(task.measure.examples, len(X_test))
    return X, y, X_test[np.sort(rng.choice(len(X_test), count, replace=False))]


def _row(task: Task, n_train: int, beta: float, seconds: list[float]) -> Row:
    return {
        "n_train": n_train,
        "alpha": task.measure.alpha,
        "beta": beta,
        "examples": len(seconds),
        "seconds_example": float(np.mean(seconds)),
        "seconds_sd": _sd(np.asarray(seconds)),
    }


def _sd(values: Any) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None
