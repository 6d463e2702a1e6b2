"""Collaborative representation: the papers' formulas, and leave-one-out as refits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from method_problems import Problem, blobs
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from drmbench.drm.partition import ClassPartition
from drmbench.methods.base import (
    MethodFailedError,
    naive_grid_predictions,
    naive_left_out_predictions,
)
from drmbench.methods.registry import get_method
from drmbench.methods.representation import (
    CollaborativeClassifier,
    CollaborativePenalty,
    ProbabilisticCollaborativeClassifier,
    unit_rows,
)

Array = NDArray[np.float64]

penalties = st.sampled_from([1e-3, 1e-2, 0.1, 1.0, 100.0])


@st.composite
def problems(draw: Any) -> Problem:
    """Return two to four classes, some of one sample, some samples twice."""
    counts = draw(st.lists(st.integers(1, 6), min_size=2, max_size=4))
    counts[0] += 1
    X, y = blobs(
        counts, draw(st.integers(2, 12)), seed=draw(st.integers(0, 99)), gap=0.7
    )
    if draw(st.booleans()):
        X[-1] = X[0]
    return X, y


def stacked_solution(Z: Array, codes: Any, y: Array, lam: float, gamma: float) -> Array:
    """Solve ProCRC's least squares by stacking all of its terms, as it is defined."""
    g = codes.max() + 1
    rows, aims = [Z.T, np.sqrt(lam) * np.eye(len(Z))], [y, np.zeros(len(Z))]
    for c in range(g):
        rows.append(np.sqrt(gamma / g) * np.where(codes == c, 0.0, Z.T))
        aims.append(np.zeros(Z.shape[1]))
    return np.linalg.lstsq(np.vstack(rows), np.concatenate(aims))[0]


@pytest.mark.parametrize("p", [3, 40])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
def test_crc_is_ridge_regression_on_unit_samples(p: int, lam: float) -> None:
    X, y = blobs((8, 9, 7), p)
    X_test = blobs((4, 4), p, seed=1)[0]
    W = CollaborativeClassifier(lam=lam).fit(X, y).coefficients(X_test)
    ridge = Ridge(alpha=lam, fit_intercept=False, solver="svd")
    expected = ridge.fit(unit_rows(X).T, unit_rows(X_test).T).coef_
    np.testing.assert_allclose(W, expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("p", [3, 40])
def test_crc_decides_by_the_papers_rule(p: int) -> None:
    X, y = blobs((8, 9, 7), p)
    X_test = blobs((10, 10, 10), p, seed=1)[0]
    model = CollaborativeClassifier(lam=0.05).fit(X, y)
    W, Z = model.coefficients(X_test), unit_rows(X)
    for w, sample, label, delta in zip(
        W,
        unit_rows(X_test),
        model.predict(X_test),
        model.dissimilarities(X_test),
        strict=True,
    ):
        residuals = [
            np.linalg.norm(sample - Z[y == c].T @ w[y == c]) / np.linalg.norm(w[y == c])
            for c in range(3)
        ]
        np.testing.assert_allclose(delta, residuals, rtol=1e-9)
        assert label == np.argmin(residuals)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problems(), penalties, st.sampled_from([0.0, 1e-3, 0.1, 5.0]))
def test_procrc_minimises_its_objective(
    problem: Problem, lam: float, gamma: float
) -> None:
    X, y = problem
    codes, Z = np.unique(y, return_inverse=True)[1], unit_rows(X)
    sample = np.random.default_rng(0).normal(size=(1, X.shape[1]))
    model = ProbabilisticCollaborativeClassifier(lam=lam, gamma=gamma).fit(X, y)
    expected = stacked_solution(Z, codes, unit_rows(sample)[0], lam, gamma)
    (found,) = model.coefficients(sample)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    u = Z.T @ expected
    distances = [
        np.linalg.norm(u - Z[codes == c].T @ expected[codes == c])
        for c in range(codes.max() + 1)
    ]
    np.testing.assert_allclose(
        model.dissimilarities(sample)[0], distances, rtol=1e-6, atol=1e-9
    )


def test_procrc_decides_by_the_nearest_part() -> None:
    X, y = blobs((8, 9, 7), 5)
    X_test = blobs((20, 20, 20), 5, seed=1)[0]
    model = ProbabilisticCollaborativeClassifier(lam=0.01, gamma=0.5).fit(X, y)
    W, Z = model.coefficients(X_test), unit_rows(X)
    parts = np.stack([W[:, y == c] @ Z[y == c] for c in range(3)])
    distances = np.linalg.norm(parts.sum(axis=0) - parts, axis=2)
    predicted = model.predict(X_test)
    np.testing.assert_array_equal(predicted, distances.argmin(axis=0))
    assert len(set(predicted.tolist())) == 3


