"""Tests of whether methods differ over data sets: Friedman, Nemenyi, Wilcoxon.

They follow Demšar (Statistical comparisons of classifiers over multiple data sets,
JMLR 7:1-30, 2006). All take a frame, data sets x methods, in which higher is better and
NaN is a figure that is not there, and use its complete part (:func:`complete_part`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from drmbench.errors import InputError

#: Level of all tests.
ALPHA = 0.05
#: Means that agree to so many decimals are equal: the rest is rounding.
_DECIMALS = 10
#: Digits of Welch's statistics: versions of scipy differ in the last ones.
_DIGITS = 10


@dataclass(frozen=True, eq=False)
class CompletePart:
    """The part of a frame in which no figure is missing."""

    means: pd.DataFrame  #: data sets x methods, without NaN
    #: those with a figure on fewer than half of the data sets
    dropped_methods: tuple[str, ...]
    dropped_datasets: tuple[str, ...]  #: those on which any other method has no figure


def complete_part(means: pd.DataFrame) -> CompletePart:
    """Drop methods that are hardly there, then data sets that are not complete.

    A data set counts for all methods or for none (listwise deletion).

    Examples
    --------
    >>> nan = math.nan
    >>> frame = pd.DataFrame({"a": [1, 2, 3], "b": [1, 2, nan], "c": [1, nan, nan]})
    >>> part = complete_part(frame)
    >>> part.dropped_methods, list(part.means.index)
    (('c',), [0, 1])
    """
    present = means.dropna(how="all").notna()
    kept = [name for name in means.columns if present[name].mean() >= 0.5]
    whole = means[kept].dropna(how="any") if kept else means.iloc[:0][kept]
    return CompletePart(
        whole.round(_DECIMALS),
        tuple(str(name) for name in means.columns if name not in kept),
        tuple(str(name) for name in means.index if name not in whole.index),
    )


def mean_ranks(means: pd.DataFrame) -> pd.Series:
    """Return each method's mean rank over the complete data sets, 1 being the best.

    Methods that are equal on a data set share the mean of their ranks.

    Examples
    --------
    >>> mean_ranks(pd.DataFrame({"a": [0.9, 0.8], "b": [0.7, 0.8]})).to_dict()
    {'a': 1.25, 'b': 1.75}
    """
    return rank_rows(complete_part(means).means).mean()


def rank_rows(means: pd.DataFrame) -> pd.DataFrame:
    """Return the rank of each method on each data set, 1 being the best."""
    return means.round(_DECIMALS).rank(axis=1, ascending=False, method="average")


def win_counts(means: pd.DataFrame) -> pd.Series:
    """Return on how many data sets each method is best, alone or with others.

    No method is left out: one that is not complete counts where it has a figure.

    Examples
    --------
    >>> win_counts(pd.DataFrame({"a": [0.9, 0.8], "b": [0.7, 0.8]})).to_dict()
    {'a': 2, 'b': 1}
    """
    return _best(means).sum()


def win_shares(means: pd.DataFrame) -> pd.Series:
    """Return :func:`win_counts` in which methods that are equally good share a win.

    Examples
    --------
    >>> win_shares(pd.DataFrame({"a": [0.9, 0.8], "b": [0.7, 0.8]})).to_dict()
    {'a': 1.5, 'b': 0.5}
    """
    best = _best(means)
    return best.div(best.sum(axis=1), axis=0).sum()


def _best(means: pd.DataFrame) -> pd.DataFrame:
    rounded = means.round(_DECIMALS)
    return rounded.eq(rounded.max(axis=1), axis=0)


@dataclass(frozen=True)
class FriedmanResult:
    """Friedman's test that all methods are equally good."""

    #: methods and data sets
    k: int
    n: int
    #: chi-squared with k - 1 degrees of freedom; NaN if k or n is below 2, or if all
    #: methods are equal on all data sets
    chi2: float
    chi2_p: float
    #: Iman and Davenport's F with k - 1 and (k - 1)(n - 1) degrees of freedom
    f: float
    f_p: float
    #: what was not complete (:class:`CompletePart`)
    dropped_methods: tuple[str, ...] = ()
    dropped_datasets: tuple[str, ...] = ()


