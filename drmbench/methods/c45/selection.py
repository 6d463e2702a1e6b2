"""The choice of a node's split: gain ratio among splits of at least average gain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from drmbench.methods.c45.criteria import (
    Candidates,
    GrowthRule,
    clear_maximum,
)
from drmbench.methods.c45.node import Split
from drmbench.methods.c45.nominal import nominal_candidates
from drmbench.methods.c45.numeric import numeric_candidates
from drmbench.methods.c45.training import Sample, TrainingData

# A gain may fall short of the average by this much (C4.5's own figure).
AVERAGE_SLACK = 1e-3

# A nominal attribute with as many categories as this share of the examples says too
# little about new ones: its gain does not count towards the average.
MANY_CATEGORIES_SHARE = 0.3


def select_split(data: TrainingData, sample: Sample, rule: GrowthRule) -> Split | None:
    """Choose the split of a node, or None if no attribute offers a useful one.

    Parameters
    ----------
    data : TrainingData
        All training examples.
    sample : Sample
        The examples at the node.
    rule : GrowthRule
        What a split must satisfy.
    """
    candidates = _all_candidates(data, sample, rule)
    offered = np.isfinite(candidates.gain)
    counted = offered & ~_too_many_categories(data)
    if not counted.any():
        return None
    average = candidates.gain[counted].sum() / np.count_nonzero(counted)
    eligible = offered & (candidates.gain >= average - AVERAGE_SLACK)
    ratio = np.where(eligible, candidates.ratio, -np.inf)
    best = int(clear_maximum(ratio[None, :])[0])
    return None if best < 0 else _split_on(data, best, candidates.midpoint[best])


def _all_candidates(data: TrainingData, sample: Sample, rule: GrowthRule) -> Candidates:
    p = data.columns.shape[0]
    gain, ratio, midpoint = np.full(p, -np.inf), np.zeros(p), np.full(p, np.nan)
    for attributes, score in (
        (data.numeric, numeric_candidates),
        (data.nominal, nominal_candidates),
    ):
        if attributes.size:
            part = score(data, attributes, sample, rule)
            gain[attributes] = part.gain
            ratio[attributes] = part.ratio
            midpoint[attributes] = part.midpoint
    return Candidates(gain, ratio, midpoint)


def _too_many_categories(data: TrainingData) -> NDArray[np.bool_]:
    many = data.n_categories >= MANY_CATEGORIES_SHARE * data.n_examples
    many &= data.n_categories > 0
    return np.zeros_like(many) if many.all() else many


def _split_on(data: TrainingData, attribute: int, midpoint: float) -> Split:
    """Return the split, its threshold moved down to a value that was observed."""
    n_categories = int(data.n_categories[attribute])
    if n_categories:
        return Split(attribute, None, n_categories)
    column = data.columns[attribute]
    return Split(attribute, float(column[column <= midpoint].max()), 2)
