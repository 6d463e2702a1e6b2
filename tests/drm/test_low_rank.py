"""The low-rank kernel factor and the linear algorithms on it."""

from __future__ import annotations

import drm_oracles as oracle
import numpy as np
import pytest

from drmbench import DRMClassifier
from drmbench.drm.kernels import LowRankMap


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, np.arange(60) % 3, rng.normal(size=(10, 3))


def rbf(X, Y):
    return oracle.gram(X, Y, "rbf", 0.3)


def test_full_rank_is_exact(data):
    X, _, X_test = data
    features = LowRankMap(X, rbf, np.ones(60), rank=60)
    F = features.train_features
    assert np.allclose(F @ F.T, rbf(X, X), atol=1e-8)
    assert np.allclose(features.transform(X_test) @ F.T, rbf(X_test, X), atol=1e-4)
    assert np.allclose(features.transform(X), F, atol=1e-6)


def test_residual_is_the_trace_error_and_falls(data):
    X, _, _ = data
    residuals = []
    for rank in (2, 5, 10, 20):
        features = LowRankMap(X, rbf, np.ones(60), rank)
        F = features.train_features
        assert F.shape == (60, rank)
        error = np.trace(rbf(X, X) - F @ F.T) / 60
        assert np.isclose(features.residual, error)
        residuals.append(error)
    assert residuals == sorted(residuals, reverse=True)


def test_the_factor_is_the_nystroem_approximation(data):
    """``K[:, L] K[L, L]⁻¹ K[L, :]`` for the chosen landmarks L."""
    X, _, _ = data
    features = LowRankMap(X, rbf, np.ones(60), 8)
    landmarks = features.landmarks
    C = rbf(X, X[landmarks])
    nystroem = C @ np.linalg.solve(rbf(X[landmarks], X[landmarks]), C.T)
    F = features.train_features
    assert np.allclose(F @ F.T, nystroem, atol=1e-8)


def test_duplicates_stop_it_early():
    X = np.repeat(np.random.default_rng(1).normal(size=(4, 2)), 5, axis=0)
    features = LowRankMap(X, rbf, np.ones(20), 15)
    assert features.train_features.shape == (20, 4)
    assert features.residual < 1e-12


@pytest.mark.parametrize("solver", ["auto", "closed_form", "gd", "ppa", "apg", "exact"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "callable"])
def test_full_rank_classifier_is_the_kernel_classifier(data, solver, kernel):
    X, y, X_test = data
    settings = {"alpha": 0.2, "beta": 0.5, "gamma": 0.3, "degree": 2}
    chosen = rbf if kernel == "callable" else kernel
    full = DRMClassifier(kernel=chosen, **settings).fit(X, y)
    low = DRMClassifier(
        kernel=chosen, solver=solver, rank=60, tol=1e-10, max_iter=5000, **settings
    ).fit(X, y)
    expected = full.dissimilarities(X_test)
    assert np.allclose(low.dissimilarities(X_test), expected, atol=1e-4)
    assert (low.predict(X_test) == full.predict(X_test)).all()


def test_rank_needs_samples(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="cannot take a precomputed"):
        DRMClassifier(kernel="precomputed", rank=3).fit(rbf(X, X), y)
