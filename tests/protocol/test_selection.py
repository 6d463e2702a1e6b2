"""Selection scores as scikit-learn's cross-validation does, and breaks ties as told."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fake_methods import Constant, blobs, constants, make_method, neighbours
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    log_loss,
    roc_auc_score,
)
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from drmbench.errors import InputError
from drmbench.methods.base import (
    NO_PREDICTION,
    GridPredictions,
    MethodFailedError,
    naive_grid_predictions,
)
from drmbench.metrics import gmean_score
from drmbench.protocol.selection import SelectionPlan, select
from drmbench.protocol.splits import kfold_splits, random_splits


@pytest.mark.parametrize(
    ("metric", "function"), [("accuracy", accuracy_score), ("gmean", gmean_score)]
)
def test_leave_one_out_pools_the_predictions(metric, function):
    X, y = blobs((10, 6, 4))
    selection = select(neighbours(), X, y, SelectionPlan("loo", metric, tie="first"))
    expected = [
        function(y, cross_val_predict(KNeighborsClassifier(k), X, y, cv=LeaveOneOut()))
        for k in (1, 3, 5)
    ]
    assert selection.scores == pytest.approx(expected)
    assert selection.score == max(expected)
    assert selection.params == {"n_neighbors": (1, 3, 5)[int(np.argmax(expected))]}


GRADED = {
    "roc_auc": lambda y, p: roc_auc_score(y, p[:, 1]),
    "average_precision": lambda y, p: average_precision_score(y, p[:, 1]),
    "log_loss": lambda y, p: -log_loss(y, p, labels=[0, 1]),
    "brier": lambda y, p: -brier_score_loss(y, p[:, 1]),
}


@pytest.mark.parametrize("metric", GRADED)
def test_scores_and_probabilities_select_too(metric):
    X, y = blobs((20, 12), apart=1.0)
    function, models = GRADED[metric], [KNeighborsClassifier(k) for k in (1, 3, 5)]
    plan = SelectionPlan("loo", metric, tie="first")
    pooled = [
        function(
            y,
            cross_val_predict(m, X, y, cv=LeaveOneOut(), method="predict_proba"),
        )
        for m in models
    ]
    assert select(neighbours(), X, y, plan).scores == pytest.approx(pooled)
    plan = SelectionPlan("kfold", metric, k=4)
    splits = kfold_splits(y, 4, repeats=1, seed=7)
    averaged = [
        np.mean(
            [
                function(
                    y[s.test], m.fit(X[s.train], y[s.train]).predict_proba(X[s.test])
                )
                for s in splits
            ]
        )
        for m in models
    ]
    found = select(neighbours(), X, y, plan, seed=7)
    assert found.scores == pytest.approx(averaged)
    assert found.params == {"n_neighbors": (1, 3, 5)[int(np.argmax(averaged))]}


def test_a_method_without_scores_cannot_be_selected_by_them():
    X, y = blobs((20, 12))
    method = constants({"answer": (0, 1)})
    with pytest.raises(MethodFailedError, match="Constant gives no scores"):
        select(method, X, y, SelectionPlan("kfold", "roc_auc", k=3))


def test_a_machine_without_probabilities_is_calibrated_by_its_scores():
    X, y = blobs((20, 12))
    method = make_method(lambda params, seed: LinearSVC(**params), {"C": (0.1, 1.0)})
    plan = SelectionPlan("kfold", "log_loss", k=3)
    found = select(method, X, y, plan, seed=3)
    splits = kfold_splits(y, 3, repeats=1, seed=3)
    for C, score in zip((0.1, 1.0), found.scores, strict=True):
        losses = []
        for s in splits:
            model = CalibratedClassifierCV(
                LinearSVC(C=C), cv=StratifiedKFold(5), ensemble=False
            ).fit(X[s.train], y[s.train])
            losses.append(log_loss(y[s.test], model.predict_proba(X[s.test])))
        assert score == pytest.approx(-np.mean(losses))


def mean_score(X, y, splits, k, function):
    return np.mean(
        [
            function(
                y[s.test],
                KNeighborsClassifier(k).fit(X[s.train], y[s.train]).predict(X[s.test]),
            )
            for s in splits
        ]
    )


def test_kfold_averages_the_scores_of_the_folds():
    X, y = blobs((20, 15, 12))
    plan = SelectionPlan("kfold", "gmean", k=4, repeats=2)
    selection = select(neighbours(), X, y, plan, seed=7)
    splits = kfold_splits(y, 4, repeats=2, seed=7)
    expected = [mean_score(X, y, splits, k, gmean_score) for k in (1, 3, 5)]
    assert selection.scores == pytest.approx(expected)


def test_random_splits_of_small_data_use_every_row():
    X, y = blobs((20, 15, 12))
    plan = SelectionPlan("random", repeats=3, train_share=0.7)
    selection = select(neighbours(), X, y, plan, seed=7)
    splits = random_splits(y, round(0.7 * len(y)), repeats=3, seed=7)
    expected = [mean_score(X, y, splits, k, accuracy_score) for k in (1, 3, 5)]
    assert selection.scores == pytest.approx(expected)


@pytest.mark.parametrize(
    "plan",
    [
        SelectionPlan("loo"),
        SelectionPlan("loo", subset=13),
        SelectionPlan("kfold", k=4, repeats=3),
        SelectionPlan("kfold", k=5, subset=13),
        SelectionPlan("kfold", k=100),
        SelectionPlan("random", repeats=3, train_share=0.7),
        SelectionPlan("random", repeats=2, subset=11),
    ],
    ids=SelectionPlan.describe,
)
def test_a_plan_knows_what_it_costs_without_shortcuts(plan):
    X, y = blobs((14, 9))
    fits, predictions = [], []

    class Watched(Constant):
        def fit(self, X, y):
            fits.append(len(X))
            return super().fit(X, y)

        def predict(self, X):
            predictions.append(len(X))
            return super().predict(X)

    method = make_method(lambda params, seed: Watched(**params), {"answer": (0, 1)})
    select(method, X, y, plan, shortcut=False)
    assert len(fits) == 2 * plan.naive_fits(len(y))
    assert sum(predictions) == 2 * plan.naive_predictions(len(y))


def test_random_splits_of_large_data_see_a_stratified_subset_only():
    X, y = blobs((300, 100))
    seen = []

    def watch(X_train, y_train, X_test, candidates, *, seed):
        seen.append((len(X_train), len(X_test), np.bincount(y_train).tolist()))
        return GridPredictions(np.zeros((len(candidates), len(X_test)), dtype=np.int64))

    method = constants({"answer": (0, 1)}, predict_grid=watch)
    select(method, X, y, SelectionPlan("random", subset=40, repeats=2))
    assert seen == [(32, 8, [24, 8])] * 2


def test_ties_go_to_the_first_or_to_the_preferred():
    X, y = blobs((20, 10))
    method = constants(
        {"answer": (1, 0), "fails": ("", "")}, prefer=lambda params: (params["answer"],)
    )
    even = blobs((10, 10))
    first = select(method, *even, SelectionPlan("loo", "gmean", tie="first"))
    preferred = select(method, *even, SelectionPlan("loo", "gmean", tie="preferred"))
    assert first.params["answer"] == 1
    assert preferred.params["answer"] == 0
    better = select(method, X, y, SelectionPlan("loo", "accuracy", tie="preferred"))
    assert better.params["answer"] == 0
    assert better.score == pytest.approx(2 / 3)


def test_a_difference_by_rounding_is_a_tie():
    """Accuracies 0.3, 0.2, 0.1 add up to less than 0.1, 0.2, 0.3 do."""
    y = np.arange(30) % 2
    folds = iter([(3, 1), (2, 2), (1, 3)])

    def predict_some_right(X_train, y_train, X_test, candidates, *, seed):
        truth = X_test[:, 0].astype(np.int64)
        right = [np.arange(len(truth)) < count for count in next(folds)]
        return GridPredictions(np.where(right, truth, 1 - truth))

    method = constants({"answer": (0, 1)}, predict_grid=predict_some_right)
    plan = SelectionPlan("kfold", k=3, tie="first")
    selection = select(method, y[:, None].astype(float), y, plan)
    assert selection.scores[0] < selection.scores[1]
    assert selection.params == {"answer": 0}


def test_a_lone_candidate_costs_nothing():
    def refuse(params, seed):
        raise AssertionError("nothing may be fitted")

    X, y = blobs((5, 5))
    method = make_method(refuse, {}, defaults={"C": 1})
    selection = select(method, X, y, SelectionPlan())
    assert selection.params == {"C": 1}
    assert math.isnan(selection.score)


def test_a_lone_candidate_is_scored_if_asked():
    X, y = blobs((6, 4))
    selection = select(constants({}), X, y, SelectionPlan(), always_score=True)
    assert selection.score == pytest.approx(0.6)


def test_failed_candidates_are_stepped_over():
    X, y = blobs((6, 4))
    method = constants({"fails": ("singular", ""), "answer": (0, 1)})
    selection = select(method, X, y, SelectionPlan(tie="first"))
    assert selection.params == {"fails": "", "answer": 0}
    assert selection.failures == {0: "singular", 1: "singular"}
    assert np.isnan(selection.scores).tolist() == [True, True, False, False]


@pytest.mark.parametrize("kind", ["loo", "kfold", "random"])
def test_if_all_fail_the_reasons_are_told(kind):
    X, y = blobs((6, 4))
    method = constants({"fails": ("singular", "too wide")})
    with pytest.raises(
        MethodFailedError, match=r"none of 2 candidates .* singular; too"
    ):
        select(method, X, y, SelectionPlan(kind, k=3))


@pytest.mark.parametrize("kind", ["loo", "kfold"])
def test_a_shortcut_that_fails_as_a_whole_fails_every_candidate(kind):
    def fail(*arguments, seed):
        raise MethodFailedError("no two samples of a class")

    X, y = blobs((6, 4))
    method = constants({"answer": (0, 1)}, predict_grid=fail, predict_left_out=fail)
    with pytest.raises(MethodFailedError, match="no two samples of a class"):
        select(method, X, y, SelectionPlan(kind, k=3))
    assert select(method, X, y, SelectionPlan(kind, k=3), shortcut=False).score > 0


def test_the_only_sample_of_a_class_is_not_scored():
    X, y = blobs((8, 7, 1), p=3, apart=9.0)
    selection = select(neighbours((1,)), X, y, SelectionPlan("loo", "gmean"), seed=0)
    assert math.isnan(selection.score)
    both = select(neighbours((1, 3)), X, y, SelectionPlan("loo", "gmean"))
    assert both.scores.tolist() == [1.0, 1.0]


def test_two_classes_of_which_one_has_a_single_sample():
    """Without that sample nothing but one class is left; it must not be tried."""

    class NeedsTwoClasses(Constant):
        def fit(self, X, y):
            assert len(np.unique(y)) == 2
            return super().fit(X, y)

    X, y = blobs((8, 1))
    method = make_method(lambda p, seed: NeedsTwoClasses(**p), {"answer": (1, 0)})
    for kind in ("loo", "kfold", "random"):
        selection = select(method, X, y, SelectionPlan(kind, k=3, repeats=2))
        assert selection.params == {"answer": 0}
        assert selection.scores.tolist() == [0.0, 1.0]


def test_classes_of_single_samples_cannot_be_scored():
    X, y = blobs((1, 1, 1))
    with pytest.raises(MethodFailedError, match="each of the 3 classes has a single"):
        select(neighbours(), X, y, SelectionPlan("loo"))


def test_methods_get_class_numbers_without_gaps():
    X, y = blobs((6, 1, 6))

    def check(X_train, y_train, X_test, candidates, *, seed):
        assert np.array_equal(np.unique(y_train), np.arange(len(np.unique(y_train))))
        return naive_grid_predictions(
            neighbours((1, 2)), X_train, y_train, X_test, candidates, seed=seed
        )

    method = neighbours((1, 2), predict_grid=check)
    labels = np.array([-7, 40, 41])[y]
    fast = select(method, X, labels, SelectionPlan("kfold", k=3))
    slow = select(method, X, labels, SelectionPlan("kfold", k=3), shortcut=False)
    assert np.array_equal(fast.scores, slow.scores)
    assert fast.score > 0


def test_no_prediction_counts_as_wrong():
    X, y = blobs((5, 5))

    def silent(X, y, candidates, *, seed):
        labels = np.stack([np.full(len(y), NO_PREDICTION), np.zeros(len(y), dtype=int)])
        return GridPredictions(labels)

    method = constants({"answer": (0, 1)}, predict_left_out=silent)
    assert select(method, X, y, SelectionPlan("loo")).scores.tolist() == [0.0, 0.5]


def test_fits_are_seeded_by_method_and_splits_are_not():
    seeds = set()

    def build(params, seed):
        seeds.add(seed)
        return Constant(**params)

    X, y = blobs((6, 6))
    for name in ("one", "other", "one"):
        method = make_method(build, {"answer": (0, 1)}, name=name)
        select(method, X, y, SelectionPlan("kfold", k=2), seed=5)
    assert len(seeds) == 2


def test_a_metric_that_is_no_number_cannot_select():
    X, y = blobs((6, 6))
    with pytest.raises(InputError, match="no one-number metric is called 'recall'"):
        select(neighbours(), X, y, SelectionPlan(metric="recall"))


def test_plans_describe_themselves():
    assert SelectionPlan("loo", "gmean", tie="first").describe() == (
        "leave-one-out by gmean; of equal scores the first in grid order"
    )
    assert SelectionPlan("random", repeats=5).describe() == (
        "random splits (80% train, 5 times) of at most 3,000 rows by accuracy;"
        " of equal scores the more regularised"
    )
