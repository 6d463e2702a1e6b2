"""Figures of several experiments put together, as far as they are comparable.

Methods are compared on a data set only where they were run on the same splits. Splits
depend on the data set, the kind of split and the seed, so figures of several
experiments may stand in one table; where a data set was split in several ways, the way
counts that most data sets of the regime have.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from drmbench.metrics import get_metric, mean_and_spread
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.regimes import DatasetFacts, Regime, get_regime, regime_of
from drmbench.report.scores import DRM_FAMILIES
from drmbench.running.results import Results

#: The DRM that stands for the method, the first of these that is complete: the one
#: that chooses its kernel, else the one of the RBF kernel. It is named here, once for
#: all regimes, because the best of several would be chosen by its test results.
ENTRIES = ("drm", "drm-rbf")


@dataclass(frozen=True, eq=False)
class ScorePool:
    """Comparable figures of all methods on the data sets of a regime."""

    regime: Regime  #: what the data sets have in common
    metric: str  #: a one-number metric
    mode: ScalingMode  #: scaling mode
    scores: pd.DataFrame  #: data sets x methods: means; NaN where not complete
    seconds: pd.DataFrame  #: the same: seconds of selection and fit on one split
    families: Mapping[str, str]  #: the family of each method
    origins: Mapping[str, str]  #: the origin of each data set
    experiments: tuple[str, ...]  #: names of those that figures come from

    @cached_property
    def complete(self) -> list[str]:
        """The methods that have a figure on every data set."""
        whole = self.scores.notna().all()
        return [str(name) for name in self.scores.columns if whole[name]]

    @property
    def drm(self) -> list[str]:
        """The methods that are a DRM."""
        return [x for x, family in self.families.items() if family in DRM_FAMILIES]

    @property
    def entry(self) -> str | None:
        """The DRM that stands for the method; None if none is complete."""
        there = [name for name in self.drm if name in self.complete]
        named = [name for name in ENTRIES if name in there]
        return next(iter([*named, *there]), None)

    @cached_property
    def gains(self) -> pd.DataFrame:
        """The figures of the complete methods; higher is better."""
        return get_metric(self.metric).sign * self.scores[self.complete]

    @property
    def origin_list(self) -> list[str]:
        """The origins in the order of the data sets."""
        return [self.origins[name] for name in self.scores.index]

    @cached_property
    def origin_gains(self) -> pd.DataFrame:
        """:attr:`gains` averaged over the data sets of each origin."""
        return self.gains.groupby(self.origin_list, sort=False).mean()


class _Protocol(NamedTuple):
    """What two experiments must share to have the same splits of a data set."""

    #: kind and sizes, without how often they are drawn again: the first ones are alike
    split: str
    seed: int  #: seed of the experiment
    fingerprint: str  #: of the data set


class _Run(NamedTuple):
    """A data set of an experiment."""

    results: Results  #: the experiment
    dataset: str  #: what it calls the data set


_Runs = dict[str, dict[_Protocol, list[_Run]]]


def pool_of(
    results: Iterable[Results],
    regime: str,
    *,
    metric: str | None = None,
    mode: ScalingMode = "honest",
    origins: Mapping[str, str] | None = None,
) -> ScorePool:
    """Put together what experiments say of the data sets of a regime.

    The metric is the regime's own unless another is named. `origins` says which source
    a data set was made from; one that it lacks is its own origin. A stand-in counts as
    the data set that it is. Of two experiments that have the same method on the same
    splits, the one with more data sets of the regime, then with more methods, counts;
    if one drew more splits than the other, the splits count that both have.
    """
    wanted = get_regime(regime)
    metric = metric or wanted.metric
    chosen = _comparable(_runs(results, wanted, metric, mode))
    figures = {name: _scores(runs, metric, mode) for name, runs in chosen.items()}
    chosen = {name: runs for name, runs in chosen.items() if figures[name]}
    scores = {name: figures[name] for name in chosen}
    families = {
        label: str(entry.get("family") or "")
        for runs in chosen.values()
        for run in runs
        for label, entry in run.results.methods.items()
    }
    return ScorePool(
        wanted,
        metric,
        mode,
        _frame(scores, families),
        _frame({name: _seconds(runs, mode) for name, runs in chosen.items()}, families),
        families,
        {name: (origins or {}).get(name, name) for name in chosen},
        tuple(dict.fromkeys(r.results.name for runs in chosen.values() for r in runs)),
    )


def _frame(
    figures: Mapping[str, Mapping[str, float]], methods: Iterable[str]
) -> pd.DataFrame:
    """Lay out figures as data sets x methods."""
    columns = list(methods)
    values = [[line.get(m, math.nan) for m in columns] for line in figures.values()]
    return pd.DataFrame(values, index=list(figures), columns=columns, dtype=float)


def _runs(
    results: Iterable[Results], regime: Regime, metric: str, mode: ScalingMode
) -> _Runs:
    """Find the data sets of a regime that have figures, by how they were split."""
    found: _Runs = {}
    for one in results:
        spec = one.experiment
        if spec.kind != "classification" or mode not in one.modes:
            continue
        split = spec.split.model_dump_json(exclude={"repeats"})
        for name, entry in one.datasets.items() if metric in one.rows.columns else ():
            real = str(entry.get("substitute") or name)
            if entry.get("missing"):
                continue
            if regime_of(DatasetFacts.of_run(real, entry)) != regime:
                continue
            protocol = _Protocol(split, spec.seed, str(entry.get("fingerprint")))
            found.setdefault(real, {}).setdefault(protocol, []).append(_Run(one, name))
    return found


def _comparable(found: _Runs) -> dict[str, list[_Run]]:
    """Choose one way of splitting each data set, and put its broadest run first."""
    ways = Counter(way[:2] for by_protocol in found.values() for way in by_protocol)
    chosen = {
        name: max(
            by_protocol.items(),
            key=lambda item: (
                ways[item[0][:2]],
                sum(len(run.results.methods) for run in item[1]),
            ),
        )[1]
        for name, by_protocol in found.items()
    }
    breadth = Counter(run.results.name for runs in chosen.values() for run in runs)
    return {
        name: sorted(
            runs,
            key=lambda run: (-breadth[run.results.name], -len(run.results.methods)),
        )
        for name, runs in chosen.items()
    }


def _scores(runs: Sequence[_Run], metric: str, mode: ScalingMode) -> dict[str, float]:
    """Return each method's mean on a data set, over the splits that all runs have."""
    shared = min(int(run.results.datasets[run.dataset]["splits"]) for run in runs)
    means: dict[str, float] = {}
    for results, dataset in runs:
        for label in results.methods:
            cell = results.summary(dataset, label, mode=mode, metric=metric)
            if cell.complete and label not in means:
                means[label] = mean_and_spread(cell.values[:shared])[0]
    return means


def _seconds(runs: Sequence[_Run], mode: ScalingMode) -> dict[str, float]:
    """Return the time of selection and fit of each method, mean over splits."""
    means: dict[str, float] = {}
    for results, dataset in reversed(runs):
        rows = results.rows
        done = rows[
            (rows["dataset"] == dataset)
            & (rows["mode"] == mode)
            & (rows["status"] == "ok")
        ]
        spent = done["seconds_select"] + done["seconds_fit"]
        by_method = spent.groupby(done["method"]).mean()
        means |= {str(name): float(value) for name, value in by_method.items()}
    return means
