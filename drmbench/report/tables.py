"""All tables that stored results give, and the files they are written to.

Markdown has one file per document, a few tables that are read together, and an index;
the other formats have one file per table. An analysis is added by a module of
:mod:`drmbench.report.analyses` with two functions, ``x`` that returns a tidy frame and
``x_table`` that lays it out, and a line in :func:`experiment_tables`.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from pathlib import Path

from drmbench.errors import InputError, quoted, reason_of, refused
from drmbench.files import replacing
from drmbench.report.analyses.agreement import agreement_tables, rules_tables
from drmbench.report.analyses.comparison import LINES, View, score_table
from drmbench.report.analyses.curves import curve_groups, curve_tables, shared_metrics
from drmbench.report.analyses.distribution import distribution_table
from drmbench.report.analyses.draws import draws_table
from drmbench.report.analyses.leaderboards import leaderboard_tables
from drmbench.report.analyses.naive import naive_tables
from drmbench.report.analyses.searches import other_searches, searches_table
from drmbench.report.analyses.seconds import measured_tables, seconds_table
from drmbench.report.analyses.sensitivity import fixed_pairs, sensitivity_table
from drmbench.report.analyses.significance import significance_tables
from drmbench.report.analyses.worth import modes_table, worth_table
from drmbench.report.facts import dataset_tables
from drmbench.report.html import to_html_page
from drmbench.report.regimes import REGIMES
from drmbench.report.render import (
    link_text,
    markdown_text,
    to_csv,
    to_latex,
    to_markdown,
)
from drmbench.report.score_pool import regime_pools
from drmbench.report.scores import TableSource, table_sources
from drmbench.report.table import Table, anchor
from drmbench.running.results import Results, load_results
from drmbench.words import paper_place

INDEX = "README.md"
#: What is written of each table besides Markdown, by the ending of the file.
RENDERERS: dict[str, Callable[[Table], str]]
RENDERERS = {"csv": to_csv, "tex": to_latex, "html": to_html_page}
FORMATS = ("md", *RENDERERS)

#: The kinds of tables that a table of the paper has in a second document.
_BESIDE = (
    *("agreement", "agreement-cells", "rules", "rules-cells", "distribution"),
    *("modes", "worth", "seconds", "naive"),
)
#: What that document is called, and what follows the title.
_PROTOCOL = "protocol"
_PROTOCOL_TITLE = "agreement with the paper, what its protocol is worth, and time"
#: The document of a regime: what its ranking is of, and the experiments behind it.
_BOARD = "leaderboard_{}"
#: The kinds of tables that say what a ranking depends on.
_STABILITY = ("draws", "searches")
#: The document of learning curves, of whatever experiments they are.
_CURVES = "learning-curves"


@dataclass(frozen=True)
class Document:
    """Tables that are read together."""

    name: str  #: stem of its file
    title: str  #: what it is about
    tables: list[Table] = field(default_factory=list)  #: the tables, at least one

    def markdown(self) -> str:
        """Return the document as Markdown; each table's id is an anchor."""
        tables = (
            f'<a id="{anchor(table.id)}"></a>\n\n{to_markdown(table)}'
            for table in self.tables
        )
        return "\n".join([f"# {markdown_text(self.title)}\n", *tables])


def experiment_tables(
    results: Mapping[str, Results], *, view: View = "both", metric: str | None = None
) -> list[Table]:
    """Return all tables of the experiments that are there, by name in ``results``.

    Experiments that make up one table of the paper are combined. ``view`` is what
    tables of scores show; ``metric`` is the only one that is shown, None all there are,
    each table's own first. An InputError says that no experiment has the metric.
    """
    groups = curve_groups(results.values())
    curved = {found.name for group in groups for found in group}
    alone = {name: found for name, found in results.items() if name not in curved}
    sources = table_sources(alone)
    known = dict.fromkeys(name for source in sources for name in source.metrics)
    known |= dict.fromkeys(name for group in groups for name in shared_metrics(group))
    if metric is not None and metric not in known:
        listed = ", ".join(known) or "none"
        raise InputError(
            f"no results have the metric {quoted(metric)}; there are: {listed}"
        )
    scores = [
        _with_makers(table, source.results)
        for source in sources
        for table in (
            *_source_tables(source, view, metric),
            *_beside_others(source, alone.values(), metric),
        )
    ]
    curves = [
        _with_makers(table, group)
        for group in groups
        for table in curve_tables(
            group, [name for name in shared_metrics(group) if metric in (None, name)]
        )
    ]
    measured = [
        _with_makers(table, [found])
        for found in results.values()
        for table in measured_tables(found)
    ]
    return [*scores, *curves, *measured]


