"""The DRM and its ablation as methods: grids, readings, shared matrices, failures."""

from __future__ import annotations

import numpy as np
import pytest
from method_problems import blobs

from drmbench.drm.classifier import DRMClassifier
from drmbench.drm.kernels import Products
from drmbench.drm.loo import loo_predict
from drmbench.methods.base import Method, Params
from drmbench.methods.drm import METHODS
from drmbench.methods.registry import with_overrides

BY_NAME = {method.name: method for method in METHODS}


def test_alpha_is_the_outermost_loop_and_beta_the_innermost() -> None:
    assert list(BY_NAME["drm-rbf"].grid) == ["alpha", "sigma", "beta"]
    assert list(BY_NAME["drm-poly"].grid) == ["alpha", "degree", "beta"]
    first, second = BY_NAME["drm-poly"].candidates()[:2]
    assert first == {"alpha": 0.001, "degree": 2, "beta": 0.001}
    assert second == {"alpha": 0.001, "degree": 2, "beta": 0.01}


def test_the_grid_for_large_data_is_the_papers() -> None:
    grid = BY_NAME["drm-ppa"].grid
    np.testing.assert_allclose(np.log10(grid["alpha"]), np.arange(-6, 0))
    np.testing.assert_allclose(np.log10(grid["beta"]), np.arange(-6, 9))


def test_the_ablation_is_the_drm_without_alpha() -> None:
    X, y = blobs((8, 7, 6), 3)
    krr, drm = BY_NAME["krr-rbf"], BY_NAME["drm-rbf"]
    assert krr.predict_left_out is not None
    assert drm.predict_left_out is not None
    candidates = krr.candidates()
    without_alpha: list[Params] = [{**params, "alpha": 0.0} for params in candidates]
    found = krr.predict_left_out(X, y, candidates, seed=0)
    expected = drm.predict_left_out(X, y, without_alpha, seed=0)
    np.testing.assert_array_equal(found.labels, expected.labels)


@pytest.mark.parametrize(("width", "divisor"), [("sigma", 0.02), ("variance", 0.2)])
def test_left_out_predictions_read_the_width_as_told(
    width: str, divisor: float
) -> None:
    X, y = blobs((9, 9), 2)
    K = np.exp(-Products(X).squared_distances / divisor)  # 2σ² or 2s at 0.1
    params = {"alpha": 0.1, "sigma": 0.1, "beta": 0.1, "width": width}
    left_out = BY_NAME["drm-rbf"].predict_left_out
    assert left_out is not None
    found = left_out(X, y, [params], seed=0).labels[0]
    np.testing.assert_array_equal(found, loo_predict(K, y, 0.1, 0.1))


def test_a_kernel_that_overflows_fails_its_candidates_only() -> None:
    X, y = blobs((6, 6), 2)
    candidates = [
        {"alpha": 1.0, "degree": degree, "beta": beta}
        for degree in (1, 10)
        for beta in (0.1, 1.0)
    ]
    method = BY_NAME["drm-poly"]
    assert method.predict_left_out is not None
    assert method.predict_grid is not None
    for found in (
        method.predict_left_out(X * 1e18, y, candidates, seed=0),
        method.predict_grid(X * 1e18, y, X * 1e18, candidates, seed=0),
    ):
        assert {2, 3} <= found.failures.keys()
        assert "overflows" in found.failures[2]
        assert (found.labels[[2, 3]] == -1).all()


def test_the_linear_machines_agree_where_all_converge() -> None:
    X, y = blobs((30, 30, 30), 4, gap=0.8)
    X_test = blobs((20, 20, 20), 4, seed=1, gap=0.8)[0]
    answers = []
    for name in ("drm-linear", "drm-exact", "drm-gd", "drm-ppa", "drm-apg"):
        patient = {"tol": 1e-9, "max_iter": 5000} if BY_NAME[name].defaults else {}
        model = BY_NAME[name].build({"alpha": 0.1, "beta": 10.0, **patient}, 0)
        answers.append(model.fit(X, y).predict(X_test))
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_large_beta_then_large_alpha_is_preferred(method: Method) -> None:
    assert method.prefer is not None
    best = min(method.candidates(), key=method.prefer)
    assert best["beta"] == max(method.grid["beta"])
    assert best.get("alpha", 0.0) == max(method.grid.get("alpha", (0.0,)))
    assert best.get("degree", 2) == 2
    assert best.get("sigma", 1000.0) == 1000.0


def test_without_class_weights_the_balanced_machine_is_the_exact_one() -> None:
    X, y = blobs((40, 12, 8), 4, gap=0.8)
    X_test = blobs((20, 20, 20), 4, seed=1, gap=0.8)[0]
    plain = with_overrides(
        BY_NAME["drm-linear-balanced"], params={"class_weight": None}
    )
    balanced, exact = BY_NAME["drm-linear-balanced"], BY_NAME["drm-exact"]
    found, weighted, expected = (
        method.predict_grid(X, y, X_test, method.candidates(), seed=0)
        for method in (plain, balanced, exact)
        if method.predict_grid
    )
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert (weighted.labels != expected.labels).any()


def test_enough_landmarks_are_the_whole_kernel() -> None:
    X, y = blobs((40, 12, 8), 4, gap=0.8)
    X_test = blobs((20, 20, 20), 4, seed=1, gap=0.8)[0]
    method = BY_NAME["drm-nystroem"]
    assert method.predict_grid is not None
    found = method.predict_grid(X, y, X_test, method.candidates(), seed=0)
    for labels, params in zip(found.labels, method.candidates(), strict=True):
        if params["gamma"] < 1.0:  # so wide that few landmarks have anything left
            continue
        full = DRMClassifier(**{**params, "rank": None}).fit(X, y)
        np.testing.assert_array_equal(labels, full.predict(X_test))
