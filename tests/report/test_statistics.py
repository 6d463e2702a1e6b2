"""Statistical tests against a textbook's worked example and other packages' figures."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from drmbench.errors import InputError
from drmbench.report.statistics import (
    cliques,
    complete_part,
    critical_difference,
    friedman,
    holm,
    mean_ranks,
    wilcoxon_against,
    wilcoxon_exact,
    win_counts,
)

#: Ranks of Table 6 in Demšar (2006): AUC of four variants of C4.5 on 14 data sets.
DEMSAR_RANKS = [
    (4, 3, 2, 1),
    (1, 2, 3, 4),
    (4, 1, 2, 3),
    (4, 1, 3, 2),
    (4, 2, 3, 1),
    (1, 2.5, 4, 2.5),
    (3, 2, 4, 1),
    (2.5, 2.5, 4, 1),
    (4, 3, 2, 1),
    (2.5, 2.5, 2.5, 2.5),
    (4, 2.5, 1, 2.5),
    (3, 2, 4, 1),
    (4, 1, 2, 3),
    (3, 1, 4, 2),
]
DEMSAR = -pd.DataFrame(DEMSAR_RANKS, columns=["C4.5", "m", "cf", "m+cf"], dtype=float)

#: Twelve data sets and five methods, with two ties. The figures below were computed
#: with scikit-posthocs 0.17.1, scipy 1.17.1 and statsmodels 0.15.0.
MEANS = pd.DataFrame(
    [
        (0.975, 0.941, 0.763, 0.861, 0.799),
        (0.738, 0.662, 0.853, 0.767, 0.910),
        (0.755, 0.853, 0.814, 0.782, 0.856),
        (0.918, 0.918, 0.877, 0.776, 0.782),
        (0.821, 0.662, 0.887, 0.926, 0.882),
        (0.866, 0.906, 0.840, 0.632, 0.774),
        (0.728, 0.927, 0.820, 0.703, 0.611),
        (0.806, 0.895, 0.620, 0.876, 0.620),
        (0.991, 0.961, 0.765, 0.625, 0.684),
        (0.733, 0.747, 0.784, 0.626, 0.914),
        (1.009, 0.651, 0.769, 0.647, 0.925),
        (0.957, 0.741, 0.687, 0.694, 0.680),
    ],
    columns=list("abcde"),
)
#: scikit_posthocs.posthoc_nemenyi_friedman, method a against b, c, d, e.
NEMENYI_P = {"b": 0.9999375537, "c": 0.9379758399, "d": 0.332539219, "e": 0.8402233648}
#: scikit_posthocs.posthoc_wilcoxon(zero_method="zsplit"), a against b, c, d, e.
WILCOXON_P = [0.6494140625, 0.30126953125, 0.05224609375, 0.17626953125]
#: statsmodels' multipletests(method="holm") of these.
HOLM_P = [0.6494140625, 0.6025390625, 0.208984375, 0.52880859375]


def test_demsars_worked_example():
    result = friedman(DEMSAR, correct_ties=False)
    assert mean_ranks(DEMSAR).round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert (result.k, result.n) == (4, 14)
    assert round(result.chi2, 2) == 9.28
    assert round(result.f, 2) == 3.69
    assert round(critical_difference(4, 14), 2) == 1.25
    assert round(critical_difference(4, 14, 0.10), 2) == 1.12
    assert cliques(mean_ranks(DEMSAR), critical_difference(4, 14, 0.10)) == [
        ("m+cf", "m", "cf"),
        ("cf", "C4.5"),
    ]


@pytest.mark.parametrize(
    ("k", "quantile"),
    # Demšar's Table 5(a): critical values of the Nemenyi test at 0.05, themselves
    # from rounded quantiles.
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (9, 3.102), (10, 3.164)],
)
def test_critical_values_are_the_published_ones(k, quantile):
    value = critical_difference(k, 6) / math.sqrt(k * (k + 1) / 36)
    assert math.isclose(value, quantile, abs_tol=1e-3)


def test_friedman_agrees_with_scipy_also_with_ties():
    result = friedman(MEANS)
    assert math.isclose(result.chi2, 5.378151260504211, rel_tol=1e-12)
    assert math.isclose(result.chi2_p, 0.2506495049627692, rel_tol=1e-12)
    assert math.isclose(result.f, 11 * result.chi2 / (48 - result.chi2))
    assert math.isclose(result.f_p, stats.f.sf(result.f, 4, 44))
    assert friedman(MEANS, correct_ties=False).chi2 < result.chi2


def test_the_critical_difference_parts_what_posthocs_parts():
    """At its own p value, a pair's difference of ranks is the critical one."""
    ranks = mean_ranks(MEANS)
    for other in ("c", "d", "e"):
        critical = critical_difference(5, 12, NEMENYI_P[other])
        assert math.isclose(abs(ranks["a"] - ranks[other]), critical, rel_tol=1e-6)


def test_wilcoxon_and_holm_agree_with_other_packages():
    tests = wilcoxon_against(MEANS, "a")
    assert [test.other for test in tests] == list("bcde")
    assert np.allclose([test.p for test in tests], WILCOXON_P, rtol=1e-12)
    assert np.allclose([test.p_holm for test in tests], HOLM_P, rtol=1e-12)
    first = tests[0]
    assert (first.wins, first.ties, first.losses, first.n) == (6, 1, 5, 12)
    differences = sorted(MEANS["a"] - MEANS["b"])
    assert math.isclose(first.median_difference, sum(differences[5:7]) / 2)


