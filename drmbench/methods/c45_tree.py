"""A tree under construction: its nodes, growing them, and cutting them back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri

from drmbench.methods.c45_examples import (
    TOLERANCE,
    Examples,
    FloatArray,
    TrainingData,
    misclassified,
)
from drmbench.methods.c45_splits import AttributeTest, GrowthRule, select_split

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
    """Grow a tree until no node should or can be split.

    Parameters
    ----------
    data : TrainingData
        All training examples.
    examples : Examples
        Those at the root.
    rule : GrowthRule
        What limits the growth.
    """
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

    Parameters
    ----------
    root : C45Node
        A tree grown without the rule; it stays as it is.
    min_error_share : float or None
        As in :class:`GrowthRule`.
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
    error on, and linear in between.

    Parameters
    ----------
    total : float
        Weight of the training examples at the leaf.
    errors : float
        Weight of those among them outside the majority class.
    confidence : float
        C4.5's confidence factor, between 0 and 0.5; the smaller, the more pessimistic.

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

    Parameters
    ----------
    data : TrainingData
        The examples the tree was grown on.
    confidence : float
        C4.5's confidence factor.
    raising : bool
        Whether a node may be replaced by its largest branch as well as by a leaf.
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
