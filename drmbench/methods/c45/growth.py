"""Growing a tree from the root down, and cutting a grown one by the same rule."""

from __future__ import annotations

from drmbench.methods.c45.criteria import (
    TOLERANCE,
    FloatArray,
    GrowthRule,
    misclassified,
)
from drmbench.methods.c45.node import Node
from drmbench.methods.c45.selection import select_split
from drmbench.methods.c45.training import Sample, TrainingData


def grow_tree(data: TrainingData, sample: Sample, rule: GrowthRule) -> Node:
    """Grow a tree on a sample until no node should or can be split.

    Parameters
    ----------
    data : TrainingData
        All training examples.
    sample : Sample
        The examples at the root.
    rule : GrowthRule
        What limits the growth.
    """
    root = Node.leaf(data, sample)
    pending = [root]
    while pending:
        node = pending.pop()
        if _is_final(node.counts, rule):
            continue
        split = select_split(data, node.sample, rule)
        if split is not None:
            node.grow(data, split)
            pending.extend(node.children)
    return root


def cut_at(root: Node, min_error_share: float | None) -> Node:
    """Return what would have grown under the rule, from a tree grown without it.

    Whether and how a node is split depends on its own examples only, so the tree grown
    under the rule is the free one, cut at the first nodes that satisfy the rule.

    Parameters
    ----------
    root : Node
        A tree grown without the rule; it stays as it is.
    min_error_share : float or None
        As in :class:`GrowthRule`.
    """
    cut = root.copy()
    pending = [cut]
    while pending:
        node = pending.pop()
        if node.children and few_errors(node.counts, min_error_share):
            node.become_leaf()
        pending.extend(node.children)
    return cut


def few_errors(counts: FloatArray, min_error_share: float | None) -> bool:
    """Tell whether the pre-pruning rule makes a node with these counts a leaf."""
    if min_error_share is None:
        return False
    # A quotient of whole numbers rounds as the decimal share itself does, so 1 of 20
    # is 5 %; the product 0.05 × 20 would carry no such promise.
    return bool(misclassified(counts) / counts.sum() <= min_error_share)


def _is_final(counts: FloatArray, rule: GrowthRule) -> bool:
    too_small = counts.sum() < 2 * rule.min_weight - TOLERANCE
    pure = misclassified(counts) < TOLERANCE
    return too_small or pure or few_errors(counts, rule.min_error_share)
