"""Logistic regression with a squared penalty, by scikit-learn's solvers."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import validate_data

from drmbench.drm.kernels import DECADES
from drmbench.methods.base import Matrix, Method

#: Iterations that also unscaled features seldom need.
MAX_ITERATIONS = 10_000
#: Coefficients up to which a system of so many equations costs next to nothing.
FEW_COEFFICIENTS = 300


class SizedLogisticRegression(LogisticRegression):
    """scikit-learn's, whose ``solver="auto"`` goes by the size of the problem.

    Newton's method takes a few steps whatever the units of the features are, where the
    others take thousands if these differ; but each step solves a system of as many
    equations as there are coefficients. Of more features than samples, a squared
    penalty leaves only combinations of the samples, so as many coordinates as there are
    samples are enough: the answer is the same.
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
        if self.solver != "auto":
            super().fit(X, y, sample_weight)
            return self
        samples, y = validate_data(self, X, y, dtype=np.float64)
        coordinates, basis = _in_few_coordinates(samples)
        count = coordinates.shape[1] * len(np.unique(y))
        solver = "newton-cholesky" if count <= FEW_COEFFICIENTS else "lbfgs"
        found = LogisticRegression(**{**self.get_params(), "solver": solver})
        found.fit(coordinates, y, sample_weight)
        self.classes_, self.n_iter_ = found.classes_, found.n_iter_
        self.intercept_ = found.intercept_
        self.coef_ = found.coef_ if basis is None else found.coef_ @ basis
        return self


def _in_few_coordinates(X: Matrix) -> tuple[Matrix, Matrix | None]:
    """Return samples in an orthonormal basis of their span, and the basis.

    The basis is None where it would be no smaller than the features.
    """
    if X.shape[1] <= X.shape[0]:
        return X, None
    basis, triangle = scipy.linalg.qr(X.T, mode="economic", check_finite=False)
    return triangle.T, basis.T


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
