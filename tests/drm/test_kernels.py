"""Every kernel, by name and as a function, against its precomputed matrix."""

from __future__ import annotations

import functools
import pickle
import warnings

import drm_oracles as oracle
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from drmbench import (
    DRMClassifier,
    DRMClassifierCV,
    KernelRidgeRepresentationClassifier,
)
from drmbench.drm.errors import ConditioningWarning, IllConditionedError
from drmbench.drm.kernels import (
    INDEFINITE_KERNELS,
    KERNEL_NAMES,
    SPARSE_KERNELS,
    Kernel,
    gram,
    resolve_gamma,
)

NAMES = sorted(PAIRWISE_KERNEL_FUNCTIONS)
POLYNOMIALS = ("poly", "polynomial")
WITH_GAMMA = ("rbf", "laplacian", "sigmoid", "chi2", *POLYNOMIALS)
#: Outweighs every negative eigenvalue of the indefinite kernels on the samples below.
BETA = 1000.0
GRIDS = {"alphas": [0.0, 0.5], "betas": [BETA, 10 * BETA]}


@pytest.fixture(scope="module")
def data():
    """Samples with features of [0, ∞), many of them zero, and a row of zeros."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c / 2, 1.0, size=(15, 4)) for c in range(3)])
    X[7] = -1.0
    X_test = rng.normal(1.0, 1.0, size=(12, 4))
    return np.maximum(X, 0.0), np.repeat([0, 1, 2], 15), np.maximum(X_test, 0.0)


def reference(name, X, Y=None, **parameters):
    """scikit-learn's kernel matrix, with the paper's gamma of 1 for polynomials."""
    if name in POLYNOMIALS:
        parameters = {"gamma": 1.0, **parameters}
    return pairwise_kernels(X, Y, metric=name, filter_params=True, **parameters)


def assert_same(found, expected):
    oracle.assert_close(found, expected, 1e-12)


def test_names_are_those_of_scikit_learn():
    assert sorted(KERNEL_NAMES) == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "parameters", [{}, {"gamma": 0.3}, {"gamma": 0.2, "degree": 2, "coef0": 0.5}]
)
@pytest.mark.parametrize(
    "model",
    [
        DRMClassifier(alpha=0.5, beta=BETA),
        KernelRidgeRepresentationClassifier(beta=BETA),
    ],
)
def test_a_name_equals_its_precomputed_matrix(data, name, parameters, model):
    X, y, X_test = data
    named = clone(model).set_params(kernel=name, **parameters).fit(X, y)
    given = clone(model).set_params(kernel="precomputed")
    given.fit(reference(name, X, **parameters), y)
    k = reference(name, X_test, X, **parameters)
    assert_same(named.dissimilarities(X_test), given.dissimilarities(k))
    assert_same(named.representation(X_test), given.representation(k))
    assert (named.predict(X_test) == given.predict(k)).all()
    again = pickle.loads(pickle.dumps(named))
    assert (again.dissimilarities(X_test) == named.dissimilarities(X_test)).all()


@pytest.mark.parametrize("name", WITH_GAMMA)
def test_gamma_serves_every_kernel_that_has_one(data, name):
    X, y, X_test = data

    def delta(gamma):
        model = DRMClassifier(kernel=name, gamma=gamma, beta=BETA).fit(X, y)
        return model.dissimilarities(X_test)

    assert not np.allclose(delta(0.01), delta(10.0))
    p, default = X.shape[1], 1.0 if name in (*POLYNOMIALS, "chi2") else 1.0 / 4
    assert (delta("auto") == delta(1.0 / p)).all()
    assert (delta("scale") == delta(1.0 / (p * X.var()))).all()
    assert (delta(None) == delta(default)).all()


def test_the_papers_polynomial_is_unchanged(data):
    X, _, X_test = data
    for degree in (2, 3, 2.5):
        kernel = Kernel("poly", degree=degree)
        assert (gram(X, kernel=kernel) == (X @ X.T + 1.0) ** degree).all()
        expected = (X_test @ X.T + 1.0) ** degree
        assert (gram(X_test, X, kernel=kernel) == expected).all()


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.inf, np.nan])
def test_a_gamma_that_is_no_positive_number_is_refused(data, gamma):
    X, y, _ = data
    for name in ("rbf", "poly", "chi2"):
        with pytest.raises(ValueError, match="gamma"):
            DRMClassifier(kernel=name, gamma=gamma).fit(X, y)
    with pytest.raises(ValueError, match="gamma must be positive and finite"):
        Kernel("rbf", gamma=gamma)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        (name, options)
        for name in SPARSE_KERNELS
        for options in ({}, {"gamma": "scale"}, {"rank": 8})
        if "rank" not in options or name not in INDEFINITE_KERNELS
    ],
)
def test_sparse_equals_dense(data, name, options):
    X, y, X_test = data
    model = DRMClassifier(kernel=name, beta=BETA, **options)
    expected = clone(model).fit(X, y).dissimilarities(X_test)
    thin = model.fit(sparse.csr_matrix(X), y)
    for samples in (sparse.csr_matrix(X_test), sparse.csc_array(X_test), X_test):
        oracle.assert_close(thin.dissimilarities(samples), expected, 1e-10)
    assert resolve_gamma("scale", sparse.csr_matrix(X)) == pytest.approx(
        resolve_gamma("scale", X), rel=1e-14
    )


@pytest.mark.parametrize("name", ["chi2", "additive_chi2"])
def test_the_chi2_kernels_take_neither_negative_nor_sparse_samples(data, name):
    X, y, X_test = data
    model = DRMClassifier(kernel=name, beta=BETA)
    with pytest.raises(ValueError, match="Negative values in data"):
        model.fit(X - 1.0, y)
    with pytest.raises(ValueError, match="Negative values in data"):
        model.fit(X, y).predict(X_test - 1.0)
    with pytest.raises(TypeError, match=r"(?i)sparse"):
        model.fit(sparse.csr_matrix(X), y)
    expected = model.fit(X, y).dissimilarities(X_test)
    fixed = X.copy()
    fixed.flags.writeable = False
    assert (model.fit(fixed, y).dissimilarities(X_test) == expected).all()


@pytest.mark.parametrize("name", INDEFINITE_KERNELS)
def test_an_indefinite_system_is_an_error_not_an_answer(data, name):
    X, y, _ = data
    lowest = np.linalg.eigvalsh(oracle.q_matrix(reference(name, X), y, 0.5))[0]
    assert lowest < -1e-3
    for share in (0.01, 0.5, 0.99):
        with pytest.raises(IllConditionedError, match="not positive definite"):
            DRMClassifier(kernel=name, alpha=0.5, beta=-share * lowest).fit(X, y)
    DRMClassifier(kernel=name, alpha=0.5, beta=-1.01 * lowest).fit(X, y)


@pytest.mark.parametrize("name", INDEFINITE_KERNELS)
@pytest.mark.parametrize("share", [0.1, 0.9, 1.1, 10.0])
def test_leave_one_out_of_an_indefinite_kernel_is_that_of_refits(data, name, share):
    """A candidate with a system that has no minimum fails; others are exact."""
    X, y = data[0][::2], data[1][::2]
    K = reference(name, X, gamma=1.0, coef0=-0.5)
    lowest = 0.0
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        Q = oracle.q_matrix(K[np.ix_(rest, rest)], y[rest], 0.5)
        lowest = min(lowest, np.linalg.eigvalsh(Q)[0])
    beta = -share * lowest
    search = DRMClassifierCV(
        kernels=[name, "rbf"], alphas=[0.5], betas=[beta], gammas=[1.0], coef0=-0.5
    ).fit(X, y)
    status, score = (
        search.cv_results_[key][0] for key in ("status", "mean_test_score")
    )
    if share < 1:
        assert "not positive definite" in status
        assert search.kernel_ == Kernel("rbf", gamma=1.0)
    else:
        expected = oracle.left_out_dissimilarities(K, y, 0.5, beta).argmin(axis=1)
        assert status == "ok"
        assert score == pytest.approx(np.mean(expected == y))


def scores(search):
    columns = ["alpha", "beta", "mean_test_score", "std_test_score", "status"]
    return pd.DataFrame(search.cv_results_)[columns]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cv", ["loo", 3])
def test_a_search_by_name_equals_searches_of_precomputed_matrices(data, name, cv):
    X, y, X_test = data
    ours = DRMClassifierCV(
        kernels=[name], gammas=[0.1, 1.0], degrees=[2, 3], coef0=0.5, cv=cv, **GRIDS
    ).fit(X, y)
    parameters = [{}]
    if name in POLYNOMIALS:
        parameters = [{"degree": 2}, {"degree": 3}]
    elif name in WITH_GAMMA:
        parameters = [{"gamma": 0.1}, {"gamma": 1.0}]
    table = pd.DataFrame(ours.cv_results_)
    assert len(table) == 4 * len(parameters)
    assert set(table["kernel"]) == {name}
    for own in parameters:
        K = reference(name, X, coef0=0.5, **own)
        given = DRMClassifierCV(kernels="precomputed", cv=cv, **GRIDS).fit(K, y)
        rows = np.ones(len(table), dtype=bool)
        for key, value in own.items():
            rows &= (table[key] == value).to_numpy()
        pd.testing.assert_frame_equal(
            scores(ours)[rows].reset_index(drop=True), scores(given)
        )
    best = {k: v for k, v in ours.kernel_.arguments().items() if k != "kernel"}
    chosen = DRMClassifier(kernel="precomputed", alpha=ours.alpha_, beta=ours.beta_)
    chosen.fit(reference(name, X, coef0=0.5, **best), y)
    k = reference(name, X_test, X, coef0=0.5, **best)
    assert_same(ours.dissimilarities(X_test), chosen.dissimilarities(k))


def linear(X, Y):
    """Misleadingly named: a search must call it, not take the linear kernel."""
    return oracle.gram(X, Y, "rbf", 0.4)


@pytest.mark.parametrize("cv", ["loo", 3])
@pytest.mark.parametrize(
    ("function", "called"),
    [
        (linear, "linear"),
        (functools.partial(oracle.gram, name="rbf", parameter=0.4), "partial"),
    ],
)
def test_a_function_in_a_search_equals_its_precomputed_matrix(
    data, function, called, cv
):
    X, y, X_test = data
    X = X - X.mean(axis=0)
    K = linear(X, X)
    grids = {"alphas": [0.0, 0.5], "betas": [0.1, 1.0], "cv": cv}
    given = DRMClassifierCV(kernels="precomputed", **grids).fit(K, y)
    for kernels in (function, [function]):
        ours = DRMClassifierCV(kernels=kernels, **grids).fit(X, y)
        pd.testing.assert_frame_equal(scores(ours), scores(given))
        assert ours.cv_results_["kernel"] == [called] * 4
        assert ours.cv_results_["gamma"] == ours.cv_results_["degree"] == [None] * 4
        assert ours.kernel_.function is function
        assert_same(
            ours.dissimilarities(X_test), given.dissimilarities(linear(X_test, X))
        )


def test_two_functions_of_one_name_are_two_candidates(data):
    X, y, _ = data
    functions = [lambda A, B, g=g: oracle.gram(A, B, "rbf", g) for g in (1e-9, 1.0)]
    search = DRMClassifierCV(kernels=functions, alphas=[0.1], betas=[0.1]).fit(X, y)
    assert search.cv_results_["kernel"] == ["<lambda>"] * 2
    first, second = search.cv_results_["mean_test_score"]
    assert first < second
    assert search.best_estimator_.kernel is functions[1]


def test_a_kernel_that_refuses_the_data_is_a_failed_candidate(data):
    X, y, _ = data
    search = DRMClassifierCV(
        kernels=["chi2", "additive_chi2", "laplacian"], gammas=[0.1], **GRIDS
    )
    for cv in ("loo", 3):
        search.set_params(cv=cv).fit(X - 1.0, y)
        table = pd.DataFrame(search.cv_results_).set_index("kernel")
        assert (table.loc["laplacian", "status"] == "ok").all()
        for name in ("chi2", "additive_chi2"):
            reasons = table.loc[name, "status"]
            assert reasons.str.contains("X contains negative values").all()
            assert table.loc[name, "mean_test_score"].isna().all()
        assert search.kernel_.name == "laplacian"
    with pytest.raises(IllConditionedError, match="X contains negative values"):
        DRMClassifierCV(kernels="chi2", gammas=[1.0]).fit(X - 1.0, y)


def test_ties_go_to_the_simpler_kernel(data):
    X, y, _ = data
    order = ["linear", "poly", "rbf", "cosine", "additive_chi2", "laplacian", "chi2"]
    order += ["sigmoid", linear]
    while order:
        search = DRMClassifierCV(
            kernels=order[::-1],
            alphas=[0.5],
            betas=[BETA],
            gammas=[0.5, 0.1],
            degrees=[3, 2],
            scoring=lambda a, b: 0.5,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConditioningWarning)
            kernel = search.fit(X, y).kernel_
        simplest = order.pop(0)
        if callable(simplest):
            assert kernel.function is simplest
            continue
        assert kernel.name == simplest
        if simplest == "poly":
            assert kernel.degree == 2
        elif simplest in WITH_GAMMA:
            assert kernel.gamma == 0.1


def test_a_polynomials_gamma_is_an_argument_only_where_it_is_not_the_papers():
    assert Kernel("poly", degree=2).arguments() == {"kernel": "poly", "degree": 2}
    assert Kernel("polynomial", gamma=0.5, degree=2).arguments() == {
        "kernel": "polynomial",
        "degree": 2,
        "gamma": 0.5,
    }
    assert Kernel("sigmoid", gamma=0.5).arguments() == {
        "kernel": "sigmoid",
        "gamma": 0.5,
    }
    assert Kernel.of_callable(linear).arguments() == {"kernel": linear}
