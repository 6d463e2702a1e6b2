"""Published G-mean cells, computed again by the paper's own protocol on KEEL's folds.

The folds are given and most methods draw no random numbers, so a cell can come out
identical to the published one, digit by digit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from drmbench.data.dataset import Dataset
from drmbench.methods.base import Method
from drmbench.metrics import get_metric, mean_and_spread
from drmbench.paper import Agreement, PublishedCell
from drmbench.protocol.evaluate import Outcome, better_on_test, evaluate
from drmbench.protocol.protocol import Protocol, paper_protocol
from drmbench.protocol.splits import given_folds


@dataclass(frozen=True)
class ReproducedCell:
    """A figure of ours for one cell of the paper's table.

    Attributes
    ----------
    dataset, method : str
        Names in the catalogue and the method registry.
    mean, spread : float
        Over the folds, with the better scaling on the test folds; NaN if the method
        failed on every fold.
    scaling : str
        The better scaling.
    failed : int
        Number of folds on which the method failed; they count as the worst value, as
        the published figures do.
    reason : str
        Why it failed, or empty.
    seconds : float
        Time of both scalings over all folds.
    figures : dict of str to (float, float)
        Mean and spread of each scaling, the better one among them.
    """

    dataset: str
    method: str
    mean: float
    spread: float
    scaling: str
    failed: int
    reason: str
    seconds: float
    figures: dict[str, tuple[float, float]] = field(default_factory=dict)

    def exact_with(self, published: PublishedCell | None) -> str | None:
        """Return the scaling whose figure is exactly the published one, if any.

        Some published cells are exactly our unscaled figure although our scaled one is
        better, and the paper says that the better is reported.
        """
        for scaling, (mean, spread) in self.figures.items():
            if published and published.agreement(mean, spread) is Agreement.EXACT:
                return scaling
        return None

    def agreement(self, published: PublishedCell | None) -> Agreement:
        """Class this figure against the published one."""
        if published is None:
            return Agreement.UNPUBLISHED
        return published.agreement(self.mean, self.spread)


def reproduce_cell(
    dataset: Dataset, method: Method, protocol: Protocol | None = None
) -> ReproducedCell:
    """Run a method on the folds of a data set under the paper's protocol.

    Parameters
    ----------
    dataset : Dataset
        A data set with folds.
    method : Method
        The method, with the paper's grid.
    protocol : Protocol or None
        Another protocol of the scaling mode ``paper``; None is the paper's own, with
        leave-one-out selection by G-mean.
    """
    rules = protocol or paper_protocol("gmean")
    metric = rules.metrics[0]
    by_scaling: dict[str, list[Outcome]] = {}
    for split in given_folds(dataset):
        for outcome in evaluate(dataset, method, split, rules):
            by_scaling.setdefault(outcome.scaling, []).append(outcome)
    values = {s: _values(outcomes, metric) for s, outcomes in by_scaling.items()}
    scaling = better_on_test(values, metric)
    failures = [str(o.failure) for o in by_scaling[scaling] if o.failure]
    mean, spread = mean_and_spread(values[scaling])
    if len(failures) == len(values[scaling]):
        mean = spread = math.nan
    return ReproducedCell(
        dataset.name,
        method.name,
        mean,
        spread,
        scaling,
        len(failures),
        failures[0] if failures else "",
        _seconds(by_scaling.values()),
        {s: mean_and_spread(figures) for s, figures in values.items()},
    )


def _values(outcomes: Iterable[Outcome], metric: str) -> list[float]:
    worst = get_metric(metric, scalar=True).worst
    return [worst if o.failure else float(o.metrics[metric]) for o in outcomes]


def _seconds(groups: Iterable[list[Outcome]]) -> float:
    return sum(
        outcome.seconds_select + outcome.seconds_fit + outcome.seconds_predict
        for outcomes in groups
        for outcome in outcomes
    )


def count_agreements(
    pairs: Iterable[tuple[ReproducedCell, PublishedCell | None]],
) -> dict[str, Counter[Agreement]]:
    """Count the classes of agreement of each method."""
    counts: dict[str, Counter[Agreement]] = {}
    for ours, published in pairs:
        counts.setdefault(ours.method, Counter())[ours.agreement(published)] += 1
    return counts
