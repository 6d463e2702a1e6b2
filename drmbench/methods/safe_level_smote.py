"""Safe-Level-SMOTE: synthetic minority samples, nearer to the safer neighbour."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar, TypeAlias

import numpy as np
from imblearn.over_sampling.base import BaseOverSampler
from imblearn.utils import check_neighbors_object
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval

Indices: TypeAlias = NDArray[np.intp]
Samples: TypeAlias = Any  # ndarray or a scipy sparse matrix


class NothingGeneratedWarning(UserWarning):
    """A class that should have been over-sampled was left unchanged."""


class SafeLevelSMOTE(BaseOverSampler):
    """Over-sample by Safe-Level-SMOTE.

    The safe level of a minority sample is the number of its class among its
    ``k_neighbors`` nearest neighbours in all data. A synthetic sample lies between a
    minority sample ``p`` and one ``n`` of its nearest minority neighbours, at
    ``p + gap (n − p)`` with a gap drawn for each feature. Their safe levels
    ``sl_p`` and ``sl_n`` say where [1]_:

    ===========================  ==================================================
    ``sl_p = 0``, ``sl_n = 0``   nowhere: nothing is generated
    ``sl_p > 0``, ``sl_n = 0``   gap 0: a copy of ``p``
    ``sl_p = sl_n > 0``          gap in [0, 1]
    ``sl_p > sl_n > 0``          gap in [0, ``sl_n / sl_p``]: nearer to ``p``
    ``sl_p < sl_n``              gap in [1 − ``sl_p / sl_n``, 1]: nearer to ``n``
    ===========================  ==================================================

    The published loop visits every minority sample in turn and takes a random
    neighbour; here pairs are drawn until ``sampling_strategy`` is met, evenly from
    those that generate something. A class all of whose pairs are unsafe is left
    unchanged, with a :class:`NothingGeneratedWarning`.

    Parameters
    ----------
    sampling_strategy : float, str, dict or callable, default="auto"
        Which classes to over-sample and to what size, as in imbalanced-learn.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.
    k_neighbors : int or estimator, default=5
        Number of neighbours, both for the safe levels and for the choice of ``n``; a
        class must have more samples. An estimator with ``kneighbors`` is used with
        one neighbour less than its ``n_neighbors``, as in imbalanced-learn.

    Attributes
    ----------
    sampling_strategy_ : dict
        Number of samples to generate for each class.
    nn_k_, nn_safe_ : estimator
        Neighbour search among the class last over-sampled, and among all data.
    safe_levels_ : dict of label to ndarray
        Safe levels of the samples of each over-sampled class, in the order of the data.
    not_generated_ : dict of label to str
        Why a class was left unchanged.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    With several classes, each is over-sampled against all others. For sparse input a
    dense array of the size of the synthetic samples is drawn, so that sparse and dense
    data give the same samples.

    References
    ----------
    .. [1] C. Bunkhumpornpat, K. Sinapiromsaran, C. Lursinsap, "Safe-Level-SMOTE:
       safe-level-synthetic minority over-sampling technique for handling the class
       imbalanced problem", PAKDD 2009, LNCS 5476, 475-482.

    Examples
    --------
    >>> from collections import Counter
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(weights=[0.9], random_state=0)
    >>> X_new, y_new = SafeLevelSMOTE(random_state=0).fit_resample(X, y)
    >>> sorted(Counter(y.tolist()).items()), sorted(Counter(y_new.tolist()).items())
    ([(0, 91), (1, 9)], [(0, 91), (1, 91)])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseOverSampler._parameter_constraints,
        "k_neighbors": [
            Interval(Integral, 1, None, closed="left"),
            HasMethods(["kneighbors", "kneighbors_graph"]),
        ],
    }

    def __init__(
        self,
        *,
        sampling_strategy: Any = "auto",
        random_state: Any = None,
        k_neighbors: Any = 5,
    ) -> None:
        super().__init__(sampling_strategy=sampling_strategy)
        self.random_state = random_state
        self.k_neighbors = k_neighbors

    def _fit_resample(
        self, X: Samples, y: NDArray[Any]
    ) -> tuple[Samples, NDArray[Any]]:
        self.nn_k_, self.nn_safe_ = (
            check_neighbors_object("k_neighbors", self.k_neighbors, 1) for _ in range(2)
        )
        self.nn_safe_.fit(X)
        self.safe_levels_: dict[Any, NDArray[np.int64]] = {}
        self.not_generated_: dict[Any, str] = {}
        random = check_random_state(self.random_state)
        parts = [(X, y)]
        for label, n_samples in self.sampling_strategy_.items():
            if n_samples > 0:
                new = self._synthesise(X, y, label, n_samples, random)
                parts.append((new, np.full(new.shape[0], label, dtype=y.dtype)))
        samples, labels = zip(*parts, strict=True)
        stack = sparse.vstack if sparse.issparse(X) else np.vstack
        return _like(stack(samples), X), np.concatenate(labels)

    def _synthesise(
        self,
        X: Samples,
        y: NDArray[Any],
        label: Any,
        n_samples: int,
        random: np.random.RandomState,
    ) -> Samples:
        """Return synthetic samples of one class, none if every pair is unsafe."""
        members = np.flatnonzero(y == label)
        own = X[members]
        neighbours = _other_neighbours(
            self.nn_k_.fit(own), own, np.arange(len(members))
        )
        around = _other_neighbours(self.nn_safe_, own, members)
        levels = np.sum(y[around] == label, axis=1)
        self.safe_levels_[label] = levels
        first = np.repeat(np.arange(len(members)), neighbours.shape[1])
        second = neighbours.ravel()
        usable = (levels[first] > 0) | (levels[second] > 0)
        first, second = first[usable], second[usable]
        if len(first) == 0:
            name = np.asarray(label).item()
            reason = (
                f"class {name!r} was left at {len(members)} samples: none of them, nor "
                "of their neighbours in the class, has a neighbour of the class in all"
                " data"
            )
            self.not_generated_[label] = reason
            warnings.warn(reason, NothingGeneratedWarning, stacklevel=6)
            return own[:0]
        drawn = random.randint(len(first), size=n_samples)
        first, second = first[drawn], second[drawn]
        low, high = gap_bounds(levels[first], levels[second])
        width = (high - low)[:, np.newaxis]
        gaps = low[:, np.newaxis] + width * random.uniform(size=(n_samples, X.shape[1]))
        start, end = own[first], own[second]
        if sparse.issparse(start):
            return _like(start + (end - start).multiply(gaps), start)
        return (start + gaps * (end - start)).astype(start.dtype)


