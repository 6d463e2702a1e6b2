"""The readable text of a fitted tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drmbench.methods.c45.compiled import LEAF, CompiledTree
from drmbench.methods.c45.criteria import TOLERANCE, FloatArray


@dataclass(frozen=True)
class Wording:
    """The names a tree is written with.

    Attributes
    ----------
    features : sequence of str
        Name of each attribute.
    classes : sequence of str
        Name of each class.
    categories : sequence of arrays or None
        The values of each nominal attribute; None for a numeric one.
    decimals : int
        Digits after the point of thresholds.
    """

    features: Sequence[str]
    classes: Sequence[str]
    categories: Sequence[FloatArray | None]
    decimals: int


def tree_text(tree: CompiledTree, wording: Wording) -> str:
    """Write a tree in the layout C4.5 made familiar, one test a line.

    A leaf ends its line with ``: class (examples/errors)``, both weights of training
    examples rounded to two decimals, the errors left out when there are none.

    Parameters
    ----------
    tree : CompiledTree
        The fitted tree.
    wording : Wording
        Names and number format.
    """
    lines: list[str] = []
    pending = [(0, "")]
    while pending:
        node, line = pending.pop()
        if tree.attribute[node] == LEAF:
            line += _leaf_text(tree, node, wording)
        lines.append(line)
        indent = "|   " * line.count("|   ") + ("|   " if node else "")
        for branch in reversed(range(int(tree.n_children[node]))):
            test = indent + _condition(tree, node, branch, wording)
            pending.append((int(tree.first_child[node]) + branch, test))
    return "\n".join(lines if len(lines) == 1 else lines[1:])


def _condition(tree: CompiledTree, node: int, branch: int, wording: Wording) -> str:
    attribute = int(tree.attribute[node])
    name = wording.features[attribute]
    categories = wording.categories[attribute]
    if categories is not None:
        return f"{name} = {categories[branch]:g}"
    threshold = round(float(tree.threshold[node]), wording.decimals)
    number = f"{threshold + 0.0:.{wording.decimals}f}"  # a negative zero made positive
    if wording.decimals:
        number = number.rstrip("0").rstrip(".")
    return f"{name} {'<=' if branch == 0 else '>'} {number}"


def _leaf_text(tree: CompiledTree, node: int, wording: Wording) -> str:
    total = float(tree.counts[node].sum())
    majority = tree.majority(node)
    errors = total - float(tree.counts[node, majority])
    shown = f"{round(total, 2)}"
    if errors > TOLERANCE:
        shown += f"/{round(errors, 2)}"
    return f": {wording.classes[majority]} ({shown})"
