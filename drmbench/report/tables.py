"""All tables that stored results give, and the files they are written to.

Markdown has one file per document, a few tables that are read together, and an index;
the other formats have one file per table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from drmbench.errors import InputError
from drmbench.files import replacing
from drmbench.report.analyses import tables_of_source
from drmbench.report.analyses.comparison import LINES, View
from drmbench.report.analyses.datasets import dataset_tables
from drmbench.report.analyses.seconds import measured_tables
from drmbench.report.html import to_html_page
from drmbench.report.render import (
    markdown_text,
    to_csv,
    to_latex,
    to_markdown,
)
from drmbench.report.scores import table_sources
from drmbench.report.table import Table, anchor
from drmbench.run.results import Results, load_results
from drmbench.words import paper_place

INDEX = "README.md"
#: What is written of each table besides Markdown, by the ending of the file.
RENDERERS: dict[str, Callable[[Table], str]] = {
    "csv": to_csv,
    "tex": to_latex,
    "html": to_html_page,
}
FORMATS = ("md", *RENDERERS)

#: The documents of a table of the paper besides that of the scores: kinds of tables.
_PARTS = {
    "tests": ("ranks", "wilcoxon", "wilcoxon-beyond"),
    "agreement": (
        *("agreement", "agreement-cells", "rules", "rules-cells", "distribution"),
    ),
    "protocol": ("modes", "worth", "seconds", "naive"),
}
_PART_TITLES = {
    "tests": "statistical tests",
    "agreement": "agreement with the paper",
    "protocol": "what the protocol is worth, and the time it took",
}


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
    known = dict.fromkeys(name for source in sources for name in source.metrics)
    if metric is not None and metric not in known:
        listed = ", ".join(known) or "none"
        raise InputError(f"no results have the metric {metric!r}; there are: {listed}")
    scores = [t for source in sources for t in tables_of_source(source, view, metric)]
    return [*scores, *(t for found in results.values() for t in measured_tables(found))]


def documents(
    results: Mapping[str, Results], tables: Iterable[Table]
) -> list[Document]:
    """Group tables into documents, the paper's in its order, then what goes beyond it.

    A table of the paper has its tests, agreement and protocol in documents of their
    own, everything else has one document. ``results`` are what the tables are of; those
    of data sets may be among them.
    """
    about = {
        found.name: (found.experiment.reproduces, found.experiment.title or found.name)
        for found in results.values()
    } | {
        source.id: (source.results[0].experiment.reproduces, source.title)
        for source in table_sources(results)
    }
    places: dict[tuple[tuple[int, int], str, str], Document] = {}
    for table in tables:
        reproduces, title = about.get(table.experiment, (table.experiment, table.title))
        name, part = anchor(table.experiment), ""
        if reproduces == table.experiment:
            part = next((p for p, kinds in _PARTS.items() if table.kind in kinds), "")
        if part:
            name, title = f"{name}-{part}", f"{title}: {_PART_TITLES[part]}"
        key = (paper_place(reproduces), table.experiment, part)
        places.setdefault(key, Document(name, title)).tables.append(table)
    order = ("", *_PARTS)
    keys = sorted(places, key=lambda key: (key[0], key[1], order.index(key[2])))
    return [places[key] for key in keys]


def rendered_tables(
    results: Mapping[str, Results],
    formats: Sequence[str] = FORMATS,
    *,
    view: View = "both",
    metric: str | None = None,
    datasets: bool = True,
) -> Iterator[tuple[str, str]]:
    """Give the name and text of every file that tables are written to.

    Parameters
    ----------
    results : mapping of str to Results
        Experiments by name.
    formats : sequence of {"md", "csv", "tex", "html"}
        What to give; of ``md`` the documents and, last of all, their index.
    view, metric
        As in :func:`experiment_tables`.
    datasets : bool
        Whether the tables of data sets are among them.
    """
    tables = experiment_tables(results, view=view, metric=metric)
    found = documents(results, [*(dataset_tables() if datasets else ()), *tables])
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

    Parameters
    ----------
    results_folder : Path
        Folder with one folder per experiment.
    names : sequence of str
        Experiments; none means all, and the tables of data sets.
    out : Path
        Folder that gets a folder ``tables``.
    view, metric
        As in :func:`experiment_tables`.
    formats : sequence of {"md", "csv", "tex", "html", "all"}
        What to write.

    Returns
    -------
    list of Path
        The files; of Markdown, the index last.

    Raises
    ------
    InputError
        If an experiment or a format is not there, or the folder cannot be written.
    """
    if view not in LINES:
        raise InputError(f"no view {view!r}; there are {', '.join(LINES)}")
    for name in formats:
        if name not in (*FORMATS, "all"):
            listed = ", ".join(FORMATS)
            raise InputError(f"no format {name!r}; there are {listed}, and all")
    results, folder = load_results(results_folder, names), out / "tables"
    rendered = dict(
        rendered_tables(
            results,
            FORMATS if "all" in formats else formats,
            view=view,
            metric=metric,
            datasets=not names,
        )
    )
    try:
        if INDEX in rendered:
            rendered[INDEX] = _index(rendered, folder)
        for name, text in rendered.items():
            with replacing(folder / name) as temporary:
                temporary.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error.strerror or error}") from error
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
        head, *tables = text.split('<a id="')
        if name != INDEX and tables and head.startswith("# "):
            lines += ["", f"**[{name}]({name})** {head.removeprefix('# ').strip()}", ""]
            for table in tables:
                target, _, rest = table.partition('"></a>\n\n### ')
                lines.append(f"- [{rest.splitlines()[0]}]({name}#{target})")
    return "\n".join(lines) + "\n"
