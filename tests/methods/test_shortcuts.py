"""Every shortcut of every method gives what its estimators would."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from method_problems import PROBLEMS, blobs, few_candidates

from drmbench.methods.base import (
    GridPredictions,
    Method,
    naive_grid_predictions,
    naive_left_out_predictions,
)
from drmbench.methods.registry import list_methods

METHODS = list_methods()
OVERSAMPLED = [m for m in METHODS if m.family.startswith("oversampled")]
SLOW_OVERSAMPLED = {"oversampled-svm", "oversampled-rf", "oversampled-drm"}
CASES = [
    pytest.param(method, problem, id=f"{method.name}-{problem}")
    for method in METHODS
    for problem in (["three-minority"] if method in OVERSAMPLED else PROBLEMS)
]

pytestmark = pytest.mark.filterwarnings(
    "ignore::drmbench.drm.errors.ConditioningWarning"
)


def assert_same(found: GridPredictions, expected: GridPredictions) -> None:
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.failures.keys() == expected.failures.keys()


# The over-sampled methods all leave out by the same function: three are enough.
@pytest.mark.parametrize(
    ("method", "problem"),
    [
        case
        for case in CASES
        if case.values[0].predict_left_out
        and case.values[0].exact_left_out
        and case.values[0].family not in SLOW_OVERSAMPLED
    ],
)
def test_left_out_predictions_equal_those_of_refits(
    method: Method, problem: str
) -> None:
    assert method.predict_left_out is not None
    X, y = PROBLEMS[problem]
    candidates = few_candidates(method)
    found = method.predict_left_out(X, y, candidates, seed=3)
    assert_same(found, naive_left_out_predictions(method, X, y, candidates, seed=3))


@pytest.mark.parametrize(
    ("method", "problem"), [c for c in CASES if c.values[0].predict_grid]
)
def test_grid_predictions_equal_those_of_single_fits(
    method: Method, problem: str
) -> None:
    assert method.predict_grid is not None
    X, y = PROBLEMS[problem]
    train = np.arange(len(X)) % 3 > 0
    parts = X[train], y[train], X[~train]
    candidates = few_candidates(method)
    found = method.predict_grid(*parts, candidates, seed=3)
    assert_same(found, naive_grid_predictions(method, *parts, candidates, seed=3))


@pytest.mark.parametrize(
    "method",
    [
        m
        for m in METHODS
        if m.predict_left_out and m.exact_left_out and m not in OVERSAMPLED
    ],
    ids=lambda method: method.name,
)
def test_a_class_leaves_with_its_only_sample(method: Method) -> None:
    assert method.predict_left_out is not None
    X, y = blobs((6, 1, 5), 3, seed=6)
    candidates = few_candidates(method)[:3]
    found = method.predict_left_out(X, y, candidates, seed=3)
    assert_same(found, naive_left_out_predictions(method, X, y, candidates, seed=3))
    assert (found.labels[:, y == 1] != 1).all()


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_all_methods_but_the_iterative_ones_have_a_shortcut(method: Method) -> None:
    slow = {"drm-gd", "drm-ppa", "drm-apg", "l1-svm", "l2-svm", "l2-svm-balanced"}
    slow |= {"logistic", "logistic-balanced"}
    # Forests of one size have nothing in common.
    slow |= {"rf-500", "rf-500-balanced", "extra-trees", "balanced-rf", "easy-ensemble"}
    assert (method.predict_left_out is None) == (method.name in slow)


def test_a_failed_refit_fails_the_candidate_in_both_paths() -> None:
    nb = next(method for method in METHODS if method.name == "nb")
    strict = dataclasses.replace(
        nb, defaults={"zero_variance": "fail", "var_smoothing": 1e-9}
    )
    X, y = blobs((5, 5), 2)
    X[y == 0, 1] = [1.0, 1.0, 1.0, 1.0, 2.0]  # constant once the last one is left out
    candidates = strict.candidates()
    assert strict.predict_left_out is not None
    found = strict.predict_left_out(X, y, candidates, seed=0)
    assert_same(found, naive_left_out_predictions(strict, X, y, candidates, seed=0))
    assert (found.labels == -1).all()
    assert "feature 1 has no variance in class 0" in found.failures[0]
