"""Nearest neighbours by majority vote, ties going to the nearest of the tied classes.

Every ``k`` of a grid, and leave-one-out, come from one search for the largest ``k``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from drmbench.methods.base import (
    GridAnswer,
    GridPredictions,
    Labels,
    Matrix,
    Method,
    Params,
)

Indices = NDArray[np.intp]

#: Distances held in memory at once (32 MB).
_BLOCK_ENTRIES = 4_000_000


def distances(X: Matrix, Y: Matrix, metric: str) -> Matrix:
    """Return numbers that sort like the distances between rows of `X` and `Y`.

    Parameters
    ----------
    X, Y : ndarray of shape (n, p) and (m, p)
        Samples in rows.
    metric : {"euclidean", "cosine"}
        The Euclidean distance, or one minus the cosine of the angle. The latter is
        computed as half the squared distance of the normalised rows, which does not
        cancel for nearly parallel ones. A zero row has no direction: its cosine with
        any other row counts as zero, and two zero rows are at distance zero.

    Examples
    --------
    >>> X = np.array([[3.0, 4.0], [0.0, 0.0]])
    >>> distances(X, X, "cosine")
    array([[0., 1.],
           [1., 0.]])
    """
    if metric == "euclidean":
        return np.asarray(cdist(X, Y))
    X_norms, Y_norms = np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1)
    angles = cdist(_normalised(X, X_norms), _normalised(Y, Y_norms), "sqeuclidean")
    angles *= 0.5
    only_one_is_zero = (X_norms == 0)[:, None] != (Y_norms == 0)[None, :]
    angles[only_one_is_zero] = 1.0
    return np.asarray(angles)


def _normalised(X: Matrix, norms: Matrix) -> Matrix:
    rows: Matrix = X / np.where(norms > 0, norms, 1.0)[:, None]
    return rows


def _row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    step = max(1, _BLOCK_ENTRIES // max(n_columns, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _smallest(row: Matrix, k: int) -> Indices:
    """Return the places of the k smallest entries, ties in order of place."""
    limit = np.partition(row, k - 1)[k - 1]
    near = np.flatnonzero(row <= limit)
    return near[np.argsort(row[near], kind="stable")[:k]]


def nearest(X: Matrix, queries: Matrix, k: int, metric: str) -> Indices:
    """Return the rows of `X` nearest to each query, nearest first, (m, k).

    Equal distances are taken in the order of the rows of `X`.
    """
    found = np.empty((len(queries), k), dtype=np.intp)
    for block in _row_blocks(len(queries), len(X)):
        for place, row in enumerate(distances(queries[block], X, metric), block.start):
            found[place] = _smallest(row, k)
    return found


def nearest_others(X: Matrix, k: int, metric: str) -> Indices:
    """Return, for each row of `X`, the k nearest of the other rows."""
    found = np.empty((len(X), k), dtype=np.intp)
    for block in _row_blocks(len(X), len(X)):
        for place, row in enumerate(distances(X[block], X, metric), block.start):
            row[place] = np.inf
            found[place] = _smallest(row, k)
    return found


def vote(neighbour_labels: NDArray[Any]) -> NDArray[Any]:
    """Return the most frequent label of each row, the nearest of those that tie.

    Examples
    --------
    >>> vote(np.array([[2, 1, 1, 2], [0, 1, 1, 2]]))
    array([2, 1])
    """
    same = neighbour_labels[:, :, None] == neighbour_labels[:, None, :]
    nearest_of_winners = same.sum(axis=2).argmax(axis=1)
    winners: NDArray[Any] = neighbour_labels[
        np.arange(len(neighbour_labels)), nearest_of_winners
    ]
    return winners


class NearestNeighbours(ClassifierMixin, BaseEstimator):
    """k nearest neighbours.

    Ties in the vote go to the class, among those that tie, of the nearest neighbour;
    equal distances are taken in the order of the training rows. If there are fewer
    than `n_neighbors` training samples, all of them vote.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours that vote.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance, see :func:`distances`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.

    References
    ----------
    T. Cover and P. Hart, "Nearest neighbor pattern classification", IEEE Transactions
    on Information Theory 13(1), 1967.

    Examples
    --------
    >>> model = NearestNeighbours(n_neighbors=2)
    >>> model.fit([[0.0], [1.0], [5.0]], ["a", "b", "b"]).predict([[0.2], [4.0]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's spelling
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"euclidean", "cosine"})],
    }

    def __init__(self, *, n_neighbors: int = 5, metric: str = "euclidean") -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric

    def fit(self, X: Any, y: Any) -> Self:
        """Store the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Their classes.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self._X, self._y = X, y
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class each row's neighbours vote for."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        k = min(self.n_neighbors, len(self._X))
        return vote(self._y[nearest(self._X, X, k, self.metric)])


def _answer_every_k(
    neighbour_labels: Labels, candidates: Sequence[Params]
) -> GridPredictions:
    answer = GridAnswer(len(candidates), len(neighbour_labels))
    for number, params in enumerate(candidates):
        answer.labels[number] = vote(neighbour_labels[:, : params["n_neighbors"]])
    return answer.finished()


def _largest_k(candidates: Sequence[Params], available: int) -> int:
    return min(max(int(params["n_neighbors"]) for params in candidates), available)


def _method(metric: str, column: str) -> Method:
    def predict_grid(
        X_train: Matrix,
        y_train: Labels,
        X_test: Matrix,
        candidates: Sequence[Params],
        *,
        seed: int,
    ) -> GridPredictions:
        k = _largest_k(candidates, len(X_train))
        neighbours = nearest(X_train, X_test, k, metric)
        return _answer_every_k(y_train[neighbours], candidates)

    def predict_left_out(
        X: Matrix, y: Labels, candidates: Sequence[Params], *, seed: int
    ) -> GridPredictions:
        k = _largest_k(candidates, len(X) - 1)
        return _answer_every_k(y[nearest_others(X, k, metric)], candidates)

    return Method(
        name=f"knn-{metric}",
        title=f"KNN, {metric.capitalize()} distance",
        family="knn",
        citation="T. Cover, P. Hart: Nearest neighbor pattern classification. IEEE"
        " Transactions on Information Theory 13(1):21-27, 1967.",
        build=lambda params, seed: NearestNeighbours(metric=metric, **params),
        grid={"n_neighbors": (2, 3, 4, 5, 6, 7, 8)},
        column=column,
        predict_grid=predict_grid,
        predict_left_out=predict_left_out,
        prefer=lambda params: (-params["n_neighbors"],),
    )


METHODS = (_method("euclidean", "KNN(E)"), _method("cosine", "KNN(C)"))
