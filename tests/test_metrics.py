"""Metrics agree with scikit-learn and imbalanced-learn, and say what they mean."""

from __future__ import annotations

import json
import math
import statistics

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from imblearn.metrics import geometric_mean_score

from drmbench.errors import InputError
from drmbench.methods.base import NO_PREDICTION
from drmbench.metrics import (
    METRICS,
    ClassRoles,
    confusion_matrix,
    f1_score,
    get_metric,
    gmean_score,
    mean_and_spread,
    measure,
    recall_per_class,
)

PROPERTY = settings(deadline=None, derandomize=True, max_examples=40)


@st.composite
def labelled(draw, most_classes=5):
    """True labels in which every class occurs, and predictions of those classes."""
    g = draw(st.integers(2, most_classes))
    seed = draw(st.integers(0, 1000))
    rng = np.random.default_rng(seed)
    y_true = np.append(np.arange(g), rng.integers(g, size=seed % 20))
    return y_true, np.where(
        rng.random(len(y_true)) < 0.5, y_true, rng.integers(g, size=len(y_true))
    )


@PROPERTY
@given(labelled())
def test_gmean_agrees_with_imbalanced_learn(pair):
    assert gmean_score(*pair) == pytest.approx(geometric_mean_score(*pair))


@PROPERTY
@given(labelled(most_classes=2))
def test_gmean_of_two_classes_is_root_of_sensitivity_times_specificity(pair):
    (tn, fp), (fn, tp) = sklearn.metrics.confusion_matrix(*pair)
    assert gmean_score(*pair) == math.sqrt(tp / (tp + fn) * (tn / (tn + fp)))


@PROPERTY
@given(labelled())
def test_other_metrics_agree_with_scikit_learn(pair):
    roles = ClassRoles(tuple(range(max(pair[0]) + 1)))
    ours = measure(
        ["accuracy", "balanced_accuracy", "f1", "recall", "confusion"], *pair, roles
    )
    metrics = sklearn.metrics
    assert ours["accuracy"] == pytest.approx(metrics.accuracy_score(*pair))
    assert ours["balanced_accuracy"] == pytest.approx(
        metrics.balanced_accuracy_score(*pair)
    )
    assert ours["f1"] == pytest.approx(
        metrics.f1_score(*pair, average="macro", zero_division=0)
    )
    assert ours["recall"] == pytest.approx(
        metrics.recall_score(*pair, average=None).tolist()
    )
    assert ours["confusion"] == metrics.confusion_matrix(*pair).tolist()


@PROPERTY
@given(labelled(most_classes=2), st.sampled_from([0, 1]))
def test_f1_of_two_classes_is_that_of_the_positive_one(pair, positive):
    expected = sklearn.metrics.f1_score(*pair, pos_label=positive, zero_division=0)
    assert f1_score(*pair, ClassRoles((0, 1), positive)) == pytest.approx(expected)


@st.composite
def scored(draw, most_classes=5):
    """Labels in which every class occurs, and scores with ties, one per class."""
    g = draw(st.integers(2, most_classes))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    y_true = np.append(np.arange(g), rng.integers(g, size=draw(st.integers(1, 30))))
    scores = rng.integers(1, 8, size=(len(y_true), g)) + 1.5 * np.eye(g)[y_true]
    return y_true, scores / scores.sum(axis=1, keepdims=True)


@PROPERTY
@given(labelled())
def test_matthews_correlation_agrees_with_scikit_learn(pair):
    roles = ClassRoles(tuple(range(max(pair[0]) + 1)))
    expected = sklearn.metrics.matthews_corrcoef(*pair)
    assert measure(["mcc"], *pair, roles)["mcc"] == pytest.approx(expected)


@PROPERTY
@given(scored(most_classes=2), st.sampled_from([0, 1]))
def test_metrics_of_scores_are_those_of_the_positive_class(pair, positive):
    y_true, scores = pair
    roles, is_positive = ClassRoles((0, 1), positive), y_true == positive
    for name in ("roc_auc", "average_precision"):
        expected = getattr(sklearn.metrics, f"{name}_score")(
            is_positive, scores[:, positive]
        )
        assert METRICS[name].function(y_true, scores, roles) == pytest.approx(expected)


@PROPERTY
@given(scored())
def test_metrics_of_scores_are_averaged_over_more_classes(pair):
    y_true, scores = pair
    roles = ClassRoles(tuple(range(scores.shape[1])))
    truth = np.eye(scores.shape[1])[y_true]
    for name in ("roc_auc", "average_precision"):
        function = getattr(sklearn.metrics, f"{name}_score")
        expected = np.mean(
            [function(*pair) for pair in zip(truth.T, scores.T, strict=True)]
        )
        assert METRICS[name].function(y_true, scores, roles) == pytest.approx(expected)


