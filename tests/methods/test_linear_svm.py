"""LIBLINEAR's machines minimise what they should, whatever the order of labels."""

from __future__ import annotations

import numpy as np
import pytest
from method_problems import blobs
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from drmbench.methods.linear_svm import METHODS, LiblinearSVC

POWER = {"l1": 1, "l2": 2}


def objective(
    w: NDArray[np.float64],
    X: NDArray[np.float64],
    sign: NDArray[np.float64],
    power: int,
) -> float:
    """Return ½‖w‖² + Σ max(0, 1 - yᵢ w·xᵢ)^power for C = 1."""
    losses = np.maximum(0.0, 1.0 - sign * (X @ w)) ** power
    return float(0.5 * w @ w + losses.sum())


@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("bias", [1.0, -1.0])
def test_the_machine_minimises_the_primal_objective(loss: str, bias: float) -> None:
    X, y = blobs((25, 30), 2)
    model = LiblinearSVC(loss=loss, bias=bias, tol=1e-8, random_state=0).fit(X, y)
    with_bias = np.hstack([X, np.ones((len(X), 1))]) if bias > 0 else X
    w = np.append(model.coef_[0], model.intercept_) if bias > 0 else model.coef_[0]
    arguments = (with_bias, 2.0 * y - 1.0, POWER[loss])
    best = minimize(objective, np.zeros(len(w)), arguments, "Nelder-Mead", tol=1e-10)
    assert objective(w, *arguments) <= best.fun * (1 + 1e-6)
    if bias < 0:
        assert model.intercept_ == 0.0


@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("labels", [("a", "b"), ("b", "a")])
def test_class_weights_multiply_the_cost(loss: str, labels: tuple[str, str]) -> None:
    X, y = blobs((30, 8), 2)
    names = np.array(labels)[y]
    given = {labels[0]: len(y) / 60, labels[1]: len(y) / 16}  # n / (g·n_c)
    costs = np.array([given[name] for name in names])
    machines = [
        LiblinearSVC(loss=loss, class_weight=weight, tol=1e-8, random_state=0)
        for weight in ("balanced", given)
    ]
    balanced, by_hand = (machine.fit(X, names).coef_ for machine in machines)
    np.testing.assert_array_equal(balanced, by_hand)
    sign = 2.0 * (names == "b") - 1.0

    def weighted(w: NDArray[np.float64]) -> float:
        margins = sign * (np.hstack([X, np.ones((len(X), 1))]) @ w)
        losses = costs * np.maximum(0.0, 1.0 - margins) ** POWER[loss]
        return float(0.5 * w @ w + losses.sum())

    best = minimize(weighted, np.zeros(3), method="Nelder-Mead", tol=1e-10)
    w = np.append(machines[0].coef_[0], machines[0].intercept_)
    assert weighted(w) <= best.fun * (1 + 1e-6)


@pytest.mark.parametrize("counts", [(20, 20), (15, 15, 15)])
def test_the_order_of_the_labels_does_not_matter(counts: tuple[int, ...]) -> None:
    X, y = blobs(counts, 3, gap=2.0)
    X_test, y_test = blobs(counts, 3, seed=1, gap=2.0)
    answers = []
    for order in (np.argsort(y, kind="stable"), np.argsort(-y, kind="stable")):
        model = LiblinearSVC(tol=1e-8).fit(X[order], y[order])
        assert model.coef_.shape == (1 if len(counts) == 2 else len(counts), 3)
        answers.append(model.predict(X_test))
    np.testing.assert_array_equal(*answers)
    assert np.mean(answers[0] == y_test) > 0.8


def test_dual_coordinate_descent_is_repeatable() -> None:
    X, y = blobs((50, 50), 5, gap=0.2)

    def weights(seed: int) -> bytes:
        model = LiblinearSVC(loss="l1", C=10.0, random_state=seed)
        return bytes(model.fit(X, y).coef_.tobytes())

    first = weights(0)
    assert weights(1) != first
    assert weights(0) == first


def test_sparse_input_gives_the_same_machine() -> None:
    X, y = blobs((20, 20), 4)
    X[X < 0.5] = 0.0
    dense = LiblinearSVC(loss="l1", random_state=0).fit(X, y)
    thin = LiblinearSVC(loss="l1", random_state=0).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.coef_, thin.coef_)
    np.testing.assert_array_equal(dense.predict(X), thin.predict(sparse.csr_matrix(X)))


def test_training_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = blobs((30, 30), 3, gap=0.1)
    LiblinearSVC(loss="l1", C=1000.0, tol=1e-12, random_state=0).fit(X, y)
    assert capfd.readouterr().out == ""


def test_one_class_is_what_is_predicted() -> None:
    model = LiblinearSVC().fit([[0.0], [1.0]], ["only", "only"])
    assert model.predict([[5.0]]).tolist() == ["only"]


def test_only_the_l1_loss_depends_on_the_seed() -> None:
    assert {method.name: method.stochastic for method in METHODS} == {
        "l1-svm": True,
        "l2-svm": False,
        "l2-svm-balanced": False,
    }
