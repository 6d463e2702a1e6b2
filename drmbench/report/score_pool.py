"""Figures of several experiments put together, as far as they are comparable.

Methods are compared on a data set only where they were run on the same splits and their
parameters were selected alike: selection on 200 rows is no match for selection on all.
Splits depend on the data set, the kind of split and the seed, so figures of several
experiments may stand in one table. Of several ways of selection the one counts that has
the most figures, data sets times methods, in the regime; what has it not is left out.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from drmbench.data import catalogue
from drmbench.metrics import get_metric, mean_and_spread
from drmbench.protocol.protocol import ROWS_OF_MODE, ScalingMode, SelectionPlan
from drmbench.report.analyses.sensitivity import fixed_pairs
from drmbench.report.regimes import (
    ORDER,
    DatasetFacts,
    Regime,
    get_regime,
    regime_of,
)
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
    experiments: tuple[str, ...]  #: names of those that are comparable
    sources: tuple[str, ...]  #: names of those of them that figures come from

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


class _Selection(NamedTuple):
    """How parameters were selected; the whole of a regime must share it."""

    plan: SelectionPlan  #: without its note, unless a method has one of its own
    preparation: str  #: how columns were prepared

    def on(self, rows: int) -> _Selection:
        """Return what it comes to on some training rows: a part may be all of them."""
        if self.plan.kind == "random" or rows > (self.plan.subset or 0):
            return self
        return self._replace(plan=replace(self.plan, subset=None, subset_least=0))


class _Protocol(NamedTuple):
    """What two experiments must share to be comparable on a data set."""

    #: kind and sizes, without how often they are drawn again: the first ones are alike
    split: str
    seed: int  #: seed of the experiment
    selection: _Selection  #: what it comes to on the training rows
    fingerprint: str  #: of the data set

    @property
    def drawn(self) -> tuple[str, int]:
        """What decides the splits of every data set."""
        return self.split, self.seed


class _Run(NamedTuple):
    """A data set of an experiment."""

    results: Results  #: the experiment
    dataset: str  #: what it calls the data set
    selection: _Selection  #: that of the whole experiment
    rows: int  #: how many it was trained on


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
    the data set that it is. Of two experiments that have the same method in the same
    way, the one with more data sets of the regime, then with more methods, counts;
    if one drew more splits than the other, the splits count that both have. Experiments
    that trained on a part of the training rows, to be quick, and DRMs at fixed α and β
    take no part.
    """
    wanted = get_regime(regime)
    metric = metric or wanted.metric
    chosen = _comparable(_runs(results, wanted, metric, mode))
    figures = {name: _figures(runs, metric, mode) for name, runs in chosen.items()}
    chosen = {name: runs for name, runs in chosen.items() if figures[name]}
    scores = {
        name: {label: mean for label, (mean, _) in figures[name].items()}
        for name in chosen
    }
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
        tuple(dict.fromkeys(x for name in chosen for _, x in figures[name].values())),
    )


def regime_pools(
    results: Iterable[Results], origins: Mapping[str, str] | None = None
) -> list[ScorePool]:
    """Return the figures of every regime in honest mode by its metric, empty or not.

    They are in the order in which people read of them.
    The origins are those of the catalogue unless others are given.
    """
    every = list(results)
    if origins is None:
        origins = catalogue.origins()
    return [pool_of(every, name, origins=origins) for name in ORDER]


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
        if spec.split.max_train is not None or fixed_pairs(one):
            continue
        split = spec.split.model_dump_json(exclude={"repeats"})
        plan = replace(spec.selection_for(None, mode), note="")
        selection = _Selection(plan, spec.preparation)
        for name, entry in one.datasets.items() if metric in one.rows.columns else ():
            real = str(entry.get("substitute") or name)
            if entry.get("missing"):
                continue
            if regime_of(DatasetFacts.of_run(real, entry)) != regime:
                continue
            run = _Run(one, name, selection, int(entry.get("n_train") or sys.maxsize))
            fingerprint = str(entry.get("fingerprint"))
            applied = selection.on(run.rows)
            protocol = _Protocol(split, spec.seed, applied, fingerprint)
            found.setdefault(real, {}).setdefault(protocol, []).append(run)
    return found


def _selected_by(selection: _Selection, found: _Runs) -> _Runs:
    """Keep what comes to the same on its data set as this way of selection."""
    return {
        name: {
            protocol: runs
            for protocol, runs in there.items()
            if protocol.selection == selection.on(runs[0].rows)
        }
        for name, there in found.items()
    }


def _figure_counts(found: _Runs) -> Counter[tuple[str, int]]:
    """Count figures, data sets times methods, by what decides their splits."""
    counts: Counter[tuple[str, int]] = Counter()
    for there in found.values():
        for protocol, runs in there.items():
            counts[protocol.drawn] += sum(len(run.results.methods) for run in runs)
    return counts


def _comparable(found: _Runs) -> dict[str, list[_Run]]:
    """Keep the data sets that were selected in one way, the broadest run of each first.

    The way is the one with the most figures; of several splits in that way, the ones
    that have the most.
    """
    ways = dict.fromkeys(
        run.selection
        for there in found.values()
        for runs in there.values()
        for run in runs
    )
    choices = [_selected_by(selection, found) for selection in ways]
    alike = max(choices, key=lambda one: _figure_counts(one).total(), default={})
    splits = _figure_counts(alike)
    chosen = {
        name: there[max(there, key=lambda protocol: splits[protocol.drawn])]
        for name, there in alike.items()
        if there
    }
    breadth = Counter(run.results.name for runs in chosen.values() for run in runs)
    return {
        name: sorted(
            runs,
            key=lambda run: (-breadth[run.results.name], -len(run.results.methods)),
        )
        for name, runs in chosen.items()
    }


def _figures(
    runs: Sequence[_Run], metric: str, mode: ScalingMode
) -> dict[str, tuple[float, str]]:
    """Return each method's mean on a data set, and the experiment that it is from.

    It is over the splits that all runs have.
    """
    shared = min(int(run.results.datasets[run.dataset]["splits"]) for run in runs)
    found: dict[str, tuple[float, str]] = {}
    for results, dataset, *_ in runs:
        for label in results.methods:
            cell = results.summary(dataset, label, mode=mode, metric=metric)
            if cell.complete and label not in found:
                mean, _ = mean_and_spread(cell.values[:shared])
                found[label] = mean, results.name
    return found


def _seconds(runs: Sequence[_Run], mode: ScalingMode) -> dict[str, float]:
    """Return the time of selection and fit of each method, mean over splits."""
    means: dict[str, float] = {}
    for results, dataset, *_ in runs:
        for label in results.methods:
            spent = [
                row["seconds_select"] + row["seconds_fit"]
                for scaling in ROWS_OF_MODE[mode]
                for row in results.split_rows(dataset, label, mode, scaling)
                if row["status"] == "ok"
            ]
            if spent and label not in means:
                means[label] = mean_and_spread(spent)[0]
    return means
