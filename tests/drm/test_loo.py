"""The fast leave-one-out against one refit per sample."""

from __future__ import annotations

import itertools
import tracemalloc
import warnings

import drm_oracles as oracle
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drmbench.drm import loo
from drmbench.drm.classifier import DRMClassifier
from drmbench.drm.decision import nearest_class
from drmbench.drm.errors import ConditioningWarning, IllConditionedError
from drmbench.drm.kernels import Kernel, gram
from drmbench.drm.linear import LinearLeaveOneOut
from drmbench.drm.loo import (
    linear_loo_dissimilarities,
    loo_dissimilarities,
    loo_predict,
)

many = settings(max_examples=80, deadline=None, derandomize=True)


def every_class(own):
    """Make every class take a system of its own, or the shared inverse."""
    return lambda counts: [own] * len(counts)


#: How classes share work: each as it pays, or all in one way.
ways = pytest.mark.parametrize(
    "own_systems_pay", [None, every_class(True), every_class(False)]
)
unscaled = st.sampled_from([("poly", 5), ("poly", 10), ("rbf", 1e-6), ("rbf", 1e3)])


@ways
@given(
    oracle.problems(max_classes=8),
    st.one_of(oracle.kernels, unscaled),
    oracle.alphas,
    st.one_of(oracle.betas, st.just(1e-3)),
    st.sampled_from([0.1, 1.0, 30.0]),
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_kernel_leave_one_out_equals_refits(
    own_systems_pay, problem, kernel, alpha, beta, scale
):
    X, y = problem
    K = oracle.gram(scale * X, scale * X, *kernel)
    assume(largest_condition(K, y, alpha, beta) < 1e10)
    exact = oracle.left_out_dissimilarities(
        K.astype(np.longdouble), y, alpha, beta, oracle.solve_extended
    )
    finite = np.isfinite(exact)
    scale = np.abs(exact[finite]).max()
    assume(scale > 1e-200)  # no underflow
    refitted = refitted_dissimilarities(K, y, alpha, beta)
    own_error = np.abs(refitted[finite] - exact[finite]).max() / scale
    with pytest.MonkeyPatch.context() as patch:
        if own_systems_pay is not None:
            patch.setattr(loo, "_own_systems_pay", own_systems_pay)
        found = loo_dissimilarities(K, y, alpha, beta)
    oracle.assert_close(found, exact, max(1e-10, 10 * own_error))


def largest_condition(K, y, alpha, beta):
    """The condition of the worst system, of all samples or with one left out."""
    parts = [np.arange(len(y)) != i for i in range(-1, len(y))]
    systems = (oracle.q_matrix(K[np.ix_(p, p)], y[p], alpha) for p in parts)
    return max(np.linalg.cond(Q + beta * np.eye(len(Q))) for Q in systems)


def refitted_dissimilarities(K, y, alpha, beta):
    """δ by n fits of the estimator, each in double precision."""
    classes = np.unique(y)
    delta = np.full((len(y), len(classes)), np.inf)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        present = np.isin(classes, y[rest])
        if present.sum() == 1:  # what is left is one class, which cannot be fitted
            delta[i, present] = oracle.dissimilarities(
                K[np.ix_(rest, rest)], y[rest], K[rest, i], alpha, beta
            )
            continue
        model = DRMClassifier(alpha=alpha, beta=beta, kernel="precomputed")
        with warnings.catch_warnings(action="ignore", category=ConditioningWarning):
            model.fit(K[np.ix_(rest, rest)], y[rest])
            delta[i, present] = model.dissimilarities(K[[i]][:, rest])[0]
    return delta


@pytest.mark.parametrize("counts", [(1, 40), (2, 39), (6, 35), (21, 20), (4, 30, 7)])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 20.0, 34.0, 1e3])
@ways
def test_imbalanced_classes(monkeypatch, own_systems_pay, counts, alpha):
    """Some of these make 1 - α/(n_c - 1) zero, and leave the own system indefinite."""
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(sum(counts), 4)), np.repeat(np.arange(len(counts)), counts)
    K = oracle.gram(X, X, "rbf", 0.3)
    if own_systems_pay is not None:
        monkeypatch.setattr(loo, "_own_systems_pay", own_systems_pay)
    expected = oracle.left_out_dissimilarities(K, y, alpha, 0.1)
    oracle.assert_close(loo_dissimilarities(K, y, alpha, 0.1), expected, 1e-11)


