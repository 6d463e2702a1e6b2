"""What selection cost and what it was given, as numbers for the text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from drmbench.protocol.protocol import ScalingMode
from drmbench.report.analyses.naive import naive_cost
from drmbench.report.findings import Findings, OutdatedTextError


@dataclass(frozen=True)
class SelectionCost:
    """What choosing parameters took one method in an experiment."""

    minutes: float  #: All splits, data sets and scalings together
    seconds: float  #: Mean of one split and scaling


class CostFindings:
    """Numbers on time, on how many settings were searched and on how many rows."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.results = findings.results

    # ---------------------------------------------------------------------------- cost

    def grid(self, experiment: str, label: str, parameter: str) -> list[float]:
        """Return the values of a parameter that were searched."""
        return list(self.results[experiment].methods[label]["grid"][parameter])

    def candidates(self, experiment: str, label: str) -> int:
        """Return how many settings of a method were searched."""
        grid = self.results[experiment].methods[label]["grid"]
        return math.prod(len(values) for values in grid.values())

    def selection(
        self, experiment: str, label: str, mode: ScalingMode = "honest"
    ) -> SelectionCost:
        """Return what choosing the parameters of a method took."""
        rows = self._timed(experiment, label, mode)
        spent = rows["seconds_select"]
        return SelectionCost(float(spent.sum()) / 60, float(spent.mean()))

    def selection_share(
        self, label: str, other: str, experiments: Sequence[str]
    ) -> float:
        """Return the selection time of a method as a share of another's."""
        own, others = (
            sum(self.selection(experiment, name).minutes for experiment in experiments)
            for name in (label, other)
        )
        return own / others

    def seconds(self, experiment: str, dataset: str, label: str, step: str) -> float:
        """Return the seconds of a step of a method on a data set, mean over splits."""
        found = self.results[experiment]
        rows = self._timed(experiment, label, found.modes[0])
        return float(rows[rows["dataset"] == dataset][f"seconds_{step}"].mean())

    def _timed(self, experiment: str, label: str, mode: ScalingMode) -> pd.DataFrame:
        rows = self.results[experiment].rows
        chosen = (rows["method"] == label) & (rows["mode"] == mode)
        return rows[chosen & (rows["status"] == "ok")]

    def naive(
        self, experiments: Sequence[str], label: str, mode: ScalingMode = "paper"
    ) -> dict[str, float]:
        """Return what selection took and would have taken naively, and the factor."""
        costs = pd.concat([naive_cost(self.results[x], mode) for x in experiments])
        own = costs[(costs["method"] == label) & costs["refits_naive"].notna()]
        took, naive = (
            math.fsum(own[name]) for name in ("seconds_select", "seconds_naive")
        )
        return {"hours": naive / 3600, "minutes": took / 60, "factor": naive / took}

    # ------------------------------------------------------------- sizes of the classes

    def subset(self, experiment: str) -> int:
        """Return on how many training rows at most parameters were selected."""
        found = self.results[experiment]
        mode: ScalingMode = "honest" if "honest" in found.modes else found.modes[0]
        rows = found.experiment.selection_for(None, mode).rows_used
        if rows is None:
            raise OutdatedTextError(
                f"{experiment} selects on all training rows now: rewrite what the"
                " template says of its subset"
            )
        return rows

    def minority_in_selection(self, experiment: str) -> pd.Series[float]:
        """Return how many rows of the smallest class selection saw, by data set.

        That is its share of the training rows, or of the stratified subset of these,
        which may be told to have so many rows of each class at least.
        """
        found, rows = self.results[experiment], {}
        plan = found.experiment.selection_for(None, found.modes[0])
        for name, entry in found.datasets.items():
            n_train = int(entry["n_train"])
            share = min(entry["class_counts"].values()) / int(entry["n"])
            used = min(plan.rows_used or n_train, n_train)
            rows[name] = max(share * used, min(share * n_train, plan.subset_least))
        return pd.Series(rows)

    def deficit(
        self, experiment: str, ours: str, theirs: str, *, least: float, below: float
    ) -> float:
        """Return how far one method is behind another where so few rows were seen."""
        seen = self.minority_in_selection(experiment)
        means = self.findings.scores(experiment)
        chosen = seen.index[(seen >= least) & (seen < below)]
        behind = (means[theirs] - means[ours]).reindex(chosen).dropna()
        return float(behind.mean())

    def largest_class(self, experiment: str, dataset: str) -> float:
        """Return the share of the largest class in a data set."""
        entry = self.results[experiment].datasets[dataset]
        return float(max(entry["class_counts"].values()) / int(entry["n"]))

    def features(self, experiment: str, dataset: str) -> int:
        """Return the number of features of a data set as it was run."""
        return int(self.results[experiment].datasets[dataset]["p"])

    def tested(self, experiment: str, dataset: str) -> int:
        """Return the number of test samples of a data set."""
        return int(self.results[experiment].datasets[dataset]["n_test"])

    def trained(self, experiment: str, dataset: str) -> int:
        """Return the number of training samples of a data set."""
        return int(self.results[experiment].datasets[dataset]["n_train"])
