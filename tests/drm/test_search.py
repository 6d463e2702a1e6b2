"""The parameter search against scikit-learn's, and its tie rules."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, StratifiedKFold

from drmbench import DRMClassifier, DRMClassifierCV
from drmbench.drm.errors import ConditioningWarning, IllConditionedError
from drmbench.drm.kernels import Kernel

WEIGHTS = [0.01, 1.0]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150)[:45]
    return X[rows], y[rows]


def grid_search(cv, kernel, parameter):
    grid = {"alpha": WEIGHTS, "beta": WEIGHTS, **parameter}
    return GridSearchCV(DRMClassifier(kernel=kernel), grid, cv=cv)


def results(search):
    """Return all that a search found but the time it took."""
    table = pd.DataFrame(search.cv_results_)
    return table.drop(columns=[name for name in table if name.endswith("_time")])


def table(search):
    results = search.cv_results_
    columns = (results[name] for name in ("alpha", "beta", "degree", "gamma"))
    keys = (tuple(value or 0.0 for value in row) for row in zip(*columns, strict=True))
    return dict(zip(keys, results["mean_test_score"], strict=True))


@pytest.mark.parametrize(
    ("kernel", "name", "values"),
    [
        ("rbf", "gamma", [0.1, 1.0]),
        ("poly", "degree", [2, 3]),
        ("linear", None, []),
    ],
)
@pytest.mark.parametrize("cv", ["loo", 3, KFold(4, shuffle=True, random_state=1)])
def test_scores_are_those_of_a_naive_search(iris, kernel, name, values, cv):
    X, y = iris
    ours = DRMClassifierCV(
        alphas=WEIGHTS,
        betas=WEIGHTS,
        kernels=[kernel],
        gammas=values,
        degrees=values,
        cv=cv,
    ).fit(X, y)
    splitter = LeaveOneOut() if cv == "loo" else cv
    if cv == 3:
        splitter = StratifiedKFold(3)
    naive = grid_search(splitter, kernel, {name: values} if name else {}).fit(X, y)
    found = table(ours)
    for params, score in zip(
        naive.cv_results_["params"], naive.cv_results_["mean_test_score"], strict=True
    ):
        key = (
            params["alpha"],
            params["beta"],
            float(params.get("degree", 0)),
            params.get("gamma", 0.0),
        )
        assert np.isclose(found[key], score), key
    assert np.isclose(ours.best_score_, naive.best_score_)
    assert ours.cv_results_["rank_test_score"][ours.best_index_] == 1


def test_loo_predictions_belong_to_the_best(iris):
    X, y = iris
    search = DRMClassifierCV(alphas=WEIGHTS, betas=WEIGHTS, gammas=[0.1, 1.0]).fit(X, y)
    assert np.isclose(np.mean(search.loo_predictions_ == y), search.best_score_)
    model = DRMClassifier(
        alpha=search.alpha_, beta=search.beta_, gamma=search.kernel_.gamma
    )
    naive = [
        model.fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])[0]
        for i in range(len(y))
    ]
    assert (search.loo_predictions_ == naive).all()
    assert not hasattr(
        DRMClassifierCV(cv=3, gammas=[1.0]).fit(X, y), "loo_predictions_"
    )


def test_ties(iris):
    """A constant score ties everything: each rule takes its own end of the grid."""
    X, y = iris
    grids = {"alphas": [0.1, 1.0], "betas": [0.01, 1.0], "degrees": [2, 3]}
    kernels = ["rbf", "poly", "linear"]

    def fitted(tie):
        search = DRMClassifierCV(
            kernels=kernels,
            gammas=[1.0, 0.1],
            scoring=lambda a, b: 0.5,
            tie=tie,
            **grids,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConditioningWarning)
            return search.fit(X, y)

    first = fitted("first")
    assert first.best_index_ == 0
    assert (first.alpha_, first.kernel_, first.beta_) == (
        0.1,
        Kernel("rbf", gamma=1.0),
        0.01,
    )
    regularised = fitted("regularised")
    assert (regularised.beta_, regularised.alpha_) == (1.0, 1.0)
    assert regularised.kernel_ == Kernel("linear")
    order = list(
        zip(
            first.cv_results_["alpha"],
            first.cv_results_["kernel"],
            first.cv_results_["beta"],
            strict=True,
        )
    )
    assert order[:3] == [(0.1, "rbf", 0.01), (0.1, "rbf", 1.0), (0.1, "rbf", 0.01)]


@pytest.mark.parametrize("scoring", ["accuracy", "gmean", "balanced_accuracy"])
def test_scoring(iris, scoring):
    X, y = iris
    search = DRMClassifierCV(
        alphas=[1.0], betas=[1.0], gammas=[1.0], scoring=scoring
    ).fit(X, y)
    predicted = search.loo_predictions_
    recalls = [np.mean(predicted[y == c] == c) for c in range(3)]
    expected = {
        "accuracy": np.mean(predicted == y),
        "gmean": np.prod(recalls) ** (1 / 3),
        "balanced_accuracy": balanced_accuracy_score(y, predicted),
    }
    assert np.isclose(search.best_score_, expected[scoring])


def test_precomputed_kernel(iris):
    X, y = iris
    K = X @ X.T
    grids = {"alphas": WEIGHTS, "betas": WEIGHTS}
    given = DRMClassifierCV(kernels="precomputed", **grids).fit(K, y)
    linear = DRMClassifierCV(kernels="linear", **grids).fit(X, y)
    scores = [search.cv_results_["mean_test_score"] for search in (given, linear)]
    assert np.array_equal(*scores)
    assert (given.predict(K) == linear.predict(X)).all()
    for cv in ("loo", 3):
        search = DRMClassifierCV(kernels="precomputed", cv=cv, **grids).fit(K, y)
        assert search.cv_results_["kernel"][0] == "precomputed"


@pytest.mark.parametrize("cv", ["loo", 3])
def test_an_asymmetric_precomputed_kernel_counts_as_its_symmetric_part(iris, cv):
    X, y = iris
    K = X @ X.T + 5 * np.random.default_rng(0).normal(size=(len(y), len(y)))
    grids = {"alphas": [0.1, 1.0], "betas": [100.0, 1000.0]}
    search = DRMClassifierCV(kernels="precomputed", cv=cv, **grids)
    expected = clone(search).fit((K + K.T) / 2, y)
    with pytest.warns(UserWarning, match="its symmetric part is used") as caught:
        search.fit(K, y)
    assert len(caught) == 1
    assert results(search).equals(results(expected))
    assert (search.dissimilarities(K) == expected.dissimilarities(K)).all()


def test_threads_change_nothing(iris):
    X, y = iris
    grids = {"alphas": WEIGHTS, "betas": WEIGHTS, "gammas": [0.1, 1.0]}
    one = DRMClassifierCV(**grids).fit(X, y)
    two = DRMClassifierCV(n_jobs=2, **grids).fit(X, y)
    assert results(one).equals(results(two))


def test_failed_candidates_are_recorded_and_stepped_over():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)) * 1e3, np.arange(60) % 2
    search = DRMClassifierCV(
        alphas=[0.0],
        betas=[1e-3],
        kernels=["poly", "rbf"],
        degrees=[5, 200],
        gammas=[1e-6],
    ).fit(X, y)
    status = dict(
        zip(
            map(str, search.cv_results_["degree"]),
            search.cv_results_["status"],
            strict=True,
        )
    )
    assert "not positive definite" in status["5"]
    assert "overflows" in status["200"]
    assert status["None"] == "ok"
    assert search.kernel_ == Kernel("rbf", gamma=1e-6)
    assert np.isnan(search.cv_results_["mean_test_score"][0])


def test_all_candidates_failing_is_one_clear_error():
    X = np.random.default_rng(1).normal(size=(20, 2)) * 1e3
    with pytest.raises(IllConditionedError, match="no candidate could be scored"):
        DRMClassifierCV(kernels="poly", degrees=[300]).fit(X, np.arange(20) % 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernels": ["wavelet"]}, "kernels must be"),
        ({"kernels": ["rbf", "precomputed"]}, "'precomputed' alone"),
        ({"gammas": [1.0, 0.0]}, "gamma must be positive and finite"),
        ({"kernels": "laplacian", "gammas": [np.inf]}, "gamma must be positive"),
        ({"scoring": "auc"}, "scoring must be"),
        ({"scoring": 3}, "scoring must be"),
        ({"tie": "last"}, "tie must be"),
        ({"refit": "gmean"}, "refit must be"),
        ({"threshold": 0.5}, "threshold must be"),
        ({"threshold": "tuned"}, "for two classes; y has 3"),
        ({"alphas": []}, "grid is empty"),
        ({"alphas": [-1.0]}, "alpha must be"),
        ({"betas": [0.0]}, "beta must be"),
    ],
)
def test_wrong_settings_are_named(iris, settings, message):
    with pytest.raises(ValueError, match=message):
        DRMClassifierCV(**settings).fit(*iris)


def test_the_results_have_the_columns_of_a_grid_search(iris):
    X, y = iris
    ours = DRMClassifierCV(
        alphas=WEIGHTS,
        betas=WEIGHTS,
        kernels=["rbf", "poly", "linear"],
        gammas=[0.1, 1.0],
        degrees=[2, 3],
        cv=KFold(3),
    ).fit(X, y)
    weights = {"alpha": WEIGHTS, "beta": WEIGHTS}
    naive = GridSearchCV(
        DRMClassifier(),
        [
            {**weights, "kernel": ["rbf"], "gamma": [0.1, 1.0]},
            {**weights, "kernel": ["poly"], "degree": [2, 3]},
            {**weights, "kernel": ["linear"]},
        ],
        cv=KFold(3),
    ).fit(X, y)
    table, expected = ours.cv_results_, naive.cv_results_
    assert set(expected) <= set(table)
    rows = [table["params"].index(params) for params in expected["params"]]
    assert sorted(rows) == list(range(20))
    for name, values in expected.items():
        if name.startswith("param_"):
            assert table[name][rows].tolist() == values.tolist(), name
        elif name.endswith("_score"):
            assert np.allclose(table[name][rows], values), name
        elif name.endswith("_time"):
            assert (table[name] >= 0).all()
            assert table[name].shape == (20,)
    assert ours.n_splits_ == naive.n_splits_ == 3
    assert np.isclose(ours.best_score_, naive.best_score_)
    assert ours.best_params_ == table["params"][ours.best_index_]


def test_best_params_are_those_of_the_refitted_model(iris):
    X, y = iris
    search = DRMClassifierCV(
        alphas=[1.0], betas=[1.0], kernels=["poly"], degrees=[2], coef0=0.5
    ).fit(X, y)
    again = DRMClassifier(coef0=0.5, **search.best_params_).fit(X, y)
    assert np.array_equal(search.dissimilarities(X), again.dissimilarities(X))
    assert search.refit_time_ > 0


def test_without_refit_there_is_nothing_to_predict_with(iris):
    X, y = iris
    search = DRMClassifierCV(alphas=WEIGHTS, betas=WEIGHTS, gammas=[1.0])
    chosen = search.fit(X, y).best_params_
    search.set_params(refit=False).fit(X, y)
    assert search.best_params_ == chosen
    assert not hasattr(search, "best_estimator_")
    for method in ("predict", "decision_function", "predict_proba", "dissimilarities"):
        with pytest.raises(AttributeError, match="refit=False"):
            getattr(search, method)(X)