def test_without_gamma_both_have_the_same_coefficients() -> None:
    X, y = blobs((9, 5), 4)
    plain = CollaborativeClassifier(lam=0.3).fit(X, y)
    probable = ProbabilisticCollaborativeClassifier(lam=0.3, gamma=0.0).fit(X, y)
    np.testing.assert_allclose(plain.coefficients(X), probable.coefficients(X))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problems(), penalties, st.sampled_from([0.0, 0.1, 5.0]))
def test_systems_of_features_and_of_samples_agree(
    problem: Problem, lam: float, gamma: float
) -> None:
    X, y = problem
    partition, penalty = ClassPartition.of(y), CollaborativePenalty(lam, gamma)
    Z = unit_rows(X)[partition.order]
    by_samples = penalty._solve(penalty.system(Z @ Z.T, partition), Z)
    by_features = penalty._map_by_features(Z, partition)
    np.testing.assert_allclose(by_features, by_samples, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["crc", "procrc"])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(problem=problems(), lam=penalties, gamma=st.sampled_from([1e-3, 0.1, 10.0]))
def test_leave_one_out_equals_refits(
    name: str, problem: Problem, lam: float, gamma: float
) -> None:
    method, (X, y) = get_method(name), problem
    if len(np.unique(y)) == 2 and (np.bincount(y) == 1).any():
        return  # one class would be left; selection does not ask for it
    candidates = [{"lam": lam, "gamma": gamma} if name == "procrc" else {"lam": lam}]
    assert method.predict_left_out is not None
    found = method.predict_left_out(X, y, candidates, seed=0)
    expected = naive_left_out_predictions(method, X, y, candidates, seed=0)
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.failures == expected.failures == {}


@pytest.mark.parametrize("gamma", [0.0, 0.4])
def test_left_out_coefficients_are_those_of_refits(gamma: float) -> None:
    X, y = blobs((6, 5, 7), 30)
    partition, penalty = ClassPartition.of(y), CollaborativePenalty(0.02, gamma)
    X, y = X[partition.order], y[partition.order]
    Z = unit_rows(X)
    found = penalty.left_out_coefficients(Z @ Z.T, partition)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        model = ProbabilisticCollaborativeClassifier(lam=0.02, gamma=gamma)
        expected = model.fit(X[rest], y[rest]).coefficients(X[[i]])[0]
        np.testing.assert_allclose(found[i, rest], expected, rtol=1e-8, atol=1e-12)
        assert found[i, i] == 0


@pytest.mark.parametrize("name", ["crc", "procrc", "src"])
def test_the_length_of_a_sample_does_not_matter(name: str) -> None:
    X, y = blobs((9, 8, 7), 5)
    X_test = blobs((20, 20, 20), 5, seed=1)[0]
    lengths = np.exp(np.random.default_rng(0).normal(size=(len(X), 1), scale=3))
    method = get_method(name)
    params = method.candidates()[0]
    plain = method.build(params, 0).fit(X, y).predict(X_test)
    other = method.build(params, 0).fit(lengths * X, y).predict(7 * X_test)
    np.testing.assert_array_equal(plain, other)


@pytest.mark.parametrize("name", ["crc", "procrc", "src"])
def test_a_sample_of_zeros_gets_the_first_class(name: str) -> None:
    X, y = blobs((5, 6), 3)
    X[2] = 0.0
    method = get_method(name)
    model = method.build(method.candidates()[0], 0).fit(X, y)
    assert model.predict(np.zeros((1, 3))).tolist() == [0]
    assert np.isfinite(model.decision_function(np.zeros((1, 3)))).all()


@pytest.mark.parametrize("name", ["crc", "procrc", "src"])
def test_one_feature_leaves_ties_that_rounding_does_not_break(name: str) -> None:
    """All that is left of a single feature is its sign: equal classes tie."""
    X, y = np.array([[1.0], [3.0], [0.7], [2.0]]), np.array([0, 1, 0, 1])
    method = get_method(name)
    for params in method.candidates():
        model = method.build(params, 0).fit(X, y)
        assert model.predict([[0.3], [11.0]]).tolist() == [0, 0]


def test_a_system_beyond_double_precision_fails_its_candidate_alone() -> None:
    X, y = blobs((6, 6), 20)
    X[:, 0], X[:, 1:] = 2.0, 0.0  # all samples are the same
    method = get_method("crc")
    candidates = [{"lam": 1e-30}, {"lam": 0.1}]
    answer = naive_grid_predictions(method, X, y, X, candidates, seed=0)
    assert "lam=1e-30 and gamma=0; a larger lam would do" in answer.failures[0]
    assert (answer.labels[1] >= 0).all()
    with pytest.raises(MethodFailedError, match="not positive definite"):
        method.build(candidates[0], 0).fit(X, y)