def all_tables(
    results: Mapping[str, Results],
    *,
    view: View = "both",
    metric: str | None = None,
) -> list[Table]:
    """Return the paper's tables of data sets, and those of experiments and of regimes.

    Experiments none of which reproduces anything leave the paper's out. `view` and
    `metric` are as for :func:`experiment_tables`. Where a metric is named there are no
    leaderboards: each regime has a metric of its own.
    """
    tables = experiment_tables(results, view=view, metric=metric)
    if not results or any(r.experiment.reproduces for r in results.values()):
        tables = [*dataset_tables(), *tables]
    if metric is None:
        tables += leaderboard_tables(results.values())
    return tables


def _with_makers(table: Table, results: Sequence[Results]) -> Table:
    """Return a table that names what computed its cells, if it was not one code."""
    notes = [
        f"The cells of {found.name} were not computed by one code:"
        f" {'; '.join(found.makers)}."
        for found in results
        if found.makers
    ]
    return replace(table, notes=(*table.notes, *notes)) if notes else table


def _source_tables(
    source: TableSource, view: View, metric: str | None
) -> Iterator[Table]:
    """Give all tables of the experiments that are shown as one."""
    metrics = [m for m in source.metrics if metric in (None, m)]
    modes = sorted(source.modes, key=lambda mode: mode != "honest")
    if source.published is None and fixed_pairs(source.results[0]):
        for name in metrics:
            yield from (
                sensitivity_table(source.results[0], mode, name) for mode in modes
            )
        return
    for name in metrics:
        yield from (score_table(source, mode, name, view) for mode in modes)
    for name in metrics[:1]:
        yield from filter(None, (modes_table(source, name), worth_table(source, name)))
        for mode in modes:
            yield from significance_tables(source, mode, name)
    yield from agreement_tables(source)
    yield from rules_tables(source)
    yield from filter(None, [distribution_table(source)])
    yield from (seconds_table(source, mode) for mode in modes)
    yield from naive_tables(source)


def _beside_others(
    source: TableSource, every: Collection[Results], metric: str | None
) -> Iterator[Table]:
    """Give what other draws of the folds, and other candidates, do to the order."""
    if source.published is not None:
        return
    found = source.results[0]
    for name in [m for m in source.metrics if metric in (None, m)][:1]:
        for mode in source.modes:
            yield from filter(None, [draws_table(found, mode, name)])
            for other in other_searches(found, every):
                yield searches_table(found, other, mode, name)


def documents(
    results: Mapping[str, Results], tables: Iterable[Table]
) -> list[Document]:
    """Group tables into documents, the paper's in its order, then what goes beyond it.

    A table of the paper has two documents: figures and tests, then agreement, protocol
    and time. Each regime that is ranked has one, with the experiments behind the
    ranking; learning curves have one, and so has every other experiment. ``results``
    are what the tables are of; those of data sets may be among them.
    """
    about = {
        found.name: (found.experiment.reproduces, found.experiment.title or found.name)
        for found in results.values()
    } | {
        source.id: (source.results[0].experiment.reproduces, source.title)
        for source in table_sources(results)
    }
    tables = list(tables)
    boards = {_BOARD.format(regime.name): regime for regime in REGIMES}
    there = {table.experiment for table in tables}
    homes = _homes(results, there)
    # A ranking, and how stable it is, stand before the figures that it is made of.
    tables.sort(key=lambda table: table.kind not in _STABILITY)
    tables.sort(key=lambda table: table.experiment not in boards)
    places: dict[tuple[tuple[int, int], str, str], Document] = {}
    for table in tables:
        home, part = homes.get(table.experiment, table.experiment), ""
        reproduces, title = about.get(home, (home, table.title))
        if home in boards:
            title = f"Every method ranked: {boards[home].title}"
        elif table.kind == "curves":
            home, title = _CURVES, "Learning curves"
        elif reproduces == table.experiment and table.kind in _BESIDE:
            part, title = _PROTOCOL, f"{title}: {_PROTOCOL_TITLE}"
        key = (paper_place(reproduces), home, part)
        name = anchor("-".join(filter(None, (home, part))))
        places.setdefault(key, Document(name, title)).tables.append(table)
    return [places[key] for key in sorted(places)]


