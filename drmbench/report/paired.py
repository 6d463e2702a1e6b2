"""How far one method is above another: a difference, its interval and a test.

Over data sets the difference is that of Hodges and Lehmann (Estimates of location based
on rank tests, Annals of Mathematical Statistics 34:598-611, 1963), the median of all
means of two differences, and its interval is the one that belongs to Wilcoxon's
signed-rank test. On a single test part both are those of two shares of its samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from drmbench.protocol.allowance import ROUNDING
from drmbench.report.statistics import holm, subset_counts, wilcoxon_exact

Relation = Literal["ahead", "behind", "equivalent", "undecided"]

#: Of all intervals.
CONFIDENCE = 0.95
#: Differences that agree to so many decimals are equal.
_DECIMALS = 10


@dataclass(frozen=True)
class Compared:
    """One method against another."""

    #: The two, as the text names them
    ours: str
    theirs: str
    n: int  #: Of what the unit says
    unit: Literal["data sets", "test samples"]
    #: Data sets on which ours is better, equal and worse; None within a single one
    tally: tuple[int, int, int] | None
    difference: float  #: Ours minus theirs, typically
    #: Its 95 % interval; None where there are too few data sets for one
    interval: tuple[float, float] | None
    p: float  #: Two-sided p value of no difference
    p_holm: float  #: Corrected by Holm's method for all comparisons made together
    on: str = ""  #: What they were compared on, where that is not all there is

    def relation(self, level: float, margin: float) -> Relation:
        """Say what can be claimed.

        Ahead or behind is what the corrected test tells at a level; equivalent, where
        it tells nothing, is an interval that lies within a margin of zero.
        """
        if self.p_holm < level:
            return "ahead" if self.difference > 0 else "behind"
        if self.interval and max(map(abs, self.interval)) <= margin:
            return "equivalent"
        return "undecided"


def compare_over_datasets(
    ours: str, theirs: str, differences: NDArray[np.float64]
) -> Compared:
    """Compare by the differences of two methods, ours minus theirs, on data sets.

    Examples
    --------
    >>> found = compare_over_datasets("a", "b", np.array([3.0, 1, 2, 4, 5, -1]))
    >>> found.tally, found.difference, found.interval, found.p
    ((5, 0, 1), 2.5, (-1.0, 5.0), 0.09375)
    """
    # What differs by rounding alone is a tie, of two methods and of two differences.
    values = differences.round(_DECIMALS) + 0.0
    difference, interval = typical_difference(values)
    p, n, counts = wilcoxon_exact(values)[1], len(values), tally(values)
    return Compared(ours, theirs, n, "data sets", counts, difference, interval, p, p)


def tally(differences: NDArray[np.float64]) -> tuple[int, int, int]:
    """Return how many differences are wins, ties and losses."""
    wins = int((differences > ROUNDING).sum())
    losses = int((differences < -ROUNDING).sum())
    return wins, len(differences) - wins - losses, losses


def typical_difference(
    values: NDArray[np.float64], confidence: float = CONFIDENCE
) -> tuple[float, tuple[float, float] | None]:
    """Return Hodges and Lehmann's estimate and its exact interval.

    There is none of 95 % from fewer than six values.

    Examples
    --------
    >>> typical_difference(np.array([1.0, 2.0, 6.0]))
    (2.75, None)
    """
    rows, columns = np.triu_indices(len(values))
    means = np.sort((values[rows] + values[columns]) / 2)
    outside = _ranks_outside(len(values), round(1 - confidence, 12))
    interval = (float(means[outside - 1]), float(means[-outside])) if outside else None
    return float(np.median(means)), interval


@cache
def _ranks_outside(n: int, alpha: float) -> int:
    """Return how many means of two values an interval leaves out, its end included."""
    counts, below = subset_counts(range(1, n + 1)), 0
    for rank, count in enumerate(counts):
        below += count
        if below > alpha / 2 * 2**n:
            return rank
    raise AssertionError("all subsets together are more than a share of them")


def compare_shares(
    ours: str, theirs: str, shares: tuple[float, float], n: int
) -> Compared:
    """Compare two shares of right answers to n test samples.

    The test is that of two independent samples, and the interval Agresti and Caffo's
    (The American Statistician 54:280-288, 2000). Both methods answered the same
    samples, which makes true differences clearer than this says, never less.

    Examples
    --------
    >>> found = compare_shares("a", "b", (0.9, 0.8), 1000)
    >>> [round(end, 3) for end in found.interval], round(found.p, 8)
    ([0.069, 0.131], 0.0)
    """
    from scipy import stats

    difference = shares[0] - shares[1]
    pooled = sum(shares) / 2
    error = math.sqrt(2 * pooled * (1 - pooled) / n)
    z = difference / error if error else 0.0
    p = 2 * float(stats.norm.sf(abs(z)))
    softened = [(share * n + 1) / (n + 2) for share in shares]
    reach = float(stats.norm.ppf((1 + CONFIDENCE) / 2)) * math.sqrt(
        sum(share * (1 - share) / (n + 2) for share in softened)
    )
    middle = softened[0] - softened[1]
    ends = (middle - reach, middle + reach)
    return Compared(ours, theirs, n, "test samples", None, difference, ends, p, p)


def corrected(comparisons: Sequence[Compared]) -> tuple[Compared, ...]:
    """Return comparisons that are made together, with p values corrected for that."""
    values = holm([comparison.p for comparison in comparisons])
    return tuple(
        replace(comparison, p_holm=p)
        for comparison, p in zip(comparisons, values, strict=True)
    )
