"""Nearest neighbours by majority vote, ties going to the nearest of the tied classes.

Every ``k`` of a grid, and leave-one-out, come from one search for the largest ``k``.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from drmbench.drm.partition import check_samples, check_training
from drmbench.methods.base import (
    Grid,
    GridAnswer,
    GridPredictions,
    Labels,
    Matrix,
    Method,
)

Indices = NDArray[np.intp]

#: Distances held in memory at once (32 MB).
_BLOCK_ENTRIES = 4_000_000


def distances(X: Matrix, Y: Matrix, metric: str) -> Matrix:
    """Return numbers that sort like the distances between rows of `X` and `Y`.

    The cosine distance, one minus the cosine of the angle, is computed as half the
    squared distance of the normalised rows, which does not cancel for nearly parallel
    ones. A zero row has no direction: its cosine with any other row counts as zero, and
    two zero rows are at distance zero.

    Examples
    --------
    >>> X = np.array([[3.0, 4.0], [0.0, 0.0]])
    >>> distances(X, X, "cosine")
    array([[0., 1.],
           [1., 0.]])
    """
    if metric == "euclidean":
        return np.asarray(cdist(X, Y))
    norms = [np.linalg.norm(rows, axis=1)[:, None] for rows in (X, Y)]
    units = [
        rows / np.where(norm > 0, norm, 1.0)
        for rows, norm in zip((X, Y), norms, strict=True)
    ]
    angles = cdist(*units, "sqeuclidean")
    angles *= 0.5
    only_one_is_zero = (norms[0] == 0) != (norms[1] == 0).T
    angles[only_one_is_zero] = 1.0
    return np.asarray(angles)


def nearest(
    X: Matrix, queries: Matrix, k: int, metric: str, *, others: bool = False
) -> Indices:
    """Return the rows of `X` nearest to each query, nearest first, (m, k).

    Equal distances are taken in the order of the rows of `X`. With `others` the queries
    are the rows of `X`, none of which is its own neighbour.
    """
    found = np.empty((len(queries), k), dtype=np.intp)
    step = max(1, _BLOCK_ENTRIES // max(len(X), 1))
    for start in range(0, len(queries), step):
        block = distances(queries[start : start + step], X, metric)
        for place, row in enumerate(block, start):
            if others:
                row[place] = np.inf
            limit = np.partition(row, k - 1)[k - 1]
            near = np.flatnonzero(row <= limit)
            found[place] = near[np.argsort(row[near], kind="stable")[:k]]
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
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
        X, y = check_training(self, X, y)
        self.classes_ = np.unique(y)
        self._X, self._y = X, y
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class each row's neighbours vote for."""
        X = check_samples(self, X)
        k = min(self.n_neighbors, len(self._X))
        return vote(self._y[nearest(self._X, X, k, self.metric)])

    def predict_proba(self, X: Any) -> Matrix:
        """Return each class's share of the votes, (m, n_classes).

        Of classes with as many votes the predicted one has more by a rounding error.
        """
        X = check_samples(self, X)
        k = min(self.n_neighbors, len(self._X))
        voters = self._y[nearest(self._X, X, k, self.metric)]
        shares: Matrix = (voters[:, :, None] == self.classes_).mean(axis=1)
        winners = vote(voters)[:, None] == self.classes_
        shares[winners] = np.nextafter(shares[winners], 2.0)
        return shares


def _answer_every_k(
    X: Matrix,
    y: Labels,
    queries: Matrix,
    candidates: Grid,
    metric: str,
    *,
    others: bool = False,
) -> GridPredictions:
    available = len(X) - 1 if others else len(X)
    k = min(max(int(params["n_neighbors"]) for params in candidates), available)
    neighbour_labels = y[nearest(X, queries, k, metric, others=others)]
    answer = GridAnswer(len(candidates), len(neighbour_labels))
    for number, params in enumerate(candidates):
        answer.labels[number] = vote(neighbour_labels[:, : params["n_neighbors"]])
    return answer.finished()


def _method(metric: str, column: str) -> Method:
    def predict_grid(
        X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
    ) -> GridPredictions:
        return _answer_every_k(X_train, y_train, X_test, candidates, metric)

    def predict_left_out(
        X: Matrix, y: Labels, candidates: Grid, *, seed: int
    ) -> GridPredictions:
        return _answer_every_k(X, y, X, candidates, metric, others=True)

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
