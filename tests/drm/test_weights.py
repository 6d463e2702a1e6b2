"""Weights: whole ones are repetition, zero is leaving out, whatever solves and sums."""

from __future__ import annotations

import warnings

import drm_oracles as oracle
import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.fixes import parse_version

from drmbench import (
    DRMClassifier,
    KernelRidgeRepresentationClassifier,
    LinearDRMClassifier,
)
from drmbench.drm import engines
from drmbench.drm.weights import class_factors, training_weights

few = settings(max_examples=12, deadline=None, derandomize=True)
quick = settings(max_examples=30, deadline=None, derandomize=True)
some_alphas = st.sampled_from([0.0, 0.1, 1.0, 3.0])
some_betas = st.sampled_from([0.5, 1.0, 10.0])


@st.composite
def weighted_problems(draw, max_samples=16):
    """Samples with whole weights, some of them 0; every class has a sample left."""
    X, y = draw(oracle.problems(max_samples=max_samples, max_classes=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.integers(0, 4, len(y))
    for label in np.unique(y):
        weights[np.flatnonzero(y == label)[0]] += 1
    return 0.7 * X, y, weights, 0.7 * rng.normal(size=(3, X.shape[1]))


def repeated(X, y, weights):
    return np.repeat(X, weights, axis=0), np.repeat(y, weights)


DIRECT = [
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "rbf", "gamma": "scale"},
    {"kernel": "poly", "degree": 2},
    {"kernel": "laplacian"},
    {"kernel": "linear", "solver": "closed_form"},
    {"kernel": "linear", "solver": "exact"},
    {"kernel": "rbf", "rank": 4},
    {"kernel": "rbf", "rank": 4, "solver": "closed_form"},
]
PENALISED = [
    {"solver": "gd"},
    {"solver": "ppa"},
    {"solver": "apg"},
    {"solver": "apg", "step": "backtracking"},
    *(
        {"solver": solver, "penalty": penalty}
        for solver in ("ppa", "apg")
        for penalty in ("lasso", "group_lasso")
    ),
    {"solver": "apg", "step": "backtracking", "penalty": "lasso"},
    {"solver": "apg", "step": "backtracking", "penalty": "group_lasso"},
]
FEATURES = [{"gamma": 0.3}, {"kernel": "linear"}, {"rank": 4}]


def name_of(setting):
    return "-".join(str(value) for value in setting.values())


def assert_repetition(model, problem):
    X, y, weights, X_test = problem
    many = clone(model).fit(*repeated(X, y, weights))
    model.fit(X, y, sample_weight=weights)
    assert np.array_equal(model.classes_, many.classes_)
    expected = many.dissimilarities(X_test)
    oracle.assert_close(model.dissimilarities(X_test), expected, 1e-10)
    oracle.assert_close(
        model.decision_function(X_test), many.decision_function(X_test), 1e-10
    )
    return many


@pytest.mark.parametrize("setting", DIRECT, ids=name_of)
@quick
@given(weighted_problems(), some_alphas, some_betas)
def test_whole_weights_are_repetition(setting, problem, alpha, beta):
    X, _, weights, X_test = problem
    model = DRMClassifier(alpha=alpha, beta=beta, **setting)
    many = assert_repetition(model, problem)
    copies = np.repeat(np.arange(len(X)), weights)
    w = np.zeros((len(X_test), len(X)))
    np.add.at(w, (slice(None), copies), many.representation(X_test))
    found = model.representation(X_test)
    oracle.assert_close(found, w, 1e-9)
    assert (found[:, weights == 0] == 0).all()


@pytest.mark.parametrize("setting", PENALISED, ids=name_of)
@pytest.mark.parametrize("features", FEATURES, ids=name_of)
@few
@given(weighted_problems(), some_alphas, st.integers(1, 12))
def test_every_iterate_is_that_of_the_repeated_samples(
    setting, features, problem, alpha, max_iter
):
    model = DRMClassifier(
        alpha=alpha, beta=0.2, tol=1e-3, max_iter=max_iter, **setting, **features
    )
    with pytest.MonkeyPatch.context() as patch:
        # The repeated problem can need a smaller step: take one that suits both.
        patch.setattr(engines, "largest_eigenvalue_bound", trace_bound)
        many = assert_repetition(model, problem)
    assert model.n_iter_ == many.n_iter_
    for x in problem[3]:
        ours, theirs = model.solve_trace(x), many.solve_trace(x)
        assert ours.n_iter == theirs.n_iter
        assert ours.stop_reason == theirs.stop_reason
        assert np.allclose(ours.objective, theirs.objective, rtol=1e-9, atol=1e-12)


def trace_bound(system):
    """Bound Q's eigenvalues by what is the same for weighted and repeated samples."""
    ones = np.ones(system.partition.n_samples)
    weights = ones if system.partition.weights is None else system.partition.weights
    return float(system.diagonal @ weights + system.alpha * system.diagonal.max())


@pytest.mark.parametrize("setting", PENALISED, ids=name_of)
@pytest.mark.parametrize("features", FEATURES, ids=name_of)
def test_iterations_end_at_the_solution_of_the_repeated_samples(setting, features):
    rng = np.random.default_rng(10)
    X, y, X_test = rng.normal(size=(12, 3)), np.arange(12) % 3, rng.normal(size=(3, 3))
    exactly = {"tol": 1e-13, "max_iter": 3000}
    model = DRMClassifier(beta=0.5, **exactly, **setting, **features)
    assert_repetition(model, (X, y, rng.integers(1, 4, 12), X_test))
    assert model.solve_trace(X_test[0]).stop_reason == "tolerance"


@quick
@given(weighted_problems(), oracle.kernels, some_alphas, some_betas)
def test_any_weights_by_definition(problem, kernel, alpha, beta):
    X, y, weights, X_test = problem
    weights = weights * 0.37 + 0.05
    name, parameter = kernel
    K = oracle.gram(X, X, name, parameter)
    k = oracle.gram(X, X_test, name, parameter)
    w = oracle.weighted_representation(K, y, k, alpha, beta, weights)
    model = DRMClassifier(alpha=alpha, beta=beta, kernel="precomputed")
    model.fit(K, y, weights)
    oracle.assert_close(model.representation(k.T), w.T, 1e-8)
    expected = [
        [oracle.dissimilarity(K, y, k[:, m], w[:, m], c) for c in model.classes_]
        for m in range(len(X_test))
    ]
    oracle.assert_close(model.dissimilarities(k.T), np.array(expected), 1e-8)


@pytest.mark.parametrize("factor", [1e-3, 0.7, 250.0])
@quick
@given(weighted_problems(), some_alphas, some_betas)
def test_weights_have_a_scale_with_alpha_and_beta(factor, problem, alpha, beta):
    X, y, weights, X_test = problem
    every = dict.fromkeys(np.unique(y).tolist(), factor)
    for make in (DRMClassifier, LinearDRMClassifier):
        plain = make(alpha=alpha, beta=beta).fit(X, y, weights)
        scaled = make(alpha=factor * alpha, beta=factor * beta, class_weight=every).fit(
            X, y, weights
        )
        expected = plain.dissimilarities(X_test)
        oracle.assert_close(scaled.dissimilarities(X_test), expected, 1e-10)


@quick
@given(weighted_problems(), st.integers(1, 5), some_alphas, some_betas)
def test_sums_of_weighted_samples(problem, size, alpha, beta):
    """All at once, in pieces and sparse, against the closed form of the repeated."""
    X, y, weights, X_test = problem
    closed = DRMClassifier(
        alpha=alpha, beta=beta, kernel="linear", solver="closed_form"
    ).fit(*repeated(X, y, weights))
    expected = closed.dissimilarities(X_test)
    model = LinearDRMClassifier(alpha=alpha, beta=beta)
    assert_repetition(model, problem)
    oracle.assert_close(model.dissimilarities(X_test), expected, 1e-10)
    thin = clone(model).fit(sparse.csr_matrix(X), y, sample_weight=weights)
    oracle.assert_close(thin.dissimilarities(X_test), expected, 1e-10)
    pieces = clone(model)
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        pieces.partial_fit(
            X[part], y[part], classes=np.unique(y), sample_weight=weights[part]
        )
    oracle.assert_close(pieces.dissimilarities(X_test), expected, 1e-10)
    assert np.array_equal(pieces.class_mass_, model.class_mass_)
    assert np.array_equal(pieces.class_count_, model.class_count_)


@pytest.mark.parametrize(
    "model",
    [
        DRMClassifier(gamma=0.3),
        DRMClassifier(kernel="linear", solver="gd", max_iter=20),
        KernelRidgeRepresentationClassifier(),
        LinearDRMClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
@quick
@given(weighted_problems())
def test_class_weights_are_sample_weights(model, problem):
    X, y, weights, X_test = problem

    def delta(class_weight, sample_weight, samples=X, labels=y):
        fitted = clone(model).set_params(class_weight=class_weight)
        return fitted.fit(samples, labels, sample_weight).dissimilarities(X_test)

    factors = {label: 0.5 + number for number, label in enumerate(np.unique(y))}
    by_sample = np.array([factors[label] for label in y])
    oracle.assert_close(
        delta(factors, weights), delta(None, by_sample * weights), 1e-10
    )
    masses = {label: weights[y == label].sum() for label in np.unique(y)}
    shares = {c: weights.sum() / (len(masses) * mass) for c, mass in masses.items()}
    balanced = delta("balanced", weights)
    oracle.assert_close(balanced, delta(shares, weights), 1e-10)
    many = delta("balanced", None, *repeated(X, y, weights))
    oracle.assert_close(balanced, many, 1e-10)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.5, 1: 0.5}, {2: 0.0}])
