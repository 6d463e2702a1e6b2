"""All tables that stored results give, and the files they are written to."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from drmbench.errors import InputError
from drmbench.files import replacing
from drmbench.report.dataset_tables import dataset_tables
from drmbench.report.scores import TableSource, table_sources
from drmbench.report.statistics_tables import statistics_tables
from drmbench.report.table import (
    ReportTable,
    anchor,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
)
from drmbench.report.tables_agreement import agreement_tables
from drmbench.report.tables_distribution import distribution_tables
from drmbench.report.tables_measured import measured_tables
from drmbench.report.tables_modes import modes_table
from drmbench.report.tables_naive import naive_tables
from drmbench.report.tables_rules import rules_tables
from drmbench.report.tables_scores import LINES, View, score_table
from drmbench.report.tables_seconds import seconds_table
from drmbench.report.tables_worth import worth_table
from drmbench.run.results import Results, load_results

INDEX = "README.md"
_STYLE = (
    "body{font:15px/1.4 system-ui,sans-serif;margin:1rem}"
    "table{border-collapse:collapse;font-size:.85rem}"
    "caption{text-align:left;font-weight:600;padding:.5rem 0}"
    "th,td{text-align:left;padding:.2rem .6rem;border-bottom:1px solid #ddd}"
    ".number{text-align:right;white-space:nowrap}"
)


def experiment_tables(
    results: Mapping[str, Results], *, view: View = "both", metric: str | None = None
) -> list[ReportTable]:
    """Return all tables of the experiments that are there.

    Parameters
    ----------
    results : mapping of str to Results
        Experiments by name; those that make up one table of the paper are combined.
    view : {"ours", "paper", "both", "difference"}
        What tables of scores show.
    metric : str or None
        Show this metric instead of each table's own and the others there are.

    Raises
    ------
    InputError
        If no experiment has the metric.
    """
    sources = table_sources(results)
    measured = [table for found in results.values() for table in measured_tables(found)]
    if metric is not None:
        _check_metric(metric, sources)
    scores = [table for s in sources for table in _source_tables(s, view, metric)]
    return [*scores, *measured]


def _check_metric(metric: str, sources: Sequence[TableSource]) -> None:
    known = dict.fromkeys(name for source in sources for name in source.metrics)
    if metric not in known:
        listed = ", ".join(known) or "none"
        raise InputError(f"no results have the metric {metric!r}; there are: {listed}")


def _source_tables(
    source: TableSource, view: View, metric: str | None
) -> Iterator[ReportTable]:
    metrics = [m for m in source.metrics if metric in (None, m)]
    for name in metrics:
        yield from (score_table(source, mode, name, view) for mode in source.modes)
    for name in metrics[:1]:
        for make in (modes_table, worth_table):
            if (table := make(source, name)) is not None:
                yield table
        for mode in source.modes:
            yield from statistics_tables(source, mode, name)
    yield from agreement_tables(source)
    yield from rules_tables(source)
    yield from distribution_tables(source)
    yield from (seconds_table(source, mode) for mode in source.modes)
    yield from naive_tables(source)


def write_tables(
    results_folder: Path,
    names: Sequence[str],
    out: Path,
    *,
    view: View = "both",
    metric: str | None = None,
) -> list[Path]:
    """Write every table in every format, and an index of them.

    Parameters
    ----------
    results_folder : Path
        Folder with one folder an experiment.
    names : sequence of str
        Experiments; none means all, and the tables of data sets.
    out : Path
        Folder that gets a folder ``tables``.
    view, metric
        As in :func:`experiment_tables`.

    Returns
    -------
    list of Path
        The files, the index last.

    Raises
    ------
    InputError
        If an experiment is not there, or the folder cannot be written.
    """
    if view not in LINES:
        raise InputError(f"no view {view!r}; there are {', '.join(LINES)}")
    tables = experiment_tables(
        load_results(results_folder, names), view=view, metric=metric
    )
    if not names:
        tables = [*dataset_tables(), *tables]
    folder = out / "tables"
    try:
        written = [path for table in tables for path in _write_table(folder, table)]
        return [*written, _write(folder / INDEX, _index(folder))]
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error.strerror or error}") from error


def _page(table: ReportTable) -> str:
    """Return a table as a page of its own."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(table.title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{to_html(table)}</body>\n</html>\n"
    )


#: What is written of each table, by the ending of the file.
FORMATS: dict[str, Callable[[ReportTable], str]] = {
    "md": to_markdown,
    "csv": to_csv,
    "tex": to_latex,
    "html": _page,
}


def _write_table(folder: Path, table: ReportTable) -> Iterator[Path]:
    for ending, render in FORMATS.items():
        yield _write(folder / f"{anchor(table.id)}.{ending}", render(table))


def _write(path: Path, text: str) -> Path:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path


def _index(folder: Path) -> str:
    """Return the list of all tables in a folder, also those of earlier calls."""
    lines = [
        "# Tables",
        "",
        "Written by `drmbench tables` from stored results: Markdown and HTML to read,"
        " LaTeX to include, CSV with full precision and one record a cell.",
        "",
        "| table | files |",
        "|:---|:---|",
    ]
    for path in sorted(folder.glob("*.md")):
        with path.open(encoding="utf-8") as stream:
            title = stream.readline().strip()
        if path.name != INDEX and title.startswith("### "):
            links = " ".join(f"[{e}]({path.stem}.{e})" for e in FORMATS)
            lines.append(f"| {title.removeprefix('### ')} | {links} |")
    return "\n".join(lines) + "\n"
