"""How far one test sample can move a figure, by trying every change."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from drmbench.metrics import METRICS, ClassRoles
from drmbench.protocol.allowance import HeldOut
from drmbench.protocol.splits import random_splits


@pytest.mark.parametrize("metric", ["accuracy", "gmean", "balanced_accuracy", "f1"])
@pytest.mark.parametrize("sizes", [(2, 5), (1, 4), (2, 2, 3)])
def test_one_sample_never_moves_a_figure_by_more_than_is_allowed(
    metric: str, sizes: tuple[int, ...]
) -> None:
    """Every prediction of a small test part, and every change of one label of it."""
    truth = np.repeat(np.arange(len(sizes)), sizes)
    counts = {str(number): 10 * size for number, size in enumerate(sizes)}
    entry = {"classes": len(sizes), "class_counts": counts}
    part = HeldOut.of(entry, len(truth), stratified=True)
    assert part.smallest == min(sizes)
    roles = ClassRoles(tuple(range(len(sizes))), 0 if len(sizes) == 2 else None)
    figure = METRICS[metric].function
    rng = np.random.default_rng(0)
    for _ in range(60):
        labels = rng.integers(0, len(sizes), len(truth))
        was = figure(truth, labels, roles)
        for place, label in itertools.product(range(len(truth)), roles.classes):
            changed = labels.copy()
            changed[place] = label
            now = figure(truth, changed, roles)
            assert abs(now - was) <= part.one_sample(metric, was, now) + 1e-12


def test_the_smallest_class_of_drawn_test_parts_is_not_overestimated() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        counts = rng.integers(1, 40, rng.integers(2, 7))
        y = np.repeat(np.arange(len(counts)), counts)
        train = int(rng.integers(len(counts), len(y)))
        split = random_splits(y, train, repeats=1)[0]
        tested = np.unique(y[split.test], return_counts=True)[1]
        named = {str(number): int(count) for number, count in enumerate(counts)}
        entry = {"classes": len(counts), "class_counts": named}
        part = HeldOut.of(entry, len(split.test), stratified=True)
        assert part.smallest <= tested.min()
        assert len(tested) in part.classes


def test_without_class_counts_the_allowance_is_the_largest() -> None:
    known = {"classes": 2, "class_counts": {"a": 50, "b": 50}}
    part = HeldOut.of(known, 20, stratified=True)
    unknown = HeldOut.of({"classes": 2, "class_counts": {}}, 20, stratified=True)
    given = HeldOut.of(known, 20, stratified=False)
    assert (part.smallest, unknown.smallest, given.smallest) == (10, 1, 1)
    assert part.one_sample("gmean", 0.8, 0.9) < unknown.one_sample("gmean", 0.8, 0.9)
