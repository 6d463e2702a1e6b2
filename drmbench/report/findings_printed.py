"""How the printed figures compare with ours, as numbers for the text."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import pandas as pd

from drmbench.paper import PublishedCell
from drmbench.report.analyses.agreement import agreement, rule_counts, tried_rules
from drmbench.report.analyses.distribution import distribution
from drmbench.report.analyses.worth import worth
from drmbench.report.findings import Findings
from drmbench.report.scores import scores_of
from drmbench.report.statistics import ALPHA

#: How many splits the paper's Table 3 is over.
_PAPER_SPLITS = 5
#: The rule by which the paper says it selected.
_STATED_RULE = "LOO G-mean, first"


class PrintedFindings:
    """Numbers on the paper's printed cells, and on what its protocol is worth."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._agreement = cache(self._agreement_of)
        self._worth = cache(self._worth_of)

    # --------------------------------------------------------------- cell by cell

    def printed(self, table: str, dataset: str, column: str) -> float:
        """Return the mean that the paper prints."""
        mean = self._cell(table, dataset, column).mean
        assert mean is not None
        return mean

    def _cell(self, table: str, dataset: str, column: str) -> PublishedCell:
        published = self.findings.source(table).published
        assert published is not None
        return published.cells[dataset, column]

    def _agreement_of(self, table: str) -> pd.DataFrame:
        source = self.findings.source(table)
        return agreement(scores_of(source, "paper", source.metric))

    def cells(self, column: str, *kinds: str, table: str = "table8") -> int:
        """Return how many printed cells of a column agree with ours in some ways.

        The ways are those of :class:`~drmbench.paper.Agreement`, and ``either`` for
        exact with any scaling. An empty column means all.
        """
        frame = self._agreement(table)
        part = frame[frame["method"] == column] if column else frame
        met = part["agreement"].isin(kinds)
        if "either" in kinds:
            met |= part["exact_with"] != ""
        return int(met.sum())

    def printed_cells(self, column: str = "", *, table: str = "table8") -> int:
        """Return how many cells of a column, or of the table, the paper prints."""
        published = self.findings.source(table).published
        assert published is not None
        return sum(
            cell.mean is not None
            for (_, name), cell in published.cells.items()
            if column in ("", name)
        )

    def below_printed(self, dataset: str, columns: list[str]) -> tuple[float, float]:
        """Return the least and the most by which ours is below Table 3's figures."""
        gaps = [
            self.printed("table3", dataset, column)
            - self.findings.figure("table3", dataset, column, "paper")
            for column in columns
        ]
        return min(gaps), max(gaps)

    def welch(self, column: str = "") -> dict[str, int]:
        """Return how many cells of Table 3 Welch's test rejects, and ours higher.

        Of the columns that begin so, such as ``DRM``.
        """
        scores = scores_of(self.findings.source("table3"), "paper", "accuracy")
        tested = distribution(scores, _PAPER_SPLITS)
        part = tested[tested["column"].str.startswith(column)]
        rejected, left = part[part["p"] < ALPHA], part[part["p_holm"] < ALPHA]
        return {
            "cells": len(part),
            "rejected": len(rejected),
            "holm": len(left),
            "holm_higher": int((left["t"] > 0).sum()),
        }

    # ----------------------------------------------------- other ways to read the paper

    @cached_property
    def _rules(self) -> pd.DataFrame:
        """What every other way to read the paper gives, on each cell."""
        source = self.findings.source("table8")
        assert source.published is not None
        spellings = {row.dataset: row.published for row in source.rows()}
        files = [r.rules for r in source.results if r.rules is not None]
        return pd.concat([tried_rules(f, source.published, spellings) for f in files])

    def rule(self, column: str, reading: str, figure: str = "gmean") -> dict[str, Any]:
        """Return the rule of a reading that gives most cells of a column exactly.

        With the words of the rule, the cells tried, and those that are exact with the
        better scaling, with either, and within 0.005.
        """
        counted = rule_counts(self._rules)
        part = counted[
            (counted["column"] == column)
            & (counted["reading"] == reading)
            & (counted["figure"] == figure)
        ]
        order = ["exact_either", "exact_reported"]
        best = part.sort_values(order, ascending=False, kind="stable").iloc[0]
        return {
            "rule": str(best["rule"]),
            "cells": int(best["cells"]),
            "reported": int(best["exact_reported"]),
            "either": int(best["exact_either"]),
            "near": int(best["within_0.005_reported"]),
        }

    def rule_figure(self, column: str, reading: str, dataset: str) -> float:
        """Return the G-mean that the stated rule gives, with the better scaling."""
        part = self._stated(column, reading)
        return float(part.loc[part["dataset"] == dataset, "mean"].max())

    def same_figures(self, column: str, reading: str, other: str) -> tuple[int, int]:
        """Return how many printed figures are the same under two readings, of how many.

        By the stated rule, with either scaling.
        """
        one, two = (self._stated(column, name).round(4) for name in (reading, other))
        pairs = one.merge(two, on=["dataset", "scaling"], suffixes=("_a", "_b"))
        same = (pairs["mean_a"] == pairs["mean_b"]) & (pairs["sd_a"] == pairs["sd_b"])
        return int(same.sum()), len(pairs)

    def _stated(self, column: str, reading: str) -> pd.DataFrame:
        """Return what the stated rule gives on every data set and scaling."""
        files = [r.rules for r in self.findings.source("table8").results]
        rules = pd.concat([file for file in files if file is not None])
        return rules[
            (rules["column"] == column)
            & (rules["reading"] == reading)
            & (rules["figure"] == "gmean")
            & (rules["rule"] == _STATED_RULE)
        ]

    def drm_cells_given(self) -> int:
        """Return how many DRM cells of Table 8 are exact in one way or another.

        Under the protocol with either scaling, or by the stated rule under one of the
        other readings.
        """
        source, tried = self.findings.source("table8"), self._rules
        frame = self._agreement("table8")
        headings = {row.dataset: row.heading for row in source.rows()}
        stated = tried[(tried["rule"] == _STATED_RULE) & tried["either"]]
        exact = frame[frame["exact_with"] != ""]
        places = {
            *zip(exact["dataset"], exact["method"], strict=True),
            *zip(stated["dataset"].map(headings), stated["column"], strict=True),
        }
        return sum(column in ("DRM(R)", "DRM(P)") for _, column in places)

    # ------------------------------------------------------------ the paper's protocol

    def worth(self, table: str, column: str, what: str) -> float:
        """Return what the leak, the choice or both are worth to a method on average."""
        frame = self._worth(table)
        return float(frame[frame["column"] == column][what].mean())

    def worth_range(self, table: str, what: str) -> tuple[float, float]:
        """Return the least and the most that it is worth to one of the paper's methods.

        A method with nothing to select has no figure.
        """
        frame = self._worth(table)
        means = frame[frame["column"].isin(self.findings.paper_columns(table, "paper"))]
        each = means.groupby("column")[what].mean().dropna()
        return float(each.min()), float(each.max())

    def _worth_of(self, table: str) -> pd.DataFrame:
        source = self.findings.source(table)
        paper, honest = (
            scores_of(source, mode, source.metric, merged=False)
            for mode in ("paper", "honest")
        )
        return worth(paper, honest)
