"""Kernel machines against scikit-learn's own, at any scale, one sample left out."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sklearn
from method_problems import blobs
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from drmbench.drm.errors import IllConditionedError
from drmbench.drm.kernels import Kernel, gram
from drmbench.methods import svm
from drmbench.methods.base import MethodFailedError
from drmbench.methods.kernel_grid import estimator_arguments, kernel_of
from drmbench.methods.svm import (
    METHODS,
    GramSVC,
    KernelSVC,
    PairMachine,
    _matrices_without,
    left_out_labels,
)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"kernel": "rbf", "gamma": 0.3}, {"kernel": "rbf", "gamma": 0.3}),
        (
            {"kernel": "poly", "degree": 3},
            {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 1.0},
        ),
        ({"kernel": "linear"}, {"kernel": "linear"}),
    ],
)
def test_predictions_equal_scikit_learn_with_its_own_kernels(
    ours: dict[str, object], theirs: dict[str, object]
) -> None:
    X, y = blobs((30, 25, 20), 3)
    X_test = blobs((50, 50, 50), 3, seed=1)[0]
    found = KernelSVC(C=2.0, **ours).fit(X, y).predict(X_test)  # type: ignore[arg-type]
    expected = SVC(C=2.0, **theirs).fit(X, y).predict(X_test)
    np.testing.assert_array_equal(found, expected)


def test_a_kernel_beyond_single_precision_is_the_same_problem() -> None:
    X, y = blobs((20, 20), 3)
    K = gram(X, kernel=Kernel("poly", degree=2))
    expected = GramSVC(C=0.5).fit(K, y).predict(K)
    huge = 1e60  # overflows in libsvm's single precision
    found = GramSVC(C=0.5 / huge).fit(K * huge, y).predict(K * huge)
    np.testing.assert_array_equal(found, expected)


def test_an_overflowing_kernel_is_the_candidates_failure() -> None:
    X, y = blobs((5, 5), 2)
    assert METHODS[1].predict_left_out is not None
    candidates = [{"C": 1.0, "degree": degree, "max_iter": 1000} for degree in (2, 10)]
    found = METHODS[1].predict_left_out(X * 1e20, y, candidates, seed=0)
    assert list(found.failures) == [1]
    assert (found.labels[0] >= 0).all()
    with pytest.raises(IllConditionedError, match="degree 10"):
        METHODS[1].build(candidates[1], 0).fit(X * 1e20, y)


def test_a_cost_that_cannot_be_scaled_is_a_failure() -> None:
    with pytest.raises(MethodFailedError, match="C=1e\\+20"):
        GramSVC(C=1e20).fit(np.diag([1e300, 2e300]), np.array([0, 1]))


def test_a_solution_that_is_not_finite_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    support, infinite = np.array([0, 1]), np.array([[np.inf, -1.0]])
    infinite_solution = (support, 0, 0, infinite, np.zeros(1), 0, 0, 0, 0)

    def fit(*arguments: object) -> None:
        raise ValueError("The dual coefficients or intercepts are not finite.")

    monkeypatch.setattr(SVC, "fit", fit)
    with pytest.raises(MethodFailedError, match="libsvm: The dual coefficients"):
        GramSVC(C=1.0).fit(np.eye(2), np.array([0, 1]))
    with monkeypatch.context() as unverified:
        unverified.setattr(svm, "libsvm", None)
        with pytest.raises(MethodFailedError, match="libsvm: The dual coefficients"):
            left_out_labels(np.eye(4), np.array([0, 0, 1, 1]), C=1.0, max_iter=10)
    private = SimpleNamespace(
        set_verbosity_wrap=lambda _: None, fit=lambda *_, **__: infinite_solution
    )
    monkeypatch.setattr(svm, "libsvm", private)
    with pytest.raises(MethodFailedError, match="libsvm: the solution"):
        left_out_labels(np.eye(4), np.array([0, 0, 1, 1]), C=1.0, max_iter=10)


def test_stopping_early_is_noted_without_a_warning() -> None:
    X, y = blobs((30, 30), 2, gap=0.1)
    stopped = KernelSVC(kernel="poly", degree=8, C=1e3, max_iter=50).fit(X, y)
    assert not stopped.converged_
    assert stopped.notes_ == ("libsvm stopped after 50 iterations",)
    converged = KernelSVC(kernel="linear").fit(X, y)
    assert converged.converged_
    assert converged.notes_ == ()


def test_one_class_is_what_is_predicted() -> None:
    model = KernelSVC().fit([[0.0], [1.0]], ["only", "only"])
    assert model.predict([[5.0]]).tolist() == ["only"]


@pytest.fixture(params=["private", "public"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train by scikit-learn's private libsvm module, then by SVC instead."""
    if request.param == "public":
        monkeypatch.setattr(svm, "libsvm", None)
    elif svm.libsvm is None:
        pytest.skip(
            f"scikit-learn {sklearn.__version__} is not in VERIFIED_LIBSVM; SVC is used"
        )


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("counts", [(12, 9), (7, 5, 6), (9, 1), (6, 1, 5)])
@pytest.mark.parametrize("max_iter", [10_000, 5])
def test_left_out_labels_equal_machines_trained_without_the_sample(
    counts: tuple[int, ...], max_iter: int
) -> None:
    X, y = blobs(counts, 2, seed=8, gap=0.7)
    K = gram(X, kernel=Kernel("rbf", gamma=0.5))
    found = left_out_labels(K, y, C=10.0, max_iter=max_iter)
    model = KernelSVC(C=10.0, gamma=0.5, max_iter=max_iter)
    everyone = np.arange(len(X))
    for i in everyone:
        rest = everyone != i
        assert found[i] == model.fit(X[rest], y[rest]).predict(X[[i]])[0]


