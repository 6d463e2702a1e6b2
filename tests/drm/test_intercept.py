"""The intercept of the linear DRM: a constant feature, wherever samples come from."""

from __future__ import annotations

import json

import dask
import dask.array as da
import dask.dataframe as dd
import drm_oracles as oracle
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from drmbench import DRMClassifier, LinearDRMClassifier
from drmbench.drm.model_file import load_model, save_model
from drmbench.errors import InputError

quick = settings(max_examples=25, deadline=None, derandomize=True)


def make(**parameters):
    return LinearDRMClassifier(
        alpha=0.5, beta=0.2, fit_intercept=True, intercept_scaling=2.0, **parameters
    )


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=60)
    return rng.normal(size=(60, 4)) + np.eye(3, 4)[y], y, rng.normal(size=(9, 4))


def by_hand(X):
    return np.column_stack([X, np.full(len(X), 2.0)])


def expected_of(data, **parameters):
    X, y, X_test = data
    model = LinearDRMClassifier(alpha=0.5, beta=0.2, **parameters).fit(by_hand(X), y)
    return model, model.dissimilarities(by_hand(X_test))


@quick
@given(oracle.problems(), oracle.alphas, oracle.betas, st.floats(0.1, 10.0))
def test_it_is_the_polynomial_kernel_of_degree_1(problem, alpha, beta, constant):
    X, y = problem
    X_test = np.random.default_rng(1).normal(size=(3, X.shape[1]))
    model = LinearDRMClassifier(
        alpha=alpha, beta=beta, fit_intercept=True, intercept_scaling=constant
    ).fit(X, y)
    kernel = DRMClassifier(
        alpha=alpha, beta=beta, kernel="poly", degree=1, coef0=constant**2
    ).fit(X, y)
    expected = kernel.dissimilarities(X_test)
    oracle.assert_close(model.dissimilarities(X_test), expected, 1e-8)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, pd.DataFrame])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_it_is_a_column_appended_by_hand(data, form, class_weight):
    X, y, X_test = data
    reference, expected = expected_of(data, class_weight=class_weight)
    X, X_test = form(X), form(X_test)
    if form is pd.DataFrame:
        X.columns = X_test.columns = list("abcd")
    model = make(class_weight=class_weight).fit(X, y)
    assert model.n_features_in_ == 4
    assert model.sums_.shape == (3, 5, 5)
    assert np.allclose(model.sums_, reference.sums_, rtol=1e-12)
    assert np.allclose(model.dissimilarities(X_test), expected, rtol=1e-10)
    stream = make(class_weight=class_weight)
    for start in range(0, 60, 25):
        piece = X[start : start + 25]
        stream.partial_fit(piece, y[start : start + 25], classes=[0, 1, 2])
    assert np.allclose(stream.dissimilarities(X_test), expected, rtol=1e-10)


@pytest.mark.parametrize("kind", ["array", "columns", "unknown sizes", "frame"])
def test_dask_collections_get_it_too(data, kind):
    X, y, X_test = data
    if kind == "frame":
        X, X_test = (pd.DataFrame(part, columns=list("abcd")) for part in (X, X_test))
        lazy, lazy_test = (dd.from_pandas(part, npartitions=3) for part in (X, X_test))
    else:
        chunks = (17, 2) if kind == "columns" else (17, 4)
        lazy, lazy_test = (da.from_array(part, chunks=chunks) for part in (X, X_test))
    if kind == "unknown sizes":
        lazy = lazy[lazy[:, 0] > -np.inf]
    _, expected = expected_of(data)
    with dask.config.set(scheduler="synchronous"):
        model = make().fit(lazy, y)
        assert model.n_features_in_ == 4
        found = model.dissimilarities(lazy_test).compute()
        predicted = model.predict(lazy_test).compute()
    assert np.allclose(found, expected, rtol=1e-10)
    assert np.array_equal(predicted, expected.argmin(axis=1))
    assert np.allclose(model.dissimilarities(X_test), expected, rtol=1e-10)


def test_it_tells_x_from_minus_x():
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(400, 3))) + 0.2
    X[::2] *= -1
    y = np.arange(400) % 2
    blind = LinearDRMClassifier(beta=0.1).fit(X[:200], y[:200])
    assert np.array_equal(blind.predict(X), blind.predict(-X))
    seeing = LinearDRMClassifier(beta=0.1, fit_intercept=True).fit(X[:200], y[:200])
    assert seeing.score(X[200:], y[200:]) > 0.97
    assert blind.score(X[200:], y[200:]) < 0.6


def test_a_model_file_keeps_it(data, tmp_path):
    X, y, X_test = data
    path = tmp_path / "a.model"
    scale = np.array([1.0, 2.0, 4.0, 8.0])
    model = make().fit(X / scale, y)
    save_model(path, model, feature_names=list("abcd"), scale=scale)
    stored = load_model(path)
    assert stored.n_features == 4
    assert stored.classifier.get_params() == model.get_params()
    assert np.array_equal(stored.predict(X_test), model.predict(X_test / scale))
    going_on = stored.classifier.partial_fit(X, y).dissimilarities(X_test)
    assert np.array_equal(going_on, model.partial_fit(X, y).dissimilarities(X_test))


@pytest.mark.parametrize(
    "wrong", [{"fit_intercept": "yes"}, {"intercept_scaling": -1.0}]
)
def test_a_model_file_with_another_is_damaged(data, tmp_path, wrong):
    path = tmp_path / "a.model"
    save_model(path, make().fit(*data[:2]))
    with np.load(path) as archive:
        arrays = dict(archive)
    about = json.loads(str(arrays["about"])) | wrong
    arrays["about"] = np.array(json.dumps(about))
    with path.open("wb") as stream:
        np.savez(stream, **arrays)
    with pytest.raises(InputError, match="a damaged model file"):
        load_model(path)


def test_what_the_sums_depend_on_must_stay(data):
    X, y, X_test = data
    for change in ({"fit_intercept": False}, {"intercept_scaling": 1.0}, {"alpha": 2}):
        model = make().fit(X, y).set_params(**change)
        with pytest.raises(ValueError, match="changed after fitting"):
            model.predict(X_test)
        with pytest.raises(ValueError, match="changed after fitting"):
            model.partial_fit(X, y)
    plain = LinearDRMClassifier().fit(X, y).set_params(intercept_scaling=5.0)
    assert plain.predict(X_test).shape == (9,)
