"""Forests of many trees: their parameters, weights and order of preference."""

from __future__ import annotations

import numpy as np
import pytest
from imblearn.ensemble import BalancedRandomForestClassifier
from method_problems import blobs
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from drmbench.methods.large_forests import METHODS
from drmbench.methods.registry import get_method

FORESTS = {
    "rf-500": RandomForestClassifier(500, min_samples_leaf=3, random_state=4),
    "rf-500-balanced": RandomForestClassifier(
        500, min_samples_leaf=3, class_weight="balanced", random_state=4
    ),
    "extra-trees": ExtraTreesClassifier(500, min_samples_leaf=3, random_state=4),
    "balanced-rf": BalancedRandomForestClassifier(
        200, min_samples_leaf=3, random_state=4
    ),
}


@pytest.mark.parametrize("name", FORESTS)
def test_a_method_is_the_librarys_forest(name: str) -> None:
    X, y = blobs((25, 8), 4, gap=0.6)
    X_test = blobs((40, 40), 4, seed=1, gap=0.6)[0]
    candidate = {"max_features": "sqrt", "min_samples_leaf": 3}
    method = get_method(name)
    model = method.build({**method.defaults, **candidate}, 4).fit(X, y)
    expected = FORESTS[name].fit(X, y).predict_proba(X_test)
    np.testing.assert_array_equal(model.predict_proba(X_test), expected)


def test_large_leaves_and_few_features_are_preferred() -> None:
    method = METHODS[0]
    assert method.prefer is not None
    order = sorted(method.candidates(), key=method.prefer)
    assert [(c["min_samples_leaf"], c["max_features"]) for c in order] == [
        (5, "sqrt"),
        (5, 0.3),
        (3, "sqrt"),
        (3, 0.3),
        (1, "sqrt"),
        (1, 0.3),
    ]