def friedman(means: pd.DataFrame, *, correct_ties: bool = True) -> FriedmanResult:
    """Test whether all methods are equally good.

    Worked examples in textbooks do not correct for ties.
    """
    from scipy import stats

    part = complete_part(means)
    ranks, (n, k) = rank_rows(part.means), part.means.shape
    chi2 = math.nan
    if n > 1 and k > 1:
        between = float(((ranks.mean() - (k + 1) / 2) ** 2).sum())
        # Variance of a row of ranks: without ties k(k + 1)/12, with ties what it is.
        tied = float(ranks.var(axis=1).mean())
        within = tied if correct_ties else k * (k + 1) / 12
        chi2 = n * between / within if within else math.nan
    rest = n * (k - 1) - chi2
    f = math.inf if abs(rest) < 1e-9 else (n - 1) * chi2 / rest
    chi2_p = float(stats.chi2.sf(chi2, k - 1))
    f_p = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    dropped = part.dropped_methods, part.dropped_datasets
    return FriedmanResult(k, n, chi2, chi2_p, f, f_p, *dropped)


@cache
def critical_difference(k: int, n: int, alpha: float = ALPHA) -> float:
    """Return Nemenyi's critical difference of mean ranks of k methods on n data sets.

    ``alpha`` is the probability that any pair is wrongly told apart.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    if k < 2 or n < 1:
        raise InputError(f"no critical difference of {k} methods on {n} data sets")
    from scipy import stats

    quantile = stats.studentized_range.ppf(1 - alpha, k, np.inf) / math.sqrt(2)
    return float(quantile) * math.sqrt(k * (k + 1) / (6 * n))


def cliques(ranks: pd.Series, cd: float) -> list[tuple[str, ...]]:
    """Return the largest groups of methods that the critical difference cannot part.

    Each has two or more methods, from best to worst, and none is within another; ranks
    that differ by exactly the critical difference are not parted.

    Examples
    --------
    >>> cliques(pd.Series({"a": 1.0, "b": 1.5, "c": 2.2}), 1.0)
    [('a', 'b'), ('b', 'c')]
    """
    order = ranks.sort_values(kind="stable")
    values, names = order.to_numpy(dtype=float), [str(name) for name in order.index]
    found, last = [], 0
    for first in range(len(names)):
        end = int(np.searchsorted(values, values[first] + cd + 1e-12, side="right"))
        if end - first > 1 and end > last:
            found.append(tuple(names[first:end]))
            last = end
    return found


@dataclass(frozen=True)
class PairedTest:
    """Wilcoxon's signed-rank test of one method against another."""

    #: the methods
    reference: str
    other: str
    n: int  #: data sets
    #: data sets on which the reference is better, equal and worse
    wins: int
    ties: int
    losses: int
    median_difference: float  #: median of reference minus other
    #: smaller sum of ranks, where no difference counts half for each side, as Demšar
    #: advises, and its p value
    statistic: float
    p: float
    p_holm: float  #: p corrected by Holm's method for the tests of this reference


def wilcoxon_against(
    means: pd.DataFrame,
    reference: str,
    others: Sequence[str] | None = None,
    *,
    pairwise: bool = False,
) -> list[PairedTest]:
    """Test one method against each of the others, or against those named.

    With ``pairwise`` each test is over the data sets on which its two methods are
    complete, instead of those on which all are. There is no test if the reference is
    hardly there or no data set is complete.
    """
    whole = means if pairwise else complete_part(means).means
    if reference not in whole.columns or whole.empty:
        return []
    names = [n for n in (others or whole.columns) if n in whole and n != reference]
    tests = []
    for name in names:
        values = (whole[reference] - whole[name]).dropna().round(_DECIMALS)
        if len(values):
            statistic, p = wilcoxon_exact(values.to_numpy(dtype=np.float64))
            above, same, below = (
                int(part.sum()) for part in (values > 0, values == 0, values < 0)
            )
            counts = (len(values), above, same, below)
            median = float(values.median())
            tests.append(
                PairedTest(reference, str(name), *counts, median, statistic, p, p)
            )
    corrected = holm([test.p for test in tests])
    return [replace(t, p_holm=p) for t, p in zip(tests, corrected, strict=True)]


