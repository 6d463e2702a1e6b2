"""The report: results judged, tabulated and drawn, on one page.

What the page shows is plain data (:class:`Content`) for its templates.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files as shipped
from pathlib import Path

from markupsafe import Markup

from drmbench import __version__
from drmbench.errors import InputError, reason_of, refused
from drmbench.files import replacing
from drmbench.report import facts, figures
from drmbench.report.analyses.leaderboards import leaderboard_tables
from drmbench.report.claims import Ground, Verdict, counts, judge
from drmbench.report.figures.drawing import Drawing
from drmbench.report.html import inline_svg, render
from drmbench.report.protocol_words import run_command, target_words, times
from drmbench.report.ranking import ranking_table
from drmbench.report.scores import table_sources
from drmbench.report.table import Table, anchor
from drmbench.report.tables import experiment_tables
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
#: Long tables that repeat, cell by cell or pair by pair, what shorter ones sum up.
_ON_DEMAND = ("wilcoxon", "wilcoxon-beyond", "agreement-cells", "rules-cells")


@dataclass(frozen=True)
class ExperimentContent:
    """What the page shows of one experiment besides tables of scores."""

    results: Results  #: The experiment
    figures: Sequence[tuple[Drawing, Markup]] = ()  #: Its figures, as SVG for the page
    remarks: Sequence[str] = ()  #: Why figures are not there

    @property
    def anchor(self) -> str:
        """The id of its section."""
        return anchor(f"experiment-{self.results.name}")

    @property
    def substitutes(self) -> list[str]:
        """For which data sets a relative stood in."""
        return [
            f"{name}: {entry['substitute']} stood in. {entry['note']}".rstrip()
            for name, entry in self.results.datasets.items()
            if entry.get("substitute")
        ]

    @property
    def commands(self) -> list[str]:
        """The commands that make all its numbers, and those of a single table cell."""
        first = next(iter(self.results.datasets)), next(iter(self.results.methods))
        one_cell = ("--dataset", first[0], "--method", first[1])
        return [run_command(self.results), run_command(self.results, *one_cell)]


@dataclass(frozen=True)
class Group:
    """Experiments that are shown together."""

    id: str  #: What the ids of its tables begin with
    title: str  #: Its heading where there are several experiments
    experiments: Sequence[ExperimentContent]  #: What is shown of each
    #: Tables that are shown at once, and that are shown on demand
    tables: Sequence[Table] = ()
    more_tables: Sequence[Table] = ()

    @property
    def anchor(self) -> str:
        """The id of its section."""
        if len(self.experiments) == 1:
            return self.experiments[0].anchor
        return anchor(f"group-{self.id}")

    @property
    def names(self) -> str:
        """The names of its experiments."""
        return ", ".join(content.results.name for content in self.experiments)

    @property
    def label(self) -> str:
        """What the table of contents calls it."""
        target = self.experiments[0].results.experiment.reproduces
        return f"{self.names} ({target_words(target)})" if target else self.names


@dataclass(frozen=True)
class Content:
    """All that the page shows."""

    groups: Sequence[Group]  #: The experiments, in the order of the page
    verdicts: Sequence[Verdict] = ()  #: The paper's claims, judged
    #: All methods ranked over the data sets of each regime, and the DRM against each
    leaderboards: Sequence[Table] = ()
    dataset_tables: Sequence[Table] = ()  #: The paper's tables of data sets
    #: The versions that the figures' bytes depend on; empty without figures
    drawn_with: str = ""

    @property
    def experiments(self) -> list[ExperimentContent]:
        """The experiments of all groups."""
        return [part for group in self.groups for part in group.experiments]

    @property
    def results(self) -> dict[str, Results]:
        """All experiments by name, in the order of the page."""
        return {part.results.name: part.results for part in self.experiments}

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

    @property
    def rankings(self) -> list[tuple[Table, str]]:
        """The methods of each experiment on a single data set, and which are best."""
        return [
            (ranking_table(found), verdict(found))
            for found in self.results.values()
            if found.experiment.kind == "classification" and len(found.datasets) == 1
        ]

    @property
    def statuses(self) -> dict[str, tuple[str, int]]:
        """What a verdict can be: its mark, and how many empirical claims are that.

        It is the verdict under the paper's protocol, where there is one.
        """
        return self.counted("empirical", "paper")

    def counted(self, kind: str, ground: Ground) -> dict[str, tuple[str, int]]:
        """Return marks and counts of the verdicts of claims of a kind on a ground."""
        found = counts([one for one in self.verdicts if one.kind == kind], ground)
        return {
            status: (mark, found[status])  # type: ignore[index]
            for status, mark in STATUSES.items()
        }

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
        return [
            *(part.commands[0] for part in self.experiments),
            "drmbench report --results results/runs",
            *(part.commands[1] for part in self.experiments[:1]),
        ]


def page(content: Content) -> str:
    """Return the page: one HTML file that needs no other and asks no network."""
    assets = shipped("drmbench.report") / "assets"
    style, script = (
        (assets / name).read_text("utf-8") for name in ("report.css", "report.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return render(
        "own_page.html.j2" if content.own else "page.html.j2",
        title=content.title,
        version=__version__,
        style=Markup(style),
        script=Markup(script),
        script_digest=digest,
        content=content,
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
    """Judge, tabulate and draw results: the paper's tables, its figures, then others.

    Experiments that share a table of the paper are one group. Nothing is judged where
    no experiment reproduces anything.
    """
    ordered = dict(
        sorted(
            results.items(),
            key=lambda item: (paper_place(item[1].experiment.reproduces), item[0]),
        )
    )
    tables = experiment_tables(ordered)
    groups = {
        source.results[0].name: _group(source.id, source.title, source.results, tables)
        for source in table_sources(ordered)
    }
    tabled = {part.results.name for g in groups.values() for part in g.experiments}
    for name, found in ordered.items():
        if name not in tabled:
            groups[name] = _group(name, name, [found], tables)
    content = Content(
        [groups[name] for name in ordered if name in groups],
        drawn_with=figures.drawn_with(),
    )
    if content.own:
        return content
    return replace(
        content,
        verdicts=judge(ordered),
        leaderboards=list(leaderboard_tables(results.values())),
        dataset_tables=facts.dataset_tables(),
    )


def _group(
    name: str, title: str, results: Sequence[Results], tables: Sequence[Table]
) -> Group:
    """Draw experiments, and show tables of their own metric at once."""
    own = [table for table in tables if table.experiment == name]
    shown: list[Table] = []
    others: list[Table] = []
    for table in own:
        # The first table is of the metric of the paper's table, which the experiment
        # may have second. All that was measured is shown.
        first = table.kind == "measured" or table.metric == own[0].metric
        at_once = first and table.kind not in _ON_DEMAND
        (shown if at_once else others).append(table)
    parts = []
    for found in results:
        remarks: list[str] = []
        drawn = [
            (x, inline_svg(figures.to_svg(x), f"figure-{x.id}", x.title))
            for x in figures.draw_all({found.name: found}, say=remarks.append)
        ]
        parts.append(ExperimentContent(found, drawn, remarks))
    return Group(name, title, parts, shown, others)
