"""A C4.5 tree: growing its nodes, cutting them back, and what then predicts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from drmbench.methods.c45_examples import (
    TOLERANCE,
    Examples,
    FloatArray,
    IntArray,
    TrainingData,
    majority_class,
    misclassified,
)
from drmbench.methods.c45_splits import AttributeTest, GrowthRule, select_split

#: Stands for the tested attribute at a leaf of a compiled tree.
LEAF = -1

#: A subtree must save this many training errors, or it is collapsed.
COLLAPSE_SLACK = 1e-3

#: A simpler tree may have this many more estimated errors than the larger one.
PRUNING_SLACK = 0.1


@dataclass(slots=True, eq=False)
class C45Node:
    """A node of a growing or shrinking tree; a leaf as long as it has no test."""

    examples: Examples  #: The training examples that reach the node
    counts: FloatArray  #: Weight of each class among them
    test: AttributeTest | None = None  #: The test at the node; None at a leaf
    #: Share of examples of known value that each branch receives; empty at a leaf
    shares: FloatArray = field(default_factory=lambda: np.empty(0))
    #: One node per branch; empty at a leaf
    children: list[C45Node] = field(default_factory=list)

    @classmethod
    def leaf(cls, data: TrainingData, examples: Examples) -> C45Node:
        """Make a leaf for some examples."""
        return cls(examples, data.class_weights(examples))

    def grow(self, data: TrainingData, test: AttributeTest) -> None:
        """Split the node into leaves."""
        self.test = test
        self.shares, parts = test.divide(data, self.examples)
        self.children = [C45Node.leaf(data, part) for part in parts]

    def become_leaf(self) -> None:
        """Cut off everything below the node."""
        self.test, self.shares, self.children = None, np.empty(0), []

    def bottom_up(self) -> Iterator[C45Node]:
        """Iterate over the subtree, children before their parents."""
        top_down, pending = [], [self]
        while pending:
            node = pending.pop()
            top_down.append(node)
            pending.extend(node.children)
        return reversed(top_down)

    def largest_branch(self) -> C45Node:
        """Return the child that receives most examples, the last of them in a tie."""
        weights = self.counts.sum() * self.shares
        largest, most = 0, 0.0
        for number, weight in enumerate(weights.tolist()):
            if weight >= most - TOLERANCE:
                largest, most = number, weight
        return self.children[largest]

    def copy(self) -> C45Node:
        """Copy the tree; the examples, which never change, are shared."""
        twin: dict[C45Node, C45Node] = {}
        for node in self.bottom_up():
            children = [twin[child] for child in node.children]
            twin[node] = C45Node(
                node.examples, node.counts, node.test, node.shares, children
            )
        return twin[self]


def grow_tree(data: TrainingData, examples: Examples, rule: GrowthRule) -> C45Node:
    """Grow a tree until no node should or can be split."""
    root = C45Node.leaf(data, examples)
    pending = [root]
    while pending:
        node = pending.pop()
        too_small = node.counts.sum() < 2 * rule.min_weight - TOLERANCE
        pure = misclassified(node.counts) < TOLERANCE
        if too_small or pure or _few_errors(node, rule.min_error_share):
            continue
        test = select_split(data, node.examples, rule)
        if test is not None:
            node.grow(data, test)
            pending.extend(node.children)
    return root


def cut_at(root: C45Node, min_error_share: float | None) -> C45Node:
    """Return what would have grown under the rule, from a tree grown without it.

    Whether and how a node is split depends on its own examples only, so the tree grown
    under the rule is the free one, cut at the first nodes that satisfy the rule.
    """
    cut = root.copy()
    pending = [cut]
    while pending:
        node = pending.pop()
        if node.children and _few_errors(node, min_error_share):
            node.become_leaf()
        pending.extend(node.children)
    return cut


def _few_errors(node: C45Node, min_error_share: float | None) -> bool:
    """Tell whether the pre-pruning rule makes a node a leaf."""
    if min_error_share is None:
        return False
    # A quotient of whole numbers rounds as the decimal share itself does, so 1 of 20
    # is 5 %; the product 0.05 × 20 would carry no such promise.
    return bool(misclassified(node.counts) / node.counts.sum() <= min_error_share)


def collapse(root: C45Node) -> None:
    """Cut off every subtree that makes no fewer training errors than a leaf would."""
    below: dict[C45Node, float] = {}
    for node in root.bottom_up():
        children = sum(below[child] for child in node.children)
        below[node] = children if node.children else misclassified(node.counts)
    pending = [root]
    while pending:
        node = pending.pop()
        if below[node] >= misclassified(node.counts) - COLLAPSE_SLACK:
            node.become_leaf()
        pending.extend(node.children)


def estimated_errors(total: float, errors: float, confidence: float) -> float:
    """Estimate the errors that a leaf would make on as many new examples.

    The estimate is the upper end of a one-sided confidence interval for the binomial
    error rate: exact without errors, Wilson's with a continuity correction from one
    error on, and linear in between. The smaller the confidence factor (between 0 and
    0.5), the more pessimistic it is.

    Examples
    --------
    The three leaves of Quinlan's example (1993, p. 42), which have no errors:

    >>> [round(estimated_errors(n, 0.0, 0.25) / n, 3) for n in (6, 9, 1)]
    [0.206, 0.143, 0.75]
    """
    if total < TOLERANCE:
        return 0.0
    if errors < 1.0:
        at_zero = total * (1.0 - math.pow(confidence, 1.0 / total))
        if errors == 0.0:
            return at_zero
        at_one = estimated_errors(total, 1.0, confidence) - 1.0
        return errors + at_zero + errors * (at_one - at_zero)
    if errors + 0.5 >= total:
        return max(total, errors)
    rate, z = (errors + 0.5) / total, float(ndtri(1.0 - confidence))
    spread = math.sqrt(rate * (1.0 - rate) / total + (z / (2.0 * total)) ** 2)
    limit = (rate + z * z / (2.0 * total) + z * spread) / (1.0 + z * z / total)
    return total * limit


class ErrorBasedPruning:
    """C4.5's pruning of one tree by estimated errors.

    With `raising` a node may be replaced by its largest branch as well as by a leaf.
    """

    def __init__(self, data: TrainingData, confidence: float, raising: bool) -> None:
        self._data = data
        self._confidence = confidence
        self._raising = raising
        self._errors: dict[C45Node, float] = {}

    def prune(self, root: C45Node) -> None:
        """Prune a tree in place, from the leaves up.

        A node replaced by its largest branch receives more examples than the branch
        had, so that its whole subtree is looked at again.
        """
        agenda = [(root, False)]
        while agenda:
            node, children_settled = agenda.pop()
            if node.test is None:
                self._errors[node] = self._leaf_errors(node.counts)
            elif not children_settled:
                agenda.append((node, True))
                agenda.extend((child, False) for child in node.children)
            elif self._settle(node):
                agenda.append((node, False))

    def _settle(self, node: C45Node) -> bool:
        """Decide about a node; True if it was raised and must be visited again."""
        as_leaf = self._leaf_errors(node.counts)
        as_tree = sum(self._errors[child] for child in node.children)
        branch = node.largest_branch()
        as_branch = math.inf
        if self._raising:
            limit = max(as_leaf, as_tree) + 2 * PRUNING_SLACK
            as_branch = self._errors_of(branch, node.examples, limit)
        if _not_worse(as_leaf, min(as_tree, as_branch)):
            node.become_leaf()
            self._errors[node] = as_leaf
            return False
        if _not_worse(as_branch, as_tree):
            self._raise(branch, node)
            return True
        self._errors[node] = as_tree
        return False

    def _leaf_errors(self, counts: FloatArray) -> float:
        total = float(counts.sum())
        return estimated_errors(total, misclassified(counts), self._confidence)

    def _errors_of(self, branch: C45Node, examples: Examples, limit: float) -> float:
        """Estimate a subtree's errors on these examples, or stop above the limit."""
        errors = 0.0
        pending = [(branch, examples)]
        while pending and errors <= limit:
            node, part = pending.pop()
            if node.test is None:
                errors += self._leaf_errors(self._data.class_weights(part))
            else:
                _, parts = node.test.divide(self._data, part)
                pending.extend(zip(node.children, parts, strict=True))
        return errors

    def _raise(self, branch: C45Node, node: C45Node) -> None:
        """Put a branch in its parent's place and send the parent's examples down."""
        node.test, node.shares = branch.test, branch.shares
        node.children = branch.children
        pending = [(node, node.examples)]
        while pending:
            member, examples = pending.pop()
            member.examples = examples
            member.counts = self._data.class_weights(examples)
            if member.test is not None:
                member.shares, parts = member.test.divide(self._data, examples)
                pending.extend(zip(member.children, parts, strict=True))


def _not_worse(simpler: float, larger: float) -> bool:
    return simpler <= larger + PRUNING_SLACK + TOLERANCE


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
        """Return every node's class shares; `laplace` adds one to each count."""
        counts = self.counts[self.fallback] + (1.0 if laplace else 0.0)
        distribution: FloatArray = counts / counts.sum(axis=1, keepdims=True)
        return distribution

    def predict(self, X: FloatArray, laplace: bool) -> FloatArray:
        """Return class probabilities, shape (n_examples, n_classes).

        An example of unknown value goes down all branches by their shares; one whose
        nominal value was never seen stops at the node that asks for it.
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
    ``decimals`` are the digits after the point of thresholds.
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