def _homes(results: Mapping[str, Results], ranked: Container[str]) -> dict[str, str]:
    """Return the document of each experiment that rankings are made of, by name.

    What reproduces something of the paper, or was run in other modes than the ranking,
    has a document of its own. An experiment that is behind several rankings stands by
    the one that has most of its data sets. Where nothing is of the paper, every
    experiment has a document of its own.
    """
    if not any(found.experiment.reproduces for found in results.values()):
        return {}
    shares: dict[str, dict[str, int]] = {}
    for pool in regime_pools(results.values()):
        board = _BOARD.format(pool.regime.name)
        for name in pool.experiments if board in ranked else ():
            spec = results[name].experiment
            if not spec.reproduces and spec.scaling == (pool.mode,):
                sets = sum(x in pool.scores.index for x in results[name].datasets)
                shares.setdefault(name, {})[board] = sets
    return {
        name: max(by_board, key=lambda board: by_board[board])
        for name, by_board in shares.items()
    }


def rendered_tables(
    results: Mapping[str, Results],
    formats: Sequence[str] = FORMATS,
    *,
    view: View = "both",
    metric: str | None = None,
    whole: bool = True,
) -> Iterator[tuple[str, str]]:
    """Give the name and text of every file that tables are written to.

    Of ``md`` that is the documents and, last of all, their index; ``whole`` says
    whether the tables of data sets and of regimes are among them.
    """
    tables = (all_tables if whole else experiment_tables)(
        results, view=view, metric=metric
    )
    found = documents(results, tables)
    for document in found:
        for table in document.tables:
            for ending, render in RENDERERS.items():
                if ending in formats:
                    yield f"{anchor(table.id)}.{ending}", render(table)
    if "md" in formats:
        texts = {f"{document.name}.md": document.markdown() for document in found}
        yield from texts.items()
        yield INDEX, _index(texts)


def write_tables(
    results_folder: Path,
    names: Sequence[str],
    out: Path,
    *,
    view: View = "both",
    metric: str | None = None,
    formats: Sequence[str] = ("md",),
) -> list[Path]:
    """Write the tables of experiments, and an index of the documents.

    Without names, all experiments, the leaderboards and the tables of data sets are
    written, into a folder ``tables`` of ``out``. The index is the last of the files
    that are returned.

    Raises
    ------
    InputError
        If an experiment or a format is not there, or the folder cannot be written.
    """
    if view not in LINES:
        raise InputError(f"no view {quoted(view)}; there are {', '.join(LINES)}")
    for name in formats:
        if name not in (*FORMATS, "all"):
            listed = ", ".join(FORMATS)
            raise InputError(f"no format {quoted(name)}; there are {listed}, and all")
    results, folder = load_results(results_folder, names), out / "tables"
    formats = FORMATS if "all" in formats else formats
    found = rendered_tables(results, formats, view=view, metric=metric, whole=not names)
    rendered = dict(found)
    try:
        if INDEX in rendered:
            rendered[INDEX] = _index(rendered, folder)
        for name, text in rendered.items():
            with replacing(folder / name) as temporary:
                temporary.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        why = f"cannot write to {out}: {reason_of(error)}"
        raise refused(error, why) from error
    return [folder / name for name in rendered]


def _index(texts: Mapping[str, str], folder: Path | None = None) -> str:
    """List the documents, also earlier ones in a folder, and their tables."""
    earlier = sorted(folder.glob("*.md")) if folder else []
    found = {name: text for name, text in texts.items() if name.endswith(".md")}
    found |= {
        path.name: path.read_text(encoding="utf-8")
        for path in earlier
        if path.name not in found
    }
    lines = [
        "# Tables",
        "",
        "Written by `drmbench tables` from stored results: the paper's tables in its"
        " order, then what goes beyond it. `drmbench tables --format csv,tex,html`"
        " writes each table by itself: CSV with full precision and one record per cell,"
        " LaTeX to include, HTML to read.",
    ]
    for name, text in found.items():
        head, *tables = text.split('\n<a id="')
        if name != INDEX and tables and head.startswith("# "):
            lines += ["", f"**[{name}]({name})** {head.removeprefix('# ').strip()}", ""]
            for table in tables:
                target, _, rest = table.partition('"></a>\n\n### ')
                title = link_text(rest.partition("\n")[0])
                lines.append(f"- [{title}]({name}#{target})")
    return "\n".join(lines) + "\n"
