"""The exact linear solver: against the closed form, in pieces, and on sparse data."""

from __future__ import annotations

import drm_oracles as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from drmbench import DRMClassifier, LinearDRMClassifier

quick = settings(max_examples=40, deadline=None, derandomize=True)


def expected_dissimilarities(X, y, X_test, alpha, beta):
    K = X @ X.T
    return np.array([oracle.dissimilarities(K, y, X @ x, alpha, beta) for x in X_test])


@quick
@given(oracle.problems(), oracle.alphas, oracle.betas)
def test_exact_equals_the_closed_form(problem, alpha, beta):
    X, y = problem
    X_test = np.random.default_rng(0).normal(size=(4, X.shape[1]))
    expected = expected_dissimilarities(X, y, X_test, alpha, beta)
    model = LinearDRMClassifier(alpha=alpha, beta=beta).fit(X, y)
    oracle.assert_close(model.dissimilarities(X_test), expected, 1e-9)
    exact = DRMClassifier(alpha=alpha, beta=beta, kernel="linear", solver="exact")
    oracle.assert_close(exact.fit(X, y).dissimilarities(X_test), expected, 1e-9)
    W = [oracle.representation(X @ X.T, y, X @ x, alpha, beta) for x in X_test]
    oracle.assert_close(exact.representation(X_test), np.array(W), 1e-8)


@quick
@given(oracle.problems(max_samples=40), st.integers(1, 7))
def test_pieces_make_the_whole(problem, size):
    X, y = problem
    whole = LinearDRMClassifier(alpha=0.5, beta=0.2).fit(X, y)
    pieces = LinearDRMClassifier(alpha=0.5, beta=0.2)
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        pieces.partial_fit(X[part], y[part], classes=np.unique(y))
    assert np.allclose(pieces.sums_, whole.sums_)
    assert np.array_equal(pieces.class_count_, whole.class_count_)
    assert np.allclose(pieces.dissimilarities(X), whole.dissimilarities(X))


def test_an_unseen_class_is_never_predicted():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 2
    model = LinearDRMClassifier().partial_fit(X, y, classes=[0, 1, 2])
    assert np.isinf(model.dissimilarities(X)[:, 2]).all()
    two = LinearDRMClassifier().fit(X, y)
    assert np.array_equal(model.predict(X), two.predict(X))


def test_fit_forgets_what_came_before():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 2
    model = LinearDRMClassifier().fit(X[:10], y[:10]).fit(X, y)
    assert np.array_equal(model.class_count_, [10, 10])


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_sparse_equals_dense(alpha):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 12)) * (rng.random((40, 12)) < 0.3)
    y = np.arange(40) % 3
    dense = LinearDRMClassifier(alpha=alpha).fit(X, y)
    thin = LinearDRMClassifier(alpha=alpha).fit(sparse.csr_matrix(X), y)
    assert np.allclose(
        thin.dissimilarities(sparse.csr_matrix(X)), dense.dissimilarities(X)
    )
    for solver in ("closed_form", "gd", "ppa", "apg", "exact"):
        both = [
            DRMClassifier(alpha=alpha, kernel="linear", solver=solver).fit(data, y)
            for data in (X, sparse.csr_matrix(X))
        ]
        first, second = (
            m.dissimilarities(d)
            for m, d in zip(both, (X, sparse.csr_matrix(X)), strict=True)
        )
        assert np.allclose(first, second, atol=1e-7), solver


def test_wide_data_takes_the_dual_and_agrees():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(15, 60)), np.arange(15) % 3
    auto = DRMClassifier(kernel="linear").fit(X, y)
    primal = LinearDRMClassifier().fit(X, y)
    assert np.allclose(auto.dissimilarities(X), primal.dissimilarities(X))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, X, y: m.partial_fit(X, y), "needs classes="),
        (lambda m, X, y: m.partial_fit(X, y, classes=[0]), "one class only"),
        (lambda m, X, y: m.partial_fit(X, y, classes=[0, 7]), "did not announce"),
        (lambda m, X, y: m.fit(X, y).partial_fit(X, y, classes=[0, 9]), "first call"),
        (lambda m, X, y: m.fit(X, y).set_params(beta=2.0).predict(X), "fit again"),
        (lambda m, X, y: m.fit(X, np.zeros(8)), "one class"),
    ],
)
def test_wrong_use_is_named(call, message):
    X, y = np.random.default_rng(5).normal(size=(8, 2)), np.arange(8) % 2
    with pytest.raises(ValueError, match=message):
        call(LinearDRMClassifier(), X, y)


def test_a_chunked_sum_is_the_sum(monkeypatch):
    from drmbench.drm import linear

    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(50, 3)), np.arange(50) % 2
    expected = LinearDRMClassifier().fit(X, y)
    monkeypatch.setattr(linear, "CHUNK", 7)
    chunked = LinearDRMClassifier().fit(X, y)
    assert np.allclose(chunked.dissimilarities(X), expected.dissimilarities(X))
