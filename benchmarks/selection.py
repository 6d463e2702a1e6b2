"""Speed of selection by leave-one-out: ratios measured in one run.

Run by ``make bench``. Ours is what an experiment does (the whole grid of the method,
with its exact shortcuts); against it stands scikit-learn's ``GridSearchCV`` with
``LeaveOneOut()`` over the same grid of the same estimators, timed on a few of the
left-out samples and multiplied. Below each stands what the tables of naive selection
would estimate from one fit of the chosen candidate, against the same measured time.
Times are processor time: runs take minutes, in which other work on the machine comes
and goes.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from threadpoolctl import threadpool_limits

from drmbench.drm.errors import ConditioningWarning
from drmbench.methods.registry import get_method
from drmbench.protocol.selection import SelectionPlan, select
from drmbench.report.analyses.naive import Search

sys.path.insert(0, str(Path(__file__).parent))
from timing import report

METHODS = ("svm-rbf", "svm-poly", "knn-euclidean", "rf", "c45", "nb", "drm-rbf")
FAST_METHODS = ("svm-rbf", "svm-poly", "knn-euclidean", "nb")
PLAN = SelectionPlan("loo", "accuracy")
TIMED_LEFT_OUT = 4


def processor_seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def scaled(load):
    X, y = load(return_X_y=True)
    return X / np.abs(X).max(axis=0), y


def by_grid_search(method, X, y):
    """Return the time all left-out samples would take."""
    estimators = [method.build(params, 0) for params in method.candidates()]
    grid = [
        {name: [value] for name, value in estimator.get_params(deep=False).items()}
        for estimator in estimators
    ]
    splits = list(LeaveOneOut().split(X))[:: len(X) // TIMED_LEFT_OUT]
    search = GridSearchCV(estimators[0], grid, cv=splits, refit=False)
    spent = processor_seconds(lambda: search.fit(X, y))
    return spent * len(X) / len(splits)


def estimated(method, X, y, params):
    """Return the time that the report's tables extrapolate from one candidate."""
    model = method.build(params, 0)
    fit, predict = (
        statistics.median(processor_seconds(step) for _ in range(5))
        for step in (lambda: model.fit(X, y), lambda: model.predict(X))
    )
    search = Search(PLAN, len(method.candidates()), scalings=1, shortcut=True)
    return search.seconds(len(X), fit, predict / len(X))


def compare(title, load, names):
    X, y = scaled(load)
    for name in names:
        method = get_method(name)
        chosen = []
        ours = processor_seconds(
            lambda m=method, out=chosen: out.append(
                select(m, X, y, PLAN, always_score=True)
            )
        )
        what = f"{name}, {len(method.candidates())} candidates, {title} (n = {len(X)})"
        naive = by_grid_search(method, X, y)
        report(what, ours, naive, "> 1")
        estimate = estimated(method, X, y, chosen[0].params)
        report("  naive, estimated as in the tables", estimate, naive, "0.5 to 5")


def main():
    warnings.simplefilter("ignore", ConditioningWarning)
    print(f"{'leave-one-out of a grid, ours against GridSearchCV':<62}")
    with threadpool_limits(limits=1):
        compare("wine", load_wine, METHODS)
        compare("breast cancer", load_breast_cancer, FAST_METHODS)


if __name__ == "__main__":
    main()
