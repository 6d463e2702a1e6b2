"""The report: results judged and ranked on one page that answers first.

What the page shows is plain data (:class:`Content`) for its templates; what is opened
later travels packed, after all that is read first.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files as shipped
from pathlib import Path
from typing import Any

from markupsafe import Markup

from drmbench import __version__
from drmbench.errors import InputError, reason_of, refused
from drmbench.files import replacing
from drmbench.report import facts, figures
from drmbench.report.analyses.leaderboards import leaderboard_tables
from drmbench.report.claims import Ground, Verdict, counts, judge
from drmbench.report.html import render
from drmbench.report.page_answer import (
    Card,
    Standings,
    answer,
    cards,
    standings,
)
from drmbench.report.page_appendix import (
    claims_data,
    experiments_data,
    fact_tables,
    figures_data,
    kept_tables,
    packed,
    table_data,
)
from drmbench.report.page_boards import boards_data, own_boards, regime_boards
from drmbench.report.page_cells import cells_data
from drmbench.report.page_threats import threats
from drmbench.report.protocol_words import run_command, times
from drmbench.report.ranking import ranking_table
from drmbench.report.score_pool import ScorePool, regime_pools
from drmbench.report.table import Table
from drmbench.report.verdict import verdict
from drmbench.running.results import Results, load_results
from drmbench.words import paper_place

TITLE = "The Discriminative Ridge Machine, reproduced"

#: What a verdict can be, best first, and its mark for those who do not see colours.
STATUSES = {
    "reproduced": "✓",
    "partly": "◐",
    "not reproduced": "✗",
    "not testable": "?",
}
#: The mark of each verdict on a card.
CARD_MARKS = {
    "ahead": "✓",
    "as good": "✓",
    "not told apart": "◐",
    "behind": "✗",
    "too few data sets": "?",
    "not run": "?",
}
#: The scripts of the page, in the order in which they build on each other.
SCRIPTS = (
    *("dom", "data", "ranks", "tables", "address", "cell"),
    *("leaderboard", "datasets", "claims", "appendix", "main"),
)


@dataclass(frozen=True, eq=False)
class Content:
    """All that the page shows."""

    results: Mapping[str, Results]  #: the experiments, in the order of the page
    verdicts: Sequence[Verdict] = ()  #: the paper's claims, judged
    #: the comparable figures of each regime that the first screen is made of
    pools: Sequence[ScorePool] = ()
    boards: Sequence[ScorePool] = ()  #: all figures that can be ranked
    tables: Sequence[Table] = ()  #: tables of the appendix
    #: figures of the appendix, and why others are not there
    drawn: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    #: the versions that the figures' bytes depend on; empty without figures
    drawn_with: str = ""

    @property
    def own(self) -> bool:
        """Whether no experiment reproduces anything: the page is not on the paper."""
        return not any(r.experiment.reproduces for r in self.results.values())

    @property
    def title(self) -> str:
        """What the page is called."""
        if not self.own:
            return TITLE
        titles = [r.experiment.title or r.name for r in self.results.values()]
        return titles[0] if len(titles) == 1 else "Methods compared"

    @cached_property
    def cards(self) -> list[Card]:
        """What is known of the DRM in each regime; none without pools."""
        return cards(self.pools) if self.pools else []

    @property
    def answer(self) -> str:
        """The answer in one sentence."""
        return answer(self.cards)

    @cached_property
    def standings(self) -> Standings:
        """All methods ranked, over all regimes and in each; or in each experiment."""
        if not self.own:
            return standings(self.pools)
        first = {board.regime.name: board for board in reversed(self.boards)}
        return standings([first[name] for name in self.results if name in first])

    @property
    def rankings(self) -> list[tuple[Table, str]]:
        """The methods of each experiment on a single data set, and which are best."""
        return [
            (ranking_table(found), verdict(found))
            for found in self.results.values()
            if found.experiment.kind == "classification" and len(found.datasets) == 1
        ]

    def counted(self, kind: str, ground: Ground) -> dict[str, tuple[str, int]]:
        """Return marks and counts of the verdicts of claims of a kind on a ground."""
        found = counts([one for one in self.verdicts if one.kind == kind], ground)
        return {
            status: (mark, found[status])  # type: ignore[index]
            for status, mark in STATUSES.items()
        }

    def deciding(self, one: Verdict) -> list[Table]:
        """Return the tables of the appendix that decide a claim."""
        places = {*one.claim.shown_in, *one.claim.experiments}
        kinds = ("scores", "measured", "small-datasets", "large-datasets")
        return [
            table
            for table in self.tables
            if table.experiment in places
            and table.kind in (*kinds, "imbalanced-datasets")
        ]

    @property
    def threats(self) -> list[tuple[str, str]]:
        """What threatens the conclusions, in words."""
        pools = [pool for pool in self.pools if len(pool.complete) > 1]
        return list(threats(self.results, pools, self.cards))

    @property
    def run_sentence(self) -> str:
        """How much was run and how much of it failed."""
        results = self.results.values()
        datasets = {name for found in results for name in found.datasets}
        methods = {label for found in results for label in found.methods}
        counts = [facts.count_cells(found) for found in results]
        bad = sum(count.failed + count.timeouts + count.skipped for count in counts)
        return (
            f"{times(len(results), 'experiment')}, {times(len(datasets), 'data set')},"
            f" {times(len(methods), 'method')}: {sum(c.done for c in counts):,} of"
            f" {sum(c.expected for c in counts):,} cells are done (a cell is a method"
            " on one split of a data set in one scaling mode);"
            f" {bad:,} of them gave no figure, because the method failed, ran out of"
            " time or does not apply, and are listed with their reasons."
        )

    @property
    def commands(self) -> list[str]:
        """What makes every number, then the page, then those of one table cell."""
        first = next(iter(self.results.values()))
        dataset, method = next(iter(first.datasets)), next(iter(first.methods))
        return [
            *map(run_command, self.results.values()),
            "drmbench report --results results/runs",
            run_command(first, "--dataset", dataset, "--method", method),
        ]

    @property
    def blocks(self) -> dict[str, Any]:
        """What is opened later, by name."""
        everything = [*self.tables, *fact_tables(self.results, own=self.own)]
        return {
            "boards": boards_data(self.boards, self.results),
            "cells": cells_data(self.results),
            "tables": [table_data(table) for table in everything],
            **({} if self.own else {"claims": claims_data(self.verdicts)}),
            "experiments": experiments_data(self.results, own=self.own),
            "figures": {"figures": [], "remarks": [], **self.drawn},
        }


def page_script(names: Sequence[str] = SCRIPTS) -> str:
    """Return the script of the page: its files, one after the other."""
    assets = shipped("drmbench.report") / "assets"
    parts = [(assets / f"{name}.js").read_text("utf-8") for name in names]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"


def page(content: Content) -> str:
    """Return the page: one HTML file that needs no other and asks no network."""
    style = (shipped("drmbench.report") / "assets" / "report.css").read_text("utf-8")
    script = page_script([n for n in SCRIPTS if n != "claims" or not content.own])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return render(
        "own_page.html.j2" if content.own else "page.html.j2",
        title=content.title,
        version=__version__,
        style=Markup(re.sub(r"(?s)/\*.*?\*/\n?", "", style)),
        script=Markup(script),
        script_digest=digest,
        content=content,
        blocks={name: packed(data) for name, data in content.blocks.items()},
        statuses=STATUSES,
        marks=CARD_MARKS,
    )


def write_report(results_folder: Path, names: Sequence[str], out: Path) -> Path:
    """Write the report on some or all experiments of a folder, and return the file.

    Raises
    ------
    InputError
        If there are no such results, or the file cannot be written.
    """
    results = load_results(results_folder, names)
    if not results:
        raise InputError(
            f"{results_folder} has no results to report on. `drmbench run CONFIG --out"
            f" {results_folder}` would make some; --results names another folder."
        )
    try:
        with replacing(out) as temporary:  # a folder that is closed shows at once
            text = page(gather(results))
            temporary.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise refused(error, f"cannot write {out}: {reason_of(error)}") from error
    return out


def gather(results: Mapping[str, Results]) -> Content:
    """Judge, rank, tabulate and draw results: the paper's tables, figures, then others.

    Nothing is judged where no experiment reproduces anything.
    """
    ordered = dict(
        sorted(
            results.items(),
            key=lambda item: (paper_place(item[1].experiment.reproduces), item[0]),
        )
    )
    content = Content(
        ordered, drawn=figures_data(ordered), drawn_with=figures.drawn_with()
    )
    tables = kept_tables(ordered, own=content.own)
    if content.own:
        return replace(content, boards=own_boards(ordered), tables=tables)
    return replace(
        content,
        verdicts=judge(ordered),
        pools=regime_pools(ordered.values()),
        boards=regime_boards(ordered),
        tables=[*leaderboard_tables(ordered.values()), *tables],
    )
