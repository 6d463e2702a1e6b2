"""The Bayesian signed-rank test against baycomp, another formula and known limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_statistics import MEANS

from drmbench.report.signed_rank import Belief, signed_rank_belief

#: Four standard errors of a probability of 1/2 from 50,000 draws.
NOISE = 4 * math.sqrt(0.25 / 50_000)
#: baycomp 1.0.3, SignedRankTest.probs with rope=0.01, nsamples=400000, random_state=1:
#: the first is better, neither, the second is.
BAYCOMP = {
    "b": (0.735085, 0.0007075, 0.2642075),
    "c": (0.88632, 0.0, 0.11368),
    "d": (0.9864925, 0.0, 0.0135075),
    "e": (0.9300525, 2.5e-06, 0.069945),
}
CLOSE = [
    0.004,
    -0.006,
    0.012,
    0.002,
    0,
    0.015,
    -0.003,
    0.008,
    0.001,
    -0.009,
    0.011,
    0.005,
]
#: Sums of these, and twice their region, are binary fractions: some are on the edge.
ON_THE_EDGE = [number / 128 for number in (2, -1, 3, 1, 0, 5, 4, -2)]

differences = st.lists(st.floats(-0.2, 0.2).map(lambda x: round(x, 3)), max_size=12)


def triple(belief: Belief) -> tuple[float, float, float]:
    return belief.ahead, belief.equivalent, belief.behind


@pytest.mark.parametrize("other", BAYCOMP)
def test_baycomps_figures(other):
    found = signed_rank_belief((MEANS["a"] - MEANS[other]).to_numpy())
    assert triple(found) == pytest.approx(BAYCOMP[other], abs=NOISE)
    assert found.n == 12


@pytest.mark.parametrize(
    ("values", "rope", "expected"),
    [
        (CLOSE, 0.01, (0.0007275, 0.9992725, 0.0)),
        (ON_THE_EDGE, 1 / 128, (0.7850925, 0.206015, 0.0088925)),
    ],
)
def test_baycomps_figures_within_the_region_and_on_its_edge(values, rope, expected):
    found = signed_rank_belief(values, rope)
    assert triple(found) == pytest.approx(expected, abs=NOISE)


def test_rounding_takes_no_side():
    """0.03 - 0.01 is on the edge of ±0.01 like 0.02, though not in binary."""
    assert 0.03 - 0.01 < 0.02
    found = signed_rank_belief([0.03, -0.01, 0.02])
    exact = signed_rank_belief([3 / 128, -1 / 128, 2 / 128], 1 / 128)
    assert triple(found) == triple(exact)


def brute_force(values: list[float], rope: float, draws: int) -> np.ndarray:
    """Draw from numpy's Dirichlet, and add up sorted weights instead of all pairs."""
    rng = np.random.default_rng(12345)
    z = np.array([0.0, *values])
    weights = rng.dirichlet([0.5, *[1.0] * len(values)], draws)
    order = np.argsort(z)
    z, weights = z[order], weights[:, order]
    before = np.concatenate([np.zeros((draws, 1)), weights.cumsum(axis=1)], axis=1)
    above, below = np.zeros(draws), np.zeros(draws)
    for i, value in enumerate(z):
        # Of the partners j: z_j < bound, z_j = bound, z_j > bound.
        for bound, total, side in ((2 * rope, above, 1), (-2 * rope, below, -1)):
            at = round(bound - value, 12)
            low = np.searchsorted(z, at - 1e-9, side="right")
            high = np.searchsorted(z, at + 1e-9, side="left")
            on_edge = before[:, high] - before[:, low]
            outside = 1 - before[:, high] if side == 1 else before[:, low]
            total += weights[:, i] * (outside + on_edge / 2)
    masses = np.column_stack([above, 1 - above - below, below])
    return np.bincount(masses.argmax(axis=1), minlength=3) / draws