def gap_bounds(
    first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the range of the gap for pairs with these safe levels, not both zero.

    A gap of 0 is at the sample, whose level comes first, and 1 at its neighbour.

    Examples
    --------
    >>> low, high = gap_bounds(np.array([3, 2, 4, 1]), np.array([0, 2, 2, 4]))
    >>> low, high
    (array([0.  , 0.  , 0.  , 0.75]), array([0. , 1. , 0.5, 1. ]))
    """
    safest = np.maximum(first, second)
    return 1 - first / safest, second / safest


def _other_neighbours(search: Any, X: Samples, own: Indices) -> Indices:
    """Return the nearest neighbours of samples among the fitted ones, not themselves.

    ``own`` has their numbers among the fitted ones.
    """
    # One neighbour more is searched for and the sample itself removed. Where it is not
    # found, all that were found are duplicates of it, and the last is removed instead.
    found: Indices = search.kneighbors(X, return_distance=False)
    keep = found != own[:, np.newaxis]
    keep[keep.all(axis=1), -1] = False
    others: Indices = found[keep].reshape(len(found), -1)
    return others


def _like(X: Samples, pattern: Samples) -> Samples:
    """Return ``X`` in the sparse format and type of ``pattern``."""
    if sparse.issparse(pattern):
        return X.asformat(pattern.format).astype(pattern.dtype)
    return X
