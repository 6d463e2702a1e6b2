"""A large forest contains the smaller ones of its seed."""

from __future__ import annotations

import numpy as np
from method_problems import blobs
from sklearn.ensemble import RandomForestClassifier

from drmbench.methods.forest import METHODS, predict_grid


def test_one_forest_of_forty_answers_ten_twenty_and_thirty() -> None:
    X, y = blobs((30, 25, 20), 5)
    X_test = blobs((60, 60, 60), 5, seed=1)[0]
    candidates = METHODS[0].candidates()
    found = predict_grid(X, y, X_test, candidates, seed=7)
    for row, trees in zip(found.labels, (10, 20, 30, 40), strict=True):
        forest = RandomForestClassifier(trees, random_state=7).fit(X, y)
        np.testing.assert_array_equal(row, forest.predict(X_test))
    assert len({row.tobytes() for row in found.labels}) > 1


def test_candidates_that_differ_in_more_than_size_get_their_own_forest() -> None:
    X, y = blobs((20, 20), 6)
    X_test = blobs((40, 40), 6, seed=1)[0]
    candidates = [{"n_estimators": 5, "max_features": features} for features in (1, 6)]
    found = predict_grid(X, y, X_test, candidates, seed=0)
    for row, params in zip(found.labels, candidates, strict=True):
        forest = RandomForestClassifier(random_state=0, **params).fit(X, y)
        np.testing.assert_array_equal(row, forest.predict(X_test))
