"""Refits of scaled rows: the run's own model, and a test part without the leak."""

from __future__ import annotations

import numpy as np
import pytest
from fake_methods import as_dataset, blobs, constants, neighbours
from sklearn.neighbors import KNeighborsClassifier

from drmbench.methods.base import MethodFailedError
from drmbench.methods.registry import get_method
from drmbench.protocol.evaluate import evaluate, refit_separate
from drmbench.protocol.protocol import Protocol
from drmbench.protocol.scaling import scale_test, scale_test_by_training
from drmbench.protocol.selection import SelectionPlan
from drmbench.protocol.splits import Split, random_splits

PAPER = Protocol(
    SelectionPlan("kfold", k=3, tie="first"), scaling="paper", metrics=("accuracy",)
)


def far_apart_units():
    """A large feature that tells nothing, and a test part with larger maxima."""
    X, y = blobs((30, 14), apart=3.0)
    X *= np.array([1.0, 1e-3])
    (split, *_) = random_splits(y, 30, name="blobs")
    X[split.test[0]] = [40.0, 0.02]
    return as_dataset(X, y), split


def test_the_test_part_is_scaled_by_the_training_part():
    X_train, X_test = np.array([[2.0, 0.0], [-4.0, 0.0]]), np.array([[8.0, 3.0]])
    assert scale_test_by_training(X_train, X_test).tolist() == [[2.0, 3.0]]
    assert scale_test("separate", X_train, X_test).tolist() == [[1.0, 1.0]]


def test_both_predictions_are_what_scikit_learn_gives_by_hand():
    dataset, split = far_apart_units()
    again = refit_separate(dataset, neighbours(), split, PAPER, {"n_neighbors": 3})
    # Rows in the order of the mode: the smaller class first.
    y = dataset.y[split.train]
    rows = np.concatenate([split.train[y == label] for label in (1, 0)])
    assert np.sum(y == 1) < np.sum(y == 0)
    by_training = 1 / np.abs(dataset.X[rows]).max(axis=0)
    by_test = 1 / np.abs(dataset.X[split.test]).max(axis=0)
    model = KNeighborsClassifier(3).fit(dataset.X[rows] * by_training, dataset.y[rows])
    own = model.predict(dataset.X[split.test] * by_test)
    training = model.predict(dataset.X[split.test] * by_training)
    assert np.array_equal(again.own, own)
    assert np.array_equal(again.training, training)
    assert not np.array_equal(own, training)


@pytest.mark.parametrize(
    "name", ["nb", "knn-euclidean", "rf", "svm-rbf", "c45", "drm-rbf", "smote-knn"]
)
def test_the_row_is_reproduced_sample_by_sample(name):
    dataset, split = far_apart_units()
    method = get_method(name)
    _, row = evaluate(dataset, method, split, PAPER)
    again = refit_separate(dataset, method, split, PAPER, row.params)
    assert row.failure is None
    assert np.array_equal(again.own, row.predictions)


def test_equal_maxima_leave_nothing_to_leak():
    X, y = blobs((20, 12))
    X[:2], X[-2:] = 9.0, 9.0
    split = Split(0, np.arange(0, 32, 2), np.arange(1, 32, 2))
    for part in (split.train, split.test):
        assert np.abs(X[part]).max(axis=0).tolist() == [9.0, 9.0]
    again = refit_separate(
        as_dataset(X, y), neighbours(), split, PAPER, {"n_neighbors": 3}
    )
    assert np.array_equal(again.own, again.training)


def test_the_papers_parameters_are_used_where_the_row_says_nothing():
    method = constants({}, defaults={"answer": 0}, paper_params={"answer": 1})
    dataset, split = far_apart_units()
    assert set(refit_separate(dataset, method, split, PAPER, {}).own) == {1}
    stored = refit_separate(dataset, method, split, PAPER, {"answer": 0})
    assert set(stored.own) == {0}


def test_a_model_that_cannot_be_fitted_says_so():
    dataset, split = far_apart_units()
    with pytest.raises(MethodFailedError, match="singular"):
        refit_separate(dataset, constants({}), split, PAPER, {"fails": "singular"})
