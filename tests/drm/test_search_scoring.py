"""Scorers of every kind in the search, against scikit-learn's GridSearchCV."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.datasets import make_classification
from sklearn.metrics import (
    f1_score,
    fbeta_score,
    get_scorer,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

from drmbench import DRMClassifier, DRMClassifierCV
from drmbench.drm.errors import IllConditionedError
from drmbench.drm.loo import loo_dissimilarities
from drmbench.metrics import gmean_score

GRID = {"alpha": [0.01, 1.0], "beta": [0.01, 1.0], "gamma": [0.05, 0.5]}


def data(n_classes):
    return make_classification(
        70,
        5,
        n_informative=3,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        weights=[0.7] if n_classes == 2 else None,
        flip_y=0.15,
        random_state=3,
    )


def own_scorer(estimator, X, y):
    return (
        np.mean(estimator.decision_function(X)[y == 1]) + (estimator.predict(X) == y)[0]
    )


def search(scoring, cv, **settings):
    return DRMClassifierCV(
        alphas=GRID["alpha"],
        betas=GRID["beta"],
        gammas=GRID["gamma"],
        scoring=scoring,
        cv=cv,
        tie="first",
        **settings,
    )


def assert_same_table(ours, naive):
    rows = [
        ours.cv_results_["params"].index({**p, "kernel": "rbf"})
        for p in naive["params"]
    ]
    for name in naive:
        if name.endswith("test_score") and not name.startswith("rank"):
            assert np.allclose(ours.cv_results_[name][rows], naive[name], atol=1e-9), (
                name
            )
    # What differs by rounding alone has the same rank.
    ranks = rankdata(-np.round(naive["mean_test_score"], 9), method="min")
    assert np.array_equal(ours.cv_results_["rank_test_score"][rows], ranks)


@pytest.mark.parametrize(
    ("scoring", "n_classes"),
    [
        ("accuracy", 2),
        ("balanced_accuracy", 3),
        ("f1", 2),
        ("f1_macro", 3),
        ("roc_auc", 2),
        ("roc_auc_ovr", 3),
        ("average_precision", 2),
        ("neg_log_loss", 2),
        ("neg_log_loss", 3),
        ("neg_brier_score", 2),
        ("matthews_corrcoef", 2),
        (make_scorer(fbeta_score, beta=2.0), 2),
        (make_scorer(roc_auc_score, response_method="predict_proba"), 2),
        (own_scorer, 2),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
@pytest.mark.parametrize("cv", [KFold(4, shuffle=True, random_state=0), 3])
def test_scores_ranks_and_choice_are_those_of_a_grid_search(scoring, n_classes, cv):
    X, y = data(n_classes)
    ours = search(scoring, cv).fit(X, y)
    naive = GridSearchCV(
        DRMClassifier(),
        {"alpha": GRID["alpha"], "gamma": GRID["gamma"], "beta": GRID["beta"]},
        scoring=scoring,
        cv=cv,
    ).fit(X, y)
    assert_same_table(ours, naive.cv_results_)
    assert np.isclose(ours.best_score_, naive.best_score_)
    assert ours.best_params_ == {**naive.best_params_, "kernel": "rbf"}
    assert np.allclose(ours.predict_proba(X), naive.predict_proba(X))
    assert np.isclose(ours.score(X, y), naive.score(X, y))
    assert callable(ours.scorer_)


def test_leave_one_out_scores_all_left_out_answers_together():
    """The oracle collects δ of n refits first, and scores them afterwards."""
    X, y = data(2)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    delta = np.empty((len(y), 2))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        model = DRMClassifier(alpha=0.3, beta=0.1, gamma=0.5).fit(X[rest], y[rest])
        delta[i] = model.dissimilarities(X[[i]])[0]
    assert np.allclose(delta, loo_dissimilarities(K, y, 0.3, 0.1))
    values = delta[:, 0] - delta[:, 1]

    def found(scoring):
        grid = {"alphas": [0.3], "betas": [0.1], "gammas": [0.5]}
        return DRMClassifierCV(scoring=scoring, **grid).fit(X, y).best_score_

    assert np.isclose(found("roc_auc"), roc_auc_score(y, values))
    assert np.isclose(found("f1"), f1_score(y, values > 0))
    assert np.isclose(found("gmean"), gmean_score(y, values > 0))
    # Probabilities are monotone in the decision values, and better than the classes'
    # shares, whose loss is the entropy.
    rates = np.array([np.mean(y == 0), np.mean(y == 1)])
    assert -found("neg_log_loss") < -(rates * np.log(rates)).sum()
    by_probability = make_scorer(roc_auc_score, response_method="predict_proba")
    assert np.isclose(found(by_probability), roc_auc_score(y, values), atol=0.01)


def test_functions_of_labels_and_scorers_are_told_apart():
    X, y = data(2)
    seen = []

    def labels(y_true, y_pred, extra=1.0):
        seen.append("labels")
        return np.mean(y_true == y_pred)

    def scorer(estimator, X, y=None):
        seen.append("scorer")
        return np.mean(estimator.predict(X) == y)

    class Scorer:
        def __call__(self, model, X, y):
            seen.append("object")
            return np.mean(model.predict(X) == y)

    scores = {
        search(s, "loo").fit(X, y).best_score_ for s in (labels, scorer, Scorer())
    }
    assert scores == {search("accuracy", "loo").fit(X, y).best_score_}
    assert set(seen) == {"labels", "scorer", "object"}


def test_a_scorer_may_not_ask_for_other_samples():
    X, y = data(2)
    with pytest.raises(IllConditionedError, match="held-out samples only"):
        search(lambda model, X, y: model.predict(X[:5])[0], "loo").fit(X, y)


def test_a_split_that_cannot_be_scored_is_named():
    """Sorted labels: the last fold has one class, of which there is no ROC."""
    X, y = data(2)
    order = np.argsort(y)

    def strict(estimator, X, y):
        if len(np.unique(y)) < 2:
            raise ValueError("one class only")
        return get_scorer("roc_auc")(estimator, X, y)

    with pytest.raises(IllConditionedError, match="one class only"):
        search(strict, KFold(3)).fit(X[order], y[order])


def test_stratified_splits_may_be_given_as_indices():
    X, y = data(3)
    splits = list(StratifiedKFold(3).split(X, y))
    by_splits, by_number = search("f1_macro", splits), search("f1_macro", 3)
    scores = [
        s.fit(X, y).cv_results_["mean_test_score"] for s in (by_splits, by_number)
    ]
    assert np.array_equal(*scores)
