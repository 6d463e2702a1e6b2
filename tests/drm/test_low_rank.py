"""The low-rank kernel factor and the linear algorithms on it."""

from __future__ import annotations

import drm_oracles as oracle
import numpy as np
import pytest

from drmbench import DRMClassifier
from drmbench.drm.kernels import Kernel
from drmbench.drm.low_rank import LowRankMap, pivoted_cholesky


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, np.arange(60) % 3, rng.normal(size=(10, 3))


def rbf(X, Y):
    return oracle.gram(X, Y, "rbf", 0.3)


RBF = Kernel.of_callable(rbf)


def test_full_rank_is_exact(data):
    X, _, X_test = data
    found = pivoted_cholesky(X, RBF, rank=60)
    F = found.factor
    features = LowRankMap(RBF, X[found.landmarks], F[found.landmarks])
    assert np.allclose(F @ F.T, rbf(X, X), atol=1e-8)
    assert np.allclose(features.transform(X_test) @ F.T, rbf(X_test, X), atol=1e-4)
    assert np.allclose(features.transform(X), F, atol=1e-6)


def test_residual_is_the_trace_error_and_falls(data):
    X, _, _ = data
    residuals = []
    for rank in (2, 5, 10, 20):
        found = pivoted_cholesky(X, RBF, rank)
        F = found.factor
        assert F.shape == (60, rank)
        error = np.trace(rbf(X, X) - F @ F.T) / 60
        assert np.isclose(found.residual, error)
        residuals.append(error)
    assert residuals == sorted(residuals, reverse=True)


def test_the_factor_is_the_nystroem_approximation(data):
    """``K[:, L] K[L, L]⁻¹ K[L, :]`` for the chosen landmarks L."""
    X, _, _ = data
    found = pivoted_cholesky(X, RBF, 8)
    landmarks = found.landmarks
    C = rbf(X, X[landmarks])
    nystroem = C @ np.linalg.solve(rbf(X[landmarks], X[landmarks]), C.T)
    F = found.factor
    assert np.allclose(F @ F.T, nystroem, atol=1e-8)
    F = LowRankMap.of(X, RBF, 8).transform(X)
    landmarks = np.isclose(np.einsum("ij,ij->i", F, F), 1.0, atol=1e-10)
    assert np.count_nonzero(landmarks) == 8  # only theirs is all of k(x, x)
    C = rbf(X, X[landmarks])
    nystroem = C @ np.linalg.solve(rbf(X[landmarks], X[landmarks]), C.T)
    assert np.allclose(F @ F.T, nystroem, atol=1e-8)


def test_duplicates_stop_it_early():
    X = np.repeat(np.random.default_rng(1).normal(size=(4, 2)), 5, axis=0)
    found = pivoted_cholesky(X, RBF, 15)
    assert found.factor.shape == (20, 4)
    assert found.residual < 1e-12


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
