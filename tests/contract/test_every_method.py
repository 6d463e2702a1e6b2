"""The contract of every registered method, on five tiny data sets.

Every method finishes under every kind of selection, gives predictions of the right
shape, gives the same ones again, and its shortcuts select as its estimators would.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from drmbench.data.dataset import Dataset, Provenance
from drmbench.methods.base import Method
from drmbench.methods.registry import list_methods, with_overrides
from drmbench.protocol.evaluate import Outcome, evaluate
from drmbench.protocol.protocol import Protocol
from drmbench.protocol.selection import SelectionPlan, select
from drmbench.protocol.splits import random_splits

PLANS = {
    "loo": SelectionPlan("loo"),
    "kfold": SelectionPlan("kfold", "gmean", k=3),
    "random": SelectionPlan("random", "balanced_accuracy", subset=12, repeats=2),
}


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Threads that wait for each other cost more than these problems do."""
    with threadpool_limits(1):
        yield


def tiny(name: str, sizes: tuple[int, ...], p: int, constant: int = 0) -> Dataset:
    """Classes around different means, with constant features at the end."""
    rng = np.random.default_rng(len(name))
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    means = 2 * rng.normal(size=(len(sizes), p))
    X = np.hstack(
        [means[y] + rng.normal(size=(len(y), p)), np.ones((len(y), constant))]
    )
    names = tuple(f"class {number}" for number in range(len(sizes)))
    return Dataset(name, X, y, names, Provenance("test"))


DATASETS = {
    dataset.name: dataset
    for dataset in (
        tiny("binary", (6, 6), p=3),
        tiny("multi-class", (5, 5, 4), p=3),
        tiny("three minority samples", (9, 4), p=3),  # 3 of them in training
        tiny("more features than samples", (6, 6), p=25),
        tiny("constant feature", (6, 6), p=2, constant=1),
    )
}

#: What keeps a fit short where it does not change what is tested.
SHORT = {"n_estimators": (2, 4), "max_iter": (20,)}


def thinned(method: Method) -> Method:
    """Keep the ends of the last axis of the grid and the first value of the others."""
    *others, last = method.grid or [""]
    grid = {name: method.grid[name][:1] for name in others}
    if last:
        grid[last] = (method.grid[last][0], method.grid[last][-1])
    known = {*method.grid, *method.defaults}
    return with_overrides(
        method, grid=grid | {k: SHORT[k] for k in SHORT if k in known}
    )


METHODS = [thinned(method) for method in list_methods()]


def run(dataset: Dataset, method: Method, plan: SelectionPlan) -> Outcome:
    (split,) = random_splits(
        dataset.y, dataset.n_samples * 3 // 4, repeats=1, name=dataset.name
    )
    metrics = ("accuracy", "gmean", "f1", "roc_auc", "average_precision", "brier")
    protocol = Protocol(plan, scaling="none", metrics=metrics)
    (outcome,) = evaluate(dataset, method, split, protocol)
    return outcome


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize("data", DATASETS)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_method_finishes_with_the_right_shapes(method: Method, data: str, kind: str):
    dataset = DATASETS[data]
    outcome = run(dataset, method, PLANS[kind])
    assert outcome.failure is None
    assert outcome.predictions.shape == (
        dataset.n_samples - dataset.n_samples * 3 // 4,
    )
    assert np.isin(outcome.predictions, range(dataset.n_classes)).all()
    largest = {"brier": 2.0}
    for name, value in outcome.metrics.items():
        assert 0 <= value <= largest.get(name, 1.0), name
    assert outcome.params in method.candidates()
    assert not [note for note in outcome.notes if "Warning" in note]


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_method_repeats_itself(method: Method, kind: str):
    dataset = DATASETS["three minority samples"]
    first, second = (run(dataset, method, PLANS[kind]) for _ in range(2))
    assert np.array_equal(first.predictions, second.predictions)
    assert first.params == second.params
    assert first.metrics == second.metrics


def has_shortcut(method: Method, kind: str) -> Any:
    return method.predict_left_out if kind == "loo" else method.predict_grid


def shortcut_datasets(method: Method) -> list[Dataset]:
    """Over-sampling once more for each sample and candidate is slow: one set for it."""
    names = ["three minority samples"]
    if not method.family.startswith("oversampled"):
        names.append("multi-class")
    return [DATASETS[name] for name in names]


@pytest.mark.parametrize(
    ("method", "kind"),
    [(m, kind) for m in METHODS for kind in ("loo", "kfold") if has_shortcut(m, kind)],
    ids=lambda value: getattr(value, "name", value),
)
def test_shortcuts_select_as_the_estimators_do(method: Method, kind: str):
    for dataset in shortcut_datasets(method):
        X, y, plan = dataset.X, dataset.y, PLANS[kind]
        fast = select(method, X, y, plan, always_score=True)
        slow = select(method, X, y, plan, always_score=True, shortcut=False)
        assert np.allclose(fast.scores, slow.scores, rtol=0, atol=1e-12, equal_nan=True)
        assert fast.params == slow.params
        assert fast.failures.keys() == slow.failures.keys()
