"""Growing, and walking down, the tree of :mod:`drmbench.methods.dhs_tree`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from drmbench.methods.base import Labels, Matrix

Rows = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)
_LN2 = math.log(2.0)
_BLOCK_CELLS = 1 << 20  # samples × features × classes worked on at once


@dataclass(eq=False)
class Node:
    """A node of the tree; a leaf has no children.

    Attributes
    ----------
    size : int
        Number of training samples at the node.
    majority : int
        Number of their most frequent class.
    feature : int
        Feature tested; -1 at a leaf.
    threshold : float
        Values up to it go to the first child, larger ones to the second; NaN where
        the feature is nominal.
    values : ndarray
        Value of each child where the feature is nominal, else empty.
    children : list of Node
        The branches.
    constant : bool
        Whether the best split was of a continuous feature with a single value.
    """

    size: int
    majority: int
    feature: int = -1
    threshold: float = math.nan
    values: Matrix = field(default_factory=lambda: np.empty(0))
    children: list[Node] = field(default_factory=list)
    constant: bool = False


def grow_tree(
    X: Matrix, classes: Labels, nominal: NDArray[np.bool_], min_size: float
) -> Node:
    """Grow a tree from the root down.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Training samples.
    classes : ndarray of shape (n,)
        Class numbers; of equally frequent classes the smaller number wins.
    nominal : ndarray of shape (p,)
        Which features are nominal.
    min_size : float
        A node of fewer samples is a leaf.
    """
    root, everyone = _leaf(classes), np.arange(len(X))
    pending = [(root, everyone)]
    while pending:
        node, rows = pending.pop()
        if node.size < min_size or (classes[rows] == classes[rows[0]]).all():
            continue
        for part in _split(node, X[rows], classes[rows], nominal):
            child = _leaf(classes[rows[part]])
            node.children.append(child)
            pending.append((child, rows[part]))
    return root


def _leaf(classes: Labels) -> Node:
    return Node(len(classes), int(np.bincount(classes).argmax()))


def _split(
    node: Node, X: Matrix, classes: Labels, nominal: NDArray[np.bool_]
) -> list[Rows]:
    """Turn a leaf into an inner node; return the rows of its branches, if any."""
    counts = np.bincount(classes)
    present = np.flatnonzero(counts)
    shares = counts[present] / len(classes)
    impurity = float(-np.sum(shares * np.log(shares) / _LN2))
    is_class = classes[:, None] == present
    score, threshold = np.empty(len(nominal)), np.full(len(nominal), np.nan)
    for features in _blocks(np.flatnonzero(~nominal), is_class.size):
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


def _blocks(features: Rows, cells: int) -> Iterator[Rows]:
    step = max(1, _BLOCK_CELLS // cells)
    for start in range(0, len(features), step):
        yield features[start : start + step]


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


def nodes_above(root: Node, min_size: float) -> Iterator[Node]:
    """Yield the nodes that a tree with this smallest size would try to split."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.size >= min_size:
            yield node
            pending.extend(node.children)


def predict(root: Node, X: Matrix, min_size: float) -> Labels:
    """Return the class number of each row; smaller nodes count as leaves."""
    found = np.empty(len(X), dtype=np.int64)
    pending = [(root, np.arange(len(X)))]
    while pending:
        node, rows = pending.pop()
        found[rows] = node.majority
        if node.children and node.size >= min_size:
            pending.extend(zip(node.children, _branches(node, X, rows), strict=True))
    return found


def _branches(node: Node, X: Matrix, rows: Rows) -> Sequence[Rows]:
    values = X[rows, node.feature]
    if len(node.values):
        return [rows[values == value] for value in node.values]
    return [rows[values <= node.threshold], rows[values > node.threshold]]
