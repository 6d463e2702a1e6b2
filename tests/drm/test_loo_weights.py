"""The fast leave-one-out with weights against one weighted refit per sample."""

from __future__ import annotations

import drm_oracles as oracle
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drmbench.drm import loo
from drmbench.drm.loo import (
    linear_loo_dissimilarities,
    loo_dissimilarities,
    loo_predict,
)

many = settings(max_examples=150, deadline=None, derandomize=True)

#: How classes share work: each as it pays, or all in one way.
ways = pytest.mark.parametrize("own_systems", [None, True, False])


@st.composite
def weighted_problems(draw):
    """Labelled samples with weights: by class, of a few values, or of any."""
    X, y = draw(oracle.problems(max_classes=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["class", "few", "any", "far apart"]))
    if kind == "class":
        weights = rng.uniform(0.1, 10.0, size=y.max() + 1)[y]
    elif kind == "few":
        weights = rng.integers(0, 4, size=len(y)).astype(float)
    elif kind == "any":
        weights = rng.uniform(0.1, 10.0, size=len(y))
    else:
        weights = 10.0 ** rng.uniform(-4, 4, size=len(y))
    assume(np.unique(y[weights > 0]).size > 1)
    return X, y, weights


def force_way(patch, own_systems):
    if own_systems is not None:
        patch.setattr(loo, "_own_systems_pay", lambda c: [own_systems] * len(c))


@ways
@given(
    weighted_problems(),
    st.one_of(
        oracle.kernels, st.sampled_from([("poly", 5), ("rbf", 1e-6), ("rbf", 1e3)])
    ),
    oracle.alphas,
    st.one_of(oracle.betas, st.just(1e-3)),
    st.sampled_from([0.1, 1.0, 30.0]),
)
@many
def test_kernel_leave_one_out_equals_weighted_refits(
    own_systems, problem, kernel, alpha, beta, scale
):
    X, y, weights = problem
    K = oracle.gram(scale * X, scale * X, *kernel)
    assume(largest_condition(K, y, weights, alpha, beta) < 1e9)
    exact = oracle.weighted_left_out_dissimilarities(
        K.astype(np.longdouble), y, weights, alpha, beta, oracle.solve_extended
    )
    plain = oracle.weighted_left_out_dissimilarities(K, y, weights, alpha, beta)
    with pytest.MonkeyPatch.context() as patch:
        force_way(patch, own_systems)
        found = loo_dissimilarities(K, y, alpha, beta, sample_weight=weights)
    oracle.assert_close(found, exact, max(1e-9, 10 * relative_error(plain, exact)))


def relative_error(found, exact):
    finite = np.isfinite(exact)
    scale = np.abs(exact[finite]).max()
    assume(scale > 1e-200)  # no underflow
    return float(np.abs(found[finite] - exact[finite]).max() / scale)


def largest_condition(K, y, weights, alpha, beta):
    """The condition of the worst system in the coordinates that are solved in."""
    worst = 0.0
    for i in range(-1, len(y)):
        rest = (np.arange(len(y)) != i) & (weights > 0)
        roots, own = np.sqrt(weights[rest]), y[rest]
        masses = np.array([weights[rest][own == label].sum() for label in own])
        inside = K[np.ix_(rest, rest)] * roots * roots[:, None]
        Q = inside * (1.0 - alpha * (own[:, None] == own) / masses)
        Q += np.diag(alpha * np.diag(K)[rest] + beta)
        worst = max(worst, float(np.linalg.cond(Q)))
    return worst


@given(weighted_problems(), oracle.alphas, oracle.betas)
@many
def test_linear_leave_one_out_equals_weighted_refits(problem, alpha, beta):
    X, y, weights = problem
    exact = X.astype(np.longdouble)
    expected = oracle.weighted_left_out_dissimilarities(
        exact @ exact.T, y, weights, alpha, beta, oracle.solve_extended
    )
    found = linear_loo_dissimilarities(X, y, alpha, beta, sample_weight=weights)
    oracle.assert_close(found, expected, 1e-7)