def test_a_large_class_has_its_own_system_and_many_small_ones_share():
    assert loo._own_systems_pay(np.array([90, 10])) == [True, True]
    assert loo._own_systems_pay(np.array([50, 50])) == [True, True]
    assert loo._own_systems_pay(np.full(10, 180)) == [False] * 10


@many
@given(oracle.problems(max_classes=8), oracle.alphas, oracle.betas)
def test_linear_leave_one_out_equals_refits(problem, alpha, beta):
    X, y = problem
    expected = oracle.left_out_dissimilarities(X @ X.T, y, alpha, beta)
    oracle.assert_close(linear_loo_dissimilarities(X, y, alpha, beta), expected, 1e-8)


@settings(max_examples=6, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.sampled_from([0.01, 1.0, 100.0]))
def test_many_classes(seed, alpha):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 5)), np.arange(60) % 20
    K = oracle.gram(X, X, "rbf", 0.2)
    expected = oracle.left_out_dissimilarities(K, y, alpha, 0.1)
    oracle.assert_close(loo_dissimilarities(K, y, alpha, 0.1), expected, 1e-8)


@pytest.mark.parametrize("counts", [(1, 1, 4), (2, 2, 2), (1, 9), (2, 8)])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 1e3])
def test_tiny_classes_and_duplicates(counts, alpha):
    rng = np.random.default_rng(5)
    y = np.repeat(np.arange(len(counts)), counts)
    X = rng.normal(size=(len(y), 3))
    X[-1] = X[-2]
    K = oracle.gram(X, X, "rbf", 0.5)
    found = loo_dissimilarities(K, y, alpha, 0.05)
    expected = oracle.left_out_dissimilarities(K, y, alpha, 0.05)
    oracle.assert_close(found, expected, 1e-8)
    alone = np.array(counts)[y] == 1
    assert np.isinf(found[alone, y[alone]]).all()
    assert (loo_predict(K, y, alpha, 0.05)[alone] != y[alone]).all()


@pytest.mark.parametrize("counts", [(9, 8, 8), (15, 6, 4)])
@pytest.mark.parametrize("safe", [0.0, 2.0])
def test_correction_deletion_and_refits_agree(monkeypatch, safe, counts):
    """`SAFE` above every ratio deletes each sample first, or refits a large class."""
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(25, 3)), np.repeat([0, 1, 2], counts)
    K = oracle.gram(X, X, "poly", 2)
    monkeypatch.setattr(loo, "SAFE", safe)
    monkeypatch.setattr(loo, "_own_systems_pay", every_class(False))
    expected = oracle.left_out_dissimilarities(K, y, 0.7, 0.3)
    oracle.assert_close(loo_dissimilarities(K, y, 0.7, 0.3), expected, 1e-9)


def test_an_ill_conditioned_system_is_refined():
    """One feature: every class is collinear, and α ≫ β squares the condition."""
    rng = np.random.default_rng(222)
    X, y = rng.normal(size=(11, 1)), np.array([0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 3])
    expected = oracle.left_out_dissimilarities(X @ X.T, y, 1e3, 1e-3)
    oracle.assert_close(loo_dissimilarities(X @ X.T, y, 1e3, 1e-3), expected, 1e-8)


def test_beyond_double_precision_every_sample_is_refitted():
    """A polynomial of large values swamps the ridge: only refits can be trusted."""
    rng = np.random.default_rng(11)
    X, y = rng.uniform(0.0, 100.0, size=(30, 2)), np.arange(30) % 5 // 4
    K = (X @ X.T + 1.0) ** 3
    for alpha, beta in [(0.001, 0.1), (1.0, 10.0), (100.0, 1.0)]:
        found = loo_predict(K, y, alpha, beta)
        np.testing.assert_array_equal(found, refitted_labels(K, y, alpha, beta))


def refitted_labels(K, y, alpha, beta):
    labels = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        model = DRMClassifier(alpha=alpha, beta=beta, kernel="precomputed")
        with warnings.catch_warnings(action="ignore", category=ConditioningWarning):
            model.fit(K[np.ix_(rest, rest)], y[rest])
        labels.append(model.predict(K[[i]][:, rest])[0])
    return np.array(labels)


def test_linear_fallback_to_refits(monkeypatch):
    from drmbench.drm import linear

    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    expected = linear_loo_dissimilarities(X, y, 0.5, 0.5)
    monkeypatch.setattr(linear, "SAFE", 2.0)
    oracle.assert_close(linear_loo_dissimilarities(X, y, 0.5, 0.5), expected, 1e-10)