def test_class_weights_hold_at_any_time_of_a_stream(class_weight):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.repeat([0, 1, 2], [30, 20, 10])
    weights = rng.exponential(size=60)
    stream = LinearDRMClassifier(class_weight=class_weight)
    for stop in range(10, 70, 10):  # the first pieces have a single class
        news = slice(stop - 10, stop)
        stream.partial_fit(X[news], y[news], [0, 1, 2], weights[news])
        if stop >= 40:
            whole = LinearDRMClassifier(class_weight=class_weight)
            whole.fit(X[:stop], y[:stop], weights[:stop])
            there = np.isin(stream.classes_, whole.classes_)
            delta = stream.dissimilarities(X)
            oracle.assert_close(delta[:, there], whole.dissimilarities(X), 1e-12)
            assert np.isinf(delta[:, ~there]).all()
            assert np.array_equal(stream.predict(X), whole.predict(X))
            assert np.allclose(stream.class_weight_[there], whole.class_weight_)
    assert np.allclose(stream.class_mass_, np.bincount(y, weights))


@pytest.mark.parametrize(
    "model",
    [DRMClassifier(), DRMClassifier(kernel="linear"), LinearDRMClassifier()],
    ids=["rbf", "linear", "sums"],
)
def test_a_class_of_weight_zero_is_left_out(model):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), np.array(["a", "b", "c"])[np.arange(30) % 3]
    rest = y != "b"
    expected = clone(model).fit(X[rest], y[rest])
    left_out = clone(model).fit(X, y, sample_weight=rest.astype(float))
    weightless = clone(model).set_params(class_weight={"b": 0}).fit(X, y)
    for found in (left_out, weightless):
        assert found.classes_.tolist() == ["a", "c"]
        oracle.assert_close(
            found.dissimilarities(X), expected.dissimilarities(X), 1e-12
        )
    for weights in ((y == "a") * 1.0, np.where(y == "b", 0.0, y == "a")):
        with pytest.raises(ValueError, match="one class only"):
            clone(model).fit(X, y, weights)


