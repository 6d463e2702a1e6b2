"""A tree under construction: nodes that keep their training examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from drmbench.methods.c45.criteria import TOLERANCE, FloatArray, IntArray
from drmbench.methods.c45.training import Sample, TrainingData, weight_per_bin


@dataclass(frozen=True)
class Split:
    """A test on one attribute.

    Attributes
    ----------
    attribute : int
        Number of the attribute.
    threshold : float or None
        Values up to the threshold go to branch 0, larger ones to branch 1; None for a
        nominal attribute, whose every category has its own branch.
    n_branches : int
        Number of branches.
    """

    attribute: int
    threshold: float | None
    n_branches: int

    def branches(self, data: TrainingData, rows: IntArray) -> IntArray:
        """Return each row's branch, or -1 where the value is unknown."""
        values = data.columns[self.attribute, rows]
        known = ~np.isnan(values)
        branch = np.full(rows.size, -1, dtype=np.intp)
        if self.threshold is None:
            branch[known] = values[known]
        else:
            branch[known] = values[known] > self.threshold
        return branch

    def divide(
        self, data: TrainingData, sample: Sample
    ) -> tuple[FloatArray, list[Sample]]:
        """Send examples down the branches, in parts where their value is unknown.

        Parameters
        ----------
        data : TrainingData
            All training examples.
        sample : Sample
            The examples to send.

        Returns
        -------
        shares : ndarray of shape (n_branches,)
            Share of the examples of known value that each branch receives.
        parts : list of Sample
            What each branch receives. An example of unknown value goes to every
            branch, its weight multiplied by the branch's share; shares within the
            tolerance of zero receive no part of it.
        """
        branch = self.branches(data, sample.rows)
        unknown = branch < 0
        known = ~unknown
        shares = _normalised(
            weight_per_bin(branch[known], sample.weights[known], self.n_branches)
        )
        parts = []
        for number, share in enumerate(shares):
            taken = branch == number
            weights = sample.weights
            if share > TOLERANCE and unknown.any():
                weights = np.where(taken, weights, share * weights)
                taken |= unknown
            parts.append(Sample(sample.rows[taken], weights[taken]))
        return shares, parts


def _normalised(weights: FloatArray) -> FloatArray:
    total = float(weights.sum())
    if total < TOLERANCE:
        return np.full(weights.shape, 1.0 / weights.size)
    return weights / total


@dataclass(slots=True, eq=False)
class Node:
    """A node of a growing or shrinking tree; a leaf as long as it has no split.

    Attributes
    ----------
    sample : Sample
        The training examples that reach the node.
    counts : ndarray of shape (n_classes,)
        Weight of each class among them.
    split : Split or None
        The test at the node; None at a leaf.
    shares : ndarray of shape (n_branches,)
        Share of examples of known value that each branch receives; empty at a leaf.
    children : list of Node
        One node a branch; empty at a leaf.
    """

    sample: Sample
    counts: FloatArray
    split: Split | None = None
    shares: FloatArray = field(default_factory=lambda: np.empty(0))
    children: list[Node] = field(default_factory=list)

    @classmethod
    def leaf(cls, data: TrainingData, sample: Sample) -> Node:
        """Make a leaf for a sample."""
        return cls(sample, data.class_weights(sample))

    def grow(self, data: TrainingData, split: Split) -> None:
        """Split the node into leaves."""
        self.split = split
        self.shares, parts = split.divide(data, self.sample)
        self.children = [Node.leaf(data, part) for part in parts]

    def become_leaf(self) -> None:
        """Cut off everything below the node."""
        self.split, self.shares, self.children = None, np.empty(0), []

    def bottom_up(self) -> Iterator[Node]:
        """Iterate over the subtree, children before their parents."""
        top_down, pending = [], [self]
        while pending:
            node = pending.pop()
            top_down.append(node)
            pending.extend(node.children)
        return reversed(top_down)

    def copy(self) -> Node:
        """Copy the tree; the samples, which never change, are shared."""
        twin: dict[Node, Node] = {}
        for node in self.bottom_up():
            children = [twin[child] for child in node.children]
            twin[node] = Node(
                node.sample, node.counts, node.split, node.shares, children
            )
        return twin[self]
