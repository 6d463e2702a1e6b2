"""Our baselines under the paper's protocol against pipelines of scikit-learn alone.

The pipelines share nothing with drmbench but the data and the splits. To keep it short
grids are cut to a few values, optdigits to 100 training rows, and methods that select
(by leave-one-out) are compared on one split only.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest
from imblearn.metrics import geometric_mean_score
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from drmbench.data import load
from drmbench.data.dataset import Dataset
from drmbench.methods.base import Method
from drmbench.methods.registry import get_method, with_overrides
from drmbench.metrics import mean_and_spread
from drmbench.protocol.evaluate import better_on_test, evaluate
from drmbench.protocol.protocol import paper_protocol
from drmbench.protocol.splits import Split, SplitPlan

pytestmark = pytest.mark.wheels


class Case(NamedTuple):
    """What is measured on a data set, and how it is split."""

    metric: str
    split: SplitPlan


CASES = {
    "iris": Case("accuracy", SplitPlan("random", train=100)),
    "wine": Case("accuracy", SplitPlan("random", train=120)),
    "optdigits": Case("accuracy", SplitPlan("random", train=100, test=400)),
    "haberman": Case("gmean", SplitPlan("folds")),
    "new-thyroid2": Case("gmean", SplitPlan("folds")),
    "glass6": Case("gmean", SplitPlan("folds")),
}

#: Values of our grid, and scikit-learn's estimators for the same candidates. Two
#: forests of the same size differ by chance, those of 60 trees by little.
PAIRS: dict[str, tuple[dict[str, list[Any]], list[Any]]] = {
    "svm-rbf": (
        {"C": [10.0], "sigma": [1.0, 10.0]},
        [SVC(C=10, gamma=1 / (2 * s * s)) for s in (1, 10)],
    ),
    "knn-euclidean": (
        {"n_neighbors": [3, 7]},
        [KNeighborsClassifier(k, algorithm="brute") for k in (3, 7)],
    ),
    "rf": ({"n_estimators": [60]}, [RandomForestClassifier(60, random_state=0)]),
    "nb": ({}, [GaussianNB()]),
}


def our_method(name: str) -> Method:
    """Our method with the grid cut, and naive Bayes smoothed as scikit-learn's is."""
    method = with_overrides(get_method(name), grid=PAIRS[name][0])
    return dataclasses.replace(method, paper_params={})


def ours(dataset: Dataset, splits: list[Split], name: str, metric: str) -> float:
    values: dict[str, list[float]] = {}
    for split in splits:
        protocol = paper_protocol(metric)
        for outcome in evaluate(dataset, our_method(name), split, protocol):
            assert outcome.failure is None
            values.setdefault(outcome.scaling, []).append(outcome.metrics[metric])
    return mean_and_spread(values[better_on_test(values, metric)])[0]


def unscaled(X: Any) -> Any:
    return X


def scaled(X: Any) -> Any:
    return X / np.maximum(np.abs(X).max(axis=0), 1e-300)


def theirs(dataset: Dataset, splits: list[Split], name: str, metric: str) -> float:
    score = {"accuracy": accuracy_score, "gmean": geometric_mean_score}[metric]

    def selected(X: Any, y: Any) -> Any:
        candidates = PAIRS[name][1]
        if len(candidates) == 1:
            return candidates[0]
        predicted = [
            cross_val_predict(model, X, y, cv=LeaveOneOut()) for model in candidates
        ]
        return candidates[int(np.argmax([score(y, labels) for labels in predicted]))]

    def on_test(split: Split, scale: Any) -> float:
        X, y = scale(dataset.X[split.train]), dataset.y[split.train]
        model = selected(X, y).fit(X, y)
        predicted = model.predict(scale(dataset.X[split.test]))
        return float(score(dataset.y[split.test], predicted))

    return max(
        float(np.mean([on_test(split, scale) for split in splits]))
        for scale in (unscaled, scaled)
    )


@pytest.mark.parametrize("method", PAIRS)
@pytest.mark.parametrize("name", CASES)
def test_within_three_hundredths_of_scikit_learn(name, method):
    dataset, (metric, plan) = load(name), CASES[name]
    selects = len(PAIRS[method][1]) > 1
    splits = plan.splits(dataset)[: 1 if selects else 3]
    with threadpool_limits(1):
        expected = theirs(dataset, splits, method, metric)
        assert ours(dataset, splits, method, metric) == pytest.approx(
            expected, abs=0.03
        )