def test_weights_of_one_change_not_a_bit():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    for model in (DRMClassifier(), LinearDRMClassifier(), DRMClassifier(rank=5)):
        plain = clone(model).fit(X, y).dissimilarities(X)
        for weights in (np.ones(30), np.ones(30, dtype=int), 1.0, [1] * 30):
            found = clone(model).fit(X, y, weights).dissimilarities(X)
            assert np.array_equal(found, plain)


def test_rows_of_weights_stay_as_they_are():
    rng = np.random.default_rng(3)
    X, y, weights = rng.normal(size=(30, 3)), np.arange(30) % 3, rng.random(30)
    weights[:3] = 0.0
    copies = X.copy(), weights.copy()
    for model in (DRMClassifier(class_weight="balanced"), LinearDRMClassifier()):
        model.fit(X, y, weights)
        assert np.array_equal(X, copies[0])
        assert np.array_equal(weights, copies[1])


def test_a_precomputed_kernel_keeps_its_columns():
    rng = np.random.default_rng(4)
    X, y, X_test = rng.normal(size=(20, 3)), np.arange(20) % 2, rng.normal(size=(4, 3))
    weights = rng.integers(0, 3, 20).astype(float)
    plain = DRMClassifier(gamma=0.4).fit(X, y, weights)
    K, k = (oracle.gram(Z, X, "rbf", 0.4) for Z in (X, X_test))
    given_K = DRMClassifier(kernel="precomputed").fit(K, y, weights)
    assert given_K.representation(k).shape == (4, 20)
    assert np.allclose(given_K.representation(k), plain.representation(X_test))


