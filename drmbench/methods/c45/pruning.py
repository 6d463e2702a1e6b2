"""Cutting a grown tree back: collapsing, subtree replacement and subtree raising."""

from __future__ import annotations

import math

from scipy.special import ndtri

from drmbench.methods.c45.criteria import TOLERANCE, FloatArray, misclassified
from drmbench.methods.c45.node import Node
from drmbench.methods.c45.training import Sample, TrainingData

# A subtree must save this many training errors, or it is collapsed.
COLLAPSE_SLACK = 1e-3

# A simpler tree may have this many more estimated errors than the larger one.
PRUNING_SLACK = 0.1


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
    return total * _wilson_limit((errors + 0.5) / total, total, confidence)


def _wilson_limit(rate: float, total: float, confidence: float) -> float:
    z = float(ndtri(1.0 - confidence))
    spread = math.sqrt(rate * (1.0 - rate) / total + (z / (2.0 * total)) ** 2)
    return (rate + z * z / (2.0 * total) + z * spread) / (1.0 + z * z / total)


def collapse(root: Node) -> None:
    """Cut off every subtree that makes no fewer training errors than a leaf would."""
    below: dict[Node, float] = {}
    for node in root.bottom_up():
        children = sum(below[child] for child in node.children)
        below[node] = children if node.children else misclassified(node.counts)
    pending = [root]
    while pending:
        node = pending.pop()
        if below[node] >= misclassified(node.counts) - COLLAPSE_SLACK:
            node.become_leaf()
        pending.extend(node.children)


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
        self._errors: dict[Node, float] = {}

    def prune(self, root: Node) -> None:
        """Prune a tree in place, from the leaves up.

        A node replaced by its largest branch receives more examples than the branch
        had, so that its whole subtree is looked at again.
        """
        agenda = [(root, False)]
        while agenda:
            node, children_settled = agenda.pop()
            if node.split is None:
                self._errors[node] = self._leaf_errors(node.counts)
            elif not children_settled:
                agenda.append((node, True))
                agenda.extend((child, False) for child in node.children)
            elif self._settle(node):
                agenda.append((node, False))

    def _settle(self, node: Node) -> bool:
        """Decide about a node; True if it was raised and must be visited again."""
        as_leaf = self._leaf_errors(node.counts)
        as_tree = sum(self._errors[child] for child in node.children)
        branch = node.children[_largest_branch(node)]
        as_branch = math.inf
        if self._raising:
            limit = max(as_leaf, as_tree) + 2 * PRUNING_SLACK
            as_branch = self._errors_of(branch, node.sample, limit)
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

    def _errors_of(self, branch: Node, sample: Sample, limit: float) -> float:
        """Estimate the errors of a subtree if this sample were sent down it.

        Counting ends above the limit: more errors than that decide nothing.
        """
        errors = 0.0
        pending = [(branch, sample)]
        while pending and errors <= limit:
            node, part = pending.pop()
            if node.split is None:
                errors += self._leaf_errors(self._data.class_weights(part))
            else:
                _, parts = node.split.divide(self._data, part)
                pending.extend(zip(node.children, parts, strict=True))
        return errors

    def _raise(self, branch: Node, node: Node) -> None:
        """Put a branch in its parent's place and send the parent's examples down."""
        node.split, node.shares = branch.split, branch.shares
        node.children = branch.children
        pending = [(node, node.sample)]
        while pending:
            member, sample = pending.pop()
            member.sample = sample
            member.counts = self._data.class_weights(sample)
            if member.split is not None:
                member.shares, parts = member.split.divide(self._data, sample)
                pending.extend(zip(member.children, parts, strict=True))


def _largest_branch(node: Node) -> int:
    """Return the branch that receives most examples, the last of them in a tie."""
    weights = node.counts.sum() * node.shares
    largest, most = 0, 0.0
    for number, weight in enumerate(weights.tolist()):
        if weight >= most - TOLERANCE:
            largest, most = number, weight
    return largest


def _not_worse(simpler: float, larger: float) -> bool:
    return simpler <= larger + PRUNING_SLACK + TOLERANCE
