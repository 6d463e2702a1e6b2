"""Ridge regression on class indicators, and its exact leave-one-out.

All candidates of a grid share one singular value decomposition. Leave-one-out follows
from the hat matrix ``H``: the residual of a sample that is left out is its residual
divided by ``1 − H_ii``. Balanced class weights depend on the sizes of the classes, so
there each class has a decomposition with the weights that hold when one of its samples
is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeClassifier

from drmbench.drm.kernels import DECADES
from drmbench.methods.base import (
    Grid,
    GridAnswer,
    GridPredictions,
    Labels,
    Matrix,
    Method,
    Params,
    fewest_coordinates,
    left_out_by_refits,
    only_of_class,
)

Indices = NDArray[np.intp]

#: A share of a sample outside the span of the features that is rounding alone.
_NO_SHARE = 1e-13
#: How small ``1 − H_ii`` may be beside the largest term of a residual, whose rounding
#: it magnifies.
_SURE = 1e-9


@dataclass(frozen=True, eq=False)
class RidgeProblem:
    """Weighted ridge regression of class indicators, ready for any ``alpha``."""

    mean: Matrix  #: Weighted mean of the samples
    targets: Matrix  #: +1 for a sample's own class, −1 for the others, (n, g)
    target_means: Matrix  #: Their weighted means
    roots: Matrix  #: Square roots of the samples' weights, (n, 1)
    left: Matrix  #: Left singular vectors of the centred, weighted samples
    values: Matrix  #: Singular values
    right: Matrix  #: Right singular vectors, as rows

    @classmethod
    def of(cls, X: Matrix, codes: Labels, weights: Matrix) -> RidgeProblem:
        """Decompose samples whose classes are numbered without gaps."""
        targets = np.where(codes[:, np.newaxis] == np.arange(codes.max() + 1), 1.0, -1)
        mean = np.average(X, axis=0, weights=weights)
        roots = np.sqrt(weights)[:, np.newaxis]
        left, values, right = np.linalg.svd(roots * (X - mean), full_matrices=False)
        # Directions without any spread are no part of the features' span.
        real = values > values[0] * max(X.shape) * np.finfo(np.float64).eps
        target_means = np.average(targets, axis=0, weights=weights)
        parts = left[:, real], values[real], right[real]
        return cls(mean, targets, target_means, roots, *parts)

    @property
    def weighted_targets(self) -> Matrix:
        """The centred targets, times the roots of the weights."""
        centred: Matrix = self.roots * (self.targets - self.target_means)
        return centred

    def decide(self, X: Matrix, alpha: float) -> Matrix:
        """Return the regression of each class, (m, g)."""
        shrunk = self.values / (self.values**2 + alpha)
        coefficients = (self.left.T @ self.weighted_targets) * shrunk[:, np.newaxis]
        values: Matrix = (X - self.mean) @ self.right.T @ coefficients
        return values + self.target_means

    def decide_left_out(self, alpha: float) -> tuple[Matrix, NDArray[np.bool_]]:
        """Return the regression of each class at a sample, by the others, (n, g).

        Also return of which samples this has the digits to be believed.
        """
        kept = alpha / (self.values**2 + alpha)
        aims, weights = self.weighted_targets, self.roots[:, 0] ** 2
        inside = self.left.T @ aims
        residuals = self.left @ (kept[:, np.newaxis] * inside)
        shares = self.left**2 @ kept  # 1 − H_ii
        # What lies outside the span of the features, no alpha removes.
        outside = 1 - weights / weights.sum() - (self.left**2).sum(axis=1)
        beyond = outside > _NO_SHARE
        residuals[beyond] += (aims - self.left @ inside)[beyond]
        shares[beyond] += outside[beyond]
        largest_terms = np.where(beyond, 1.0, kept.max(initial=0.0))
        sure = (shares > _SURE * largest_terms) & (shares > 0)
        divisors = np.where(sure, shares, 1.0)[:, np.newaxis] * self.roots
        return self.targets - residuals / divisors, sure


def _balanced_weights(counts: Indices, codes: Labels) -> Matrix:
    """Return weights with which classes of so many samples count the same."""
    weights: Matrix = counts.sum() / (len(counts) * counts[codes])
    return weights


def _predict_grid(
    balanced: bool,
    X_train: Matrix,
    y_train: Labels,
    X_test: Matrix,
    candidates: Grid,
    *,
    seed: int,
) -> GridPredictions:
    """Decompose the training samples once for every ``alpha``."""
    classes, codes, counts = np.unique(y_train, return_inverse=True, return_counts=True)
    weights = _balanced_weights(counts, codes) if balanced else np.ones(len(codes))
    X, basis = fewest_coordinates(X_train)
    problem = RidgeProblem.of(X, codes, weights)
    samples = X_test if basis is None else X_test @ basis
    answer = GridAnswer(len(candidates), len(X_test))
    for number, params in enumerate(candidates):
        best = problem.decide(samples, params["alpha"]).argmax(axis=1)
        answer.labels[number] = classes[best]
    return answer.finished()


def _left_out_problems(
    X: Matrix, codes: Labels, balanced: bool
) -> Iterator[tuple[Indices, RidgeProblem]]:
    """Yield samples, and the problem that holds when one of them is left out."""
    if not balanced:
        yield np.arange(len(X)), RidgeProblem.of(X, codes, np.ones(len(X)))
        return
    counts = np.bincount(codes)
    for number in np.flatnonzero(counts > 1):
        left = counts - (np.arange(len(counts)) == number)
        problem = RidgeProblem.of(X, codes, _balanced_weights(left, codes))
        yield np.flatnonzero(codes == number), problem


def _predict_left_out(
    balanced: bool, X: Matrix, y: Labels, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Divide residuals by ``1 − H_ii``; refit where that has no digits."""
    classes, codes = np.unique(y, return_inverse=True)
    answer = GridAnswer(len(candidates), len(X))
    refitted = np.zeros(len(X), dtype=np.bool_)
    refitted[only_of_class(y)] = True  # the class leaves with it
    for members, problem in _left_out_problems(
        fewest_coordinates(X)[0], codes, balanced
    ):
        for number, params in enumerate(candidates):
            values, sure = problem.decide_left_out(params["alpha"])
            answer.labels[number, members] = classes[values[members].argmax(axis=1)]
            refitted[members] |= ~sure[members]
    samples = np.flatnonzero(refitted)
    refit = partial(_predict_grid, balanced)
    again = left_out_by_refits(refit, X, y, candidates, seed=seed, samples=samples)
    answer.labels[:, samples] = again.labels[:, samples]
    return answer.finished()


def _method(name: str, title: str, *, balanced: bool) -> Method:
    def build(params: Params, seed: int) -> RidgeClassifier:
        weight = "balanced" if balanced else None
        # By singular values it does not matter how well-posed the problem is.
        return RidgeClassifier(class_weight=weight, solver="svd", **params)

    return Method(
        name=name,
        title=title,
        family="ridge",
        citation="A. E. Hoerl, R. W. Kennard: Ridge regression: biased estimation for"
        " nonorthogonal problems. Technometrics 12(1):55-67, 1970.",
        build=build,
        grid={"alpha": DECADES},
        large_scale=True,
        predict_grid=partial(_predict_grid, balanced),
        predict_left_out=partial(_predict_left_out, balanced),
        prefer=lambda params: (-params["alpha"],),
    )


METHODS = (
    _method("ridge", "Ridge classifier", balanced=False),
    _method(
        "ridge-balanced", "Ridge classifier, balanced class weights", balanced=True
    ),
)