def test_a_wide_kernel_follows_the_heavy_class():
    """scikit-learn's check_class_weight_classifiers, with a kernel that sees far."""
    for centres in (2, 3):
        X, y = make_blobs(centers=centres, random_state=0, cluster_std=20)
        light = dict.fromkeys(range(1, centres), 1e-4)
        for model in (DRMClassifier(), KernelRidgeRepresentationClassifier()):
            model.set_params(gamma=1e-3, class_weight={0: 1000, **light})
            assert (model.fit(X[::2], y[::2]).predict(X[1::2]) == 0).mean() > 0.87


WRONG = [
    (np.r_[-1.0, np.ones(7)], "must not be negative; sample 0 has -1"),
    (np.r_[np.nan, np.ones(7)], "contains NaN"),
    (np.r_[np.inf, np.ones(7)], "infinity"),
    (np.ones(7), "one number for each of the 8 samples"),
    (np.ones((8, 1)), r"its shape is \(8, 1\)"),
    (["x"] * 8, "must hold numbers.*'x'"),
    (np.zeros(8), "all sample weights are zero"),
]


@pytest.mark.parametrize(("weights", "message"), WRONG)
@pytest.mark.parametrize("model", [DRMClassifier(), LinearDRMClassifier()])
def test_wrong_weights_are_named(model, weights, message):
    X, y = np.random.default_rng(5).normal(size=(8, 2)), np.arange(8) % 2
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("heavy", "'class_weight' parameter"),
        (2.0, "'class_weight' parameter"),
        ({0: -1.0}, "class weight of 0 must be a finite number >= 0, got -1.0"),
        ({0: np.nan}, "class weight of 0 must be a finite"),
        ({0: "1"}, "class weight of 0 must be a finite"),
        ({0: 1.0, 7: 2.0}, "class_weight has 7, which is no class of y; classes: 0, 1"),
        ({0: 0.0, 1: 0.0}, "weights are zero"),
    ],
)
@pytest.mark.parametrize("model", [DRMClassifier(), LinearDRMClassifier()])
def test_wrong_class_weights_are_named(model, class_weight, message):
    X, y = np.random.default_rng(6).normal(size=(8, 2)), np.arange(8) % 2
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(class_weight=class_weight).fit(X, y)


def test_a_fold_may_lack_a_class_that_a_dict_names():
    y = np.array(["a", "b", "b"])
    assert training_weights(y, {"a": 2, "b": 1, "c": 5}).tolist() == [2, 1, 1]
    assert training_weights(y, {"a": 1, "b": 1, "c": 5}) is None
    with pytest.raises(ValueError, match="or a dict of weights by class, got 'even'"):
        class_factors(np.array(["a"]), np.ones(1), "even")


