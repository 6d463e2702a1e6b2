"""The kinds of data that methods are ranked on: each data set belongs to one regime.

A method that is good on faces need not be on a rare class, so figures are pooled within
a regime only. The rules are data (:data:`REGIMES`): a data set belongs to the first
regime that has its name or its collection, or within whose bounds it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drmbench.data.catalogue import DatasetEntry, load_catalogue
from drmbench.errors import InputError, did_you_mean


@dataclass(frozen=True)
class DatasetFacts:
    """What decides to which regime a data set belongs."""

    name: str  #: as in the catalogue
    n: int  #: samples
    p: int  #: features
    classes: int  #: number of classes
    #: largest class over smallest; NaN where classes were never counted
    ratio: float = math.nan
    collections: tuple[str, ...] = ()  #: groups of the catalogue

    @classmethod
    def of(cls, entry: DatasetEntry) -> DatasetFacts:
        """Return what the catalogue says of a data set."""
        ratio = entry.imbalance_ratio
        sizes = entry.n, entry.p, entry.classes
        return cls(entry.name, *sizes, ratio or math.nan, entry.groups)

    @classmethod
    def of_run(cls, name: str, entry: Mapping[str, Any]) -> DatasetFacts:
        """Return what a manifest says of the data set that was run.

        That is `name`, which may stand in for the entry's. Its collections are the
        catalogue's if it is the catalogue's data set.
        """
        counts = [int(count) for count in (entry.get("class_counts") or {}).values()]
        ratio = max(counts) / min(counts) if counts else math.nan
        n, p, classes = (int(entry[size]) for size in ("n", "p", "classes"))
        catalogue = load_catalogue()
        groups: tuple[str, ...] = ()
        if name in catalogue.names:
            known = catalogue.entry(name)
            groups = known.groups if (known.n, known.p) == (n, p) else ()
        return cls(name, n, p, classes, ratio, groups)


@dataclass(frozen=True)
class Regime:
    """A kind of data, and the rule of what belongs to it."""

    name: str  #: what files are called after
    title: str  #: what tables call it
    rule: str  #: the rule in words
    metric: str  #: the metric it is ranked by
    #: collections and data sets that belong to it whatever their size
    collections: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    #: bounds; a data set that is within one of them belongs to it
    above_n: float = math.inf
    above_p_per_n: float = math.inf
    least_ratio: float = math.inf

    def holds(self, facts: DatasetFacts) -> bool:
        """Say whether the rule, taken by itself, holds of a data set."""
        return (
            facts.name in self.datasets
            or not set(self.collections).isdisjoint(facts.collections)
            or facts.n > self.above_n
            or facts.p > self.above_p_per_n * facts.n
            or facts.ratio >= self.least_ratio
        )


#: The regimes in the order in which their rules are asked.
REGIMES: tuple[Regime, ...] = (
    Regime(
        name="images",
        title="faces and digits",
        rule="images of faces, and digits written by hand",
        metric="accuracy",
        collections=("face",),
        datasets=("orl", "optdigits", "pendigits", "semeion"),
    ),
    Regime(
        name="large",
        title="large n",
        rule="more than 10,000 samples",
        metric="balanced_accuracy",  # the largest class alone is up to 90 %
        above_n=10_000,
    ),
    Regime(
        name="wide",
        title="p ≫ n",
        rule="more features than samples",
        metric="accuracy",
        above_p_per_n=1,
    ),
    Regime(
        name="rare",
        title="rare class",
        rule="KEEL's imbalanced two-class problems, and others whose largest class is"
        " at least three times the smallest",
        metric="gmean",
        collections=("keel-imbalanced",),
        least_ratio=3,
    ),
    Regime(
        name="low",
        title="low-dimensional",
        rule="no more features than samples, and no class rare",
        metric="accuracy",
        above_n=0,  # what none of the others is
    ),
)


#: Their names in the order in which people read of them: what the paper's title names
#: comes first.
ORDER = ("rare", "wide", "images", "low", "large")


def regime_of(facts: DatasetFacts) -> Regime:
    """Return the regime of a data set: the first whose rule holds.

    Examples
    --------
    >>> regime_of(DatasetFacts("mine", n=60, p=9712, classes=9)).name
    'wide'
    >>> regime_of(DatasetFacts("mine", n=600, p=8, classes=2, ratio=9.1)).name
    'rare'
    """
    return next(regime for regime in REGIMES if regime.holds(facts))


def get_regime(name: str) -> Regime:
    """Return the regime of this name, or raise an InputError with near misses."""
    known = {regime.name: regime for regime in REGIMES}
    if name not in known:
        listed = ", ".join(known)
        hint = did_you_mean(name, known)
        raise InputError(f"there is no regime {name!r}.{hint} Regimes: {listed}.")
    return known[name]
