"""Build the report: read the results, judge, tabulate and draw them, write one page."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

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
from drmbench.report.table import Table
from drmbench.run.results import Results, load_results
from drmbench.words import paper_place

#: Long tables that repeat, cell by cell or pair by pair, what shorter ones sum up.
_ON_DEMAND = ("wilcoxon", "wilcoxon-beyond", "agreement-cells", "rules-cells")


def write_report(results_folder: Path, names: Sequence[str], out: Path) -> Path:
    """Write the report on some or all experiments of a folder.

    Parameters
    ----------
    results_folder : Path
        Folder with one folder per experiment.
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
    from drmbench.report.analyses.datasets import dataset_tables
    from drmbench.report.claims import judge
    from drmbench.report.figures import drawn_with
    from drmbench.report.tables import experiment_tables

    # The paper's tables, its figures, then what goes beyond it.
    ordered = dict(
        sorted(
            results.items(),
            key=lambda item: (paper_place(item[1].experiment.reproduces), item[0]),
        )
    )
    tables = experiment_tables(ordered)
    groups = [
        _with_tables(group, [t for t in tables if t.experiment == group.id])
        for group in _groups(ordered)
    ]
    return Content(groups, judge(ordered), dataset_tables(), drawn_with())


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
    from drmbench.report.figures import draw_all, to_svg

    remarks: list[str] = []
    figures = [
        FigureMarkup(
            inline_svg(to_svg(drawing), f"figure-{drawing.id}", drawing.title),
            drawing.title,
            drawing.caption,
        )
        for drawing in draw_all({results.name: results}, say=remarks.append)
    ]
    return ExperimentContent(results, figures, remarks)


def _with_tables(group: Group, tables: Sequence[Table]) -> Group:
    """Show the tables of the group's own metric at once, the others on demand."""
    at_once: list[Table] = []
    others: list[Table] = []
    for table in tables:
        # The first table is of the metric of the paper's table, which the experiment
        # may have second. All that was measured is shown.
        own = table.kind == "measured" or table.metric == tables[0].metric
        shown = own and table.kind not in _ON_DEMAND
        (at_once if shown else others).append(table)
    return dataclasses.replace(group, tables=at_once, more_tables=others)
