"""Class probabilities: the map, what it is fitted to, and what it is worth."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from drmbench import (
    DRMClassifier,
    DRMClassifierCV,
    KernelRidgeRepresentationClassifier,
)
from drmbench.drm.probability import SoftmaxMap

quick = settings(max_examples=40, deadline=None, derandomize=True)


@st.composite
def left_out(draw):
    """Return δ, class numbers and weights; δ may separate the classes or mislead."""
    g, n = draw(st.integers(2, 4)), draw(st.integers(6, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    codes = rng.integers(0, g, n)
    codes[:g] = np.arange(g)
    delta = rng.normal(size=(n, g)) * 10.0 ** draw(st.integers(-3, 3))
    delta[np.arange(n), codes] *= draw(st.sampled_from([-3.0, 0.0, 1.0]))
    return delta, codes, rng.integers(1, 4, n).astype(float)


def loss(slope, offsets, delta, codes, weights):
    """Return the cross-entropy by its definition, with smoothed targets."""
    g = delta.shape[1]
    masses = np.bincount(codes, weights, minlength=g)
    log_p = log_softmax(offsets - slope * delta, axis=1)
    total = 0.0
    for row, code, weight in zip(log_p, codes, weights, strict=True):
        target = np.full(g, 1.0 / (masses[code] + g))
        target[code] = (masses[code] + 1.0) / (masses[code] + g)
        total -= weight * target @ row
    return total / weights.sum()


@quick
@given(left_out())
def test_the_map_has_the_largest_likelihood(problem):
    delta, codes, weights = problem
    found = SoftmaxMap.fit(delta, codes, weights)
    ours = loss(found.slope, found.offsets, *problem)
    unit = delta.std()
    result = minimize(
        lambda theta: loss(theta[0] / unit, theta[1:], *problem),
        np.zeros(delta.shape[1] + 1),
        method="L-BFGS-B",
        bounds=[(0.0, None)] + [(None, None)] * delta.shape[1],
        options={"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-9},
    )
    assert found.slope >= 0.0
    assert np.isclose(found.offsets.sum(), 0.0, atol=1e-9)
    assert ours <= result.fun + 1e-9
    assert ours >= result.fun - 1e-6


@quick
@given(left_out())
def test_integer_weights_are_repetitions(problem):
    delta, codes, weights = problem
    times = weights.astype(int)
    weighted = SoftmaxMap.fit(delta, codes, weights)
    repeated = SoftmaxMap.fit(delta.repeat(times, axis=0), codes.repeat(times))
    # The likelihood is flat around its maximum: half the digits of a double.
    assert np.isclose(weighted.slope, repeated.slope, rtol=1e-7, atol=1e-7)
    assert np.allclose(weighted.offsets, repeated.offsets, rtol=1e-7, atol=1e-7)


def test_two_classes_give_platts_sigmoid():
    """scikit-learn's Platt calibration of δ₀ - δ₁ has the same slope and intercept."""
    from sklearn.calibration import _SigmoidCalibration

    rng = np.random.default_rng(0)
    codes = np.arange(60) % 3 // 2
    delta = rng.normal(size=(60, 2))
    delta[np.arange(60), codes] -= 1.0
    found = SoftmaxMap.fit(delta, codes)
    reference = _SigmoidCalibration().fit(delta[:, 0] - delta[:, 1], codes)
    assert np.isclose(found.slope, -reference.a_, rtol=1e-4)
    assert np.isclose(found.offsets[1] - found.offsets[0], -reference.b_, atol=1e-4)


@quick
@given(left_out())
def test_the_nearest_class_is_the_most_probable(problem):
    delta, codes, weights = problem
    log_p = SoftmaxMap.fit(delta, codes, weights).log_probabilities(delta)
    assert (log_p.argmax(axis=1) == delta.argmin(axis=1)).all()
    assert np.allclose(np.exp(log_p).sum(axis=1), 1.0)


def test_classes_that_vanish_are_passed_over():
    delta = np.array([[0.0, np.inf, 1.0], [1.0, 0.0, 2.0], [2.0, 1.0, np.inf]])
    found = SoftmaxMap.fit(np.vstack([delta, delta[1]]), np.array([0, 1, 2, 1]))
    assert np.isfinite([found.slope, *found.offsets]).all()
    p = np.exp(found.log_probabilities(delta))
    assert p[0, 1] == p[2, 2] == 0.0
    assert np.allclose(p.sum(axis=1), 1.0)
    alone = SoftmaxMap.fit(np.full((2, 2), np.inf), np.array([0, 1]))
    assert (alone.slope, alone.offsets.tolist()) == (0.0, [0.0, 0.0])


def naive_map(model, X, y, parts):
    """Return the map from refits without each of the parts."""
    delta = np.empty((len(y), len(np.unique(y))))
    for left in parts:
        kept = np.setdiff1d(np.arange(len(y)), left)
        delta[left] = model.fit(X[kept], y[kept]).dissimilarities(X[left])
    return SoftmaxMap.fit(delta, np.searchsorted(np.unique(y), y))