@PROPERTY
@given(scored())
def test_metrics_of_probabilities_agree_with_their_definitions(pair):
    y_true, shares = pair
    g = shares.shape[1]
    roles = ClassRoles(tuple(range(g)), 1 if g == 2 else None)
    expected = sklearn.metrics.log_loss(y_true, shares, labels=list(range(g)))
    assert METRICS["log_loss"].function(y_true, shares, roles) == pytest.approx(
        expected
    )
    if g == 2:
        brier = sklearn.metrics.brier_score_loss(y_true, shares[:, 1])
    else:
        brier = np.mean(((np.eye(g)[y_true] - shares) ** 2).sum(axis=1))
    assert METRICS["brier"].function(y_true, shares, roles) == pytest.approx(brier)


def test_what_cannot_be_ranked_has_no_figure():
    roles, scores = ClassRoles((0, 1), 1), np.array([[0.5, 0.5], [0.1, 0.9]])
    for name in ("roc_auc", "average_precision"):
        assert math.isnan(METRICS[name].function([0, 0], scores, roles))


def test_a_class_held_impossible_costs_much_but_not_everything():
    loss = METRICS["log_loss"]
    value = loss.function([0, 1], [[1.0, 0.0], [1.0, 0.0]], ClassRoles((0, 1), 1))
    assert value == pytest.approx(loss.worst / 2)


def test_a_metric_of_what_a_method_does_not_give_is_no_number():
    roles = ClassRoles((0, 1), 1)
    ours = measure(["accuracy", "log_loss"], [0, 1], [0, 1], roles)
    assert ours["accuracy"] == 1.0
    assert math.isnan(ours["log_loss"])


@pytest.mark.parametrize(
    ("y", "roles"),
    [
        ([0, 0, 0, 1], ClassRoles((0, 1), 1)),
        ([0, 1, 1, 1], ClassRoles((0, 1), 0)),
        ([0, 1], ClassRoles((0, 1), 1)),
        ([3, 5, 7, 7], ClassRoles((3, 5, 7), None)),
    ],
)
def test_the_minority_of_two_classes_is_positive(y, roles):
    assert ClassRoles.of(np.array(y)) == roles


def test_gmean_takes_any_labels():
    truth = ["sick", "sick", "well", "well"]
    assert gmean_score(truth, ["sick", "well", "well", "well"]) == math.sqrt(0.5)


def test_gmean_is_over_the_classes_present():
    assert gmean_score([1, 1, 1, 1], [1, 1, 0, 2]) == 0.5


@pytest.mark.parametrize("bad", [([], []), ([0, 1], [0]), ([[0, 1]], [[0, 1]])])
def test_gmean_refuses_what_it_cannot_compare(bad):
    with pytest.raises(ValueError, match="same length and not empty"):
        gmean_score(*bad)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accuracy", 0.75),
        ("gmean", math.sqrt(0.5)),
        ("balanced_accuracy", 0.75),
        ("f1", 2 / 3),
        ("recall", [1.0, 0.5]),
    ],
)
def test_no_prediction_is_a_wrong_prediction(name, value):
    predicted = [0, 0, NO_PREDICTION, 1]
    ours = measure([name], [0, 0, 1, 1], predicted, ClassRoles((0, 1), 1))[name]
    assert ours == pytest.approx(value)


def test_samples_without_a_prediction_are_in_no_column_of_the_confusion_matrix():
    matrix = confusion_matrix([0, 0, 1, 1], [0, 0, NO_PREDICTION, 1], (0, 1))
    assert matrix.tolist() == [[2, 0], [0, 1]]


def test_recall_of_an_absent_class_is_unknown_not_zero():
    recalls = recall_per_class([0, 0, 2], [0, 2, 2], (0, 1, 2))
    assert np.array_equal(recalls, [0.5, np.nan, 1.0], equal_nan=True)
    as_column = measure(["recall"], [0, 0, 2], [0, 2, 2], ClassRoles((0, 1, 2)))
    assert json.loads(json.dumps(as_column)) == {"recall": [0.5, None, 1.0]}


def test_confusion_has_true_classes_in_rows():
    assert confusion_matrix([0, 0, 1], [1, 0, 1], (0, 1)).tolist() == [[1, 1], [0, 1]]


def test_every_metric_is_labelled_and_found_by_its_name():
    for name, metric in METRICS.items():
        assert get_metric(name) is metric
        assert metric.name == name
        assert metric.label


def test_unknown_metrics_get_a_hint():
    with pytest.raises(InputError, match=r"'g-mean'; there are .* mean 'gmean'"):
        get_metric("g-mean")
    with pytest.raises(InputError, match="no one-number metric is called 'confusion'"):
        get_metric("confusion", scalar=True)


@PROPERTY
@given(st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_spread_is_the_sample_standard_deviation(values):
    mean, spread = mean_and_spread(values)
    assert mean == pytest.approx(statistics.fmean(values))
    assert spread == pytest.approx(statistics.stdev(values), abs=1e-12)


def test_one_split_has_no_spread_and_none_has_no_mean():
    mean, spread = mean_and_spread([0.5])
    assert mean == 0.5
    assert math.isnan(spread)
    with pytest.raises(ValueError, match="no value to average"):
        mean_and_spread([])
