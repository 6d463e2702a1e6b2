"""Which figures results have: one rule for all experiments, whatever their names.

A figure is drawn where it says something that no other does. Experiments that were run
alike share one figure; those that share none have their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from drmbench.data import catalogue
from drmbench.paper import published_table
from drmbench.report.analyses.curves import curve_groups
from drmbench.report.analyses.sensitivity import fixed_pairs
from drmbench.report.figures import (
    ablation,
    measured,
    published,
    ranks,
    standings,
    tradeoff,
    when,
)
from drmbench.report.figures.drawing import Drawing, competing_methods
from drmbench.report.score_pool import ScorePool, regime_pools
from drmbench.report.scores import table_sources
from drmbench.running.results import Results

Recipe = Callable[[], Drawing]


def recipes(results: Mapping[str, Results]) -> Iterator[Recipe]:
    """Give what draws each figure: experiment by experiment, then those of several."""
    origins = catalogue.origins()
    pools = [pool for pool in regime_pools(results.values(), origins) if enough(pool)]
    curves = curve_groups(results.values())
    in_curves = {found.name for group in curves for found in group}
    pooled = {name for pool in pools for name in pool.experiments}
    of_paper = {name for name, x in results.items() if x.experiment.reproduces}
    # Beside the paper's, experiments that regimes are ranked by stand in one figure.
    together = pooled - of_paper if of_paper else set()
    for name, found in results.items():
        if found.experiment.kind == "timing":
            yield partial(measured.draw_time, found)
            continue
        if found.experiment.kind == "convergence":
            yield partial(measured.draw_objective, found)
            yield partial(measured.draw_beta, found)
            continue
        if ablation.has_selected(found):
            yield partial(ablation.draw_selected, found)
        if ablation.swept_kernels(found):
            yield partial(ablation.draw_fixed, found)
        if fixed_pairs(found):
            yield partial(when.draw_sensitivity, found, origins)
        if name in in_curves or ablation.has_selected(found):
            continue
        if name not in together and has_ranks(found, results):
            yield partial(ranks.draw_ranks, found, results)
        if has_tradeoff(found, results, pools):
            yield partial(tradeoff.draw_tradeoff, found, origins)
    if any(source.published for source in table_sources(results)):
        yield partial(published.draw_published, results)
    if pools:
        if together:
            yield partial(standings.draw_standings, pools, results)
        alone = results[min(pooled)] if len(pooled) == 1 else None
        if alone is None or not has_tradeoff(alone, results, pools):
            yield partial(tradeoff.draw_regimes, pools, results)
        yield partial(when.draw_gain, results, origins)
    yield from (partial(when.draw_learning, group) for group in curves)


def enough(pool: ScorePool) -> bool:
    """Tell whether a regime has the data sets and methods that a figure needs."""
    datasets, methods = len(pool.scores), len(pool.complete)
    return datasets >= tradeoff.LEAST_DATASETS and methods >= tradeoff.LEAST_METHODS


def has_ranks(found: Results, results: Mapping[str, Results]) -> bool:
    """Tell whether an experiment has a rank diagram.

    It has enough data sets and methods, lends its columns to no other diagram, and no
    other experiment has all of its data sets and methods and more.
    """
    methods = competing_methods(found)
    there = [name for name, entry in found.datasets.items() if not entry.get("missing")]
    if len(there) < ranks.LEAST_DATASETS or len(methods) < ranks.LEAST_METHODS:
        return False
    others = [other for other in results.values() if other.name != found.name]
    if any(lends(found, other) for other in others):
        return False
    return not any(
        other.datasets.keys() >= found.datasets.keys()
        and other.methods.keys() >= found.methods.keys()
        and (len(other.datasets), len(other.methods))
        > (len(found.datasets), len(found.methods))
        for other in others
    )


def lends(found: Results, other: Results) -> bool:
    """Tell whether another experiment's table borrows columns from this one's."""
    table = published_table(other.experiment.reproduces)
    lender = table.borrows_from if table else ""
    return bool(lender) and lender == found.experiment.reproduces


def has_tradeoff(
    found: Results, results: Mapping[str, Results], pools: Sequence[ScorePool]
) -> bool:
    """Tell whether an experiment has a figure of scores and times of its own.

    It was run in honest mode on all training rows, has two methods and, if it is a
    table of the paper, as many data sets as ranks need, borrows no columns, and has a
    data set whose splits are not in the figure of all regimes.
    """
    spec = found.experiment
    table = published_table(spec.reproduces)
    least = ranks.LEAST_DATASETS if table else 1
    there = [name for name, entry in found.datasets.items() if not entry.get("missing")]
    if len(there) < least or len(competing_methods(found)) < 2:
        return False
    if "honest" not in found.modes or spec.split.max_train is not None:
        return False
    if table and table.borrows_from:
        return False
    shown = {
        (str(name), _splits(results[experiment]))
        for pool in pools
        for experiment in pool.experiments
        for name in pool.scores.index
    }
    done = found.means(mode="honest").dropna(how="all").index
    real = [str(found.datasets[x].get("substitute") or x) for x in map(str, done)]
    return not all((name, _splits(found)) in shown for name in real)


def _splits(found: Results) -> tuple[str, int]:
    """Return what decides the splits of an experiment's data sets."""
    spec = found.experiment
    return spec.split.model_dump_json(exclude={"repeats"}), spec.seed
