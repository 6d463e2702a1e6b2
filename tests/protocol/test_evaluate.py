"""Evaluation: scaling modes, seeds, failures, notes, and no leak from the test part."""

from __future__ import annotations

import dataclasses
import math
import warnings

import numpy as np
import pytest
from fake_methods import Constant, as_dataset, blobs, constants, make_method, neighbours
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    log_loss,
    matthews_corrcoef,
    roc_auc_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from drmbench.metrics import gmean_score
from drmbench.protocol.evaluate import better_on_test, evaluate, train
from drmbench.protocol.protocol import Protocol, paper_protocol
from drmbench.protocol.selection import SelectionPlan
from drmbench.protocol.splits import Split, random_splits


def unequal_units(seed=0):
    """Two classes told apart by a small feature beside a large noisy one."""
    X, y = blobs((30, 14), seed=seed, apart=3.0)
    return as_dataset(X * np.array([1.0, 1e-3]), y)


def first_split(dataset, train_size=30):
    return random_splits(dataset.y, train_size, name=dataset.name)[0]


QUICK = SelectionPlan("kfold", k=3, tie="first")
MODES = ("honest", "paper", "none", "maxabs")


def test_metrics_of_scores_and_probabilities_are_those_of_the_test_part():
    X, y = blobs((40, 25), apart=1.0)
    dataset = as_dataset(X, y)
    split = first_split(dataset)
    names = ("accuracy", "mcc", "roc_auc", "average_precision", "log_loss", "brier")
    protocol = Protocol(QUICK, scaling="none", metrics=names)
    method = make_method(lambda params, seed: LogisticRegression(), {})
    (outcome,) = evaluate(dataset, method, split, protocol)
    model = LogisticRegression().fit(X[split.train], y[split.train])
    truth, shares = y[split.test], model.predict_proba(X[split.test])[:, 1]
    assert outcome.metrics["mcc"] == pytest.approx(
        matthews_corrcoef(truth, model.predict(X[split.test]))
    )
    assert outcome.metrics["roc_auc"] == pytest.approx(roc_auc_score(truth, shares))
    assert outcome.metrics["average_precision"] == pytest.approx(
        average_precision_score(truth, shares)
    )
    assert outcome.metrics["log_loss"] == pytest.approx(log_loss(truth, shares))
    assert outcome.metrics["brier"] == pytest.approx(brier_score_loss(truth, shares))
    assert not outcome.notes


def test_a_method_that_gives_labels_alone_says_why_it_has_no_further_metrics():
    dataset = unequal_units()
    protocol = Protocol(QUICK, scaling="none", metrics=("accuracy", "roc_auc", "brier"))
    method = constants({})
    (outcome,) = evaluate(dataset, method, first_split(dataset), protocol)
    assert outcome.metrics["accuracy"] > 0
    assert math.isnan(outcome.metrics["roc_auc"])
    assert math.isnan(outcome.metrics["brier"])
    assert set(outcome.notes) == {
        "Constant gives no scores",
        "Constant gives no probabilities",
    }


def test_a_class_that_the_training_part_lacks_has_no_probability():
    X, y = blobs((12, 12, 6))
    train_rows = np.flatnonzero(y != 2)[:16]
    test_rows = np.setdiff1d(np.arange(len(y)), train_rows)
    protocol = Protocol(QUICK, scaling="none", metrics=("log_loss", "roc_auc"))
    split = Split(0, train_rows, test_rows)
    method = make_method(lambda params, seed: LogisticRegression(), {})
    (outcome,) = evaluate(as_dataset(X, y), method, split, protocol)
    assert outcome.metrics["log_loss"] > np.mean(y[test_rows] == 2) * 36
    assert 0 < outcome.metrics["roc_auc"] < 1


@pytest.mark.parametrize(
    ("mode", "rows"),
    [
        ("honest", ["selected"]),
        ("paper", ["none", "separate"]),
        ("none", ["none"]),
        ("maxabs", ["maxabs"]),
    ],
)
def test_each_mode_has_its_rows(mode, rows):
    dataset = unequal_units()
    protocol = Protocol(QUICK, scaling=mode, metrics=("accuracy", "gmean", "confusion"))
    outcomes = evaluate(dataset, neighbours(), first_split(dataset), protocol)
    assert [outcome.scaling for outcome in outcomes] == rows
    for outcome in outcomes:
        assert outcome.failure is None
        assert outcome.predictions.shape == (14,)
        assert list(outcome.metrics) == ["accuracy", "gmean", "confusion"]
        assert outcome.params["n_neighbors"] in (1, 3, 5)
        assert outcome.seconds_select > 0
        assert outcome.seconds_fit > 0
        assert outcome.seconds_predict > 0


