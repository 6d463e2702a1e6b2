"""Logistic regression minimises the penalised likelihood, balanced or not."""

from __future__ import annotations

import numpy as np
import pytest
from method_problems import blobs
from numpy.typing import NDArray
from scipy.optimize import minimize

from drmbench.methods.logistic import FEW_COEFFICIENTS
from drmbench.methods.registry import get_method

Array = NDArray[np.float64]


def objective(w: Array, X: Array, signs: Array, weights: Array, C: float) -> float:
    """Return ½‖w‖² + C Σ weight·log(1 + exp(−y(x·w + b))), the last entry being b."""
    margins = signs * (X @ w[:-1] + w[-1])
    losses = weights * np.logaddexp(0.0, -margins)
    return float(0.5 * w[:-1] @ w[:-1] + C * losses.sum())


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("name", ["logistic", "logistic-balanced"])
def test_the_objective_is_minimised(name: str, C: float) -> None:
    X, y = blobs((30, 12), 2)
    weights = np.ones(len(y))
    if name == "logistic-balanced":
        weights = len(y) / (2 * np.bincount(y))[y]
    method = get_method(name)
    model = method.build({**method.defaults, "C": C}, 0).fit(X, y)
    arguments = (X, 2.0 * y - 1.0, weights, C)
    best = minimize(objective, np.zeros(3), arguments, "Nelder-Mead", tol=1e-10)
    found = objective(np.append(model.coef_[0], model.intercept_), *arguments)
    assert found <= best.fun * (1 + 1e-5)


def test_unscaled_features_converge_within_the_iterations() -> None:
    X, y = blobs((40, 30, 20), 6)
    X = X * np.array([1e-3, 1.0, 1e3, 10.0, 0.1, 300.0])
    method = get_method("logistic")
    for params in method.candidates():
        method.build(params, 0).fit(X, y)  # a warning would fail this test


@pytest.mark.parametrize("n_features", [2, FEW_COEFFICIENTS])
def test_every_solver_finds_the_same(n_features: int) -> None:
    X, y = blobs((30, 25, 20), n_features)
    method = get_method("logistic")
    models = [
        method.build({**method.defaults, "C": 0.1, "solver": solver}, 0).fit(X, y)
        for solver in ("auto", "newton-cg")
    ]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=2e-3)
    np.testing.assert_array_equal(*(model.predict(X) for model in models))
    assert models[0].get_params()["solver"] == "auto"


def test_units_of_few_features_cost_no_iterations() -> None:
    X, y = blobs((40, 30), 6)
    method = get_method("logistic")
    model = method.build({**method.defaults, "C": 1.0}, 0)
    assert model.fit(X * np.logspace(-3, 3, 6), y).n_iter_.max() < 30