def test_only_support_vectors_are_refitted(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs((40, 40), 2, gap=3.0)
    K = gram(X, kernel=Kernel("linear"))
    n_support = len(SVC(kernel="linear", C=1.0).fit(X, y).support_)
    sizes = []
    train = PairMachine.train

    def counting_train(K: np.ndarray, *args: Any, **kwargs: Any) -> PairMachine:
        sizes.append(len(K))
        return train(K, *args, **kwargs)

    monkeypatch.setattr(PairMachine, "train", counting_train)
    left_out_labels(K, y, C=1.0, max_iter=10_000)
    assert sizes == [80] + [79] * n_support
    assert n_support < 20


def test_leaving_out_prints_nothing() -> None:
    """In a process of its own: once an SVC has been trained, libsvm is silent."""
    code = (
        "import numpy as np; from drmbench.methods.svm import left_out_labels;"
        "left_out_labels(np.eye(6), np.arange(6) % 2, C=1.0, max_iter=100)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert (answer.stdout, answer.stderr) == ("", "")


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("max_iter", [10_000, 5])
def test_the_machine_without_checks_is_scikit_learns(max_iter: int) -> None:
    X, y = blobs((20, 15), 3, gap=0.5)
    K = gram(X, kernel=Kernel("rbf", gamma=0.2))
    ours = PairMachine.train(K, y, C=3.0, max_iter=max_iter)
    theirs = GramSVC(C=3.0, max_iter=max_iter).fit(K, y)
    np.testing.assert_array_equal(ours.support, theirs._machine.support_)
    np.testing.assert_array_equal(ours.weights, theirs._machine.dual_coef_[0])
    assert ours.intercept == theirs._machine.intercept_[0]
    assert ours.converged == theirs.converged == (max_iter > 5)
    np.testing.assert_allclose(ours.decide(K), theirs._machine.decision_function(K))


def test_matrices_without_one_row_and_column_are_those_of_delete() -> None:
    K = np.arange(49.0).reshape(7, 7)
    for places in ([0, 1, 2, 3, 4, 5, 6], [2, 5], [6], [0]):
        for place, rest in _matrices_without(K, np.array(places)):
            expected = np.delete(np.delete(K, place, axis=0), place, axis=1)
            np.testing.assert_array_equal(rest, expected)


def test_the_two_readings_of_the_width() -> None:
    assert kernel_of({"sigma": 0.1, "width": "sigma"}).gamma == pytest.approx(50.0)
    assert kernel_of({"sigma": 0.1, "width": "variance"}).gamma == pytest.approx(5.0)
    assert estimator_arguments({"C": 2.0, "sigma": 1.0, "width": "sigma"}) == {
        "C": 2.0,
        "kernel": "rbf",
        "gamma": 0.5,
    }


def test_small_costs_then_wide_kernels_are_preferred() -> None:
    rbf, poly, *_ = METHODS
    assert rbf.prefer is not None
    assert poly.prefer is not None
    best = min(rbf.candidates(), key=rbf.prefer)
    assert (best["C"], best["sigma"]) == (0.001, 1000.0)
    assert min(poly.candidates(), key=poly.prefer)["degree"] == 2


def test_balanced_weights_are_scikit_learns() -> None:
    X, y = blobs((30, 5), 2, seed=4)
    found = KernelSVC(C=0.3, gamma=0.5, class_weight="balanced").fit(X, y).predict(X)
    theirs = SVC(C=0.3, gamma=0.5, class_weight="balanced").fit(X, y).predict(X)
    np.testing.assert_array_equal(found, theirs)
    plain = KernelSVC(C=0.3, gamma=0.5).fit(X, y).predict(X)
    assert (plain == 1).sum() < (found == 1).sum()


@pytest.mark.parametrize("max_iter", [1000, 30_000])
def test_weights_given_class_by_class_are_scikit_learns(max_iter: int) -> None:
    """The data and weights of the one check that is waived in test_baseline_checks."""
    X, y = make_blobs(centers=2, random_state=0, cluster_std=20)
    weights = {0: 1000, 1: 0.0001}
    ours = KernelSVC(kernel="poly", class_weight=weights, max_iter=max_iter)
    theirs = SVC(
        kernel="poly", coef0=1, gamma=1, class_weight=weights, max_iter=max_iter
    )
    with pytest.warns(ConvergenceWarning):
        theirs.fit(X, y)
    np.testing.assert_array_equal(ours.fit(X, y).predict(X), theirs.predict(X))


def test_the_balanced_method_searches_the_same_grid() -> None:
    by_name = {method.name: method for method in METHODS}
    balanced, plain = by_name["svm-balanced"], by_name["svm-rbf"]
    assert balanced.grid == plain.grid
    assert balanced.column is None
    assert all(c["class_weight"] == "balanced" for c in balanced.candidates())
