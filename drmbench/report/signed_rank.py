"""How sure it is, from figures on several data sets, that one method is better.

This is the Bayesian signed-rank test of Benavoli, Mangili, Corani, Zaffalon and Ruggeri
(A Bayesian Wilcoxon signed-rank test based on the Dirichlet process, ICML 2014) with
the region of practical equivalence of Benavoli, Corani, Demšar and Zaffalon (Time for a
change, JMLR 18(77), 2017). What is believed of the distribution of the differences is a
Dirichlet process: weights of the differences seen, and of a pseudo-difference of 0 with
strength 1/2, are drawn from a Dirichlet distribution; of each draw, the sums of two
differences lie mostly above the region, within it, or below.

It is code of our own. The package baycomp has the same test and the same prior, but its
last release is of 2023, it needs matplotlib to be imported, and it loops over the draws
in Python; the tests compare with its figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from drmbench.report.fold_statistics import ROPE
from drmbench.report.statistics import ALPHA

StandingWord = Literal["ahead", "behind", "practically equivalent", "undecided"]

#: Fewer independent differences than this decide nothing.
LEAST_DIFFERENCES = 5
#: Draws: the standard error of a probability is 0.002 at most, and 0.001 at 0.95.
_DRAWS = 50_000
_SEED = 0


@dataclass(frozen=True)
class Belief:
    """What is believed of two methods: three probabilities that add up to one."""

    ahead: float  #: that the first is better, by more than a trifle
    equivalent: float  #: that the two differ by no more than a trifle
    behind: float  #: that the second is better, by more than a trifle
    n: int  #: differences it comes from

    @property
    def standing(self) -> StandingWord:
        """What can be said of the first method, with a probability of 0.95 or more."""
        if self.n < LEAST_DIFFERENCES:
            return "undecided"
        if self.ahead >= 1 - ALPHA:
            return "ahead"
        if self.behind >= 1 - ALPHA:
            return "behind"
        return "practically equivalent" if self.equivalent >= 1 - ALPHA else "undecided"


def signed_rank_belief(
    differences: Sequence[float] | NDArray[np.float64], rope: float = ROPE
) -> Belief:
    """Return what differences tell, first method minus second, one per data set.

    The draws have a fixed seed, so the answer is always the same. Figures that do not
    come from independent sources should be averaged per source beforehand.

    Examples
    --------
    >>> found = signed_rank_belief([0.05, 0.04, 0.06, 0.03, 0.08, 0.02])
    >>> found.standing, found.behind
    ('ahead', 0.0)
    """
    return _belief(tuple(map(float, differences)), rope)


@lru_cache(maxsize=1024)  # tables, cards and texts ask about the same pairs
def _belief(differences: tuple[float, ...], rope: float) -> Belief:
    seen = np.array([0.0, *differences])
    # Rounding decides no side: 0.01 + 0.01 is on the region's edge.
    sums = np.round(np.add.outer(seen, seen), 10)
    weights = _dirichlet_draws(len(seen), _DRAWS)
    above, below = (
        np.einsum("ij,ij->i", weights @ _beyond(sign * sums, 2 * rope), weights)
        for sign in (1, -1)
    )
    masses = np.column_stack([above, 1 - above - below, below])
    largest = masses >= masses.max(axis=1, keepdims=True) - 1e-12
    shares = (largest / largest.sum(axis=1, keepdims=True)).mean(axis=0)
    ahead, equivalent, behind = map(float, shares)
    return Belief(ahead, equivalent, behind, len(seen) - 1)


def _beyond(sums: NDArray[np.float64], bound: float) -> NDArray[np.float64]:
    """Return 1 where a sum exceeds the bound, 1/2 where it equals it, else 0."""
    return np.heaviside(sums - round(bound, 10), 0.5)


@lru_cache(maxsize=4)
def _dirichlet_draws(size: int, draws: int) -> NDArray[np.float64]:
    """Draw from the Dirichlet distribution with parameters 1/2, 1, 1 and so on.

    They are shares of Gamma variables: -log u of a uniform u has shape 1, and times the
    squared cosine of a uniform angle shape 1/2. Uniform numbers are the same in all
    versions of numpy, other distributions need not be.
    """
    uniform = np.random.default_rng(_SEED).random((draws, size + 1))
    gamma = -np.log1p(-uniform[:, :size])
    gamma[:, 0] *= np.cos(2 * np.pi * uniform[:, size]) ** 2
    shares: NDArray[np.float64] = gamma / gamma.sum(axis=1, keepdims=True)
    shares.flags.writeable = False  # it is shared
    return shares
