"""The multiway split of every nominal attribute at a node."""

from __future__ import annotations

import math

import numpy as np

from drmbench.methods.c45.criteria import (
    TOLERANCE,
    Candidates,
    FloatArray,
    GrowthRule,
    IntArray,
    gain_ratio,
    x_log_x,
)
from drmbench.methods.c45.training import Sample, TrainingData, weight_per_bin


def nominal_candidates(
    data: TrainingData, attributes: IntArray, sample: Sample, rule: GrowthRule
) -> Candidates:
    """Score the split into all categories for each of the given nominal attributes.

    Parameters
    ----------
    data : TrainingData
        All training examples.
    attributes : ndarray of shape (m,)
        Numbers of nominal attributes.
    sample : Sample
        The examples at the node.
    rule : GrowthRule
        Minimum branch weight.
    """
    tables = [_class_table(data, attribute, sample) for attribute in attributes]
    total = float(sample.weights.sum())
    known = np.array([table.sum() for table in tables])
    branches = np.array([x_log_x(table.sum(axis=1)).sum() for table in tables])
    gain = np.array([_weighted_gain(table) for table in tables]) / total
    useful = np.array([_splits_enough(table, rule.min_weight) for table in tables])
    gain = np.where(useful, gain, -np.inf)
    return Candidates(
        gain=gain,
        ratio=gain_ratio(gain, branches, known, total),
        midpoint=np.full(gain.shape, np.nan),
    )


def _class_table(data: TrainingData, attribute: int, sample: Sample) -> FloatArray:
    """Return the weight of each category (row) and class (column)."""
    values = data.columns[attribute, sample.rows]
    known = ~np.isnan(values)
    shape = (int(data.n_categories[attribute]), data.n_classes)
    cell = values[known].astype(np.intp) * data.n_classes
    cell += data.classes[sample.rows[known]]
    cells = weight_per_bin(cell, sample.weights[known], math.prod(shape))
    return cells.reshape(shape)


def _weighted_gain(table: FloatArray) -> float:
    """Return the information gain in bits times the weight of known examples."""
    before = x_log_x(table.sum()[None]).sum() - x_log_x(table.sum(axis=0)).sum()
    after = x_log_x(table.sum(axis=1)).sum() - x_log_x(table).sum()
    gain = float(before - after) / math.log(2.0)
    return 0.0 if abs(gain) < TOLERANCE else gain


def _splits_enough(table: FloatArray, min_weight: float) -> bool:
    large = table.sum(axis=1) >= min_weight - TOLERANCE
    return int(np.count_nonzero(large)) >= 2
