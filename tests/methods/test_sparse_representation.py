"""Sparse representation: the lasso's solution, whatever the way to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from method_problems import Problem, blobs
from sklearn.linear_model import ElasticNet, Lasso
from test_representation import Array, problems

from drmbench.methods.base import naive_grid_predictions, naive_left_out_predictions
from drmbench.methods.registry import get_method
from drmbench.methods.representation import unit_rows
from drmbench.methods.sparse_representation import (
    ActiveSet,
    SparseRepresentationClassifier,
)

lams = st.sampled_from([1e-3, 3e-3, 0.01, 0.03, 0.1, 0.5])


def objective(W: Array, Z: Array, samples: Array, lam: float) -> Array:
    """Return ½‖y − Zᵀw‖² + lam ‖w‖₁ of each row."""
    misses = ((samples - W @ Z) ** 2).sum(axis=1)
    values: Array = misses / 2 + lam * np.abs(W).sum(axis=1)
    return values


OPTIONS = {"fit_intercept": False, "tol": 1e-12, "max_iter": 1_000_000}


def some_samples(p: int) -> tuple[Array, Array, Array]:
    """Return training samples and test samples of unit length, and classes."""
    X, y = blobs((12, 10, 9), p, gap=0.5)
    return unit_rows(X), unit_rows(blobs((3, 3), p, seed=1)[0]), y


@pytest.mark.parametrize("p", [6, 60])
@pytest.mark.parametrize("lam", [1e-3, 0.01, 0.1, 0.4])
def test_no_other_solver_finds_less(p: int, lam: float) -> None:
    Z, samples, y = some_samples(p)
    found = SparseRepresentationClassifier(lam=lam).fit(Z, y).coefficients(samples)
    other = Lasso(alpha=lam / p, **OPTIONS).fit(Z.T, samples.T).coef_
    best = objective(other, Z, samples, lam)
    np.testing.assert_allclose(objective(found, Z, samples, lam), best, atol=1e-6)


@pytest.mark.parametrize("p", [6, 60])
@pytest.mark.parametrize("lam", [0.01, 0.1, 0.4])
def test_coefficients_are_those_of_another_solver(p: int, lam: float) -> None:
    Z, samples, y = some_samples(p)
    found = SparseRepresentationClassifier(lam=lam).fit(Z, y).coefficients(samples)
    total = lam + 1e-7
    net = ElasticNet(alpha=total / p, l1_ratio=lam / total, **OPTIONS)
    expected = net.fit(Z.T, samples.T).coef_
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    assert (found != 0).sum() < found.size
    assert found.any()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(problems(), st.lists(lams, min_size=1, max_size=4))
def test_solutions_meet_the_conditions_of_optimality(
    problem: Problem, path: list[float]
) -> None:
    """Also where samples coincide, and from whatever solution the search starts."""
    X, _ = problem
    Z = unit_rows(X)
    y = unit_rows(np.random.default_rng(1).normal(size=(1, X.shape[1])) + 0.5)[0]
    search = ActiveSet(Z, y)
    for lam in path:
        search.solve(lam)
        w = np.zeros(len(Z))
        w[search.members] = search.weights
        slopes = Z @ (y - Z.T @ w) - 1e-7 * w
        assert np.abs(slopes).max() <= lam * (1 + 1e-8)
        taking_part = w != 0
        expected = lam * np.sign(w[taking_part])
        np.testing.assert_allclose(slopes[taking_part], expected, rtol=0, atol=1e-10)
        fresh = ActiveSet(Z, y)
        fresh.solve(lam)
        again = np.zeros(len(Z))
        again[fresh.members] = fresh.weights
        np.testing.assert_allclose(w, again, rtol=0, atol=1e-6)


def test_the_smallest_residual_of_a_class_decides() -> None:
    X, y = blobs((12, 10, 9), 6, gap=0.5)
    X_test = blobs((10, 10, 10), 6, seed=1)[0]
    model = SparseRepresentationClassifier(lam=0.01).fit(X, y)
    W, Z, samples = model.coefficients(X_test), unit_rows(X), unit_rows(X_test)
    residuals = np.stack(
        [np.linalg.norm(samples - W[:, y == c] @ Z[y == c], axis=1) for c in range(3)]
    )
    np.testing.assert_allclose(model.dissimilarities(X_test), residuals.T, rtol=1e-8)
    np.testing.assert_array_equal(model.predict(X_test), residuals.argmin(axis=0))


def test_what_lies_outside_the_training_samples_is_part_of_residuals() -> None:
    X, y = blobs((4, 4), 30)
    X_test = blobs((5, 5), 30, seed=1)[0]
    model = SparseRepresentationClassifier(lam=0.01).fit(X, y)
    W, Z, samples = model.coefficients(X_test), unit_rows(X), unit_rows(X_test)
    residuals = np.stack(
        [np.linalg.norm(samples - W[:, y == c] @ Z[y == c], axis=1) for c in range(2)]
    )
    np.testing.assert_allclose(model.dissimilarities(X_test), residuals.T, rtol=1e-8)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problems())
def test_leave_one_out_and_the_grid_equal_refits(problem: Problem) -> None:
    X, y = problem
    if len(np.unique(y)) == 2 and (np.bincount(y) == 1).any():
        return  # one class would be left; selection does not ask for it
    method = get_method("src")
    candidates = method.candidates()
    assert method.predict_left_out is not None
    assert method.predict_grid is not None
    found = method.predict_left_out(X, y, candidates, seed=0)
    expected = naive_left_out_predictions(method, X, y, candidates, seed=0)
    np.testing.assert_array_equal(found.labels, expected.labels)
    X_test = np.random.default_rng(2).normal(size=(6, X.shape[1])) + 0.7
    grid = method.predict_grid(X, y, X_test, candidates, seed=0)
    single = naive_grid_predictions(method, X, y, X_test, candidates, seed=0)
    np.testing.assert_array_equal(grid.labels, single.labels)


def test_no_sample_takes_part_from_one_on() -> None:
    X, y = blobs((5, 5), 4)
    model = SparseRepresentationClassifier(lam=1.0).fit(X, y)
    assert not model.coefficients(X).any()
    assert set(model.predict(X).tolist()) == {0}


def test_equal_samples_share_their_coefficient() -> None:
    X = np.array([[1.0, 0.0, 0.2], [1.0, 0.0, 0.2], [0.0, 1.0, 0.3]])
    model = SparseRepresentationClassifier(lam=0.01).fit(X, [0, 1, 1])
    (w,) = model.coefficients([[2.0, 0.1, 0.1]])
    assert w[0] == pytest.approx(w[1], rel=1e-5)
    assert w[0] > 0.3
