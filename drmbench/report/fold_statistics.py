"""How sure it is, from repeated folds of one data set, that one method is better.

Folds share training rows, so their figures are not independent, and a plain t-test is
far too sure of itself. Nadeau & Bengio (Inference for the generalization error, Machine
Learning 52:239-281, 2003) correct the variance; Corani & Benavoli (A Bayesian approach
for comparing cross-validated algorithms on multiple data sets, Machine Learning
100:285-304, 2015) read the same Student distribution as what is believed of the
difference, and ask how much of it lies within a region of practical equivalence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: Differences up to this are of no practical importance.
ROPE = 0.01
#: Fewer differences than this are no ground for a claim.
LEAST_SPLITS = 5
#: Variances below this are rounding.
_ROUNDING = 1e-20


@dataclass(frozen=True)
class Difference:
    """What is believed of the difference of two methods, first minus second.

    It is a Student distribution; one of scale 0 is a point.
    """

    mean: float  #: Mean of the differences on the splits
    #: Its standard error, corrected for what training parts share
    scale: float
    df: int  #: Degrees of freedom

    def above(self, bound: float) -> float:
        """Return the probability that the difference exceeds a bound."""
        if not self.scale:
            return float(self.mean > bound)
        from scipy import stats

        return float(stats.t.sf((bound - self.mean) / self.scale, self.df))

    def better(self, rope: float = ROPE) -> float:
        """Return the probability that the first is better, by more than a trifle."""
        return self.above(rope)

    def equivalent(self, rope: float = ROPE) -> float:
        """Return the probability that the two differ by no more than a trifle."""
        return self.above(-rope) - self.above(rope)

    @property
    def t(self) -> float:
        """The statistic of the corrected resampled t-test."""
        if not self.scale:
            return math.copysign(math.inf, self.mean) if self.mean else 0.0
        return self.mean / self.scale

    @property
    def p(self) -> float:
        """Its two-sided p value: that of no difference at all."""
        if not self.scale:
            return float(not self.mean)
        from scipy import stats

        return 2 * float(stats.t.sf(abs(self.t), self.df))


def resampled_difference(
    first: Sequence[float], second: Sequence[float], test_share: float
) -> Difference:
    """Return what paired figures of two methods on two splits or more tell.

    ``test_share`` is the share of rows that test, such as 1/5 of five folds: the
    correlation that two splits of the same rows are taken to have.

    Examples
    --------
    >>> found = resampled_difference([0.9, 0.8, 0.85], [0.8, 0.75, 0.84], 1 / 3)
    >>> round(found.mean, 4), round(found.scale, 4), found.df
    (0.0533, 0.0412, 2)
    """
    differences = [a - b for a, b in zip(first, second, strict=True)]
    n = len(differences)
    if n < 2:
        raise ValueError(f"{n} splits tell nothing of how far figures vary")
    mean = math.fsum(differences) / n
    variance = math.fsum((d - mean) ** 2 for d in differences) / (n - 1)
    if variance < _ROUNDING:
        return Difference(0.0 if abs(mean) < math.sqrt(_ROUNDING) else mean, 0.0, n - 1)
    corrected = (1 / n + test_share / (1 - test_share)) * variance
    return Difference(mean, math.sqrt(corrected), n - 1)
