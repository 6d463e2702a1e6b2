"""Intervals of means over data sets that share origins.

Data sets made from one source are no independent evidence, so origins are drawn, each
with all its data sets (the cluster bootstrap; Davison & Hinkley, Bootstrap Methods and
their Application, 1997, section 3.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from drmbench.report.statistics import ALPHA, stable

_DRAWS = 10_000
_SEED = 0


def mean_intervals(
    figures: pd.DataFrame, origins: Sequence[str], *, draws: int = _DRAWS
) -> pd.DataFrame:
    """Return each column's mean, and the low and high end of its 95 % interval.

    `figures` have a row per data set, `origins` their origins in the same order. Ends
    are percentiles of the mean over the data sets of as many origins as there are,
    drawn with replacement; all columns are drawn alike, and always in the same way.
    One origin tells nothing of how far means vary: its ends are NaN.

    Examples
    --------
    >>> figures = pd.DataFrame({"a": [0.9, 0.8, 0.6]})
    >>> mean_intervals(figures, ["x", "x", "y"]).round(3).loc["a"].tolist()
    [0.767, 0.6, 0.85]
    """
    groups = figures.groupby(list(origins), sort=True)
    sums, sizes = groups.sum().to_numpy(dtype=float), groups.size().to_numpy()
    found = pd.DataFrame({"mean": figures.mean().map(stable)})
    if len(sizes) < 2:
        return found.assign(low=np.nan, high=np.nan)
    counts = _origin_counts(len(sizes), draws)
    means = (counts @ sums) / (counts @ sizes)[:, None]
    low, high = np.percentile(means, [100 * ALPHA / 2, 100 * (1 - ALPHA / 2)], axis=0)
    return found.assign(low=[*map(stable, low)], high=[*map(stable, high)])


@lru_cache(maxsize=8)
def _origin_counts(origins: int, draws: int) -> NDArray[np.float64]:
    """Return how often each origin is in each draw: its mean is a quotient of sums."""
    uniform = np.random.default_rng(_SEED).random((draws, origins))
    drawn = (uniform * origins).astype(int)
    counts = np.zeros((draws, origins))
    np.add.at(counts, (np.arange(draws)[:, None], drawn), 1)
    counts.flags.writeable = False  # it is shared
    return counts
