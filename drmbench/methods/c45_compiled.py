"""The finished tree as flat arrays: predicting level by level, and its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drmbench.methods.c45_examples import (
    TOLERANCE,
    FloatArray,
    IntArray,
    majority_class,
)
from drmbench.methods.c45_tree import C45Node

LEAF = -1


@dataclass(frozen=True, eq=False)
class CompiledTree:
    """A fitted tree; entry i of each array belongs to node i, and node 0 is the root.

    The children of a node have consecutive numbers, larger than the node's own.
    """

    attribute: IntArray  #: Attribute tested at the node; -1 at a leaf
    #: Values up to it go to the first child, larger ones to the second; NaN at a leaf
    #: and where the attribute is nominal
    threshold: FloatArray
    first_child: IntArray  #: Number of the first child; 0 at a leaf
    n_children: IntArray  #: Number of children; 0 at a leaf
    #: Share of its parent's examples of known value that came to the node
    share: FloatArray
    counts: FloatArray  #: Weight of each class among the training examples at the node
    #: The nearest node, itself or above, that training examples reached: what a branch
    #: that no example reached predicts
    fallback: IntArray

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included (J48's size of the tree)."""
        return int(self.attribute.size)

    @property
    def n_leaves(self) -> int:
        """Number of leaves, also counting those that no training example reached."""
        return int(np.count_nonzero(self.attribute == LEAF))

    @property
    def depth(self) -> int:
        """Number of tests on the longest way from the root to a leaf."""
        level = np.zeros(self.n_nodes, dtype=np.intp)
        for node in np.flatnonzero(self.attribute != LEAF).tolist():
            level[self.children(node)] = level[node] + 1
        return int(level.max())

    def children(self, node: int) -> slice:
        """Return the slice of a node's children."""
        first = int(self.first_child[node])
        return slice(first, first + int(self.n_children[node]))

    def majority(self, node: int) -> int:
        """Return the class number that a node predicts."""
        return majority_class(self.counts[self.fallback[node]])

    def probabilities(self, laplace: bool) -> FloatArray:
        """Return the class distribution of every node, shape (n_nodes, n_classes).

        Parameters
        ----------
        laplace : bool
            Add one to the count of every class.
        """
        counts = self.counts[self.fallback] + (1.0 if laplace else 0.0)
        distribution: FloatArray = counts / counts.sum(axis=1, keepdims=True)
        return distribution

    def predict(self, X: FloatArray, laplace: bool) -> FloatArray:
        """Return class probabilities, shape (n_examples, n_classes).

        Parameters
        ----------
        X : ndarray of shape (n_examples, n_features)
            Examples, nominal values encoded as in training. An example of unknown
            value goes down all branches by their shares; one whose nominal value was
            never seen stops at the node that asks for it.
        laplace : bool
            As in :meth:`probabilities`.
        """
        result = np.zeros((X.shape[0], self.counts.shape[1]))
        probabilities = self.probabilities(laplace)
        n = X.shape[0]
        way = _Way(np.arange(n), np.zeros(n, dtype=np.intp), np.ones(n))
        while way.row.size:
            attribute = self.attribute[way.node]
            nominal = np.isnan(self.threshold[way.node])
            stops = (attribute == LEAF) | (nominal & (X[way.row, attribute] < 0))
            weighted = way.weight[stops, None] * probabilities[way.node[stops]]
            np.add.at(result, way.row[stops], weighted)
            way = self._descend(X, way.only(~stops))
        return result

    def _descend(self, X: FloatArray, way: _Way) -> _Way:
        """Go down one level: to one child, or to all where the value is unknown."""
        value = X[way.row, self.attribute[way.node]]
        unknown = np.isnan(value)
        known, value = way.only(~unknown), value[~unknown]
        threshold = self.threshold[known.node]
        branch = np.where(np.isnan(threshold), value, value > threshold)
        child = self.first_child[known.node] + branch.astype(np.intp)
        way = way.only(unknown)
        repeats = self.n_children[way.node]
        before = np.repeat(np.cumsum(repeats) - repeats, repeats)
        children = np.repeat(self.first_child[way.node], repeats)
        children += np.arange(repeats.sum()) - before
        weight = np.repeat(way.weight, repeats) * self.share[children]
        spread = _Way(np.repeat(way.row, repeats), children, weight)
        spread = spread.only(spread.weight > 0.0)
        return _Way(
            np.concatenate([known.row, spread.row]),
            np.concatenate([child, spread.node]),
            np.concatenate([known.weight, spread.weight]),
        )


