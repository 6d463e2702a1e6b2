"""Logistic regression with a squared penalty, by scikit-learn's solvers."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import StrOptions

from drmbench.drm.kernels import DECADES
from drmbench.methods.base import Method

#: Iterations that also unscaled features seldom need.
MAX_ITERATIONS = 10_000
#: Coefficients up to which a system of so many equations costs next to nothing.
FEW_COEFFICIENTS = 300


class SizedLogisticRegression(LogisticRegression):
    """scikit-learn's, whose ``solver="auto"`` goes by the number of coefficients.

    Newton's method takes a few steps whatever the units of the features are, where the
    others take thousands if these differ; but each step solves a system of as many
    equations as there are coefficients.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LogisticRegression._parameter_constraints,
        "solver": [
            *LogisticRegression._parameter_constraints["solver"],
            StrOptions({"auto"}),
        ],
    }

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit to samples and classes."""
        settings = self.get_params()
        if settings["solver"] == "auto":
            count = np.shape(X)[-1] * len(np.unique(y))
            few = count <= FEW_COEFFICIENTS
            settings["solver"] = "newton-cholesky" if few else "lbfgs"
        found = LogisticRegression(**settings).fit(X, y, sample_weight)
        for name, value in vars(found).items():
            if name.endswith("_"):
                setattr(self, name, value)
        return self


_PLAIN = Method(
    name="logistic",
    title="Logistic regression",
    family="logistic",
    citation="D. R. Cox: The regression analysis of binary sequences. JRSS B"
    " 20(2):215-242, 1958; S. le Cessie, J. C. van Houwelingen: Ridge estimators in"
    " logistic regression. Applied Statistics 41(1):191-201, 1992.",
    build=lambda params, seed: SizedLogisticRegression(**params),
    grid={"C": DECADES},
    defaults={"solver": "auto", "max_iter": MAX_ITERATIONS},
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
