"""Boosted trees: histogram gradient boosting, and two that under-sample as they go.

Boosting adds one tree after the other, so a long run contains all shorter ones of its
seed: one fit answers for every number of rounds.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from imblearn.ensemble import EasyEnsembleClassifier, RUSBoostClassifier
from numpy.typing import ArrayLike
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from drmbench.methods.base import (
    Grid,
    GridAnswer,
    GridPredictions,
    GridPredictor,
    Labels,
    Matrix,
    Method,
    MethodFailedError,
    Params,
    group_all_but,
    refit_left_out,
)


@contextmanager
def _chance_is_a_failure() -> Iterator[None]:
    """Make a failure of the candidate of AdaBoost's refusal to start."""
    try:
        yield
    except ValueError as error:
        if "worse than random" not in str(error):
            raise
        raise MethodFailedError(
            "boosting cannot start: the first tree is no better than chance"
        ) from error


class EasyEnsemble(EasyEnsembleClassifier):
    """imbalanced-learn's classifier, which says what it cannot be fitted to."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit AdaBoost to several under-sampled parts of the samples."""
        with _chance_is_a_failure(), warnings.catch_warnings():
            # It is imbalanced-learn that gives all samples to each under-sampling.
            warnings.filterwarnings("ignore", "Using the fractional value max_samples")
            super().fit(X, y)
        return self


class RUSBoost(RUSBoostClassifier):
    """imbalanced-learn's classifier, which says what it cannot be fitted to."""

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Boost trees, each fitted to another under-sampled part of the samples."""
        with _chance_is_a_failure():
            super().fit(X, y, sample_weight)
        return self


def _build_histogram(params: Params, seed: int) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(
        early_stopping=False, random_state=seed, **params
    )


def _build_rusboost(params: Params, seed: int) -> RUSBoost:
    others = {name: value for name, value in params.items() if name != "max_depth"}
    tree = DecisionTreeClassifier(max_depth=params["max_depth"])
    tree._validate_params()
    return RUSBoost(tree, random_state=seed, **others)


def _build_easy_ensemble(params: Params, seed: int) -> EasyEnsemble:
    others = {name: value for name, value in params.items() if name != "rounds"}
    boosting = AdaBoostClassifier(n_estimators=params["rounds"])
    boosting._validate_params()
    return EasyEnsemble(estimator=boosting, random_state=seed, **others)


def _staged(build: Callable[[Params, int], Any], rounds: str) -> GridPredictor:
    """Return a grid predictor that fits the longest run only."""

    def predict_grid(
        X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
    ) -> GridPredictions:
        answer = GridAnswer(len(candidates), len(X_test))
        for numbers in group_all_but(candidates, rounds).values():
            lengths = np.array([candidates[number][rounds] for number in numbers])
            with answer.attempt(numbers):
                longest = candidates[numbers[int(lengths.argmax())]]
                model = build(longest, seed).fit(X_train, y_train)
                # A run that ends early is the same for all that would be longer.
                stages = model.staged_predict(X_test)
                for length, labels in enumerate(stages, start=1):
                    for place in np.flatnonzero(lengths >= length):
                        answer.labels[numbers[place]] = labels
        return answer.finished()

    return predict_grid


_predict_histogram = _staged(_build_histogram, "max_iter")
_predict_rusboost = _staged(_build_rusboost, "n_estimators")

_HISTOGRAM = Method(
    name="hgb",
    title="Histogram gradient boosting",
    family="boosting",
    citation="J. H. Friedman: Greedy function approximation: a gradient boosting"
    " machine. Annals of Statistics 29(5):1189-1232, 2001; G. Ke et al.: LightGBM."
    " NeurIPS, 2017.",
    build=_build_histogram,
    grid={
        "learning_rate": (0.05, 0.2),
        "max_leaf_nodes": (4, 31),
        "max_iter": (25, 50, 100, 200),
    },
    # scikit-learn's 20 samples in a leaf leave small data without a single split, and
    # its unregularised leaves let boosting diverge where one of several classes is
    # small (shuttle: 0.2 of balanced accuracy instead of 1.0). 1 is XGBoost's default.
    defaults={"min_samples_leaf": 5, "l2_regularization": 1.0},
    stochastic=True,  # the bins of more than 200,000 rows are those of some of them
    scale_invariant=True,
    predict_grid=_predict_histogram,
    predict_left_out=refit_left_out(_predict_histogram),
    prefer=lambda params: (
        params["max_leaf_nodes"] or np.inf,
        params["max_iter"],
        params["learning_rate"],
    ),
)

METHODS = (
    _HISTOGRAM,
    dataclasses.replace(
        _HISTOGRAM,
        name="hgb-balanced",
        title=f"{_HISTOGRAM.title}, balanced class weights",
        defaults={**_HISTOGRAM.defaults, "class_weight": "balanced"},
    ),
    Method(
        name="easy-ensemble",
        title="EasyEnsemble (AdaBoost on under-sampled parts)",
        family="boosting",
        citation="X.-Y. Liu, J. Wu, Z.-H. Zhou: Exploratory undersampling for"
        " class-imbalance learning. IEEE TSMC B 39(2):539-550, 2009.",
        build=_build_easy_ensemble,
        grid={"rounds": (10, 30, 50), "n_estimators": (10, 20)},
        stochastic=True,
        scale_invariant=True,
        prefer=lambda params: (params["n_estimators"], params["rounds"]),
    ),
    Method(
        name="rusboost",
        title="RUSBoost (boosting with under-sampling)",
        family="boosting",
        citation="C. Seiffert, T. M. Khoshgoftaar, J. Van Hulse, A. Napolitano:"
        " RUSBoost: a hybrid approach to alleviating class imbalance. IEEE TSMC A"
        " 40(1):185-197, 2010.",
        build=_build_rusboost,
        # A stump that is fitted to an under-sampled part is often worse than chance on
        # all samples, and boosting ends before it began.
        grid={
            "learning_rate": (0.1, 0.3, 1.0),
            "max_depth": (3, 8),
            "n_estimators": (10, 50, 100),
        },
        stochastic=True,
        scale_invariant=True,
        predict_grid=_predict_rusboost,
        predict_left_out=refit_left_out(_predict_rusboost),
        prefer=lambda params: (
            params["max_depth"] or np.inf,
            params["n_estimators"],
            params["learning_rate"],
        ),
    ),
)
