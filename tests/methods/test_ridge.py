"""The ridge classifier's shortcuts give what scikit-learn's fits do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from method_problems import Problem, blobs
from sklearn.linear_model import RidgeClassifier, RidgeClassifierCV
from test_representation import problems

from drmbench.methods.base import Method, naive_left_out_predictions
from drmbench.methods.registry import get_method
from drmbench.methods.ridge import METHODS, RidgeProblem

both = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


@both
@pytest.mark.parametrize("p", [3, 16, 60])
@pytest.mark.parametrize("counts", [(12, 5), (4, 9, 6)])
def test_a_grid_equals_separate_fits(
    method: Method, p: int, counts: tuple[int, ...]
) -> None:
    X, y = blobs(counts, p)
    X_test = blobs((30, 30, 30), p, seed=1)[0]
    balanced = "balanced" if method.name == "ridge-balanced" else None
    candidates = method.candidates()
    assert method.predict_grid is not None
    found = method.predict_grid(X, y, X_test, candidates, seed=0)
    for row, params in zip(found.labels, candidates, strict=True):
        model = RidgeClassifier(class_weight=balanced, solver="cholesky", **params)
        np.testing.assert_array_equal(row, model.fit(X, y).predict(X_test))
    assert len(set(found.labels[0].tolist())) == len(counts)


@both
@settings(max_examples=20, deadline=None, derandomize=True)
@given(problem=problems(), size=st.sampled_from([1e-3, 1.0, 1e4]))
def test_leave_one_out_equals_refits(
    method: Method, problem: Problem, size: float
) -> None:
    X, y = problem
    if len(np.unique(y)) == 2 and (np.bincount(y) == 1).any():
        return  # one class would be left; selection does not ask for it
    assert method.predict_left_out is not None
    candidates = method.candidates()
    found = method.predict_left_out(size * X, y, candidates, seed=0)
    expected = naive_left_out_predictions(method, size * X, y, candidates, seed=0)
    np.testing.assert_array_equal(found.labels, expected.labels)


@pytest.mark.parametrize("p", [4, 40])
def test_left_out_values_are_those_of_scikit_learn(p: int) -> None:
    X, y = blobs((9, 7), p, gap=0.3)
    alphas = [0.01, 1.0, 100.0]
    model = RidgeClassifierCV(alphas, store_cv_results=True).fit(X, y)
    problem = RidgeProblem.of(X, y, np.ones(len(y)))
    for number, alpha in enumerate(alphas):
        values, sure = problem.decide_left_out(alpha)
        assert sure.all()
        errors = (values[:, 1] - (2 * y - 1)) ** 2
        np.testing.assert_allclose(errors, model.cv_results_[:, 0, number], rtol=1e-8)


def test_a_sample_that_alone_has_a_feature_is_left_out_exactly() -> None:
    """Its residual is rounding where the feature is large: it is fitted again."""
    X, y = blobs((8, 8), 3)
    for size in (1e3, 1e6, 1e8, 1e10):
        lonely = np.hstack([X, np.zeros((len(X), 1))])
        lonely[4, 3] = size
        for method in METHODS:
            assert method.predict_left_out is not None
            grid = method.candidates()
            found = method.predict_left_out(lonely, y, grid, seed=0)
            expected = naive_left_out_predictions(method, lonely, y, grid, seed=0)
            np.testing.assert_array_equal(found.labels, expected.labels)


def test_balance_helps_the_minority() -> None:
    X, y = blobs((60, 6), 3, gap=0.8)
    X_test, y_test = blobs((40, 40), 3, seed=1, gap=0.8)
    recalls = []
    for name in ("ridge", "ridge-balanced"):
        model = get_method(name).build({"alpha": 1.0}, 0).fit(X, y)
        recalls.append(np.mean(model.predict(X_test)[y_test == 1]))
    assert recalls[1] > recalls[0] + 0.3
