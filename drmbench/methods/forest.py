"""Random forests; one large forest answers every smaller one of a grid.

Trees are grown one after the other from one random stream, so a forest of 40 trees
begins with exactly the trees of the forests of 10, 20 and 30 of the same seed.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from drmbench.methods.base import (
    Grid,
    GridAnswer,
    GridPredictions,
    Labels,
    Matrix,
    Method,
    Params,
    group_all_but,
    refit_left_out,
)


def build(params: Params, seed: int) -> RandomForestClassifier:
    """Return an unfitted forest."""
    return RandomForestClassifier(random_state=seed, **params)


def predict_grid(
    X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Grow the largest forest only; it answers for the smaller ones."""
    answer = GridAnswer(len(candidates), len(X_test))
    rows = X_test.astype(np.float32)  # what trees compare; converted once, not by each
    for numbers in group_all_but(candidates, "n_estimators").values():
        sizes = {number: candidates[number]["n_estimators"] for number in numbers}
        largest = max(numbers, key=sizes.__getitem__)
        forest = build(candidates[largest], seed).fit(X_train, y_train)
        total = np.zeros((len(X_test), len(forest.classes_)))
        for size, tree in enumerate(forest.estimators_, start=1):
            total += tree.predict_proba(rows)
            for number in numbers:
                if sizes[number] == size:
                    best = (total / size).argmax(axis=1)
                    answer.labels[number] = forest.classes_[best]
    return answer.finished()


METHODS = (
    Method(
        name="rf",
        title="Random forest",
        family="rf",
        citation="L. Breiman: Random forests. Machine Learning 45(1):5-32, 2001.",
        build=build,
        grid={"n_estimators": (10, 20, 30, 40)},
        defaults={"max_features": "sqrt", "min_samples_leaf": 1},
        column="RF",
        stochastic=True,
        scale_invariant=True,
        predict_grid=predict_grid,
        predict_left_out=refit_left_out(predict_grid),
        prefer=lambda params: (params["n_estimators"],),
    ),
)