def test_a_row_is_what_scikit_learn_computes():
    dataset = unequal_units()
    split = first_split(dataset)
    protocol = Protocol(QUICK, scaling="maxabs", metrics=("gmean",))
    (outcome,) = evaluate(dataset, neighbours((3,)), split, protocol)
    scales = np.abs(dataset.X[split.train]).max(axis=0)
    model = KNeighborsClassifier(3).fit(
        dataset.X[split.train] / scales, dataset.y[split.train]
    )
    expected = model.predict(dataset.X[split.test] / scales)
    assert np.array_equal(outcome.predictions, expected)
    assert outcome.metrics["gmean"] == gmean_score(dataset.y[split.test], expected)


def test_honest_mode_selects_the_scaling_that_scores_better():
    dataset = unequal_units()
    split = first_split(dataset)
    (chosen,) = evaluate(
        dataset, neighbours(), split, Protocol(QUICK, scaling="honest")
    )
    scores = {
        mode: evaluate(dataset, neighbours(), split, Protocol(QUICK, scaling=mode))[
            0
        ].score
        for mode in ("none", "maxabs")
    }
    assert scores["maxabs"] > scores["none"]
    assert chosen.applied_scaling == "maxabs"
    assert chosen.score == scores["maxabs"]


def test_honest_mode_scores_even_a_lone_candidate():
    dataset = unequal_units()
    protocol = Protocol(QUICK, scaling="honest")
    (outcome,) = evaluate(dataset, neighbours((3,)), first_split(dataset), protocol)
    assert outcome.applied_scaling == "maxabs"


def test_honest_mode_leaves_features_alone_where_scores_are_equal():
    dataset = unequal_units()
    method = constants({"answer": (0, 1)})
    (outcome,) = evaluate(dataset, method, first_split(dataset), Protocol(QUICK))
    assert outcome.applied_scaling == "none"


def test_invariant_methods_are_selected_once():
    calls = []

    def build(params, seed):
        calls.append(params)
        return DecisionTreeClassifier(random_state=seed, **params)

    dataset = unequal_units()
    method = make_method(build, {"max_depth": (1, 2)}, scale_invariant=True)
    plan = SelectionPlan("kfold", k=3)
    evaluate(dataset, method, first_split(dataset), Protocol(plan, scaling="honest"))
    assert len(calls) == 2 * 3 + 1


def test_paper_mode_scales_the_test_part_by_itself():
    dataset = unequal_units()
    split = first_split(dataset)
    _, separate = evaluate(dataset, neighbours((3,)), split, paper_protocol("gmean"))
    train_rows, test_rows = dataset.X[split.train], dataset.X[split.test]
    model = KNeighborsClassifier(3).fit(
        train_rows / np.abs(train_rows).max(axis=0), dataset.y[split.train]
    )
    expected = model.predict(test_rows / np.abs(test_rows).max(axis=0))
    assert np.array_equal(separate.predictions, expected)


def test_paper_mode_groups_training_rows_the_smallest_class_first():
    seen = []

    class Watch(Constant):
        def fit(self, X, y):
            seen.append(np.asarray(y).tolist())
            return super().fit(X, y)

    dataset = as_dataset(*blobs((5, 2, 3)))
    method = make_method(lambda params, seed: Watch(), {})
    everything = Split(0, np.arange(10), np.arange(10))
    evaluate(dataset, method, everything, paper_protocol("accuracy"))
    assert seen == [[1, 1, 2, 2, 2, 0, 0, 0, 0, 0]] * 2


def test_paper_mode_uses_the_paper_parameters():
    dataset = unequal_units()
    method = constants({}, defaults={"answer": 0}, paper_params={"answer": 1})
    split = first_split(dataset)
    for mode, answer in (("paper", 1), ("honest", 0), ("none", 0), ("maxabs", 0)):
        for outcome in evaluate(dataset, method, split, Protocol(QUICK, scaling=mode)):
            assert outcome.params == {"answer": answer}