def test_a_stream_may_begin_without_weights():
    X, y = np.random.default_rng(7).normal(size=(8, 2)), np.arange(8) % 2
    model = LinearDRMClassifier(class_weight="balanced")
    model.partial_fit(X, y, classes=[0, 1], sample_weight=np.zeros(8))
    with pytest.raises(NotFittedError, match="all weights so far are zero"):
        model.predict(X)
    model.partial_fit(X, y)
    whole = LinearDRMClassifier(class_weight="balanced").fit(X, y)
    assert np.array_equal(model.dissimilarities(X), whole.dissimilarities(X))
    with pytest.raises(ValueError, match="must not be negative"):
        model.partial_fit(X, y, sample_weight=-np.ones(8))
    with pytest.raises(ValueError, match="class weight of 0"):
        model.set_params(class_weight={0: -1}).partial_fit(X, y)
    assert model.class_mass_.tolist() == [4, 4]


@pytest.fixture
def unequal():
    rng = np.random.default_rng(8)
    y = (np.arange(80) % 8 == 0).astype(int)
    X = np.abs(0.6 * rng.normal(size=(80, 4)) + 1.5 * np.eye(2, 4)[y])
    return X, y, rng.exponential(size=80)


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.7"),
    reason="scikit-learn's search asks more of routed weights",
)
@pytest.mark.parametrize("model", [DRMClassifier(), LinearDRMClassifier()])
def test_weights_go_through_pipelines_and_searches(model, unequal):
    X, y, weights = unequal
    with config_context(enable_metadata_routing=True):
        final = clone(model).set_fit_request(sample_weight=True)
        final.set_score_request(sample_weight=True)
        pipe = make_pipeline(MaxAbsScaler(), final)
        search = GridSearchCV(
            pipe, {f"{type(model).__name__.lower()}__beta": [0.1, 1.0]}, cv=3
        ).fit(X, y, sample_weight=weights)
        best = search.best_estimator_[-1]
    alone = clone(model).set_params(beta=best.beta)
    alone.fit(MaxAbsScaler().fit_transform(X), y, weights)
    scaled = MaxAbsScaler().fit_transform(X)
    assert np.array_equal(best.dissimilarities(scaled), alone.dissimilarities(scaled))
    plain = clone(alone).fit(scaled, y).dissimilarities(scaled)
    assert not np.allclose(plain, alone.dissimilarities(scaled))


@pytest.mark.parametrize("model", [DRMClassifier(), LinearDRMClassifier()])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: AdaBoostClassifier(model, n_estimators=5, random_state=0),
        lambda model: BaggingClassifier(model, n_estimators=5, random_state=0),
        lambda model: CalibratedClassifierCV(model, cv=3),
        lambda model: TunedThresholdClassifierCV(model, cv=3),
    ],
    ids=["boosting", "bagging", "calibration", "threshold"],
)
def test_ensembles_and_wrappers_take_them(model, wrap, unequal):
    X, y, weights = unequal
    wrapped = wrap(clone(model).set_params(beta=0.1, class_weight="balanced"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = wrapped.fit(X, y).predict(X)
        assert balanced_accuracy_score(y, found) > 0.6
        if not isinstance(wrapped, TunedThresholdClassifierCV):  # it needs routing
            found = wrapped.fit(X, y, sample_weight=weights).predict(X)
            assert balanced_accuracy_score(y, found) > 0.6
    if isinstance(wrapped, AdaBoostClassifier):
        assert len(wrapped.estimators_) > 1


def test_weights_may_be_a_series_of_a_table():
    rng = np.random.default_rng(9)
    table = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    y = pd.Series(np.arange(20) % 2, index=np.arange(20)[::-1])
    weights = pd.Series(rng.random(20), index=np.arange(100, 120))
    for model in (DRMClassifier(), LinearDRMClassifier()):
        one = clone(model).fit(table, y, weights).dissimilarities(table)
        other = clone(model).fit(table, y.to_numpy(), weights.to_numpy())
        assert np.array_equal(one, other.dissimilarities(table))