@dataclass(frozen=True)
class _Way:
    """Where examples, or parts of them, have come to on their way down."""

    row: IntArray
    node: IntArray
    weight: FloatArray

    def only(self, chosen: NDArray[np.bool_]) -> _Way:
        return _Way(self.row[chosen], self.node[chosen], self.weight[chosen])


def compile_tree(root: C45Node) -> CompiledTree:
    """Turn a tree of nodes into arrays, forgetting its training examples."""
    nodes, parent, share = [root], [0], [1.0]
    first_child = []
    for number, node in enumerate(nodes):  # the list grows while it is read
        first_child.append(len(nodes) if node.children else 0)
        nodes.extend(node.children)
        parent.extend(number for _ in node.children)
        share.extend(node.shares.tolist())
    counts = np.stack([node.counts for node in nodes])
    fallback = np.arange(len(nodes))
    for number in np.flatnonzero(counts.sum(axis=1) <= TOLERANCE).tolist():
        fallback[number] = fallback[parent[number]]  # parents come before children
    attribute, threshold = np.full(len(nodes), LEAF), np.full(len(nodes), np.nan)
    for number, node in enumerate(nodes):
        if node.test is not None:
            attribute[number] = node.test.attribute
            if node.test.threshold is not None:
                threshold[number] = node.test.threshold
    return CompiledTree(
        attribute=attribute,
        threshold=threshold,
        first_child=np.array(first_child, dtype=np.intp),
        n_children=np.array([len(node.children) for node in nodes], dtype=np.intp),
        share=np.array(share),
        counts=counts,
        fallback=fallback,
    )


def tree_text(
    tree: CompiledTree,
    features: Sequence[str],
    classes: Sequence[str],
    categories: Sequence[FloatArray | None],
    decimals: int,
) -> str:
    """Write a tree in the layout C4.5 made familiar, one test per line.

    A leaf ends its line with ``: class (examples/errors)``, both weights of training
    examples rounded to two decimals, the errors left out when there are none.

    Parameters
    ----------
    tree : CompiledTree
        The fitted tree.
    features, classes : sequence of str
        Names of the attributes and of the classes.
    categories : sequence of arrays or None
        The values of each nominal attribute; None for a numeric one.
    decimals : int
        Digits after the point of thresholds.
    """

    def conditions(node: int) -> list[str]:
        """Return what leads to each child of a node."""
        if tree.attribute[node] == LEAF:
            return []
        attribute = int(tree.attribute[node])
        name, values = features[attribute], categories[attribute]
        if values is not None:
            return [f"{name} = {value:g}" for value in values]
        threshold = round(float(tree.threshold[node]), decimals)
        number = f"{threshold + 0.0:.{decimals}f}"  # a negative zero made positive
        if decimals:
            number = number.rstrip("0").rstrip(".")
        return [f"{name} <= {number}", f"{name} > {number}"]

    lines: list[str] = []
    pending = [(0, 0, "")]
    while pending:
        node, depth, line = pending.pop()
        if tree.attribute[node] == LEAF:
            total, majority = float(tree.counts[node].sum()), tree.majority(node)
            errors = total - float(tree.counts[node, majority])
            shown = f"/{round(errors, 2)}" if errors > TOLERANCE else ""
            line += f": {classes[majority]} ({round(total, 2)}{shown})"
        lines.append(line)
        first = int(tree.first_child[node])
        for branch, condition in reversed(list(enumerate(conditions(node)))):
            pending.append((first + branch, depth + 1, "|   " * depth + condition))
    return "\n".join(lines if len(lines) == 1 else lines[1:])
