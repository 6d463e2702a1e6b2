"""The decision tree called C4.5 in the MATLAB toolbox of Duda, Hart and Stork.

It is not Quinlan's C4.5 (:mod:`drmbench.methods.c45` is): it has no pruning, and what
it maximises is not information gain. It is here because published figures were made
with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
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
    MethodFailedError,
    group_all_but,
    refit_left_out,
)

Rows = NDArray[np.intp]

#: Why a fit fails where the toolbox stops with an error.
CONSTANT_SPLIT = (
    "the best split of a node is of a continuous feature with one value, where the"
    " toolbox breaks off"
)

_EPS = float(np.finfo(np.float64).eps)
_LN2 = math.log(2.0)
_BLOCK_CELLS = 1 << 20  # samples × features × classes worked on at once


@dataclass(eq=False)
class DHSNode:
    """A node of the tree; a leaf has no children."""

    counts: Labels  #: Training samples at the node, by class number
    feature: int = -1  #: Feature tested; -1 at a leaf
    #: Values up to it go to the first child, larger ones to the second; NaN where the
    #: feature is nominal
    threshold: float = math.nan
    #: Value of each child where the feature is nominal, else empty
    values: Matrix = field(default_factory=lambda: np.empty(0))
    children: list[DHSNode] = field(default_factory=list)  #: The branches
    #: Whether the best split was of a continuous feature with a single value
    constant: bool = False

    @property
    def size(self) -> int:
        """Number of training samples at the node."""
        return int(self.counts.sum())

    def grow(
        self, X: Matrix, classes: Labels, nominal: NDArray[np.bool_], min_size: float
    ) -> None:
        """Grow a tree below the node; nodes of fewer samples than this are leaves."""
        pending = [(self, np.arange(len(X)))]
        while pending:
            node, rows = pending.pop()
            if node.size < min_size or (classes[rows] == classes[rows[0]]).all():
                continue
            for part in _split(node, X[rows], classes[rows], nominal):
                counts = np.bincount(classes[rows[part]], minlength=len(self.counts))
                child = DHSNode(counts)
                node.children.append(child)
                pending.append((child, rows[part]))

    def reached(self, X: Matrix, min_size: float) -> Labels:
        """Return the class counts at the last node that each row reaches, (m, g).

        Smaller nodes count as leaves.
        """
        found = np.empty((len(X), len(self.counts)), dtype=np.int64)
        pending = [(self, np.arange(len(X)))]
        while pending:
            node, rows = pending.pop()
            found[rows] = node.counts
            if not node.children or node.size < min_size:
                continue
            values = X[rows, node.feature]
            if len(node.values):
                parts = [rows[values == value] for value in node.values]
            else:
                parts = [rows[values <= node.threshold], rows[values > node.threshold]]
            pending.extend(zip(node.children, parts, strict=True))
        return found


class DHSTreeClassifier(ClassifierMixin, BaseEstimator):
    """Decision tree after ``C4_5.m`` of the Duda-Hart-Stork toolbox.

    Parameters
    ----------
    inc_node : float, default=10
        A node with fewer samples than this percentage of all training samples is a
        leaf. The toolbox calls it the "percentage of incorrectly assigned samples at a
        node", which it is not.
    max_values : int, default=10
        A feature with at most this many different values is nominal: a split on it has
        a branch for each value. Other features are continuous.
    constant_split : {"leaf", "error"}, default="leaf"
        What to do where the best split is of a continuous feature that has a single
        value at the node. The toolbox stops with an error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Number of features.
    tree_ : DHSNode
        The root.

    Notes
    -----
    The criterion of a continuous split is the entropy of the node less the entropies of
    the two sides weighted by the *squares* of their shares of the samples. Cuts between
    equal values count too, in the order of the training samples: the tree depends on
    that order, and among samples sorted by class a feature without information looks
    perfect. The split is still made at the value below the cut; where that
    leaves one side empty, the node is a leaf. The criterion of a nominal split is a
    gain ratio whose entropies are not normalised within the branches.

    Two things differ from the toolbox. Of equally frequent classes the one that comes
    first in the training data wins, not the one of the smallest label. A sample whose
    nominal value did not occur at a node gets the node's most frequent class; the
    toolbox gives it none.

    References
    ----------
    D. G. Stork and E. Yom-Tov, Computer Manual in MATLAB to Accompany Pattern
    Classification, 2nd edition, Wiley, 2004.

    Examples
    --------
    >>> X = [[float(v)] for v in range(12)]
    >>> y = ["low"] * 5 + ["high"] * 7
    >>> model = DHSTreeClassifier().fit(X, y)
    >>> model.tree_.threshold
    4.0
    >>> model.predict([[4.0], [4.1]])
    array(['low', 'high'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "inc_node": [Interval(Real, 0, 100, closed="both")],
        "max_values": [Interval(Integral, 0, None, closed="left")],
        "constant_split": [StrOptions({"leaf", "error"})],
    }

    def __init__(
        self,
        *,
        inc_node: float = 10.0,
        max_values: int = 10,
        constant_split: str = "leaf",
    ) -> None:
        self.inc_node = inc_node
        self.max_values = max_values
        self.constant_split = constant_split

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples; their order matters.
        y : array-like of shape (n_samples,)
            Their classes.

        Raises
        ------
        MethodFailedError
            If ``constant_split`` is ``"error"`` and there is such a node.
        """
        self.grow(X, y)
        if self.fails_with(self.inc_node):
            raise MethodFailedError(CONSTANT_SPLIT)
        return self

    def grow(self, X: Any, y: Any) -> Self:
        """Fit, but leave it to :meth:`fails_with` to say that the toolbox would not."""
        X, y = check_training(self, X, y)
        self.classes_, first, numbers = np.unique(
            y, return_index=True, return_inverse=True
        )
        self._by_appearance = np.argsort(first)
        rank = np.argsort(self._by_appearance)
        self._nominal_values = [
            values if len(values) <= self.max_values else None
            for values in map(np.unique, X.T)
        ]
        self._n_samples = len(X)
        nominal = np.array([v is not None for v in self._nominal_values], dtype=bool)
        self.tree_ = DHSNode(np.bincount(rank[numbers]))
        self.tree_.grow(X, rank[numbers], nominal, self._size(self.inc_node))
        return self

    def fails_with(self, inc_node: float) -> bool:
        """Tell whether the toolbox would fail with this ``inc_node``, own or larger."""
        if self.constant_split == "leaf":
            return False
        size, pending = self._size(inc_node), [self.tree_]
        while pending:
            node = pending.pop()
            if node.size >= size:  # a tree with this smallest size would split it
                if node.constant:
                    return True
                pending.extend(node.children)
        return False

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        return self.predict_with(X, [self.inc_node])[0]

    def predict_with(self, X: Any, inc_nodes: Sequence[float]) -> list[NDArray[Any]]:
        """Predict as with other values of ``inc_node``, none smaller than this one's.

        The tree of a larger value is the same one, cut off where nodes are too small.
        """
        X = self._known_values(X)
        classes, sizes = self.classes_[self._by_appearance], map(self._size, inc_nodes)
        # Of equally frequent classes the first to appear wins.
        return [classes[self.tree_.reached(X, s).argmax(axis=1)] for s in sizes]

    def predict_proba(self, X: Any) -> Matrix:
        """Return each class's share of the training samples at a row's leaf, (m, g)."""
        counts = self.tree_.reached(self._known_values(X), self._size(self.inc_node))
        shares = np.empty(counts.shape)
        shares[:, self._by_appearance] = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def _known_values(self, X: Any) -> Matrix:
        """Return the rows with nominal values replaced by the nearest in training."""
        X = check_samples(self, X).copy()
        for column, known in zip(X.T, self._nominal_values, strict=True):
            if known is not None:
                column[:] = known[np.abs(column[:, None] - known).argmin(axis=1)]
        values: Matrix = X
        return values

    def _size(self, inc_node: float) -> float:
        return inc_node * self._n_samples / 100


def _split(
    node: DHSNode, X: Matrix, classes: Labels, nominal: NDArray[np.bool_]
) -> list[Rows]:
    """Turn a leaf into an inner node; return the rows of its branches, if any."""
    counts = np.bincount(classes)
    present = np.flatnonzero(counts)
    shares = counts[present] / len(classes)
    impurity = float(-np.sum(shares * np.log(shares) / _LN2))
    is_class = classes[:, None] == present
    score, threshold = np.empty(len(nominal)), np.full(len(nominal), np.nan)
    continuous = np.flatnonzero(~nominal)
    step = max(1, _BLOCK_CELLS // is_class.size)
    for start in range(0, len(continuous), step):
        features = continuous[start : start + step]
        score[features], threshold[features] = _best_cuts(
            X[:, features], is_class, impurity
        )
    for feature in np.flatnonzero(nominal):
        score[feature] = _nominal_score(X[:, feature], is_class, impurity)
    best = int(score.argmax())
    column, cut = X[:, best], float(threshold[best])
    values = np.unique(column)
    node.constant = len(values) == 1 and not nominal[best]
    if len(values) == 1 or column.max() <= cut:
        return []
    node.feature, node.threshold = best, cut
    if nominal[best]:
        node.values = values
        return [np.flatnonzero(column == value) for value in values]
    return [np.flatnonzero(column <= cut), np.flatnonzero(column > cut)]


def _best_cuts(
    X: Matrix, is_class: NDArray[np.bool_], impurity: float
) -> tuple[Matrix, Matrix]:
    """Return the best score of each continuous feature, and the value below the cut.

    The operations and their order are the toolbox's, because equal scores of two
    features are common and rounding tells them apart.
    """
    n = len(X)
    order = np.argsort(X, axis=0, kind="stable")
    left = np.cumsum(is_class[order], axis=0)[:-1].astype(np.float64)
    weighted = np.zeros(left.shape[:2])
    for counts in (left, is_class.sum(axis=0) - left):
        joint = counts / n
        within = joint / joint.sum(axis=2, keepdims=True)
        information = (-joint * np.log(_EPS + within) / _LN2).sum(axis=2)
        weighted += information * (counts.sum(axis=2) / n)
    scores = impurity - weighted
    best = scores.argmax(axis=0)
    features = np.arange(X.shape[1])
    return scores[best, features], X[order[best, features], features]


def _nominal_score(
    column: Matrix, is_class: NDArray[np.bool_], impurity: float
) -> float:
    values = np.unique(column)
    joint = np.array([is_class[column == value].sum(axis=0) for value in values])
    branch = joint.sum(axis=1) / len(column)
    joint = joint / len(column)
    information = (-joint * np.log(_EPS + joint) / _LN2).sum(axis=1)
    split = -np.sum(branch * np.log(_EPS + branch) / _LN2)
    return float((impurity - np.sum(branch * information)) / split)


def predict_grid(
    X_train: Matrix, y_train: Labels, X_test: Matrix, candidates: Grid, *, seed: int
) -> GridPredictions:
    """Grow one tree, for the smallest nodes; the others are cut off from it."""
    answer = GridAnswer(len(candidates), len(X_test))
    for others, numbers in group_all_but(candidates, "inc_node").items():
        inc_nodes = [candidates[number]["inc_node"] for number in numbers]
        tree = DHSTreeClassifier(**dict(others), inc_node=min(inc_nodes))
        tree.grow(X_train, y_train)
        for number, labels in zip(
            numbers, tree.predict_with(X_test, inc_nodes), strict=True
        ):
            answer.labels[number] = labels
            if tree.fails_with(candidates[number]["inc_node"]):
                answer.failures[number] = CONSTANT_SPLIT
    return answer.finished()


METHODS = (
    Method(
        name="c45-dhs",
        title="C4.5 as the paper seems to have used it (Duda–Hart–Stork toolbox)",
        family="c45",
        citation="D. G. Stork, E. Yom-Tov: Computer Manual in MATLAB to Accompany"
        " Pattern Classification. 2nd edition, Wiley, 2004 (C4_5.m).",
        build=lambda params, seed: DHSTreeClassifier(**params),
        grid={"inc_node": (5.0, 6.0, 7.0, 8.0, 9.0, 10.0)},
        defaults={"max_values": 10, "constant_split": "leaf"},
        paper_params={"constant_split": "error"},
        predict_grid=predict_grid,
        predict_left_out=refit_left_out(predict_grid),
        prefer=lambda params: (-params["inc_node"],),
    ),
)