def test_linear_grid_shares_sums_and_changes_nothing():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(50, 4)), np.arange(50) % 3
    weights = [0.01, 0.1, 1.0]
    left_out_once = LinearLeaveOneOut(X, y)
    for alpha, beta in itertools.product(weights, weights):
        delta = left_out_once.dissimilarities(alpha, beta)
        expected = oracle.left_out_dissimilarities(X @ X.T, y, alpha, beta)
        oracle.assert_close(delta, expected, 1e-8)
    assert len(left_out_once._unit_sums) == 5  # ratios 0.01, 0.1, 1, 10, 100


def test_string_labels_and_sample_order():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(20, 3))
    y = np.array(["spam", "ham"])[np.arange(20) % 2]
    K = oracle.gram(X, X, "rbf", 0.4)
    order = rng.permutation(20)
    shuffled = loo_predict(K[np.ix_(order, order)], y[order], 1.0, 0.1)
    assert (shuffled == loo_predict(K, y, 1.0, 0.1)[order]).all()


@pytest.mark.parametrize(
    ("K", "y", "alpha", "beta", "message"),
    [
        (np.eye(3), [0, 1, 1], -1.0, 1.0, "alpha must be"),
        (np.eye(3), [0, 1, 1], 1.0, 0.0, "beta must be"),
        (np.eye(3), [0, 1, 1], 1.0, np.nan, "beta must be"),
        (np.eye(3), [0, 1, 1], "1", 1.0, "alpha must be a number"),
        (np.eye(3), [0, 1], 1.0, 1.0, "one label per row"),
        (np.ones((3, 2)), [0, 1, 1], 1.0, 1.0, "square"),
        (np.full((3, 3), np.nan), [0, 1, 1], 1.0, 1.0, "NaN or infinity"),
        (np.eye(3), [1, 1, 1], 1.0, 1.0, "one class only"),
    ],
)
def test_wrong_arguments_are_named(K, y, alpha, beta, message):
    with pytest.raises(ValueError, match=message):
        loo_dissimilarities(K, y, alpha, beta)


def test_a_hopeless_system_is_a_clear_error():
    """120 samples in the 66-dimensional space of degree 10, entries up to 1e60."""
    X = np.random.default_rng(0).normal(size=(120, 2)) * 1e3
    K = (X @ X.T + 1.0) ** 10
    with pytest.raises(IllConditionedError, match="larger beta"):
        loo_dissimilarities(K, np.arange(120) % 2, 0.0, 1e-3)


def test_nan_is_never_a_class():
    with pytest.raises(IllConditionedError, match="not a number"):
        nearest_class(np.array([[np.nan, 1.0]]), np.array([0, 1]))


def test_an_asymmetric_kernel_counts_as_its_symmetric_part():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    K = X @ X.T + rng.normal(size=(30, 30))
    with pytest.warns(UserWarning, match="its symmetric part is used"):
        delta = loo_dissimilarities(K, y, 0.5, 20.0)
    assert (delta == loo_dissimilarities((K + K.T) / 2, y, 0.5, 20.0)).all()


@pytest.mark.parametrize("counts", [(900, 100), (500, 500), (100,) * 10])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_at_most_four_square_matrices_are_held(counts, class_weight):
    """The caller's kernel matrix is one of the four."""
    rng = np.random.default_rng(12)
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    X = rng.normal(size=(len(y), 3)) + y[:, None]
    K = gram(X, kernel=Kernel("rbf", gamma=0.3))
    tracemalloc.start()
    loo_dissimilarities(K, y, 0.1, 0.1, class_weight=class_weight)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 2 * K.nbytes < peak <= 3 * K.nbytes


def test_small_classes_leave_the_number_of_blas_threads_as_it_was():
    from threadpoolctl import threadpool_info, threadpool_limits

    from drmbench.drm.threads import one_blas_thread

    def threads():
        return {i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"}

    rng = np.random.default_rng(13)
    X, y = rng.normal(size=(80, 3)), np.arange(80) % 10
    with threadpool_limits(limits=2, user_api="blas"):
        loo_dissimilarities(X @ X.T, y, 0.1, 0.1)
        assert threads() == {2}
        with one_blas_thread, one_blas_thread:
            assert threads() == {1}
            with one_blas_thread:
                pass
            assert threads() == {1}
        assert threads() == {2}