@pytest.mark.parametrize("leave_one_out", ["kernel", "linear"])
def test_repeated_samples_are_left_out_together(leave_one_out):
    """A weight of 3 is three copies in training, and leaving it out takes all three."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(18, 4)), np.arange(18) % 3
    times = rng.integers(1, 4, size=18)
    found = left_out(leave_one_out, X, y, sample_weight=times)
    for i in range(18):
        copies = np.repeat(np.arange(18), np.where(np.arange(18) == i, 0, times))
        K = X[copies] @ X[copies].T
        expected = oracle.dissimilarities(K, y[copies], X[copies] @ X[i], 0.5, 0.2)
        np.testing.assert_allclose(found[i], expected, rtol=0, atol=1e-10)


def left_out(kind, X, y, alpha=0.5, beta=0.2, **weights):
    if kind == "linear":
        return linear_loo_dissimilarities(X, y, alpha, beta, **weights)
    return loo_dissimilarities(X @ X.T, y, alpha, beta, **weights)


@pytest.mark.parametrize("kind", ["kernel", "linear"])
def test_class_weights_stay_fixed_and_multiply_sample_weights(kind):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 3)), np.repeat(["a", "b"], [24, 6])
    balanced = np.where(y == "a", 30 / 48, 30 / 12)
    np.testing.assert_allclose(
        left_out(kind, X, y, class_weight="balanced"),
        left_out(kind, X, y, sample_weight=balanced),
        rtol=1e-12,
    )
    given_weights = rng.uniform(0.5, 2.0, size=30)
    np.testing.assert_allclose(
        left_out(kind, X, y, sample_weight=given_weights, class_weight={"b": 3.0}),
        left_out(kind, X, y, sample_weight=given_weights * np.where(y == "b", 3, 1)),
        rtol=1e-12,
    )


@pytest.mark.parametrize("kind", ["kernel", "linear"])
def test_a_sample_of_weight_zero_sees_the_whole_model(kind):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(20, 3)), np.array([0, 1, 2, 1] * 5)
    weights = np.where(y == 2, 0.0, rng.uniform(0.5, 2.0, size=20))
    weights[:4] = 0.0
    found = left_out(kind, X, y, sample_weight=weights)
    kept = weights > 0
    assert found.shape == (20, 2)  # no sample of class 2 has a weight
    np.testing.assert_allclose(
        found[kept], left_out(kind, X[kept], y[kept], sample_weight=weights[kept])
    )
    for i in np.flatnonzero(~kept):
        expected = oracle.weighted_dissimilarities(
            X[kept] @ X[kept].T, y[kept], weights[kept], X[kept] @ X[i], 0.5, 0.2
        )
        np.testing.assert_allclose(found[i], expected, rtol=1e-10)
    if kind == "kernel":
        labels = loo_predict(X @ X.T, y, 0.5, 0.2, sample_weight=weights)
        assert (labels == found.argmin(axis=1)).all()


@pytest.mark.parametrize("kind", ["kernel", "linear"])
def test_equal_weights_of_one_change_no_bit(kind):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 3
    plain = left_out(kind, X, y)
    assert (left_out(kind, X, y, sample_weight=np.ones(20)) == plain).all()
    assert (left_out(kind, X, y, class_weight={0: 1.0}) == plain).all()


@pytest.mark.parametrize("kind", ["kernel", "linear"])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"sample_weight": [1.0, 1.0]}, "one number for each of the 6 samples"),
        ({"sample_weight": [1, 1, 1, 1, 1, -1]}, "must not be negative"),
        ({"sample_weight": [1, 0, 1, 0, 1, 0]}, "one class only"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dict"),
    ],
)
def test_wrong_weights_are_named(kind, weights, message):
    X, y = np.random.default_rng(7).normal(size=(6, 2)), np.arange(6) % 2
    with pytest.raises(ValueError, match=message):
        left_out(kind, X, y, **weights)


@pytest.mark.parametrize("distinct", [2, 60])
def test_a_large_class_has_one_system_per_weight_or_eigenvectors(monkeypatch, distinct):
    """With more samples than are held at a time."""
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(70, 4)), np.repeat([0, 1], [60, 10])
    weights = rng.uniform(0.2, 5.0, size=distinct)[np.arange(70) % distinct]
    monkeypatch.setattr(loo, "CHUNK", 16)
    eigenvectors = []
    change = loo._EachChange
    monkeypatch.setattr(
        loo, "_EachChange", lambda *args: eigenvectors.append(1) or change(*args)
    )
    K = oracle.gram(X, X, "rbf", 0.3)
    expected = oracle.weighted_left_out_dissimilarities(K, y, weights, 2.0, 0.1)
    found = loo_dissimilarities(K, y, 2.0, 0.1, sample_weight=weights)
    oracle.assert_close(found, expected, 1e-12)
    assert len(eigenvectors) == (1 if distinct == 2 else 2)