def wilcoxon_exact(
    differences: NDArray[np.float64],
    *,
    alternative: Literal["two-sided", "greater"] = "two-sided",
) -> tuple[float, float]:
    """Return the smaller sum of signed ranks, and the exact p value.

    The p value counts signs of the differences as they are, ties and zeros included.
    What scipy does where there are ties depends on its version and on the number of
    data sets, and with it which side of a level a p value falls. Zeros keep their ranks
    and count half for each side; leave them out beforehand to rank the others alone.
    ``greater`` asks whether differences tend to be above zero.

    Examples
    --------
    >>> wilcoxon_exact(np.array([1.0, 2.0, 3.0]))
    (0.0, 0.25)
    >>> wilcoxon_exact(np.array([1.0, 2.0, 3.0]), alternative="greater")
    (0.0, 0.125)
    """
    from scipy import stats

    doubled = (2 * stats.rankdata(np.abs(differences))).astype(int)  # ties have halves
    above, below = (int(doubled[differences * s > 0].sum()) for s in (1, -1))
    zeros = int(doubled[differences == 0].sum())
    moving = tuple(sorted(doubled[differences != 0].tolist()))
    counts, smaller = subset_counts(moving), min(above, below)
    if alternative == "greater":
        p = sum(counts[above:]) / 2 ** len(moving)
    else:
        p = min(1.0, 2 * sum(counts[: smaller + 1]) / 2 ** len(moving))
    return (smaller + zeros / 2) / 2, p


@lru_cache(maxsize=512)
def subset_counts(numbers: tuple[int, ...] | range) -> tuple[int, ...]:
    """Return how many subsets of whole numbers have the sum 0, 1, 2 and so on.

    Examples
    --------
    >>> subset_counts((1, 1, 2))
    (1, 2, 2, 2, 1)
    """
    counts = [1]
    for number in numbers:
        without, with_it = counts + [0] * number, [0] * number + counts
        counts = [a + b for a, b in zip(without, with_it, strict=True)]
    return tuple(counts)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for their number by Holm's step-down method.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, largest = [0.0] * len(p_values), 0.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for done, number in enumerate(order):
        left = len(p_values) - done
        largest = max(largest, min(1.0, left * p_values[number]))
        corrected[number] = largest
    return corrected


def welch(
    first: tuple[float, float, int], second: tuple[float, float, int], digits: int
) -> tuple[float, float]:
    """Return Welch's t and its two-sided p value from two (mean, deviation, count).

    Both have ten digits; t is positive if the first mean is higher. Where both
    deviations round to zero, to so many decimals, there is nothing to test with: means
    agree if no more than rounding parts them.

    Examples
    --------
    >>> welch((0.9, 0.02, 5), (0.88, 0.02, 5), 4)
    (1.58113883, 0.1525022852)
    >>> welch((0.97222, 0.0, 5), (0.9722, 0.0, 5), 4), welch((0.5, 0, 5), (1, 0, 5), 4)
    ((0.0, 1.0), (-inf, 0.0))
    """
    from scipy import stats

    rounding = 0.5 * 10.0**-digits + 1e-9
    if max(first[1], second[1]) <= rounding:
        difference = first[0] - second[0]
        if abs(difference) <= rounding:
            return 0.0, 1.0
        return math.copysign(math.inf, difference), 0.0
    t, p = stats.ttest_ind_from_stats(*first, *second, equal_var=False)
    return stable(t), stable(p)


def stable(value: float) -> float:
    """Return a statistic without the digits in which versions of scipy differ."""
    return float(f"{value:.{_DIGITS}g}")
