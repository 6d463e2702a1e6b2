"""When the DRM is worth using: by traits of the data, training size, α and β, and time.

Each analysis goes from results or a frame to a tidy frame; figures are drawn from the
frames, and their titles chosen by them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from drmbench.report.regimes import REGIMES
from drmbench.report.score_pool import pool_of
from drmbench.report.statistics import ALPHA, rank_rows, stable
from drmbench.running.results import Results

#: What gains are measured in: all regimes have it, and it counts classes alike.
METRIC = "balanced_accuracy"
#: Classes are uneven from this ratio of the largest to the smallest on.
UNEVEN = 3.0
#: A median over fewer data sets than these is not shown.
LEAST = 5

_DRAWS = 2_000
_SEED = 0

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Trait:
    """A number that describes a data set, and where it is cut into bins."""

    column: str  #: its column in frames
    words: str  #: what an axis calls it
    edges: tuple[float, ...]  #: inner edges of its bins; a bin has its lower edge

    def bin_words(self, number: int) -> str:
        """Say what a bin holds.

        Examples
        --------
        >>> [Trait("classes", "classes", (3, 6)).bin_words(i) for i in range(3)]
        ['classes below 3', 'classes 3 to below 6', 'classes from 6']
        """
        low, high = (None, *self.edges)[number], (*self.edges, None)[number]
        if low is None:
            return f"{self.words} below {high:g}"
        return (
            f"{self.words} from {low:g}"
            if high is None
            else (f"{self.words} {low:g} to below {high:g}")
        )


TRAITS = (
    Trait("ratio", "imbalance ratio", (3, 10, 30)),
    Trait("minority", "samples of the smallest class", (10, 20, 50, 150)),
    Trait("n_per_p", "samples per feature, n/p", (0.05, 1, 30, 100)),
    Trait("classes", "number of classes", (3, 4, 6)),
)


def dataset_traits(results: Iterable[Results]) -> pd.DataFrame:
    """Return the traits of all data sets that were run, one row each, by name.

    A stand-in is called by its own name. Traits that need counts of classes are NaN
    where classes were never counted.
    """
    records: dict[str, dict[str, float]] = {}
    for found in results:
        for name, entry in found.datasets.items():
            if entry.get("missing"):
                continue
            counts = [int(x) for x in (entry.get("class_counts") or {}).values()]
            n, p = int(entry["n"]), int(entry["p"])
            records[str(entry.get("substitute") or name)] = {
                "ratio": max(counts) / min(counts) if counts else math.nan,
                "minority": float(min(counts)) if counts else math.nan,
                "n_per_p": n / p,
                "classes": float(entry["classes"]),
                "n": float(n),
            }
    columns = ["ratio", "minority", "n_per_p", "classes", "n"]
    return pd.DataFrame.from_dict(records, orient="index", columns=columns)


def gains(
    results: Sequence[Results], origins: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return how much better than its rival each DRM is on each data set.

    The rival is the regime's method with the best mean rank that is no DRM: one for all
    data sets of the regime, and chosen by these very results, which favours it. One row
    per data set and DRM that is complete in the regime: ``regime``, ``dataset``,
    ``origin``, ``method``, ``rival``, ``experiments``, ``score`` and ``gain`` in
    balanced accuracy, and the traits.
    """
    traits = dataset_traits(results)
    parts = []
    for regime in REGIMES:
        pool = pool_of(results, regime.name, metric=METRIC, origins=origins)
        others = [name for name in pool.complete if name not in pool.drm]
        if not others:
            continue
        rival = str(rank_rows(pool.gains)[others].mean().idxmin())
        for method in (x for x in pool.drm if x in pool.complete):
            scores = pool.gains[method]
            part = pd.DataFrame({"dataset": scores.index, "score": scores.to_numpy()})
            part["gain"] = (scores - pool.gains[rival]).to_numpy()
            part["origin"] = pool.origin_list
            part["experiments"] = [pool.sources] * len(part)
            named = {"regime": regime.name, "method": method, "rival": rival}
            parts.append(part.assign(**named))
    columns = ["regime", "dataset", "origin", "method", "rival", "experiments"]
    columns += ["score", "gain"]
    if not parts:
        return pd.DataFrame(columns=[*columns, *traits.columns])
    rows = pd.concat(parts, ignore_index=True)[columns]
    return rows.join(traits, on="dataset")