@pytest.mark.parametrize("mode", MODES)
def test_nothing_before_prediction_depends_on_the_test_part(mode):
    """Other test rows and labels: the same choice, the same model."""
    dataset = unequal_units()
    split = first_split(dataset)
    X, y = dataset.X.copy(), dataset.y.copy()
    X[split.test] = 1e6 * np.random.default_rng(1).normal(size=X[split.test].shape)
    y[split.test] = 1 - y[split.test]
    altered = as_dataset(X, y)
    probe = np.random.default_rng(2).normal(size=(50, 2))
    protocol = Protocol(QUICK, scaling=mode)
    for row in protocol.rows():
        models = [
            train(
                neighbours(), d.X[split.train], d.y[split.train], protocol, row, seed=3
            )
            for d in (dataset, altered)
        ]
        assert models[0].selection.params == models[1].selection.params
        assert models[0].scaling == models[1].scaling
        assert np.array_equal(models[0].predict(probe), models[1].predict(probe))
    outcomes = [evaluate(d, neighbours(), split, protocol) for d in (dataset, altered)]
    for ours, theirs in zip(*outcomes, strict=True):
        assert (ours.params, ours.score) == (theirs.params, theirs.score)


@pytest.mark.parametrize("mode", ["honest", "none", "maxabs"])
def test_a_prediction_does_not_depend_on_other_test_rows(mode):
    dataset = unequal_units()
    split = first_split(dataset)
    half = dataclasses.replace(split, test=split.test[:5])
    whole = evaluate(dataset, neighbours(), split, Protocol(QUICK, scaling=mode))[0]
    part = evaluate(dataset, neighbours(), half, Protocol(QUICK, scaling=mode))[0]
    assert np.array_equal(part.predictions, whole.predictions[:5])


def test_in_paper_mode_it_does_which_is_the_leak():
    dataset = unequal_units()
    split = first_split(dataset)
    protocol = Protocol(QUICK, scaling="paper")
    _, whole = evaluate(dataset, neighbours((3,)), split, protocol)
    alone = [
        evaluate(
            dataset, neighbours((3,)), dataclasses.replace(split, test=row), protocol
        )
        for row in split.test[:, None]
    ]
    one_by_one = np.concatenate([outcomes[1].predictions for outcomes in alone])
    assert not np.array_equal(one_by_one, whole.predictions)


def forest_like(name="tree"):
    return make_method(
        lambda params, seed: DecisionTreeClassifier(
            splitter="random", random_state=seed, **params
        ),
        {"max_depth": (1, 3)},
        name=name,
        stochastic=True,
    )


def test_a_cell_gives_the_same_numbers_in_any_order():
    dataset = as_dataset(*blobs((40, 40), apart=0.5))
    splits = random_splits(dataset.y, 60, repeats=3, name=dataset.name)
    protocol = Protocol(SelectionPlan("kfold", k=3), scaling="none")
    forwards = [evaluate(dataset, forest_like(), s, protocol)[0] for s in splits]
    backwards = [evaluate(dataset, forest_like(), s, protocol)[0] for s in splits[::-1]]
    for ours, theirs in zip(forwards, backwards[::-1], strict=True):
        assert np.array_equal(ours.predictions, theirs.predictions)
        assert ours.params == theirs.params


@pytest.mark.parametrize("changed", ["seed", "split", "dataset", "method"])
def test_seeds_depend_on_all_that_names_a_cell(changed):
    seeds = []

    def build(params, seed):
        seeds.append(seed)
        return Constant()

    X, y = blobs((10, 10))
    cell = {"seed": 0, "split": 0, "dataset": "toy", "method": "fake"}
    other = {"seed": 1, "split": 1, "dataset": "other", "method": "another"}[changed]
    for names in (cell, cell, cell | {changed: other}):
        evaluate(
            as_dataset(X, y, name=names["dataset"]),
            make_method(build, {}, name=names["method"]),
            Split(names["split"], np.arange(15), np.arange(15, 20)),
            Protocol(QUICK, scaling="none", seed=names["seed"]),
        )
    assert seeds[0] == seeds[1] != seeds[2]


