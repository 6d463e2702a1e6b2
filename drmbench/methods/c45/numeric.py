"""The best threshold of every numeric attribute at a node, many attributes at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drmbench.methods.c45.criteria import (
    TOLERANCE,
    Candidates,
    FloatArray,
    GrowthRule,
    IntArray,
    clear_maximum,
    gain_ratio,
    x_log_x,
)
from drmbench.methods.c45.training import Sample, TrainingData

# Cells (attributes × examples) worked on at once: small enough for the processor's
# cache, large enough that numpy's overhead per call does not matter.
BLOCK_CELLS = 1 << 17

# A numeric branch needs a tenth of the average class size, at least the user's
# minimum; a tenth above this bound is cut down to it.
LARGEST_MINIMUM = 25.0


@dataclass(frozen=True)
class _SortedBlock:
    """Examples of a node in ascending order of value, one attribute a row.

    The weights have one row for all attributes where every one of them sees the same
    weights, and then so have all quantities computed from weights alone.
    """

    values: FloatArray
    classes: NDArray[np.unsignedinteger]
    weights: FloatArray


def numeric_candidates(
    data: TrainingData, attributes: IntArray, sample: Sample, rule: GrowthRule
) -> Candidates:
    """Find the threshold of largest gain for each of the given numeric attributes.

    Parameters
    ----------
    data : TrainingData
        All training examples.
    attributes : ndarray of shape (m,)
        Numbers of numeric attributes.
    sample : Sample
        The examples at the node.
    rule : GrowthRule
        Minimum branch weight, MDL correction and smallest gap between values.
    """
    found = [
        _best_thresholds(_sort_block(data, block, sample), data.n_classes, sample, rule)
        for block in _blocks(attributes, sample.rows.size)
    ]
    return Candidates(
        gain=np.concatenate([part.gain for part in found]),
        ratio=np.concatenate([part.ratio for part in found]),
        midpoint=np.concatenate([part.midpoint for part in found]),
    )


def _blocks(attributes: IntArray, n_rows: int) -> Iterator[IntArray]:
    step = max(1, BLOCK_CELLS // n_rows)
    for start in range(0, attributes.size, step):
        yield attributes[start : start + step]


def _sort_block(
    data: TrainingData, attributes: IntArray, sample: Sample
) -> _SortedBlock:
    values = data.columns[attributes[:, None], sample.rows]
    order = np.argsort(values, axis=1)  # unknown values (NaN) come last
    values = np.take_along_axis(values, order, axis=1)
    weights = sample.weights[None, :]
    unknown = np.isnan(values[:, -1]).any()
    if unknown or weights.min() < weights.max():
        weights = np.where(np.isnan(values), 0.0, sample.weights[order])
    return _SortedBlock(values, data.classes[sample.rows][order], weights)


def _best_thresholds(
    block: _SortedBlock, n_classes: int, sample: Sample, rule: GrowthRule
) -> Candidates:
    total = float(sample.weights.sum())
    left = np.cumsum(block.weights, axis=1)
    known = left[:, -1]
    allowed = _allowed_cuts(block, left, n_classes, rule)
    scale = total * math.log(2.0)
    gain = np.where(allowed, _class_information(block, left) / scale, -np.inf)
    cut = clear_maximum(gain)
    attribute = np.arange(cut.size)
    best = gain[attribute, cut]
    if rule.mdl_correction:
        tries = np.maximum(np.count_nonzero(allowed, axis=1), 1)
        best = best - np.log2(tries) / total
    best = np.where((cut >= 0) & (best > TOLERANCE), best, -np.inf)
    left, known = np.broadcast_to(left, gain.shape), np.broadcast_to(known, cut.shape)
    left_weight = left[attribute, cut]
    branch_terms = x_log_x(left_weight) + x_log_x(known - left_weight)
    return Candidates(
        gain=best,
        ratio=gain_ratio(best, branch_terms, known, total),
        midpoint=_midpoints(block.values, cut),
    )


def _allowed_cuts(
    block: _SortedBlock, left: FloatArray, n_classes: int, rule: GrowthRule
) -> NDArray[np.bool_]:
    """Mark the positions after which the sorted examples may be cut."""
    known = left[:, -1:]
    tenth = 0.1 * known / n_classes
    bounded = np.minimum(tenth, LARGEST_MINIMUM)
    least = np.where(tenth <= rule.min_weight + TOLERANCE, rule.min_weight, bounded)
    enough = np.minimum(left, known - left) >= least - TOLERANCE
    allowed = np.zeros(block.values.shape, dtype=bool)
    apart = block.values[:, :-1] + rule.value_gap < block.values[:, 1:]
    allowed[:, :-1] = apart & enough[:, :-1]
    return allowed


def _class_information(block: _SortedBlock, left: FloatArray) -> FloatArray:
    """Return gain × weight × ln 2 of cutting after each position.

    With f(w) = w ln w, left and right class weights L_c and R_c, and branch weights
    L and R, the gain is f(L+R) - f(L) - f(R) + Σ_c [f(L_c) + f(R_c) - f(L_c+R_c)].
    Moving one example from right to left changes the bracket of its own class only,
    so the sum is a running total of one change an example.
    """
    known = left[:, -1:]
    branches = x_log_x(known) - x_log_x(left) - x_log_x(known - left)
    return branches + np.cumsum(_class_changes(block), axis=1)


def _class_changes(block: _SortedBlock) -> FloatArray:
    """Return how each example, moved to the left, changes its class's bracket."""
    by_class = np.argsort(block.classes, axis=1, kind="stable")
    weights = block.weights
    if weights.shape == by_class.shape:
        weights = np.take_along_axis(weights, by_class, axis=1)
    sizes = np.bincount(block.classes[0])
    ends = np.cumsum(sizes)[sizes > 0]
    starts, sizes = ends - sizes[sizes > 0], sizes[sizes > 0]
    running = np.cumsum(weights, axis=1)
    before = np.where(starts > 0, running[:, starts - 1], 0.0)
    totals = np.repeat(running[:, ends - 1] - before, sizes, axis=1)
    class_left = running - np.repeat(before, sizes, axis=1)
    bracket = x_log_x(class_left) + x_log_x(totals - class_left)
    change = np.diff(bracket, axis=1, prepend=0.0)
    change[:, starts] = bracket[:, starts] - x_log_x(totals[:, starts])
    changes = np.empty(block.values.shape)
    np.put_along_axis(changes, by_class, change, axis=1)
    return changes


def _midpoints(values: FloatArray, cut: IntArray) -> FloatArray:
    """Return the middle of the two values each cut lies between, never the upper."""
    attribute = np.arange(cut.size)
    lower, upper = values[attribute, cut], values[attribute, cut + 1]
    middle = 0.5 * lower + 0.5 * upper
    return np.where(cut < 0, np.nan, np.where(middle >= upper, lower, middle))
