"""The finished tree as flat arrays that predict many examples level by level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drmbench.methods.c45.criteria import (
    TOLERANCE,
    FloatArray,
    IntArray,
    majority_class,
)
from drmbench.methods.c45.node import Node, Split

LEAF = -1


@dataclass(frozen=True, eq=False)
class CompiledTree:
    """A fitted tree; entry i of each array belongs to node i, and node 0 is the root.

    The children of a node have consecutive numbers, larger than the node's own.

    Attributes
    ----------
    attribute : ndarray of shape (n_nodes,)
        Attribute tested at the node; -1 at a leaf.
    threshold : ndarray of shape (n_nodes,)
        Values up to it go to the first child, larger ones to the second; NaN at a
        leaf and where the attribute is nominal.
    first_child : ndarray of shape (n_nodes,)
        Number of the first child; 0 at a leaf.
    n_children : ndarray of shape (n_nodes,)
        Number of children; 0 at a leaf.
    share : ndarray of shape (n_nodes,)
        Share of its parent's examples of known value that came to the node.
    counts : ndarray of shape (n_nodes, n_classes)
        Weight of each class among the training examples at the node.
    fallback : ndarray of shape (n_nodes,)
        The nearest node, itself or above, that training examples reached: what a
        branch that no example reached predicts.
    """

    attribute: IntArray
    threshold: FloatArray
    first_child: IntArray
    n_children: IntArray
    share: FloatArray
    counts: FloatArray
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
        way = _Way.from_root(X.shape[0])
        while way.row.size:
            stops = self._stops(X, way)
            weighted = way.weight[stops, None] * probabilities[way.node[stops]]
            np.add.at(result, way.row[stops], weighted)
            way = self._descend(X, way.only(~stops))
        return result

    def _stops(self, X: FloatArray, way: _Way) -> NDArray[np.bool_]:
        attribute = self.attribute[way.node]
        nominal = np.isnan(self.threshold[way.node])
        stops = (attribute == LEAF) | (nominal & (X[way.row, attribute] < 0))
        return np.asarray(stops)

    def _descend(self, X: FloatArray, way: _Way) -> _Way:
        value = X[way.row, self.attribute[way.node]]
        unknown = np.isnan(value)
        known, value = way.only(~unknown), value[~unknown]
        threshold = self.threshold[known.node]
        branch = np.where(np.isnan(threshold), value, value > threshold)
        child = self.first_child[known.node] + branch.astype(np.intp)
        return _Way.joined(
            _Way(known.row, child, known.weight), self._spread(way.only(unknown))
        )

    def _spread(self, way: _Way) -> _Way:
        """Send every example down all branches of its node."""
        repeats = self.n_children[way.node]
        position = np.arange(repeats.sum()) - np.repeat(
            np.cumsum(repeats) - repeats, repeats
        )
        child = np.repeat(self.first_child[way.node], repeats) + position
        weight = np.repeat(way.weight, repeats) * self.share[child]
        spread = _Way(np.repeat(way.row, repeats), child, weight)
        return spread.only(spread.weight > 0.0)


@dataclass(frozen=True)
class _Way:
    """Where examples, or parts of them, have come to on their way down."""

    row: IntArray
    node: IntArray
    weight: FloatArray

    @classmethod
    def from_root(cls, n_rows: int) -> _Way:
        return cls(np.arange(n_rows), np.zeros(n_rows, dtype=np.intp), np.ones(n_rows))

    @classmethod
    def joined(cls, first: _Way, second: _Way) -> _Way:
        return cls(
            np.concatenate([first.row, second.row]),
            np.concatenate([first.node, second.node]),
            np.concatenate([first.weight, second.weight]),
        )

    def only(self, chosen: NDArray[np.bool_]) -> _Way:
        return _Way(self.row[chosen], self.node[chosen], self.weight[chosen])


def compile_tree(root: Node) -> CompiledTree:
    """Turn a tree of nodes into arrays, forgetting its training examples."""
    nodes, parent, share = [root], [0], [1.0]
    first_child = []
    for number, node in enumerate(nodes):  # the list grows while it is read
        first_child.append(len(nodes) if node.children else 0)
        nodes.extend(node.children)
        parent.extend(number for _ in node.children)
        share.extend(node.shares.tolist())
    counts = np.stack([node.counts for node in nodes])
    splits = [node.split for node in nodes]
    return CompiledTree(
        attribute=np.array([LEAF if s is None else s.attribute for s in splits]),
        threshold=np.array([_threshold(split) for split in splits]),
        first_child=np.array(first_child, dtype=np.intp),
        n_children=np.array([len(node.children) for node in nodes], dtype=np.intp),
        share=np.array(share),
        counts=counts,
        fallback=_nearest_reached(counts.sum(axis=1) > TOLERANCE, parent),
    )


def _threshold(split: Split | None) -> float:
    return np.nan if split is None or split.threshold is None else split.threshold


def _nearest_reached(reached: NDArray[np.bool_], parent: list[int]) -> IntArray:
    fallback = np.arange(reached.size)
    for node in np.flatnonzero(~reached):  # parents come before their children
        fallback[node] = fallback[parent[node]]
    return fallback