def test_a_failure_is_an_outcome_with_its_reason():
    dataset = unequal_units()
    method = constants({"fails": ("singular", "not positive definite")})
    (outcome,) = evaluate(dataset, method, first_split(dataset), Protocol(QUICK))
    assert "none of 2 candidates could be fitted" in str(outcome.failure)
    assert outcome.metrics == {}
    assert outcome.predictions.shape == (0,)


def test_one_failed_scaling_does_not_spoil_the_other():
    class OnlyScaled(Constant):
        def fit(self, X, y):
            self.fails = "too large" if np.abs(X).max() > 1 else ""
            return super().fit(X, y)

    dataset = unequal_units()
    method = make_method(lambda params, seed: OnlyScaled(**params), {"answer": (0, 1)})
    split = first_split(dataset)
    none, separate = evaluate(dataset, method, split, Protocol(QUICK, scaling="paper"))
    assert "too large" in str(none.failure)
    assert separate.failure is None
    (honest,) = evaluate(dataset, method, split, Protocol(QUICK, scaling="honest"))
    assert honest.applied_scaling == "maxabs"
    assert any(note.startswith("scaling none: fake") for note in honest.notes)


def test_bugs_are_not_swallowed():
    def build(params, seed):
        raise TypeError("a bug")

    dataset = unequal_units()
    with pytest.raises(TypeError, match="a bug"):
        evaluate(dataset, make_method(build, {}), first_split(dataset), Protocol(QUICK))


def test_training_rows_of_one_class_are_a_failure():
    dataset = as_dataset(np.eye(4), np.array([0, 0, 1, 1]))
    split = Split(0, np.array([0, 1]), np.array([2, 3]))
    (outcome,) = evaluate(dataset, neighbours(), split, Protocol(QUICK, scaling="none"))
    assert str(outcome.failure) == "all 2 training rows are of one class"


def test_classes_missing_from_training_keep_the_others_names():
    X = np.array([[0.0], [0.1], [9.0], [9.1], [0.05], [9.05], [5.0]])
    dataset = as_dataset(X, np.array([0, 0, 2, 2, 0, 2, 1]))
    split = Split(0, np.arange(4), np.arange(4, 7))
    protocol = Protocol(QUICK, scaling="none", metrics=("accuracy", "recall"))
    (outcome,) = evaluate(dataset, neighbours((1,)), split, protocol)
    assert outcome.predictions[:2].tolist() == [0, 2]
    assert outcome.metrics == {
        "accuracy": pytest.approx(2 / 3),
        "recall": [1.0, 0.0, 1.0],
    }


def test_notes_tell_of_substitutes_failures_adaptations_and_warnings():
    class Talkative(Constant):
        def fit(self, X, y):
            warnings.warn("rounding may decide", RuntimeWarning, stacklevel=1)
            self.notes_ = ("k lowered to 2",)
            return super().fit(X, y)

    dataset = unequal_units()
    method = make_method(
        lambda params, seed: Talkative(**params), {"fails": ("singular", "")}
    )
    plan = SelectionPlan("kfold", k=3, note="10-fold, not LOO")
    protocol = Protocol(plan, scaling="none")
    (outcome,) = evaluate(dataset, method, first_split(dataset), protocol)
    assert outcome.notes == (
        "10-fold, not LOO",
        "1 of 2 candidates could not be fitted, such as: singular",
        "k lowered to 2",
        "RuntimeWarning: rounding may decide",
    )


def test_the_better_on_test_is_the_one_with_the_better_mean():
    scores = {"none": [0.9, 0.5], "separate": [0.8, 0.7]}
    assert better_on_test(scores, "accuracy") == "separate"
    assert better_on_test({**scores, "none": [0.9, 0.6]}, "accuracy") == "none"
    assert (
        better_on_test({"none": [0.9], "separate": [0.1, 0.1]}, "gmean") == "separate"
    )


def test_a_selection_score_is_nan_where_nothing_was_selected():
    dataset = unequal_units()
    method = make_method(lambda params, seed: LogisticRegression(), {})
    (outcome,) = evaluate(
        dataset, method, first_split(dataset), Protocol(QUICK, scaling="none")
    )
    assert math.isnan(outcome.score)
