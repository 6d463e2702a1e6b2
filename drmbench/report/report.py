"""Build the report: read the results, judge, tabulate and draw them, write one page."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from drmbench.errors import InputError
from drmbench.files import replacing
from drmbench.report.page import (
    Content,
    ExperimentContent,
    FigureMarkup,
    Group,
    page,
)
from drmbench.report.svg import inline_svg
from drmbench.report.table import ReportTable
from drmbench.run.results import Results, load_results

if TYPE_CHECKING:
    from drmbench.report.figures import Drawing


#: Long tables that repeat, cell by cell or pair by pair, what shorter ones sum up.
_ON_DEMAND = ("-wilcoxon", "-wilcoxon-beyond", "-cells")


def write_report(results_folder: Path, names: Sequence[str], out: Path) -> Path:
    """Write the report on some or all experiments of a folder.

    Parameters
    ----------
    results_folder : Path
        Folder with one folder an experiment.
    names : sequence of str
        Experiments to report on; none means all.
    out : Path
        The HTML file to write.

    Returns
    -------
    Path
        The file.

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
        raise InputError(f"cannot write {out}: {error.strerror or error}") from error
    return out


def gather(results: Mapping[str, Results]) -> Content:
    """Judge, tabulate and draw results for the page."""
    from drmbench.report.claims import judge
    from drmbench.report.dataset_tables import dataset_tables
    from drmbench.report.figures import drawn_with
    from drmbench.report.tables import experiment_tables

    ordered = dict(sorted(results.items(), key=_place))
    groups = _with_tables(_groups(ordered), experiment_tables(ordered))
    return Content(groups, judge(ordered), dataset_tables(), drawn_with())


def _place(item: tuple[str, Results]) -> tuple[int, str, str]:
    """Order experiments: the paper's tables, its figures, then what goes beyond it."""
    name, found = item
    target = str(found.experiment.reproduces)
    kinds = ("table", "figure")
    rank = next((i for i, kind in enumerate(kinds) if target.startswith(kind)), 2)
    return rank, target, name


def _groups(results: Mapping[str, Results]) -> list[Group]:
    """Put together the experiments that share a table of the paper."""
    from drmbench.report.scores import table_sources

    groups = {
        source.results[0].name: Group(
            source.id, source.title, [_drawn(part) for part in source.results]
        )
        for source in table_sources(results)
    }
    tabled = {part.results.name for g in groups.values() for part in g.experiments}
    for name, found in results.items():
        if name not in tabled:
            groups[name] = Group(name, name, [_drawn(found)])
    return [groups[name] for name in results if name in groups]


def _drawn(results: Results) -> ExperimentContent:
    from drmbench.report.figures import draw_all

    remarks: list[str] = []
    drawings = draw_all({results.name: results}, say=remarks.append)
    return ExperimentContent(results, [_markup(d) for d in drawings], remarks)


def _markup(drawing: Drawing) -> FigureMarkup:
    from drmbench.report.figures import to_svg

    svg = inline_svg(to_svg(drawing), f"figure-{drawing.id}", drawing.title)
    return FigureMarkup(svg, drawing.title, drawing.caption)


def _with_tables(groups: Sequence[Group], tables: Sequence[ReportTable]) -> list[Group]:
    """Give each group its tables: those whose ids extend its own."""
    own: dict[str, list[ReportTable]] = {group.id: [] for group in groups}
    for table in tables:
        ids = (name for name in own if table.id.startswith(f"{name}-"))
        own[max(ids, key=len)].append(table)
    return [_arranged(group, own[group.id]) for group in groups]


def _arranged(group: Group, tables: Sequence[ReportTable]) -> Group:
    """Show the tables of the group's own metric at once, the others on demand."""
    results = group.experiments[0].results
    prefix = f"{group.id}-"
    if results.experiment.kind == "classification":
        # The first table is of the metric of the paper's table, which the
        # experiment may have second.
        modes = "|".join(results.modes)
        prefix = re.sub(rf"(?:{modes})-mode$", "", tables[0].id)
    at_once = [
        table
        for table in tables
        if table.id.startswith(prefix) and not table.id.endswith(_ON_DEMAND)
    ]
    others = [table for table in tables if table not in at_once]
    return dataclasses.replace(group, tables=at_once, more_tables=others)
