"""The parts of C4.5 against slow, literal versions of their definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from drmbench.methods import c45_splits
from drmbench.methods.c45_examples import (
    Examples,
    TrainingData,
    clear_maximum,
    encode,
    find_categories,
    majority_class,
    misclassified,
)
from drmbench.methods.c45_splits import (
    GrowthRule,
    nominal_candidates,
    numeric_candidates,
)
from drmbench.methods.c45_tree import estimated_errors

RELAXED = settings(max_examples=60, deadline=None, derandomize=True)


def _entropy(weights: np.ndarray) -> float:
    """Entropy in bits of a distribution given by weights."""
    shares = weights[weights > 0] / weights.sum()
    return float(-(shares * np.log2(shares)).sum())


def _class_weights(y: np.ndarray, w: np.ndarray, n_classes: int) -> np.ndarray:
    return np.array([w[y == c].sum() for c in range(n_classes)])


def _literal_gain(
    branch: np.ndarray, y: np.ndarray, w: np.ndarray, n_classes: int
) -> tuple[float, float]:
    """Gain and split information by Quinlan's formulas; branch -1 is unknown."""
    known = branch >= 0
    after = sum(
        w[branch == b].sum() * _entropy(_class_weights(y, w * (branch == b), n_classes))
        for b in np.unique(branch[known])
    )
    inside = w[known].sum()
    before = _entropy(_class_weights(y, w * known, n_classes))
    gain = inside / w.sum() * (before - after / inside)
    groups = np.array([w[branch == b].sum() for b in np.unique(branch)])
    return gain, _entropy(groups)


def _literal_threshold(
    x: np.ndarray, y: np.ndarray, w: np.ndarray, n_classes: int, rule: GrowthRule
) -> tuple[float, float, float]:
    """Best gain, its ratio and midpoint, trying every pair of neighbouring values."""
    known = ~np.isnan(x)
    least = 0.1 * w[known].sum() / n_classes
    least = rule.min_weight if least <= rule.min_weight else min(least, 25.0)
    values = np.unique(x[known])
    best, tries, information, midpoint = 0.0, 0, 1.0, math.nan
    for low, high in itertools.pairwise(values):
        branch = np.where(known, x > low, -1)
        sides = [w[branch == 0].sum(), w[branch == 1].sum()]
        if high - low > rule.value_gap and min(sides) >= least - 1e-6:
            tries += 1
            gain, split_information = _literal_gain(branch, y, w, n_classes)
            if gain > best + 1e-6:
                best, information, midpoint = gain, split_information, (low + high) / 2
    corrected = best - math.log2(max(tries, 1)) / w.sum()
    if corrected <= 1e-6:
        return -math.inf, 0.0, midpoint
    return corrected, corrected / information, midpoint


def _problem(seed: int, gaps: float, weighted: bool) -> tuple[TrainingData, Examples]:
    random = np.random.default_rng(seed)
    n, p, g = random.integers(6, 60), random.integers(1, 6), random.integers(2, 5)
    columns = random.normal(size=(p, n)).round(int(random.integers(0, 3)))
    columns = np.where(random.uniform(size=(p, n)) < gaps, np.nan, columns)
    classes = random.integers(0, g, size=n).astype(np.uint8)
    weights = random.uniform(0.2, 2.0, size=n) if weighted else np.ones(n)
    data = TrainingData(columns, classes, int(g), np.zeros(p, dtype=np.intp), float(n))
    return data, Examples(np.arange(n), weights)


@RELAXED
@given(
    seed=st.integers(0, 10_000),
    gaps=st.sampled_from([0.0, 0.0, 0.2, 0.6]),
    weighted=st.booleans(),
)
def test_numeric_splits_are_those_of_the_literal_search(
    seed: int, gaps: float, weighted: bool
) -> None:
    data, sample = _problem(seed, gaps, weighted)
    rule = GrowthRule(min_weight=2.0, mdl_correction=True, value_gap=1e-5)
    found = numeric_candidates(data, data.numeric, sample, rule)
    for number, x in enumerate(data.columns):
        y, w = data.classes, sample.weights
        gain, ratio, midpoint = _literal_threshold(x, y, w, data.n_classes, rule)
        np.testing.assert_allclose(found.gain[number], gain, atol=1e-9)
        np.testing.assert_allclose(found.ratio[number], ratio, atol=1e-9)
        if gain > 0:
            np.testing.assert_allclose(found.midpoint[number], midpoint)