def trend(rows: pd.DataFrame, value: str, trait: Trait) -> pd.DataFrame:
    """Return the median of a column in each bin of a trait, with its interval.

    `rows` are one per data set, with an ``origin``. One row per bin with enough data
    sets, in the order of the trait: ``bin``; ``place``, the trait's median there;
    ``median`` with the ends ``low`` and ``high``, ``datasets`` and ``origins``.
    """
    known = rows.dropna(subset=[trait.column, value])
    number = np.digitize(known[trait.column].to_numpy(dtype=float), trait.edges)
    records = []
    for place, part in known.groupby(number, sort=True):
        if len(part) < LEAST:
            continue
        low, high = median_interval(part[value].to_numpy(), list(part["origin"]))
        records.append(
            {
                "bin": place,
                "place": float(part[trait.column].median()),
                "median": stable(float(part[value].median())),
                "low": low,
                "high": high,
                "datasets": len(part),
                "origins": part["origin"].nunique(),
            }
        )
    columns = ["bin", "place", "median", "low", "high", "datasets", "origins"]
    return pd.DataFrame(records, columns=columns)


def lift(rows: pd.DataFrame, fix: str, plain: str) -> pd.DataFrame:
    """Return what a fix adds to the plain method, on even and on uneven classes.

    `rows` are those of :func:`gains`. Two rows at most, by ``uneven``, with ``median``,
    ``low``, ``high``, ``datasets`` and ``origins`` as :func:`trend` has them.
    """
    wide = rows.pivot(index="dataset", columns="method", values="score")
    if not {fix, plain} <= set(wide.columns):
        return pd.DataFrame(columns=["uneven", "median", "low", "high"])
    added = (wide[fix] - wide[plain]).dropna().rename("lift")
    traits = rows.drop_duplicates("dataset").set_index("dataset")
    known = traits[["origin", "ratio"]].join(added, how="inner")
    found = trend(known, "lift", Trait("ratio", "imbalance ratio", (UNEVEN,)))
    return found.assign(uneven=found["bin"] == 1).drop(columns=["bin", "place"])


def median_interval(
    values: Array, origins: Sequence[str], *, draws: int = _DRAWS
) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a median over data sets.

    Origins are drawn with replacement, each with all its data sets, always in the same
    way; one origin tells nothing, and its ends are NaN.

    Examples
    --------
    >>> median_interval(np.array([1.0, 2.0, 4.0]), ["a", "b", "b"])
    (1.0, 3.0)
    """
    names, member = np.unique(np.asarray(origins, dtype=str), return_inverse=True)
    if len(names) < 2:
        return math.nan, math.nan
    uniform = np.random.default_rng(_SEED).random((draws, len(names)))
    drawn = (uniform * len(names)).astype(int)
    counts = np.zeros((draws, len(names)), dtype=int)
    np.add.at(counts, (np.arange(draws)[:, None], drawn), 1)
    order = np.argsort(values, kind="stable")
    # How many values of a draw are not above each value, in the order of values.
    reached = counts[:, member[order]].cumsum(axis=1)
    total = reached[:, -1:]
    middle = [
        (reached <= place).sum(axis=1) for place in ((total - 1) // 2, total // 2)
    ]
    medians = np.asarray(values, dtype=float)[order][np.array(middle)].mean(axis=0)
    ends = np.percentile(medians, [100 * ALPHA / 2, 100 * (1 - ALPHA / 2)])
    return stable(float(ends[0])), stable(float(ends[1]))


def front(points: pd.DataFrame) -> list[str]:
    """Return the methods that no other beats in both time and figure, fastest first.

    `points` have a row per method with ``seconds`` and ``value``, higher being better.

    Examples
    --------
    >>> front(pd.DataFrame({"seconds": [1.0, 2.0, 3.0], "value": [0.7, 0.6, 0.9]},
    ...                    index=["a", "b", "c"]))
    ['a', 'c']
    """
    by_time = points.sort_values(["seconds", "value"], ascending=[True, False])
    before = by_time["value"].cummax().shift(fill_value=-math.inf)
    return [str(name) for name in by_time.index[by_time["value"] > before]]
