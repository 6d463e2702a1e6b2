"""Logistic regression with a squared penalty, by scikit-learn's solvers."""

from __future__ import annotations

import dataclasses

from sklearn.linear_model import LogisticRegression

from drmbench.drm.kernels import DECADES
from drmbench.methods.base import Method

#: Iterations that also unscaled features seldom need.
MAX_ITERATIONS = 10_000

_PLAIN = Method(
    name="logistic",
    title="Logistic regression",
    family="logistic",
    citation="D. R. Cox: The regression analysis of binary sequences. JRSS B"
    " 20(2):215-242, 1958; S. le Cessie, J. C. van Houwelingen: Ridge estimators in"
    " logistic regression. Applied Statistics 41(1):191-201, 1992.",
    build=lambda params, seed: LogisticRegression(**params),
    grid={"C": DECADES},
    defaults={"solver": "lbfgs", "max_iter": MAX_ITERATIONS},
    large_scale=True,
    prefer=lambda params: (params["C"],),
)

METHODS = (
    _PLAIN,
    dataclasses.replace(
        _PLAIN,
        name="logistic-balanced",
        title=f"{_PLAIN.title}, balanced class weights",
        defaults={**_PLAIN.defaults, "class_weight": "balanced"},
    ),
)
