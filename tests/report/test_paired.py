"""Differences of methods with interval and test, against other ways to get them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from drmbench.report.claim_evidence import Rules
from drmbench.report.claims import load_claims
from drmbench.report.paired import (
    Compared,
    compare_over_datasets,
    compare_shares,
    corrected,
    tally,
    typical_difference,
)
from drmbench.report.statistics import wilcoxon_exact

RULES = Rules(0.5, 0.5, level=0.05, equivalent=0.01)
VALUES = st.lists(st.integers(-50, 50), min_size=6, max_size=20).map(
    lambda numbers: np.array(numbers, np.float64) / 100
)


@pytest.mark.parametrize("n", [6, 9, 15, 30])
def test_the_interval_has_the_shifts_that_the_test_does_not_reject(n: int) -> None:
    values = np.random.default_rng(n).normal(0.2, 1.0, n)
    _, interval = typical_difference(values)
    assert interval
    for end, inwards in zip(interval, (1e-9, -1e-9), strict=True):
        assert wilcoxon_exact(values - (end + inwards))[1] > 0.05
        assert wilcoxon_exact(values - (end - inwards))[1] <= 0.05


def test_the_estimate_is_the_median_of_all_means_of_two() -> None:
    values = np.random.default_rng(0).normal(0.0, 1.0, 11)
    means = [(a + b) / 2 for a, b in itertools.combinations(values, 2)] + list(values)
    assert typical_difference(values)[0] == pytest.approx(np.median(means), rel=1e-12)


def test_five_data_sets_have_no_interval() -> None:
    """The smallest two-sided p value of five is 1/16."""
    assert typical_difference(np.arange(1.0, 6.0))[1] is None
    assert typical_difference(np.arange(1.0, 7.0))[1] == (1.0, 6.0)


def test_the_interval_covers_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    drawn = random.laplace(0.3, 1.0, (2000, 10))
    ends = [typical_difference(values)[1] or (0, 0) for values in drawn]
    covered = np.mean([low <= 0.3 <= high for low, high in ends])
    assert 0.94 < covered < 0.975  # with ten data sets 95.1 % are the least possible


@given(VALUES)
def test_turning_the_pair_round_turns_everything_round(values: np.ndarray) -> None:
    one = compare_over_datasets("a", "b", values)
    other = compare_over_datasets("b", "a", -values)
    assert one.interval
    assert other.interval
    assert other.difference == pytest.approx(-one.difference, abs=1e-12)
    assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]))
    assert other.p == one.p
    assert other.tally == (one.tally or ())[::-1]
    assert sum(one.tally or ()) == one.n == len(values)


@given(VALUES, st.integers(-20, 20))
def test_a_shift_shifts_difference_and_interval(values: np.ndarray, by: int) -> None:
    before, interval = typical_difference(values)
    after, moved = typical_difference(values + by)
    assert after == pytest.approx(before + by, abs=1e-9)
    assert moved == pytest.approx([end + by for end in interval or ()], abs=1e-9)


def test_rounding_is_a_tie() -> None:
    assert tally(np.array([1e-12, -1e-12, 0.1, -0.2])) == (1, 2, 1)
    noisy = np.array([0.1 + 0.2, -0.3, 0.3, 0.5, -0.1, 0.2])  # the first is 0.3 + 4e-17
    plain = np.array([0.3, -0.3, 0.3, 0.5, -0.1, 0.2])
    assert noisy[0] != plain[0]
    assert compare_over_datasets("a", "b", noisy) == compare_over_datasets(
        "a", "b", plain
    )
    found = compare_over_datasets("a", "b", np.full(8, 1e-12))
    assert (found.tally, found.p, found.difference) == ((0, 8, 0), 1.0, 0.0)


@pytest.mark.parametrize(("right", "n"), [((450, 400), 500), ((30, 28), 30)])
def test_shares_against_the_chi_squared_test(right: tuple[int, int], n: int) -> None:
    found = compare_shares("a", "b", (right[0] / n, right[1] / n), n)
    table = [[count, n - count] for count in right]
    assert found.p == pytest.approx(
        stats.chi2_contingency(table, correction=False).pvalue, rel=1e-9
    )
    assert found.difference == pytest.approx((right[0] - right[1]) / n)


def test_the_interval_of_shares_covers_at_least_as_often_as_it_says() -> None:
    n, shares = 60, (0.9, 0.8)
    counts = np.arange(n + 1)
    first, second = (stats.binom.pmf(counts, n, share) for share in shares)
    covered = 0.0
    for i, j in itertools.product(counts, counts):
        low, high = compare_shares("a", "b", (i / n, j / n), n).interval or (0, 0)
        covered += first[i] * second[j] * (low <= 0.1 <= high)
    assert 0.945 < covered < 0.97


def test_equal_shares_of_all_are_no_difference() -> None:
    found = compare_shares("a", "b", (1.0, 1.0), 1000)
    assert (found.difference, found.p) == (0.0, 1.0)
    assert RULES.relation(found) == "equivalent"


def compared(
    p: float, difference: float, interval: tuple[float, float] | None
) -> Compared:
    tallied = (6, 2, 2)
    return Compared("a", "b", 10, "data sets", tallied, difference, interval, p, p)


@pytest.mark.parametrize(
    ("p", "difference", "interval", "relation"),
    [
        (0.049, 0.02, (0.001, 0.04), "ahead"),
        (0.049, -0.02, (-0.04, -0.001), "behind"),
        (0.05, 0.02, (0.0, 0.04), "undecided"),
        (0.9, 0.001, (-0.009, 0.01), "equivalent"),
        (0.9, 0.0, (-0.011, 0.002), "undecided"),
        (1.0, 0.0, None, "undecided"),  # a large p alone says nothing
    ],
)
def test_words_follow_from_the_rules(
    p: float, difference: float, interval: tuple[float, float], relation: str
) -> None:
    assert RULES.relation(compared(p, difference, interval)) == relation
    shipped = load_claims()[0]
    assert (shipped.level, shipped.equivalent) == (RULES.level, RULES.equivalent)


def test_what_is_compared_together_is_corrected_together() -> None:
    tests = corrected([compared(p, 0.1, None) for p in (0.01, 0.04, 0.03)])
    assert [test.p_holm for test in tests] == pytest.approx([0.03, 0.06, 0.06])
    assert [RULES.relation(test) for test in tests].count("ahead") == 1
    assert not math.isclose(tests[1].p, tests[1].p_holm)
