"""Shrunken covariances and centroids, against scikit-learn and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from method_problems import PROBLEMS, Problem, blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid
from test_representation import problems

from drmbench.methods.base import naive_left_out_predictions
from drmbench.methods.registry import get_method
from drmbench.methods.shrinkage_lda import ShrinkageLDA
from drmbench.methods.shrunken_centroids import ShrunkenCentroids


@pytest.mark.parametrize("shrinkage", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_shrinkage_lda_is_that_of_scikit_learn(problem: str, shrinkage: float) -> None:
    X, y = PROBLEMS[problem]
    X_test = blobs((10, 10), X.shape[1], seed=9)[0]
    other = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y)
    model = ShrinkageLDA(shrinkage=shrinkage).fit(X, y)
    np.testing.assert_array_equal(model.predict(X_test), other.predict(X_test))
    np.testing.assert_allclose(
        model.predict_proba(X_test), other.predict_proba(X_test), rtol=1e-6, atol=1e-9
    )


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problems())
def test_lda_is_left_out_in_fewer_coordinates(problem: Problem) -> None:
    X, y = problem
    if len(np.unique(y)) == 2 and (np.bincount(y) == 1).any():
        return  # one class would be left; selection does not ask for it
    method = get_method("lda-shrinkage")
    assert method.predict_left_out is not None
    candidates = method.candidates()
    found = method.predict_left_out(X, y, candidates, seed=0)
    expected = naive_left_out_predictions(method, X, y, candidates, seed=0)
    np.testing.assert_array_equal(found.labels, expected.labels)


@pytest.mark.parametrize("model", [ShrinkageLDA(), ShrunkenCentroids(threshold=1.0)])
def test_without_spread_the_nearest_mean_decides(
    model: ShrinkageLDA | ShrunkenCentroids,
) -> None:
    X = np.array([[0.0, 5.0], [0.0, 5.0], [1.0, 5.0], [1.0, 5.0]])
    model.fit(X, [0, 0, 1, 1])
    assert model.predict([[0.4, 9.0], [0.6, -3.0]]).tolist() == [0, 1]


@pytest.mark.parametrize("model", [ShrinkageLDA(), ShrunkenCentroids(threshold=1.0)])
def test_where_nothing_varies_the_largest_class_is_predicted(
    model: ShrinkageLDA | ShrunkenCentroids,
) -> None:
    X, y = np.full((7, 3), 0.1), [0, 0, 1, 1, 1, 1, 2]
    assert model.fit(X, y).predict(X).tolist() == [1] * 7


@pytest.mark.parametrize("threshold", [None, 0.5, 2.0])
@pytest.mark.parametrize("counts", [(8, 9), (4, 7, 5)])
def test_centroids_are_those_of_scikit_learn(
    threshold: float | None, counts: tuple[int, ...]
) -> None:
    X, y = blobs(counts, 12)
    model = ShrunkenCentroids(threshold=threshold or 0.0).fit(X, y)
    other = NearestCentroid(shrink_threshold=threshold).fit(X, y)
    np.testing.assert_allclose(model.centroids_, other.centroids_, rtol=1e-10)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(problems(), st.sampled_from([0.0, 0.4, 1.5]))
def test_centroids_decide_by_the_papers_discriminant(
    problem: Problem, threshold: float
) -> None:
    """δ_k(x) = Σ (x_i − x̄'_ik)² / (s_i + s_0)² − 2 log π_k; the smallest wins."""
    X, y = problem
    n, classes = len(X), np.unique(y)
    X_test = np.random.default_rng(0).normal(size=(5, X.shape[1]))
    if n == len(classes) or (np.bincount(y) < 2).all():
        return  # no spread within classes
    means = np.stack([X[y == c].mean(axis=0) for c in classes])
    within = sum(
        ((X[y == c] - m) ** 2).sum(axis=0) for c, m in zip(classes, means, strict=True)
    )
    s = np.sqrt(within / (n - len(classes)))
    model = ShrunkenCentroids(threshold=threshold).fit(X, y)
    scaled = (X_test[:, None] - model.centroids_) / (s + np.median(s))
    delta = (scaled**2).sum(axis=2) - 2 * np.log(np.bincount(y) / n)
    scores = model._scores(X_test)
    np.testing.assert_allclose(
        -2 * (scores - scores[:, :1]), delta - delta[:, :1], rtol=1e-7, atol=1e-7
    )


def test_a_large_threshold_leaves_the_shares_alone() -> None:
    X, y = blobs((8, 9, 12), 5)
    model = ShrunkenCentroids(threshold=1e6).fit(X, y)
    np.testing.assert_allclose(model.centroids_, X.mean(axis=0)[None].repeat(3, axis=0))
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], np.bincount(y) / len(y))