@settings(max_examples=15, deadline=None)
@given(differences.filter(bool), st.sampled_from([0.005, 0.01, 0.05]))
def test_another_formula_gives_the_same(values, rope):
    """No more than the noise of two simulations apart."""
    found = triple(signed_rank_belief(values, rope))
    expected = brute_force(values, rope, 20_000)
    assert found == pytest.approx(tuple(expected), abs=0.025)


@settings(max_examples=30, deadline=None)
@given(differences, st.sampled_from([0.001, 0.01, 0.1]))
def test_turning_the_methods_round_turns_the_answer_round(values, rope):
    one = signed_rank_belief(values, rope)
    other = signed_rank_belief([-value for value in values], rope)
    assert triple(one) == pytest.approx(triple(other)[::-1], abs=1e-12)
    assert sum(triple(one)) == pytest.approx(1)
    assert min(triple(one)) >= 0


@settings(max_examples=30, deadline=None)
@given(differences, st.floats(0.5, 20))
def test_units_do_not_matter(values, factor):
    """Scores in per cent with a region in per cent tell the same."""
    one = signed_rank_belief(values, 0.0101)
    other = signed_rank_belief([factor * v for v in values], factor * 0.0101)
    assert triple(one) == pytest.approx(triple(other), abs=2e-3)


@settings(max_examples=20, deadline=None)
@given(differences.filter(bool), st.floats(-1, 1))
def test_only_differences_matter(values, shift):
    """What is added to both methods' scores changes nothing."""
    second = np.linspace(0.4, 0.8, len(values))
    first = second + values
    one = signed_rank_belief(first - second)
    other = signed_rank_belief((first + shift) - (second + shift))
    assert triple(one) == triple(other)


def test_one_difference_has_an_exact_answer():
    """Beyond the region lies 1 - w², w ~ Beta(1/2, 1) the prior's weight.

    It is more than half with probability P(w < √½) = √(√½).
    """
    found = signed_rank_belief([0.3])
    assert found.ahead == pytest.approx(0.5**0.25, abs=NOISE)
    assert found.behind == 0


@pytest.mark.parametrize("n", [20, 200])
def test_many_data_sets_leave_no_doubt(n):
    """The limits: a clear gain, a clear loss, and none to speak of."""
    wiggle = np.random.default_rng(0).normal(0, 0.003, n)
    assert signed_rank_belief(0.05 + wiggle).ahead > 0.999
    assert signed_rank_belief(-0.05 + wiggle).behind > 0.999
    assert signed_rank_belief(wiggle).equivalent > 0.999


def test_on_many_data_sets_the_masses_are_those_of_the_distribution():
    """Of the differences 80 % are +1 and 20 % are -1.

    So 64 % of the pairs lie above the region, 32 % within and 4 % below; with half of
    each it is 25 %, 50 % and 25 %.
    """
    assert signed_rank_belief([1.0] * 120 + [-1.0] * 30).ahead > 0.99
    assert signed_rank_belief([1.0] * 75 + [-1.0] * 75).equivalent > 0.99


def test_a_wide_and_a_narrow_region():
    assert signed_rank_belief(CLOSE, rope=1.0).equivalent == 1
    assert signed_rank_belief(CLOSE, rope=1e-6).equivalent < 0.01


@pytest.mark.parametrize(
    ("probabilities", "n", "standing"),
    [
        ((0.95, 0.05, 0.0), 5, "ahead"),
        ((0.949, 0.051, 0.0), 5, "undecided"),
        ((0.0, 0.04, 0.96), 30, "behind"),
        ((0.02, 0.96, 0.02), 30, "practically equivalent"),
        ((0.3, 0.4, 0.3), 30, "undecided"),
        ((1.0, 0.0, 0.0), 4, "undecided"),  # too few to say so
    ],
)
def test_what_is_said(probabilities, n, standing):
    assert Belief(*probabilities, n).standing == standing


def test_a_large_p_is_never_called_level():
    """Wide differences of both signs are undecided, whatever Wilcoxon's p is."""
    found = signed_rank_belief([0.2, -0.2, 0.15, -0.15, 0.1, -0.1])
    assert found.standing == "undecided"
    assert found.equivalent < 0.95
    assert signed_rank_belief([]).standing == "undecided"
