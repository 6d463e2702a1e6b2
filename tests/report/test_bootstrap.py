"""Intervals over origins against enumeration, a plain loop and known limits."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drmbench.report.bootstrap import mean_intervals

FIGURES = pd.DataFrame(
    {"a": [0.9, 0.8, 0.6, 0.7, 0.95], "b": [0.5, 0.9, 0.4, 0.8, 0.7]},
    index=["s1", "s2", "s3", "s4", "s5"],
)
ORIGINS = ["x", "x", "x", "y", "z"]


def every_draw(values: list[list[float]]) -> np.ndarray:
    """Return the mean of each of the k**k ways to draw k origins."""
    return np.array(
        [
            np.mean([value for origin in drawn for value in origin])
            for drawn in itertools.product(values, repeat=len(values))
        ]
    )


@pytest.mark.parametrize("method", ["a", "b"])
def test_the_ends_are_those_of_all_draws(method):
    """Of three origins there are 27 draws, so percentiles are exact."""
    clusters = [FIGURES[method].tolist()[:3], *([x] for x in FIGURES[method][3:])]
    means = np.sort(every_draw(clusters))
    found = mean_intervals(FIGURES, ORIGINS).loc[method]
    assert found["mean"] == pytest.approx(FIGURES[method].mean())
    # The 2.5 % and 97.5 % points of 27 equally likely values are the first and last.
    assert (found["low"], found["high"]) == pytest.approx((means[0], means[-1]))


def test_origins_are_drawn_and_not_data_sets():
    """A hundred data sets of one origin are one piece of evidence."""
    figures = pd.DataFrame({"a": [0.5] * 100 + [0.9] * 100})
    two = mean_intervals(figures, ["x"] * 100 + ["y"] * 100).loc["a"]
    assert (two["low"], two["high"]) == (0.5, 0.9)
    each = mean_intervals(figures, [str(number) for number in range(200)]).loc["a"]
    assert 0.66 < each["low"] < 0.7 < each["high"] < 0.74


def test_it_is_what_a_loop_over_draws_gives():
    rng = np.random.default_rng(5)
    values = pd.DataFrame({"a": rng.normal(0.7, 0.1, 60)})
    origins = [f"o{number // 3}" for number in range(60)]
    clusters = [values["a"].to_numpy()[3 * i : 3 * i + 3] for i in range(20)]
    means = [
        np.concatenate([clusters[i] for i in rng.integers(0, 20, 20)]).mean()
        for _ in range(20_000)
    ]
    found = mean_intervals(values, origins).loc["a"]
    expected = np.percentile(means, [2.5, 97.5])
    assert [found["low"], found["high"]] == pytest.approx(expected, abs=0.002)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.integers(2, 5))
def test_the_mean_is_within_and_nothing_depends_on_the_order(values, k):
    figures = pd.DataFrame({"a": values})
    origins = [str(number % k) for number in range(len(values))]
    found = mean_intervals(figures, origins, draws=2000).loc["a"]
    if len(set(origins)) > 1:
        assert found["low"] - 1e-9 <= found["mean"] <= found["high"] + 1e-9
    turned = mean_intervals(figures[::-1], origins[::-1], draws=2000).loc["a"]
    assert found.tolist() == pytest.approx(turned.tolist(), nan_ok=True)


def test_the_same_twice_and_nothing_of_one_origin():
    pd.testing.assert_frame_equal(
        mean_intervals(FIGURES, ORIGINS), mean_intervals(FIGURES, ORIGINS)
    )
    alone = mean_intervals(FIGURES, ["x"] * 5).loc["a"]
    assert alone["mean"] == pytest.approx(0.79)
    assert math.isnan(alone["low"])
    assert math.isnan(alone["high"])
