"""The first thing a visitor reads: where the DRM holds up, and what to use instead.

A card per regime is made from its pool of comparable figures, and the answer from the
cards. All of it is structured; the sentences are made at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import pandas as pd

from drmbench.report.bootstrap import mean_intervals
from drmbench.report.fold_statistics import ROPE
from drmbench.report.leaderboard import board
from drmbench.report.regimes import ORDER, Regime, get_regime
from drmbench.report.score_pool import ENTRIES, ScorePool
from drmbench.report.signed_rank import (
    LEAST_DIFFERENCES,
    StandingWord,
    signed_rank_belief,
)
from drmbench.report.statistics import rank_rows
from drmbench.report.table import signed
from drmbench.words import metric_words

CardVerdict = Literal[
    "ahead", "as good", "not told apart", "behind", "too few data sets", "not run"
]

#: What a sentence calls the data of a regime.
_DATA_OF = {
    "rare": "data with a rare class",
    "wide": "data with p ≫ n",
    "images": "faces and digits",
    "low": "low-dimensional data",
    "large": "data with large n",
}
#: Families that have fewer parameters to choose than the DRM, and need no kernel.
_SIMPLER = ("ridge", "logistic", "lda", "nsc", "nb")
#: The DRMs that are told that a class is rare, and what each of them has.
MENDED = {
    "drm-balanced": "class weights",
    "drm-threshold": "a tuned threshold",
    "drm-nystroem": "class weights and a kernel of low rank",
}
#: Rivals in a dot plot, at most.
_DOTS = 3


@dataclass(frozen=True)
class Duel:
    """One method against another over the origins of a regime; more is better."""

    first: str  #: label of the one
    second: str  #: label of the other
    difference: float  #: mean of the first minus the second
    low: float  #: low end of its 95 % bootstrap interval
    high: float  #: high end
    standing: StandingWord  #: what can be said of the first

    @property
    def effect(self) -> str:
        """The difference as it is read."""
        return signed(self.difference, 3)

    @property
    def interval(self) -> str:
        """The interval as it is read; empty where one origin has none."""
        if math.isnan(self.low):
            return ""
        return f"{signed(self.low, 3)} to {signed(self.high, 3)}"


def duel(pool: ScorePool, first: str, second: str) -> Duel:
    """Compare two complete methods of a pool over its origins."""
    gains = pool.origin_gains
    found = pd.DataFrame({"difference": gains[first] - gains[second]})
    (ends,) = mean_intervals(found, list(found.index)).to_numpy(dtype=float)
    belief = signed_rank_belief(found["difference"].to_numpy(dtype=float))
    difference, low, high = map(float, ends)
    return Duel(first, second, difference, low, high, belief.standing)


@dataclass(frozen=True, eq=False)
class Card:
    """What is known of the DRM in one regime."""

    regime: Regime  #: the kind of data
    verdict: CardVerdict  #: what became of the DRM's entry
    metric: str = ""  #: the metric of all differences
    sets: int = 0  #: data sets
    origins: int = 0  #: how many independent sources they have
    places: Sequence[str] = ()  #: the complete methods, best mean rank first
    entry: str = ""  #: the DRM that stands for the method
    best: Duel | None = None  #: the entry against the best method that is no DRM
    #: the DRMs of :data:`MENDED` that were run against the same
    mended: Sequence[Duel] = ()
    #: a simpler method that the entry is not shown to be better than
    simpler: Duel | None = None
    dots: Sequence[Duel] = ()  #: the entry against the best others
    sources: Sequence[str] = ()  #: experiments that the figures come from

    @property
    def dots_limit(self) -> float:
        """The largest difference that the dot plot must have room for."""
        ends = (
            abs(end)
            for one in self.dots
            for end in (one.difference, one.low, one.high, ROPE)
            if not math.isnan(end)
        )
        return max(ends, default=1.0)

    @property
    def data(self) -> str:
        """What a sentence calls the data."""
        return _DATA_OF.get(self.regime.name, self.regime.title)

    @property
    def metric_words(self) -> str:
        """What the metric is called."""
        return metric_words(self.metric)

    @property
    def place(self) -> int:
        """The place of the entry."""
        return self.places.index(self.entry) + 1

    @property
    def standing(self) -> str:
        """Which number the entry is."""
        return f"number {self.place} of {len(self.places)}"

    @property
    def instead(self) -> str:
        """What is better than the entry: the best other, or a DRM that was mended."""
        better = [self.best.second] if self.best else []
        better += [one.first for one in self.mended if one.standing != "behind"]
        return _joined(better, "or")

    @property
    def advice(self) -> str:
        """Say what to use, in one sentence."""
        if self.best is None:
            return "Nothing can be advised."
        if self.verdict == "behind":
            return f"Use {self.instead} instead."
        if self.verdict == "too few data sets":
            return (
                f"Advice would need {LEAST_DIFFERENCES} independent data sets; there"
                f" {'is' if self.origins == 1 else 'are'} {self.origins}."
            )
        if self.simpler is None:
            first = f"Use {self.entry}"
            if self.places.index(self.best.second) < self.places.index(self.entry):
                first = f"{self.entry} can be used, and so can {self.best.second}"
            return f"{first}; no simpler method that was run is as good."
        if self.simpler.standing == "practically equivalent":
            return f"Use {self.simpler.second} instead: simpler, and as good."
        return (
            f"{self.entry} can be used; {self.simpler.second} is simpler and is not"
            " shown to be worse."
        )

    @property
    def mended_words(self) -> str:
        """Say what the mended DRMs do, a sentence each; empty if none was run."""
        return " ".join(
            f"With {MENDED[one.first]}, {one.first} is number"
            f" {self.places.index(one.first) + 1}:"
            f" {one.effect}{f' ({one.interval})' if one.interval else ''}"
            f" against {one.second}, {one.standing}."
            for one in self.mended
        )


def card_of(regime: Regime, pool: ScorePool) -> Card:
    """Judge the DRM in a regime by its pool of figures.

    It is behind if any method that is no DRM is shown to be better, ahead if it is
    shown to be better than all of them, and as good if the best of them is practically
    equivalent. The best is found by looking at the results, which favours it.
    """
    entry = pool.entry
    ranked = board(pool).dropna(subset="mean_rank") if len(pool.scores) else None
    if entry is None or ranked is None:
        return Card(regime, "not run")
    places = [str(name) for name in ranked["method"]]
    rivals = [name for name in places if name not in pool.drm]
    if not rivals:
        return Card(regime, "not run")
    duels = {name: duel(pool, entry, name) for name in places if name != entry}
    standings = {duels[name].standing for name in rivals}
    origins = len(set(pool.origin_list))
    verdict: CardVerdict = "not told apart"
    if origins < LEAST_DIFFERENCES:
        verdict = "too few data sets"
    elif "behind" in standings:
        verdict = "behind"
    elif standings == {"ahead"}:
        verdict = "ahead"
    elif duels[rivals[0]].standing == "practically equivalent":
        verdict = "as good"
    simpler = [
        duels[name]
        for name in rivals
        if pool.families[name] in _SIMPLER and duels[name].standing != "ahead"
    ]
    mended = [name for name in MENDED if name in places and name != entry]
    shown = {*rivals[:_DOTS], *mended}
    if verdict != "too few data sets":
        shown |= {one.second for one in simpler[:1]}
    return Card(
        regime,
        verdict,
        pool.metric,
        len(pool.scores),
        origins,
        places,
        entry,
        duels[rivals[0]],
        [duel(pool, name, rivals[0]) for name in mended],
        simpler[0] if simpler else None,
        [duels[name] for name in places if name in shown],
        pool.sources,
    )


def answer(cards: Iterable[Card]) -> str:
    """Answer in one sentence whether the DRM holds up, and where."""
    found: dict[CardVerdict, list[Card]] = {}
    for card in cards:
        found.setdefault(card.verdict, []).append(card)

    def listed(verdict: CardVerdict) -> str:
        said = [f"{card.data} ({card.standing})" for card in found[verdict]]
        return _joined(said)

    clauses = []
    if "ahead" in found:
        clauses.append(f"it is better than every other method on {listed('ahead')}")
    if "as good" in found:
        clauses.append(f"it is as good as the best on {listed('as good')}")
    if "not told apart" in found:
        data = listed("not told apart")
        clauses.append(f"no method is shown to be better on {data}")
    if "behind" in found:
        beaten = [
            f"{card.data} ({card.standing}), where {card.instead} should be used"
            for card in found["behind"]
        ]
        clauses.append(f"it is behind on {', and on '.join(beaten)}")
    for verdict, words in (
        ("too few data sets", "too few data sets to tell on"),
        ("not run", "nothing was run on"),
    ):
        if verdict in found:
            data = _joined([card.data for card in found[verdict]])
            clauses.append(f"{words} {data}")
    good = any(word in found for word in ("ahead", "as good", "not told apart"))
    lead = {
        (True, True): "The DRM holds up in part",
        (True, False): "The DRM holds up",
        (False, True): "The DRM does not hold up",
        (False, False): "Whether the DRM holds up is not known",
    }[good, "behind" in found]
    return f"{lead}: {'; '.join(clauses)}."


def _joined(words: Sequence[str], conjunction: str = "and") -> str:
    *others, last = words
    return f"{', '.join(others)} {conjunction} {last}" if others else last


@dataclass(frozen=True)
class Rank:
    """A mean rank with its 95 % interval."""

    mean: float
    low: float
    high: float
    place: int  #: among those that are ranked
    of: int  #: how many are


@dataclass(frozen=True)
class Line:
    """A method on the leaderboard of all regimes."""

    method: str  #: its label
    drm: bool  #: whether it is a DRM
    entry: bool  #: whether it stands for the DRM in a regime
    overall: Rank | None  #: over all data sets; None if it misses some
    regimes: dict[str, Rank] = field(default_factory=dict)  #: by name of the regime


@dataclass(frozen=True)
class Standings:
    """One leaderboard of all methods, over all regimes and in each."""

    lines: Sequence[Line]  #: the DRM's entries first, then best first
    regimes: Sequence[Regime]  #: those that have ranks, in the order of the cards
    together: Sequence[Regime]  #: those whose data sets are ranked together
    sets: int  #: data sets that are ranked together
    origins: int  #: how many independent sources they have


def standings(pools: Sequence[ScorePool]) -> Standings:
    """Rank all methods on the data sets of all regimes, each by its own metric.

    Ranks over all data sets are of the methods that are complete on all of them, the
    DRM's entry among them. Where regimes share few methods, those regimes count
    together that have the most figures, data sets times methods.
    """
    pools = [pool for pool in pools if len(pool.complete) > 1]
    together = max(_subsets(pools), key=_figures, default=())
    lines: dict[str, Line] = {}
    for pool in pools:
        for name in pool.scores.columns:
            drm, entry = name in pool.drm, name == pool.entry
            known = lines.get(name)
            if known is None or (entry and not known.entry):
                ranks = known.regimes if known else {}
                lines[name] = Line(name, drm, entry, None, ranks)
        for name, rank in _ranks(pool.gains, pool.origin_list).items():
            lines[name].regimes[pool.regime.name] = rank
    overall: dict[str, Rank] = {}
    origins: list[str] = []
    if together:
        common = _common(together)
        gains = pd.concat([pool.gains[common] for pool in together])
        origins = [origin for pool in together for origin in pool.origin_list]
        overall = _ranks(gains, origins)
    ordered = sorted(
        (
            Line(one.method, one.drm, one.entry, overall.get(name), one.regimes)
            for name, one in lines.items()
        ),
        key=_order,
    )
    return Standings(
        ordered,
        [pool.regime for pool in pools],
        [pool.regime for pool in together],
        len(origins),
        len(set(origins)),
    )


def _order(line: Line) -> tuple[bool, bool, float]:
    """Sort the entry first, then by the rank over all, or by places within regimes."""
    if line.overall:
        return not line.entry, False, line.overall.mean
    shares = [rank.place / rank.of for rank in line.regimes.values()]
    return not line.entry, True, sum(shares) / len(shares) if shares else math.inf


def _subsets(pools: Sequence[ScorePool]) -> Iterable[tuple[ScorePool, ...]]:
    """Give the sets of regimes, two or more, that share the DRM's entry."""
    for size in range(2, len(pools) + 1):
        for chosen in combinations(pools, size):
            if set(_common(chosen)).intersection(ENTRIES):
                yield chosen


def _common(pools: Sequence[ScorePool]) -> list[str]:
    first, *others = pools
    return [n for n in first.complete if all(n in other.complete for other in others)]


def _figures(pools: Sequence[ScorePool]) -> int:
    return len(_common(pools)) * sum(len(pool.scores) for pool in pools)


def _ranks(gains: pd.DataFrame, origins: Sequence[str]) -> dict[str, Rank]:
    """Return each method's mean rank, interval and place."""
    found = mean_intervals(rank_rows(gains), origins).sort_values("mean", kind="stable")
    return {
        str(name): Rank(float(row["mean"]), float(row["low"]), float(row["high"]), n, k)
        for k in (len(found),)
        for n, (name, row) in enumerate(found.iterrows(), 1)
    }


def cards(pools: Sequence[ScorePool]) -> list[Card]:
    """Return a card for every regime, whether it was run or not."""
    known = {pool.regime.name: pool for pool in pools}
    return [card_of(get_regime(name), known[name]) for name in ORDER]
