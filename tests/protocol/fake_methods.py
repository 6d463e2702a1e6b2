"""Small methods on scikit-learn estimators, for tests of the protocol itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier

from drmbench.data.dataset import Dataset, Provenance
from drmbench.methods.base import Method, MethodFailedError


def make_method(
    build: Any, grid: Mapping[str, tuple[Any, ...]], **extra: Any
) -> Method:
    return Method(
        name=extra.pop("name", "fake"),
        title="Fake",
        family="fake",
        citation="",
        build=build,
        grid=grid,
        **extra,
    )


def neighbours(ks: tuple[int, ...] = (1, 3, 5), **extra: Any) -> Method:
    """K nearest neighbours by scikit-learn, without shortcuts."""
    return make_method(
        lambda params, seed: KNeighborsClassifier(**params),
        {"n_neighbors": ks},
        **extra,
    )


class Constant(ClassifierMixin, BaseEstimator):
    """Predicts one class number; refuses to be fitted if told so."""

    def __init__(self, answer: int = 0, fails: str = "") -> None:
        self.answer, self.fails = answer, fails

    def fit(self, X: Any, y: Any) -> Self:
        if self.fails:
            raise MethodFailedError(self.fails)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.answer)


def constants(grid: Mapping[str, tuple[Any, ...]], **extra: Any) -> Method:
    return make_method(lambda params, seed: Constant(**params), grid, **extra)


def blobs(sizes: tuple[int, ...], p: int = 2, seed: int = 0, apart: float = 2.0) -> Any:
    """Overlapping classes, one a coordinate direction; rows shuffled."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(y), p))
    X[np.arange(len(y)), y % p] += apart
    return X, y


def as_dataset(X: Any, y: Any, name: str = "toy", **extra: Any) -> Dataset:
    names = tuple(f"class {label}" for label in range(int(y.max()) + 1))
    return Dataset(name, X, y, names, Provenance("test"), **extra)
