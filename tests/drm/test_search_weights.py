"""Sample and class weights in the search, against refits and repetition."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.utils.fixes import parse_version

from drmbench import DRMClassifier, DRMClassifierCV

ALPHAS, BETAS = [0.05, 1.0], [0.1, 1.0]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [40, 14])[rng.permutation(54)]
    X = rng.normal(size=(54, 4)) + 0.9 * y[:, None] + 1.0
    weights = rng.choice([0.0, 0.5, 1.0, 2.5], size=54)
    return X, y, weights


def search(kernel, **settings):
    return DRMClassifierCV(
        alphas=ALPHAS,
        betas=BETAS,
        kernels=[kernel],
        gammas=[0.3],
        degrees=[2],
        **settings,
    )


def grid(kernel):
    grid = {"alpha": ALPHAS, "beta": BETAS, "kernel": [kernel]}
    if kernel == "rbf":
        grid["gamma"] = [0.3]
    if kernel == "poly":
        grid["degree"] = [2]
    return grid


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.7"),
    reason="scikit-learn's search passes no weights to its scorers yet",
)
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("scoring", ["balanced_accuracy", "roc_auc", "neg_log_loss"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1.0, 1: 3.0}])
def test_weights_go_into_every_fit_as_in_a_grid_search(
    data, kernel, scoring, class_weight
):
    X, y, weights = data
    cv = StratifiedKFold(3)
    ours = search(kernel, scoring=scoring, cv=cv, class_weight=class_weight)
    ours.fit(X, y, sample_weight=weights)
    naive = GridSearchCV(
        DRMClassifier(class_weight=class_weight), grid(kernel), scoring=scoring, cv=cv
    ).fit(X, y, sample_weight=weights)
    rows = [ours.cv_results_["params"].index(p) for p in naive.cv_results_["params"]]
    for name in ("split0_test_score", "split2_test_score", "mean_test_score"):
        ours_, theirs = ours.cv_results_[name][rows], naive.cv_results_[name]
        assert np.allclose(ours_, theirs, atol=1e-7), name
    model = DRMClassifier(class_weight=class_weight, **ours.best_params_)
    model.fit(X, y, sample_weight=weights)
    assert np.allclose(ours.dissimilarities(X), model.dissimilarities(X))
    assert np.allclose(ours.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "precomputed"])
@pytest.mark.parametrize("class_weight", [None, {0: 0.5, 1: 2.0}])
def test_leave_one_out_keeps_the_weights_of_the_others(data, kernel, class_weight):
    """The oracle refits without each sample; samples of weight 0 are judged too."""
    X, y, weights = data
    given = X @ X.T + 1.0 if kernel == "precomputed" else X
    chosen = search(kernel, scoring="roc_auc", class_weight=class_weight)
    if kernel == "precomputed":
        chosen.set_params(kernels="precomputed")
    chosen.fit(given, y, sample_weight=weights)
    for params, found in zip(
        chosen.cv_results_["params"], chosen.cv_results_["mean_test_score"], strict=True
    ):
        model = DRMClassifier(class_weight=class_weight, **params)
        values = np.empty(len(y))
        for i in range(len(y)):
            rest = np.delete(np.arange(len(y)), i)
            columns = rest if kernel == "precomputed" else slice(None)
            model.fit(given[rest][:, columns], y[rest], sample_weight=weights[rest])
            values[i] = model.decision_function(given[[i]][:, columns])[0]
        assert np.isclose(found, roc_auc_score(y, values, sample_weight=weights))
    labels = DRMClassifierCV(**{**chosen.get_params(), "scoring": "accuracy"}).fit(
        given, y, sample_weight=weights
    )
    right = labels.loo_predictions_ == y
    assert np.isclose(np.average(right, weights=weights), labels.best_score_)


def test_balanced_weights_help_the_small_class(data):
    X, y, _ = data
    grids = {"alphas": [1.0], "betas": [1.0], "gammas": [0.3]}
    plain = DRMClassifierCV(**grids).fit(X, y)
    balanced = DRMClassifierCV(class_weight="balanced", **grids).fit(X, y)
    recalls = [np.mean(s.loo_predictions_[y == 1] == 1) for s in (plain, balanced)]
    assert recalls[0] < recalls[1]


@pytest.mark.parametrize("cv", ["loo", KFold(3)])
def test_weights_of_one_change_nothing(data, cv):
    X, y, _ = data
    one = search("rbf", cv=cv, scoring="neg_log_loss").fit(X, y)
    two = search("rbf", cv=cv, scoring="neg_log_loss").fit(X, y, np.ones(len(y)))
    scores = [s.cv_results_["mean_test_score"] for s in (one, two)]
    assert np.array_equal(*scores)


def test_tuned_thresholds_take_weights(data):
    X, y, weights = data
    tuned = search("rbf", scoring="gmean", threshold="tuned").fit(X, y, weights)
    recalls = [
        np.average(tuned.loo_predictions_[y == c] == c, weights=weights[y == c])
        for c in (0, 1)
    ]
    assert np.isclose(np.sqrt(np.prod(recalls)), tuned.best_score_)
    plain = search("rbf", scoring="gmean").fit(X, y, weights)
    assert (
        tuned.cv_results_["mean_test_score"]
        >= plain.cv_results_["mean_test_score"] - 1e-12
    ).all()


def test_scores_without_weights_are_announced(data):
    X, y, weights = data

    def share(y_true, y_pred):
        return np.mean(y_true == y_pred)

    with pytest.warns(UserWarning, match="takes no sample_weight"):
        found = search("rbf", scoring=share).fit(X, y, weights)
    assert np.isclose(np.mean(found.loo_predictions_ == y), found.best_score_)


def test_wrong_weights_are_named(data):
    X, y, weights = data
    for wrong, message in (
        (weights[:5], "54 samples"),
        (-weights, "must not be negative"),
        (np.zeros(54), "nothing to fit"),
        (np.where(y == 1, 0.0, 1.0), "one class only"),
    ):
        with pytest.raises(ValueError, match=message):
            search("rbf").fit(X, y, sample_weight=wrong)
    with pytest.raises(ValueError, match="no class of y"):
        search("rbf", class_weight={7: 2.0}).fit(X, y)


def test_probabilities_of_integer_weights_are_those_of_repetitions(data):
    X, y, _ = data
    times = np.random.default_rng(0).integers(0, 4, len(y))
    for kernel in ("rbf", "linear"):
        weighted = DRMClassifier(kernel=kernel, class_weight="balanced")
        repeated = DRMClassifier(kernel=kernel, class_weight="balanced")
        weighted.fit(X, y, sample_weight=times)
        repeated.fit(X.repeat(times, axis=0), y.repeat(times))
        assert np.allclose(weighted.predict_proba(X), repeated.predict_proba(X))
