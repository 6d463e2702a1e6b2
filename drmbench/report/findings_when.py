"""What the text says of when to use the DRM: training size, α and β, search, draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from drmbench.metrics import get_metric
from drmbench.report.analyses.curves import curve_groups, learning_curve
from drmbench.report.analyses.draws import draws
from drmbench.report.analyses.searches import other_searches, searches
from drmbench.report.analyses.sensitivity import fixed_pairs, sensitivity
from drmbench.report.findings import Findings, OutdatedTextError
from drmbench.report.fold_statistics import ROPE
from drmbench.report.scores import DRM_FAMILIES
from drmbench.running.results import Results


@dataclass(frozen=True)
class WhenFindings:
    """The numbers of the text that come from the studies beside the rankings."""

    findings: Findings  #: the rows

    # ------------------------------------------------------------- learning curves

    @cached_property
    def _curve(self) -> tuple[Results, pd.DataFrame]:
        groups = curve_groups(self.findings.results.values())
        if not groups:
            raise OutdatedTextError("no experiments make up a learning curve")
        first = groups[0][0]
        return first, learning_curve(groups[0], "honest", first.metric)

    @property
    def curve_sets(self) -> int:
        """How many data sets have a learning curve."""
        return int(self._curve[1]["dataset"].nunique())

    @property
    def shares(self) -> list[float]:
        """The shares of the rows that train."""
        return sorted(float(share) for share in self._curve[1]["share"].unique())

    def curve_wins(self, share: float) -> int:
        """Return on how many data sets a DRM is best at a share of training rows."""
        first, frame = self._curve
        part = frame[frame["share"] == share].pivot(
            index="dataset", columns="method", values="mean"
        )
        gains = get_metric(first.metric).sign * part
        ours = [
            label
            for label, entry in first.methods.items()
            if entry.get("family") in DRM_FAMILIES
        ]
        best = gains.max(axis=1)
        return int((gains[ours].max(axis=1) >= best).sum())

    # ----------------------------------------------------------------- α and β

    @cached_property
    def _lattice(self) -> pd.DataFrame:
        for found in self.findings.results.values():
            if fixed_pairs(found):
                return sensitivity(found, "honest", found.metric)
        raise OutdatedTextError("no experiment has DRMs at fixed α and β")

    @property
    def pairs(self) -> int:
        """How many pairs of α and β were run."""
        return len(self._lattice)

    @property
    def pair_sets(self) -> int:
        """On how many data sets."""
        return int(self._lattice["datasets"].max())

    @property
    def best_pair(self) -> dict[str, float]:
        """The best pair and its mean."""
        frame = self._lattice
        best = frame.sort_values("mean", kind="stable").iloc[-1]
        return {name: float(best[name]) for name in ("alpha", "beta", "mean")}

    @property
    def near_pairs(self) -> int:
        """How many pairs are as good as the best, up to what does not matter."""
        means = self._lattice["mean"]
        return int((means >= means.max() - ROPE).sum())

    def best_at(self, parameter: str, value: float) -> float:
        """Return the best mean with α or β fixed at a value."""
        frame = self._lattice
        return float(frame.loc[frame[parameter] == value, "mean"].max())

    @property
    def worst_pair(self) -> float:
        """The lowest mean of a pair."""
        return float(self._lattice["mean"].min())

    # ------------------------------------------------------- equal numbers, draws

    def equal_search(self, experiment: str) -> pd.DataFrame:
        """Return ranks of an experiment beside those with other candidates, by method.

        ``place`` and ``place_other`` are the places among the same methods.
        """
        results = self.findings.results
        found = results[experiment]
        other = next(other_searches(found, results.values()), None)
        if other is None:
            raise OutdatedTextError(f"nothing to compare {experiment} with")
        frame = searches(found, other, "honest", found.metric).set_index("method")
        for key in ("", "_other"):
            ranks = frame[f"mean_rank{key}"]
            frame[f"place{key}"] = ranks.rank(method="min").astype(int)
        return frame

    def stability(self, experiment: str) -> float:
        """Return the least rank correlation of two draws of an experiment's folds."""
        found = self.findings.results[experiment]
        frame = draws(found, "honest", found.metric)
        ranks = frame[frame["draw"] > 0].pivot(
            index="method", columns="draw", values="mean_rank"
        )
        return float(ranks.corr(method="spearman").to_numpy().min())

    def draw_places(self, experiment: str, method: str) -> list[int]:
        """Return a method's place on each draw of the folds."""
        found = self.findings.results[experiment]
        frame = draws(found, "honest", found.metric)
        ranks = frame[frame["draw"] > 0].pivot(
            index="draw", columns="method", values="mean_rank"
        )
        return [int((line < line[method]).sum()) + 1 for _, line in ranks.iterrows()]
