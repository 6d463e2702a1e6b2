"""The tuned threshold against all thresholds, tried one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score, fbeta_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)

from drmbench import DRMClassifier, DRMClassifierCV
from drmbench.drm.threshold import JudgedSamples, best_threshold, cuts
from drmbench.metrics import accuracy_score, balanced_accuracy_score, gmean_score

quick = settings(max_examples=100, deadline=None, derandomize=True)
GRID = {"alphas": [0.01, 1.0], "betas": [0.01, 1.0], "gammas": [0.05, 0.5]}


@st.composite
def splits(draw):
    """Return one to three splits with ties, equal values, and perhaps one class."""
    numbers = st.one_of(
        st.integers(-3, 3).map(float), st.floats(-5, 5), st.just(np.inf)
    )
    return [
        JudgedSamples(
            np.array(draw(st.lists(numbers, min_size=size, max_size=size))),
            np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size))),
        )
        for size in draw(st.lists(st.integers(1, 8), min_size=1, max_size=3))
    ]


def brute_force(judged, score):
    """Return the best mean score.

    Every threshold there can be is as good as a value, or as one below all of them.
    """
    pooled = np.concatenate([split.values for split in judged])
    finite = pooled[np.isfinite(pooled)]
    least = finite.min() - 1.0 if finite.size else 0.0
    means = {
        t: np.mean([score(s.truth, s.values > t) for s in judged])
        for t in {0.0, least, *finite.tolist()}
    }
    return max(means.values())


scores = st.sampled_from([accuracy_score, balanced_accuracy_score, gmean_score])


@quick
@given(splits(), scores)
def test_no_threshold_scores_higher(judged, score):
    best = best_threshold(judged, score, None)
    again = [score(s.truth, s.values > best.threshold) for s in judged]
    assert np.allclose(best.scores, again, atol=1e-15)
    assert np.isclose(np.mean(best.scores), brute_force(judged, score), atol=1e-12)


@quick
@given(splits(), scores, st.integers(0, 1000))
def test_weights_count_as_repetition(judged, score, seed):
    rng = np.random.default_rng(seed)
    weighted, repeated = [], []
    for s in judged:
        times = rng.integers(1, 4, len(s.values))
        weighted.append(JudgedSamples(s.values, s.truth, times.astype(float)))
        repeated.append(JudgedSamples(s.values.repeat(times), s.truth.repeat(times)))
    one, two = (best_threshold(which, score, None) for which in (weighted, repeated))
    assert np.allclose(one.scores, two.scores)
    again = [
        score(s.truth, s.values > one.threshold, sample_weight=s.weights)
        for s in weighted
    ]
    assert np.allclose(one.scores, again)


@quick
@given(splits())
def test_asking_at_every_threshold_finds_what_counting_finds(judged):
    def judge(number, ones):
        return gmean_score(judged[number].truth, ones)

    counted = best_threshold(judged, gmean_score, None)
    asked = best_threshold(judged, None, judge)
    assert asked.threshold == counted.threshold
    assert np.allclose(asked.scores, counted.scores)


@quick
@given(splits())
def test_the_least_change_is_preferred(judged):
    """Where t = 0 is as good as any, it is chosen; a constant score ties all."""
    assert best_threshold(judged, None, lambda *_: 0.5).threshold == 0.0
    best = best_threshold(judged, accuracy_score, None)
    plain = np.mean([accuracy_score(s.truth, s.values > 0.0) for s in judged])
    assert (best.threshold == 0.0) == np.isclose(
        plain, np.mean(best.scores), atol=1e-12
    )
    values = np.concatenate([split.values for split in judged])
    for other in cuts(values):
        mean = np.mean([accuracy_score(s.truth, s.values > other) for s in judged])
        if mean > np.mean(best.scores) - 1e-12:
            assert abs(other) >= abs(best.threshold)


@quick
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12))
def test_cuts_tell_all_values_apart_and_meet_none(values):
    values = np.array(values)
    thresholds = cuts(values)
    ways = {tuple((values > t).tolist()) for t in thresholds}
    assert len(ways) == len(thresholds) == len(np.unique(values)) + 1
    assert (np.diff(thresholds) > 0).all()
    gaps = np.diff(np.unique(values))
    if gaps.size and gaps.min() > 1e-9:
        assert not np.isin(thresholds[thresholds != 0.0], values).any()
    assert 0.0 in thresholds


@pytest.fixture(scope="module")
def imbalanced():
    X, y = make_classification(
        200, 5, n_informative=3, weights=[0.88], flip_y=0.1, random_state=1
    )
    return X[:120], np.array(["no", "yes"])[y[:120]], X[120:]


@pytest.mark.parametrize("cv", ["loo", StratifiedKFold(3)])
@pytest.mark.parametrize(
    "scoring",
    ["gmean", "accuracy", make_scorer(fbeta_score, beta=2.0, pos_label="yes")],
    ids=["gmean", "accuracy", "fbeta"],
)
def test_a_search_judges_each_candidate_at_its_best_threshold(imbalanced, scoring, cv):
    """The oracle refits every candidate, and tries every threshold on its values."""
    X, y, X_test = imbalanced
    search = DRMClassifierCV(scoring=scoring, threshold="tuned", cv=cv, **GRID)
    search.fit(X, y)
    function = {"gmean": gmean_score, "accuracy": accuracy_score}.get(
        scoring if isinstance(scoring, str) else "",
        lambda a, b: fbeta_score(a, b, beta=2.0, pos_label="yes"),
    )
    folds = [(np.delete(np.arange(120), i), [i]) for i in range(120)]
    folds = folds if cv == "loo" else list(cv.split(X, y))
    plain = DRMClassifierCV(scoring=scoring, cv=cv, **GRID).fit(X, y)
    for row in (0, 3, search.best_index_):
        model = DRMClassifier(**search.cv_results_["params"][row])
        values = [
            model.fit(X[train], y[train]).decision_function(X[test])
            for train, test in folds
        ]
        tests = [y[test] for _, test in folds]
        if cv == "loo":
            values, tests = [np.concatenate(values)], [np.concatenate(tests)]
        every = np.unique(np.concatenate(values))
        best = max(
            np.mean(
                [
                    function(t, np.where(v > cut, "yes", "no"))
                    for t, v in zip(tests, values, strict=True)
                ]
            )
            for cut in [every[0] - 1.0, *every]
        )
        found = search.cv_results_["mean_test_score"][row]
        assert np.isclose(found, best)
        assert found >= plain.cv_results_["mean_test_score"][row] - 1e-12
    assert search.threshold_ == search.cv_results_["best_threshold"][search.best_index_]
    expected = np.where(
        search.decision_function(X_test) > search.threshold_, "yes", "no"
    )
    assert (search.predict(X_test) == expected).all()
    model = search.best_estimator_
    assert np.array_equal(
        search.decision_function(X_test), model.decision_function(X_test)
    )
    if cv == "loo":
        assert np.isclose(function(y, search.loo_predictions_), search.best_score_)


def test_scorers_of_more_than_labels_cannot_tune(imbalanced):
    X, y, _ = imbalanced
    for scoring in ("roc_auc", "neg_log_loss"):
        search = DRMClassifierCV(scoring=scoring, threshold="tuned", **GRID)
        with pytest.raises(ValueError, match="needs a scoring of predicted labels"):
            search.fit(X, y)


def test_without_tuning_there_is_no_threshold(imbalanced):
    X, y, _ = imbalanced
    search = DRMClassifierCV(**GRID).fit(X, y)
    assert search.threshold_ is None
    assert "best_threshold" not in search.cv_results_


def test_failed_candidates_have_no_threshold(imbalanced):
    X, y, _ = imbalanced
    search = DRMClassifierCV(
        kernels=["poly", "rbf"], degrees=[900], threshold="tuned", **GRID
    ).fit(X * 1e3, y)
    rows = np.array(search.cv_results_["kernel"]) == "poly"
    assert np.isnan(search.cv_results_["best_threshold"][rows]).all()
    assert np.isfinite(search.cv_results_["best_threshold"][~rows]).all()
    assert "overflows" in search.cv_results_["status"][int(np.flatnonzero(rows)[0])]


def test_scikit_learns_threshold_classifiers_take_the_estimators(imbalanced):
    X, y, X_test = imbalanced
    scorer = make_scorer(f1_score, pos_label="yes")
    model = DRMClassifier(alpha=0.1, beta=0.1, gamma=0.2)
    for response in ("decision_function", "predict_proba"):
        tuned = TunedThresholdClassifierCV(
            model, scoring=scorer, response_method=response, cv=3
        ).fit(X, y)
        values = getattr(tuned.estimator_, response)(X_test)
        values = values if values.ndim == 1 else values[:, 1]
        assert (
            tuned.predict(X_test)
            == np.where(values >= tuned.best_threshold_, "yes", "no")
        ).all()
    search = DRMClassifierCV(scoring="gmean", threshold="tuned", **GRID).fit(X, y)
    fixed = FixedThresholdClassifier(
        search.best_estimator_,
        threshold=search.threshold_,
        response_method="decision_function",
        pos_label="yes",
    ).fit(X, y)
    assert (fixed.predict(X_test) == search.predict(X_test)).all()