@pytest.mark.parametrize(
    "differences",
    [
        [0.1, -0.2, 0.3, 0.4, 0.5, -0.6, 0.7],
        [0.1, 0.1, -0.1, 0.2, 0.2, 0.0, 0.0, 0.3],
        [0.1, 0.1, 0.2, 0.2, -0.1, 0.0, *np.linspace(0.3, 0.9, 9)],
    ],
)
def test_wilcoxons_p_counts_all_signs_also_with_ties_and_zeros(differences):
    (test,) = wilcoxon_against(pd.DataFrame({"a": differences, "b": 0.0}), "a")
    values = np.array(differences)
    ranks = stats.rankdata(np.abs(values))
    signs = np.array(list(itertools.product((-1, 1), repeat=len(values))))
    sums = np.where(values == 0, ranks / 2, ranks * (signs > 0)).sum(axis=1)
    found = np.where(values == 0, ranks / 2, ranks * (values > 0)).sum()
    lower, upper = (sums <= found + 1e-9).mean(), (sums >= found - 1e-9).mean()
    assert test.p == min(1.0, 2 * min(lower, upper))
    assert test.statistic == min(found, ranks.sum() - found)


@pytest.mark.parametrize("gains", [[1, 2, 3], [1, -1, 2, 2, -3], [-1, -2], [0.5] * 6])
def test_wilcoxons_one_sided_p_counts_all_signs(gains):
    ranks = stats.rankdata(np.abs(gains))
    signs = np.array(list(itertools.product([0, 1], repeat=len(gains))))
    above = ranks[np.array(gains) > 0].sum()
    _, p = wilcoxon_exact(np.array(gains, dtype=float), alternative="greater")
    assert p == np.mean(signs @ ranks >= above - 1e-9)


def test_methods_that_never_differ():
    same = pd.DataFrame({"a": [0.5, 0.6, 0.7], "b": [0.5, 0.6, 0.7]})
    (test,) = wilcoxon_against(same, "a")
    assert (test.p, test.p_holm, test.ties) == (1.0, 1.0, 3)
    assert math.isnan(friedman(same).chi2)


def test_rounding_is_no_difference():
    """0.1 + 0.2 and 0.3 are a tie."""
    means = pd.DataFrame({"a": [0.1 + 0.2, 0.5], "b": [0.3, 0.4]})
    assert mean_ranks(means).to_dict() == {"a": 1.25, "b": 1.75}
    assert win_counts(means).to_dict() == {"a": 2, "b": 1}
    assert wilcoxon_against(means, "a")[0].ties == 1


def test_pairs_may_have_data_sets_of_their_own():
    """Each is then what it is without the others, but for Holm's correction."""
    means = MEANS.copy()
    means.loc[means.index[:3], "b"] = math.nan
    first, *others = wilcoxon_against(means, "a", pairwise=True)
    (alone,) = wilcoxon_against(means[["a", "b"]].iloc[3:], "a")
    assert (first.n, first.p, first.median_difference) == (
        9,
        alone.p,
        alone.median_difference,
    )
    assert [test.p for test in others] == [
        test.p for test in wilcoxon_against(MEANS, "a")[1:]
    ]


def test_incomplete_data_sets_are_dropped_for_all():
    means = MEANS.copy()
    means.loc[0, "b"] = math.nan
    means.loc[5, ["a", "b", "c", "d", "e"]] = math.nan
    means["hardly"] = math.nan
    means.loc[3, "hardly"] = 0.9
    part = complete_part(means)
    assert part.dropped_methods == ("hardly",)
    assert part.dropped_datasets == ("0", "5")
    whole = MEANS.drop(index=[0, 5])
    assert mean_ranks(means).to_dict() == mean_ranks(whole).to_dict()
    result = friedman(means)
    assert (result.n, result.chi2) == (10, friedman(whole).chi2)
    assert result.dropped_datasets == part.dropped_datasets
    tests = wilcoxon_against(means, "a")
    assert [t.p for t in tests] == [t.p for t in wilcoxon_against(whole, "a")]
    assert wilcoxon_against(means, "hardly") == []


@pytest.mark.parametrize(
    "means",
    [
        pd.DataFrame({"a": [0.5]}),
        pd.DataFrame({"a": [0.5], "b": [0.6]}),
        pd.DataFrame({"a": [0.5, 0.6]}),
        pd.DataFrame({"a": [math.nan], "b": [math.nan]}),
        pd.DataFrame(columns=["a", "b"], dtype=float),
    ],
)
def test_too_little_to_test_gives_no_figure(means):
    result = friedman(means)
    assert math.isnan(result.chi2)
    assert math.isnan(result.f_p)


def test_perfect_agreement_has_no_finite_f():
    means = pd.DataFrame({"a": [0.9, 0.8], "b": [0.7, 0.6], "c": [0.1, 0.2]})
    result = friedman(means)
    assert math.isclose(result.chi2, 4.0)  # its maximum, n (k - 1)
    assert (result.f, result.f_p) == (math.inf, 0.0)


def test_cliques_are_largest_and_ordered():
    ranks = pd.Series({"d": 4.0, "a": 1.0, "c": 2.4, "b": 1.5})
    assert cliques(ranks, 1.4) == [("a", "b", "c")]
    assert cliques(ranks, 1.6) == [("a", "b", "c"), ("c", "d")]
    assert cliques(ranks, 0.4) == []
    assert cliques(ranks, 9.0) == [("a", "b", "c", "d")]


def test_holm_is_monotone_and_at_most_one():
    assert holm([0.6, 0.5, 0.02]) == [1.0, 1.0, 0.06]
    assert holm([]) == []


def test_one_method_has_no_critical_difference():
    with pytest.raises(InputError, match="1 methods"):
        critical_difference(1, 5)