def test_the_size_of_blocks_does_not_change_the_splits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, sample = _problem(3, gaps=0.1, weighted=True)
    rule = GrowthRule(min_weight=2.0, mdl_correction=False, value_gap=0.0)
    whole = numeric_candidates(data, data.numeric, sample, rule)
    monkeypatch.setattr(c45_splits, "BLOCK_CELLS", 1)
    single = numeric_candidates(data, data.numeric, sample, rule)
    np.testing.assert_array_equal(whole.gain, single.gain)
    np.testing.assert_array_equal(whole.ratio, single.ratio)
    np.testing.assert_array_equal(whole.midpoint, single.midpoint)


@RELAXED
@given(seed=st.integers(0, 10_000), gaps=st.sampled_from([0.0, 0.3]))
def test_nominal_splits_follow_the_formulas(seed: int, gaps: float) -> None:
    random = np.random.default_rng(seed)
    n, k, g = 30, int(random.integers(2, 6)), 3
    values = random.integers(0, k, size=n).astype(np.float64)
    values[random.uniform(size=n) < gaps] = np.nan
    classes = random.integers(0, g, size=n).astype(np.uint8)
    data = TrainingData(values[None, :], classes, g, np.array([k]), float(n))
    sample = Examples(np.arange(n), random.uniform(0.5, 1.5, size=n))
    rule = GrowthRule(min_weight=1.0, mdl_correction=True, value_gap=0.0)
    found = nominal_candidates(data, data.nominal, sample, rule)
    branch = np.where(np.isnan(values), -1.0, values)
    gain, information = _literal_gain(branch, classes, sample.weights, g)
    np.testing.assert_allclose(found.gain, [gain], atol=1e-9)
    np.testing.assert_allclose(found.ratio, [gain / information], atol=1e-9)


def test_a_nominal_split_needs_two_branches_of_minimum_weight() -> None:
    values = np.array([[0.0, 0.0, 0.0, 0.0, 1.0, 2.0]])
    data = TrainingData(
        values, np.array([0, 0, 0, 0, 1, 1], dtype=np.uint8), 2, np.array([3]), 6.0
    )
    sample = Examples(np.arange(6), np.ones(6))
    rule = GrowthRule(min_weight=2.0, mdl_correction=True, value_gap=0.0)
    assert nominal_candidates(data, data.nominal, sample, rule).gain[0] == -np.inf


@RELAXED
@given(
    st.lists(
        st.lists(st.integers(-2, 8), min_size=5, max_size=5), min_size=1, max_size=6
    )
)
def test_clear_maximum_is_a_scan_with_a_threshold(rows: list[list[int]]) -> None:
    scores = np.array(rows) * 0.7e-6  # steps below the tolerance of 1e-6
    expected = []
    for row in scores:
        index, best = -1, 0.0
        for position, score in enumerate(row):
            if score - best > 1e-6:
                index, best = position, score
        expected.append(index)
    assert clear_maximum(scores).tolist() == expected


def test_majority_ties_go_to_the_first_class() -> None:
    assert majority_class(np.array([0.0, 2.0, 2.0 + 1e-9])) == 1
    assert majority_class(np.zeros(3)) == 0
    assert misclassified(np.array([1.0, 4.0, 2.5])) == 3.5


@pytest.mark.parametrize("confidence", [0.05, 0.25, 0.5])
@pytest.mark.parametrize("total", [1, 4, 16, 168])
def test_error_limit_without_errors_is_exact(total: int, confidence: float) -> None:
    # The rate at which no error in `total` draws has just this probability.
    rate = estimated_errors(total, 0.0, confidence) / total
    assert stats.binom.cdf(0, total, rate) == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("total", "errors"), [(40, 1), (40, 7), (300, 20), (1000, 333)]
)
def test_error_limit_is_close_to_the_exact_binomial_one(
    total: int, errors: int
) -> None:
    exact = stats.beta.ppf(0.75, errors + 1, total - errors)
    assert estimated_errors(total, errors, 0.25) / total == pytest.approx(
        exact, rel=0.1
    )


def test_error_limit_joins_its_pieces_and_never_exceeds_the_total() -> None:
    at_zero, at_half, at_one = (estimated_errors(10, e, 0.25) for e in (0.0, 0.5, 1.0))
    assert at_half == pytest.approx((at_zero + at_one) / 2)
    assert estimated_errors(3, 2.7, 0.25) == 3
    assert estimated_errors(0.0, 0.0, 0.25) == 0.0


def test_encoding_keeps_unknown_and_marks_unseen_values() -> None:
    X = np.array([[1.0, 30.0], [2.0, 10.0], [np.nan, np.nan]])
    categories = find_categories(X, [False, True])
    assert categories[0] is None
    new = np.array([[1.5, 10.0], [0.0, 20.0], [0.0, 99.0], [0.0, np.nan]])
    np.testing.assert_array_equal(
        encode(new, categories)[:, 1], [0.0, -1.0, -1.0, np.nan]
    )