@pytest.mark.parametrize(
    "model",
    [
        DRMClassifier(alpha=0.5, beta=0.1, gamma=0.3),
        DRMClassifier(alpha=0.5, beta=0.1, kernel="poly", degree=2),
        DRMClassifier(alpha=0.5, beta=0.1, kernel="linear"),
        DRMClassifier(alpha=0.5, beta=0.1, kernel="linear", solver="closed_form"),
        KernelRidgeRepresentationClassifier(beta=0.1, gamma=0.3),
    ],
    ids=str,
)
def test_exact_models_are_calibrated_by_their_leave_one_out(model):
    """The oracle refits without every sample and all its copies."""
    rng = np.random.default_rng(0)
    X, y = load_iris(return_X_y=True)
    rows = rng.permutation(150)[:60]
    X, y = X[rows] / 5.0, np.array(["c", "a", "b"])[y[rows]]
    X[[3, 5]], y[[3, 5]] = X[7], y[7]  # copies
    groups = {}
    for i, row in enumerate(X):
        groups.setdefault((row.tobytes(), y[i]), []).append(i)
    assert 50 < len(groups) < 59
    expected = naive_map(model, X, y, list(groups.values()))
    delta = model.fit(X, y).dissimilarities(X)
    assert np.allclose(
        model.predict_log_proba(X), expected.log_probabilities(delta), atol=1e-5
    )
    order = rng.permutation(60)
    again = model.fit(X[order], y[order])
    assert np.allclose(
        np.exp(expected.log_probabilities(delta)), again.predict_proba(X)
    )


@pytest.mark.parametrize(
    "model",
    [
        DRMClassifier(beta=0.3, gamma=0.3, solver="gd"),
        DRMClassifier(beta=0.3, gamma=0.3, penalty="lasso"),
        DRMClassifier(beta=0.3, gamma=0.3, rank=10),
    ],
    ids=str,
)
def test_other_models_are_calibrated_out_of_five_parts(model):
    X, y = load_wine(return_X_y=True)
    X = X / X.max(axis=0)
    train, test = np.arange(178) % 2 == 0, np.arange(178) % 2 == 1
    model.fit(X[train], y[train])
    p = model.predict_proba(X[test])
    shares = np.bincount(y[train]) / train.sum()
    assert log_loss(y[test], p) < 0.5 * log_loss(y[test], np.tile(shares, (89, 1)))
    assert (p.argmax(axis=1) == model.predict(X[test])).all()
    order = np.random.default_rng(1).permutation(89)
    again = model.fit(X[train][order], y[train][order])
    assert np.allclose(p, again.predict_proba(X[test]), atol=1e-6)


def test_every_way_to_give_samples_has_the_same_probabilities():
    X, y = load_iris(return_X_y=True)
    X, y = (
        np.unique(X, axis=0, return_index=True)[0],
        y[np.unique(X, axis=0, return_index=True)[1]],
    )
    X_test = X[::7] + 0.05
    K, k = X @ X.T, X_test @ X.T
    settings = {"alpha": 0.2, "beta": 0.5}
    dense = DRMClassifier(kernel="linear", **settings).fit(X, y).predict_proba(X_test)
    given = DRMClassifier(kernel="precomputed", **settings).fit(K, y).predict_proba(k)
    csr = DRMClassifier(kernel="linear", **settings).fit(sparse.csr_array(X), y)
    assert np.allclose(given, dense, atol=1e-7)
    assert np.allclose(csr.predict_proba(sparse.csr_array(X_test)), dense, atol=1e-7)


def test_probabilities_are_those_of_the_fitted_parameters():
    """Changing a parameter afterwards, or pickling, changes nothing."""
    X, y = load_iris(return_X_y=True)
    model = DRMClassifier(gamma="scale").fit(X[::2], y[::2])
    copy = pickle.loads(pickle.dumps(model))
    expected = model.predict_proba(X)
    copy.set_params(beta=100.0, alpha=0.0)
    assert np.array_equal(copy.predict_proba(X), expected)
    search = DRMClassifierCV(alphas=[0.1], betas=[0.1], gammas=[1.0]).fit(
        X[::2], y[::2]
    )
    assert np.array_equal(
        search.predict_proba(X), search.best_estimator_.predict_proba(X)
    )
    assert np.allclose(np.exp(search.predict_log_proba(X)), search.predict_proba(X))


def test_a_stream_has_no_samples_to_calibrate_with():
    X, y = load_iris(return_X_y=True)
    model = DRMClassifier(rank=10).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="probabilities need training samples"):
        model.predict_proba(X)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_probabilities_are_better_than_shares_and_as_good_as_others(load):
    """On folds of packaged data, against calibration from outside in five folds."""
    X, y = load(return_X_y=True)
    X = X / np.abs(X).max(axis=0)
    ours, outside, shares = [], [], []
    model = DRMClassifier(alpha=0.1, beta=0.1, gamma=1.0)
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        p = model.fit(X[train], y[train]).predict_proba(X[test])
        assert np.allclose(p.sum(axis=1), 1.0)
        assert (p.argmax(axis=1) == model.predict(X[test])).all()
        ours.append(log_loss(y[test], p))
        other = CalibratedClassifierCV(model, method="sigmoid", cv=5)
        other.fit(X[train], y[train])
        outside.append(log_loss(y[test], other.predict_proba(X[test])))
        rates = np.bincount(y[train]) / len(train)
        shares.append(log_loss(y[test], np.tile(rates, (len(test), 1))))
    assert np.mean(ours) < 0.3 * np.mean(shares)
    assert np.mean(ours) < np.mean(outside)


def test_probabilities_of_noise_are_the_shares():
    """Where δ says nothing the slope is small, and shares remain."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), (rng.random(150) < 0.3).astype(int)
    model = DRMClassifier(alpha=1.0, beta=1.0, gamma=0.5).fit(X, y)
    p = model.predict_proba(rng.normal(size=(300, 3)))
    reference = LogisticRegression().fit(X, y).predict_proba(X)
    assert abs(p[:, 1].mean() - reference[:, 1].mean()) < 0.12
