"""One run of boosting contains the shorter ones; failures are told as such."""

from __future__ import annotations

import numpy as np
import pytest
from imblearn.ensemble import RUSBoostClassifier
from method_problems import blobs
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier

from drmbench.errors import InputError
from drmbench.methods.base import (
    Labels,
    Matrix,
    MethodFailedError,
    naive_grid_predictions,
)
from drmbench.methods.boosting import EasyEnsemble, RUSBoost
from drmbench.methods.registry import get_method, with_overrides


def test_one_run_of_histogram_boosting_answers_the_shorter_ones() -> None:
    X, y = blobs((30, 25, 20), 4)
    X_test = blobs((60, 60, 60), 4, seed=1)[0]
    method = get_method("hgb")
    candidates = [
        {**method.candidates()[0], "max_iter": rounds, "learning_rate": rate}
        for rate in (0.05, 0.5)
        for rounds in (9, 1, 4)
    ]
    assert method.predict_grid is not None
    found = method.predict_grid(X, y, X_test, candidates, seed=3)
    for row, params in zip(found.labels, candidates, strict=True):
        model = HistGradientBoostingClassifier(
            early_stopping=False, random_state=3, **params
        )
        np.testing.assert_array_equal(row, model.fit(X, y).predict(X_test))
    assert len({row.tobytes() for row in found.labels}) > 2


def test_boosting_copes_with_a_small_class_among_several() -> None:
    """Without regularised leaves it diverges: more trees make it worse."""
    method = get_method("hgb")
    params = {"learning_rate": 0.2, "max_leaf_nodes": 4, "max_iter": 100}

    def recall(**others: float) -> float:
        model = method.build({**method.defaults, **params, **others}, 0)
        (X, y), (X_test, y_test) = (_corners((2000, 300, 10), seed=s) for s in (0, 1))
        return float(balanced_accuracy_score(y_test, model.fit(X, y).predict(X_test)))

    assert recall() > 0.9
    assert recall(l2_regularization=0.0) < 0.8


def _corners(counts: tuple[int, ...], *, seed: int) -> tuple[Matrix, Labels]:
    """Return normal clouds, each far out along a feature of its own."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    X = rng.normal(size=(len(y), 5))
    X[np.arange(len(y)), y] += 4.0
    return X, y


def test_one_run_of_rusboost_answers_the_shorter_ones() -> None:
    X, y = blobs((60, 25, 20), 4, gap=0.5)
    X_test = blobs((60, 60, 60), 4, seed=1)[0]
    method = get_method("rusboost")
    candidates = [
        {"n_estimators": rounds, "learning_rate": rate, "max_depth": 3}
        for rate in (0.1, 1.0)
        for rounds in (1, 12, 5)
    ]
    assert method.predict_grid is not None
    found = method.predict_grid(X, y, X_test, candidates, seed=3)
    for row, params in zip(found.labels, candidates, strict=True):
        tree = DecisionTreeClassifier(max_depth=params.pop("max_depth"))
        model = RUSBoostClassifier(tree, random_state=3, **params).fit(X, y)
        np.testing.assert_array_equal(row, model.predict(X_test))
    assert len({row.tobytes() for row in found.labels}) > 2


def test_a_run_that_ends_early_answers_all_that_would_be_longer() -> None:
    X = np.array([[0.0], [0.1], [1.0], [1.1], [0.2], [1.2]])
    y = np.array([0, 0, 1, 1, 0, 1])  # the first stump makes no mistake
    method = get_method("rusboost")
    candidates = method.candidates()
    assert method.predict_grid is not None
    found = method.predict_grid(X, y, X, candidates, seed=0)
    expected = naive_grid_predictions(method, X, y, X, candidates, seed=0)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.labels, np.tile(y, (len(candidates), 1)))


@pytest.mark.parametrize("model", [EasyEnsemble(random_state=0), RUSBoost()])
def test_trees_that_guess_are_a_failure_of_the_candidate(
    model: EasyEnsemble | RUSBoost,
) -> None:
    X, y = np.ones((8, 2)), np.array([0, 1] * 4)
    with pytest.raises(MethodFailedError, match="no better than chance"):
        model.fit(X, y)


@pytest.mark.parametrize("name", ["easy-ensemble", "rusboost"])
def test_every_candidate_may_fail_without_an_exception(name: str) -> None:
    X, y = np.ones((8, 2)), np.array([0, 1] * 4)
    method = get_method(name)
    candidates = method.candidates()
    answer = naive_grid_predictions(method, X, y, X, candidates, seed=0)
    assert len(answer.failures) == len(candidates)
    if method.predict_grid is not None:
        shared = method.predict_grid(X, y, X, candidates, seed=0)
        assert shared.failures == answer.failures


@pytest.mark.parametrize("model", [EasyEnsemble(), RUSBoost()])
def test_other_errors_stay_as_they_are(model: EasyEnsemble | RUSBoost) -> None:
    with pytest.raises(ValueError, match="NaN"):
        model.fit([[0.0], [np.nan], [1.0]], [0, 1, 1])


def test_rounds_are_those_of_the_boosting_inside() -> None:
    model = get_method("easy-ensemble").build({"rounds": 7, "n_estimators": 3}, 0)
    assert isinstance(model.estimator, AdaBoostClassifier)
    assert (model.n_estimators, model.estimator.n_estimators) == (3, 7)
    with pytest.raises(InputError, match=r"rounds=0.*n_estimators"):
        with_overrides(get_method("easy-ensemble"), params={"rounds": 0})


@pytest.mark.parametrize("name", ["easy-ensemble", "rusboost", "hgb-balanced"])
def test_the_minority_is_found_more_often_than_by_plain_boosting(name: str) -> None:
    X, y = blobs((80, 12), 3, gap=0.8)
    X_test, y_test = blobs((60, 60), 3, seed=1, gap=0.8)
    recalls = []
    for method in (get_method("hgb"), get_method(name)):
        model = method.build(method.candidates()[0], 0).fit(X, y)
        recalls.append(np.mean(model.predict(X_test)[y_test == 1]))
    assert recalls[1] > recalls[0] + 0.1
