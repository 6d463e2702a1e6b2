"""The LARS-EN path: optimality, other solvers' answers, and ties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import ElasticNet

from drmbench.methods.slda_directions import (
    ElasticNetSolution,
    GramColumns,
    elastic_net_path,
)

Array = NDArray[np.float64]
RIDGES = [0.0, 1e-3, 1.0, 1e3]


def unit_columns(X: Array) -> Array:
    X = X - X.mean(axis=0)
    length = np.linalg.norm(X, axis=0)
    return X / np.where(length > 0, length, 1.0)


def correlated_problem(seed: int, n: int, p: int) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    mixing = np.eye(p) + random.normal(size=(p, p))
    X = unit_columns(random.normal(size=(n, p)) @ mixing)
    y = random.normal(size=n)
    return X, y - y.mean()


def discrete_problem(seed: int, n: int, p: int) -> tuple[Array, Array]:
    """Features of zeros and ones: ties, duplicates and constants abound."""
    random = np.random.default_rng(seed)
    X = unit_columns(random.integers(0, 2, (n, p)).astype(float))
    y = random.integers(0, 2, n).astype(float)
    return X, y - y.mean()


def solve(
    X: Array, y: Array, ridge: float, sizes: list[int], lasso: float = 0.0
) -> dict[int, ElasticNetSolution]:
    negligible = 1e-12 * float(np.linalg.norm(y))
    return elastic_net_path(
        GramColumns(X),
        X.T @ y,
        ridge=ridge,
        sizes=sizes,
        lasso=lasso,
        negligible=negligible,
    )


def half_gradient(X: Array, y: Array, ridge: float, coef: Array) -> Array:
    return np.asarray(X.T @ (y - X @ coef) - ridge * coef)


def assert_optimal(
    X: Array, y: Array, ridge: float, solution: ElasticNetSolution
) -> None:
    """Check the optimality conditions of ‖y − Xb‖² + ridge ‖b‖² + lasso ‖b‖₁."""
    coef, level = solution.coef, solution.lasso / 2
    gradient = half_gradient(X, y, ridge, coef)
    active = coef != 0
    np.testing.assert_allclose(
        gradient[active], level * np.sign(coef[active]), atol=1e-8
    )
    assert np.all(np.abs(gradient[~active]) <= level + 1e-8)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 30),
    p=st.integers(1, 20),
    ridge=st.sampled_from(RIDGES),
)
def test_every_size_is_optimal_and_has_its_number_of_non_zeros(
    seed: int, n: int, p: int, ridge: float
) -> None:
    X, y = correlated_problem(seed, n, p)
    possible = p if ridge > 0 else min(p, n - 1)
    for size, solution in solve(X, y, ridge, list(range(1, p + 1))).items():
        assert_optimal(X, y, ridge, solution)
        assert np.sum(solution.coef != 0) == min(size, possible)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 12),
    p=st.integers(1, 12),
    ridge=st.sampled_from(RIDGES),
)
def test_with_ties_each_size_is_optimal_among_the_features_let_in(
    seed: int, n: int, p: int, ridge: float
) -> None:
    X, y = discrete_problem(seed, n, p)
    path = solve(X, y, ridge, list(range(1, p + 1)))
    for size, solution in path.items():
        active = solution.coef != 0
        assert active.sum() <= size
        kept = ElasticNetSolution(solution.coef[active], solution.lasso)
        assert_optimal(X[:, active], y, ridge, kept)
    # The last size keeps every feature, so no tie is left open there.
    assert_optimal(X, y, ridge, path[p])


@pytest.mark.parametrize("ridge", [1e-3, 1.0, 1e3])
def test_coordinate_descent_finds_the_same_coefficients(ridge: float) -> None:
    X, y = correlated_problem(3, n=40, p=12)
    for solution in solve(X, y, ridge, [1, 4, 8]).values():
        l1, l2 = solution.lasso / 2 / len(y), ridge / len(y)
        reference = ElasticNet(
            alpha=l1 + l2,
            l1_ratio=l1 / (l1 + l2),
            fit_intercept=False,
            tol=1e-14,
            max_iter=10**6,
        ).fit(X, y)
        np.testing.assert_allclose(solution.coef, reference.coef_, atol=1e-7)


def test_the_path_ends_in_ridge_regression() -> None:
    X, y = correlated_problem(5, n=30, p=7)
    end = solve(X, y, 0.5, [7])[7]
    ridge_solution = np.linalg.solve(X.T @ X + 0.5 * np.eye(7), X.T @ y)
    np.testing.assert_allclose(end.coef, ridge_solution, atol=1e-12)
    assert end.lasso == 0


def test_a_feature_can_leave_again() -> None:
    X, y = correlated_problem(2, n=12, p=12)
    path = solve(X, y, 1e-3, list(range(1, 13)))
    active = [set(np.flatnonzero(path[size].coef)) for size in sorted(path)]
    assert any(not small <= large for small, large in itertools.pairwise(active))
    for solution in path.values():
        assert_optimal(X, y, 1e-3, solution)


def test_all_sizes_at_once_equal_one_at_a_time() -> None:
    for problem in (correlated_problem, discrete_problem):
        X, y = problem(8, n=14, p=9)
        together = solve(X, y, 0.1, [1, 3, 5, 9])
        for size, solution in together.items():
            alone = solve(X, y, 0.1, [size])[size]
            np.testing.assert_array_equal(solution.coef, alone.coef)
            assert solution.lasso == alone.lasso


def test_a_lasso_weight_ends_the_path_early() -> None:
    X, y = correlated_problem(4, n=30, p=10)
    free = solve(X, y, 1.0, [5])[5]
    bound = solve(X, y, 1.0, [10], lasso=1.5 * free.lasso)[10]
    assert bound.lasso == 1.5 * free.lasso
    assert 0 < np.sum(bound.coef != 0) <= 5
    assert_optimal(X, y, 1.0, bound)


def test_a_lasso_weight_beyond_all_correlations_gives_zero() -> None:
    X, y = correlated_problem(4, n=30, p=10)
    lasso = 3 * float(np.abs(X.T @ y).max())
    solution = solve(X, y, 1.0, [3], lasso=lasso)[3]
    assert not solution.coef.any()
    assert solution.lasso == lasso


def test_duplicates_share_a_coefficient_when_both_are_kept() -> None:
    X, y = correlated_problem(6, n=20, p=3)
    twice = np.column_stack([X, X])
    both = solve(twice, y, 0.1, [2, 6])
    np.testing.assert_allclose(both[6].coef[:3], both[6].coef[3:], atol=1e-12)
    np.testing.assert_allclose(both[2].coef[:3], both[2].coef[3:], atol=1e-12)


def test_of_duplicates_the_first_is_kept_alone() -> None:
    X, y = correlated_problem(6, n=20, p=1)
    solution = solve(np.column_stack([X, X, X]), y, 0.1, [1])[1]
    alone = solve(X, y, 0.1, [1])[1]
    np.testing.assert_allclose(solution.coef, [alone.coef[0], 0, 0], atol=1e-12)


def test_without_ridge_a_dependent_feature_never_enters() -> None:
    X, y = correlated_problem(7, n=20, p=2)
    end = solve(np.column_stack([X, X]), y, 0.0, [4])[4]
    assert np.sum(end.coef != 0) == 2
    fitted = X @ np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(np.column_stack([X, X]) @ end.coef, fitted, atol=1e-10)


def test_features_unrelated_to_the_response_get_nothing() -> None:
    X = unit_columns(np.array([[1.0, 0], [-1.0, 0], [1.0, 0], [-1.0, 0]]))
    y = np.array([1.0, 1.0, -1.0, -1.0])
    assert not solve(X, y, 0.0, [2])[2].coef.any()


def test_more_active_features_than_the_first_buffers_hold() -> None:
    X, y = correlated_problem(9, n=25, p=60)
    path = solve(X, y, 0.1, [7, 8, 9, 17, 40])
    for size, solution in path.items():
        assert np.sum(solution.coef != 0) == size
        assert_optimal(X, y, 0.1, solution)
