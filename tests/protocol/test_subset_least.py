"""The rows that parameters are selected on have enough of every class."""

import numpy as np
import pytest

from drmbench.methods.registry import get_method
from drmbench.protocol import selection
from drmbench.protocol.protocol import SelectionPlan


@pytest.mark.parametrize(("least", "expected"), [(0, 4), (20, 20), (60, 38)])
def test_the_subset_has_enough_of_the_smallest_class(monkeypatch, least, expected):
    """500 of 5,000 rows with 38 positives would otherwise hold 4 of them."""
    y = np.zeros(5000, dtype=np.int64)
    y[:38] = 1
    X = np.random.default_rng(0).normal(size=(5000, 2)) + y[:, None]
    seen = []

    def parts(y, *arguments, **options):
        seen.append(np.bincount(y))
        return kfold(y, *arguments, **options)

    kfold = selection.kfold_splits
    monkeypatch.setattr(selection, "kfold_splits", parts)
    plan = SelectionPlan("kfold", "gmean", k=2, subset=500, subset_least=least)
    selection.select(get_method("knn-euclidean"), X, y, plan)
    (counts,) = seen
    assert counts.tolist() == [500 - expected, expected]


def test_the_identity_of_a_plan_without_it_is_as_it_was():
    assert "subset_least" not in SelectionPlan("kfold").identity()
    assert SelectionPlan(subset_least=20).identity()["subset_least"] == 20
    assert (
        "(at least 20 of each class, if it has them)"
        in SelectionPlan(subset=500, subset_least=20).describe()
    )
