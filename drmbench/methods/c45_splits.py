"""The choice of a node's split: the best one of each attribute, then one of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drmbench.methods.c45_examples import (
    TOLERANCE,
    Examples,
    FloatArray,
    IntArray,
    TrainingData,
    clear_maximum,
    weight_per_bin,
    x_log_x,
)

#: A gain may fall short of the average by this much (C4.5's own figure).
AVERAGE_SLACK = 1e-3

#: A nominal attribute with as many categories as this share of the examples says too
#: little about new ones: its gain does not count towards the average.
MANY_CATEGORIES_SHARE = 0.3

#: Cells (attributes × examples) worked on at once: small enough for the processor's
#: cache, large enough that numpy's overhead per call does not matter.
BLOCK_CELLS = 1 << 17

#: A numeric branch needs a tenth of the average class size, at least the user's
#: minimum; a tenth above this bound is cut down to it.
LARGEST_MINIMUM = 25.0


@dataclass(frozen=True)
class GrowthRule:
    """What limits the growth of a tree."""

    #: Weight of examples that at least two branches of a split must receive
    min_weight: float
    #: Charge a numeric split for the choice of its threshold (release 8)
    mdl_correction: bool
    #: Neighbouring values closer than this are not separated by a threshold
    value_gap: float
    #: A node with at most this share of examples outside its majority class stays a
    #: leaf; None switches the rule off
    min_error_share: float | None = None


@dataclass(frozen=True)
class AttributeTest:
    """A test on one attribute."""

    attribute: int  #: Number of the attribute
    #: Values up to the threshold go to branch 0, larger ones to branch 1; None for a
    #: nominal attribute, whose every category has its own branch
    threshold: float | None
    n_branches: int  #: Number of branches

    def divide(
        self, data: TrainingData, examples: Examples
    ) -> tuple[FloatArray, list[Examples]]:
        """Send examples down the branches; return the branches' shares, and the parts.

        The shares are of the examples of known value. An example of unknown value goes
        to every branch, its weight multiplied by the branch's share; shares within the
        tolerance of zero receive no part of it.
        """
        values = data.columns[self.attribute, examples.rows]
        unknown = np.isnan(values)
        known = ~unknown
        branch = np.full(values.shape, -1, dtype=np.intp)
        if self.threshold is None:
            branch[known] = values[known]
        else:
            branch[known] = values[known] > self.threshold
        shares = weight_per_bin(branch[known], examples.weights[known], self.n_branches)
        total = float(shares.sum())
        if total < TOLERANCE:
            shares = np.full(shares.shape, 1.0 / shares.size)
        else:
            shares = shares / total
        parts = []
        for number, share in enumerate(shares):
            taken = branch == number
            weights = examples.weights
            if share > TOLERANCE and unknown.any():
                weights = np.where(taken, weights, share * weights)
                taken |= unknown
            parts.append(Examples(examples.rows[taken], weights[taken]))
        return shares, parts


@dataclass(frozen=True)
class BestSplits:
    """The best split of each of several attributes, one array entry per attribute."""

    #: Information gain in bits, or ``-inf`` where the attribute offers no split
    gain: FloatArray
    ratio: FloatArray  #: Gain ratio; 0 where the attribute offers no split
    #: Midpoint of the two values a numeric split lies between; NaN otherwise
    midpoint: FloatArray


def select_split(
    data: TrainingData, examples: Examples, rule: GrowthRule
) -> AttributeTest | None:
    """Choose a node's split by gain ratio among those of at least average gain.

    It is None if no attribute offers a useful split.
    """
    p = len(data.columns)
    gain, ratio, midpoint = np.full(p, -np.inf), np.zeros(p), np.full(p, np.nan)
    for attributes, score in (
        (data.numeric, numeric_candidates),
        (data.nominal, nominal_candidates),
    ):
        if attributes.size:
            part = score(data, attributes, examples, rule)
            gain[attributes], ratio[attributes] = part.gain, part.ratio
            midpoint[attributes] = part.midpoint
    offered = np.isfinite(gain)
    many = data.n_categories >= MANY_CATEGORIES_SHARE * data.n_examples
    many &= data.n_categories > 0
    counted = offered if many.all() else offered & ~many
    if not counted.any():
        return None
    average = gain[counted].sum() / np.count_nonzero(counted)
    eligible = offered & (gain >= average - AVERAGE_SLACK)
    best = int(clear_maximum(np.where(eligible, ratio, -np.inf)[None, :])[0])
    if best < 0:
        return None
    if data.n_categories[best]:
        return AttributeTest(best, None, int(data.n_categories[best]))
    # The threshold is moved down to a value that was observed.
    column = data.columns[best]
    return AttributeTest(best, float(column[column <= midpoint[best]].max()), 2)


def _gain_ratio(
    gain: FloatArray, branch_terms: FloatArray, known: FloatArray, total: float
) -> FloatArray:
    """Divide gains by the split information; examples with unknown value are a branch.

    ``branch_terms`` are sums of ``w ln w`` over the weights of the branches.
    """
    unknown_term = x_log_x(np.maximum(total - known, 0.0))
    whole = total * math.log(total)
    information = (whole - branch_terms - unknown_term) / math.log(2.0)
    informative = (information > TOLERANCE) & np.isfinite(gain)
    ratio = np.zeros_like(gain)
    np.divide(gain * total, information, out=ratio, where=informative)
    return ratio


@dataclass(frozen=True)
class _SortedBlock:
    """Examples of a node in ascending order of value, one attribute per row.

    The weights have one row for all attributes where every one of them sees the same
    weights, and then so have all quantities computed from weights alone.
    """

    values: FloatArray
    classes: NDArray[np.unsignedinteger]
    weights: FloatArray

    @classmethod
    def of(
        cls, data: TrainingData, attributes: IntArray, examples: Examples
    ) -> _SortedBlock:
        values = data.columns[attributes[:, None], examples.rows]
        order = np.argsort(values, axis=1)  # unknown values (NaN) come last
        values = np.take_along_axis(values, order, axis=1)
        weights = examples.weights[None, :]
        unknown = np.isnan(values[:, -1]).any()
        if unknown or weights.min() < weights.max():
            weights = np.where(np.isnan(values), 0.0, examples.weights[order])
        return cls(values, data.classes[examples.rows][order], weights)


def numeric_candidates(
    data: TrainingData, attributes: IntArray, examples: Examples, rule: GrowthRule
) -> BestSplits:
    """Find the threshold of largest gain for each of the given numeric attributes."""
    total = float(examples.weights.sum())
    step = max(1, BLOCK_CELLS // examples.rows.size)
    found = []
    for start in range(0, attributes.size, step):
        block = _SortedBlock.of(data, attributes[start : start + step], examples)
        found.append(_best_thresholds(block, data.n_classes, total, rule))
    return BestSplits(
        gain=np.concatenate([part.gain for part in found]),
        ratio=np.concatenate([part.ratio for part in found]),
        midpoint=np.concatenate([part.midpoint for part in found]),
    )


def _best_thresholds(
    block: _SortedBlock, n_classes: int, total: float, rule: GrowthRule
) -> BestSplits:
    """Find the best cut of each row of the block.

    With f(w) = w ln w, left and right class weights L_c and R_c, and branch weights
    L and R, the gain is f(L+R) - f(L) - f(R) + Σ_c [f(L_c) + f(R_c) - f(L_c+R_c)].
    Moving one example from right to left changes the bracket of its own class only,
    so the sum is a running total of one change per example.
    """
    left = np.cumsum(block.weights, axis=1)
    known = left[:, -1:]
    allowed = _allowed_cuts(block, left, n_classes, rule)
    branches = x_log_x(known) - x_log_x(left) - x_log_x(known - left)
    information = branches + np.cumsum(_class_changes(block), axis=1)
    gain = np.where(allowed, information / (total * math.log(2.0)), -np.inf)
    cut = clear_maximum(gain)
    attribute = np.arange(cut.size)
    best = gain[attribute, cut]
    if rule.mdl_correction:
        tries = np.maximum(np.count_nonzero(allowed, axis=1), 1)
        best = best - np.log2(tries) / total
    best = np.where((cut >= 0) & (best > TOLERANCE), best, -np.inf)
    left_weight = np.broadcast_to(left, gain.shape)[attribute, cut]
    known = np.broadcast_to(known[:, 0], cut.shape)
    branch_terms = x_log_x(left_weight) + x_log_x(known - left_weight)
    # The middle of two neighbouring numbers may round to the upper one.
    lower, upper = block.values[attribute, cut], block.values[attribute, cut + 1]
    middle = 0.5 * lower + 0.5 * upper
    middle = np.where(middle >= upper, lower, middle)
    return BestSplits(
        gain=best,
        ratio=_gain_ratio(best, branch_terms, known, total),
        midpoint=np.where(cut < 0, np.nan, middle),
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


def nominal_candidates(
    data: TrainingData, attributes: IntArray, examples: Examples, rule: GrowthRule
) -> BestSplits:
    """Score the split into all categories for each of the given nominal attributes."""
    total = float(examples.weights.sum())
    gain = np.full(attributes.size, -np.inf)
    known, branch_terms = np.empty(attributes.size), np.empty(attributes.size)
    for place, attribute in enumerate(attributes):
        table = data.class_table(attribute, examples)
        branches = table.sum(axis=1)
        known[place] = table.sum()
        branch_terms[place] = x_log_x(branches).sum()
        if np.count_nonzero(branches >= rule.min_weight - TOLERANCE) >= 2:
            before = x_log_x(known[[place]]).sum() - x_log_x(table.sum(axis=0)).sum()
            after = branch_terms[place] - x_log_x(table).sum()
            bits = float(before - after) / math.log(2.0)
            gain[place] = (0.0 if abs(bits) < TOLERANCE else bits) / total
    return BestSplits(
        gain=gain,
        ratio=_gain_ratio(gain, branch_terms, known, total),
        midpoint=np.full(gain.shape, np.nan),
    )
