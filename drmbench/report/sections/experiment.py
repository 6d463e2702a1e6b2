"""One experiment on the page: its figures, what is amiss, how it was run, commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from drmbench.report.markup import Html, bullets, commands, details, section, tag, terms
from drmbench.report.sections.progress import (
    failures_table,
    missing_table,
    progress,
    substitutes,
)
from drmbench.report.sections.tables import plain_table, shown
from drmbench.report.sections.words import (
    grid_words,
    metrics_words,
    run_command,
    scaling_words,
    selection_words,
    split_words,
    target_words,
    times,
)
from drmbench.report.table import Table, anchor
from drmbench.run.results import Results


@dataclass(frozen=True)
class FigureMarkup:
    """A figure that is ready for the page.

    Attributes
    ----------
    svg : Html
        The drawing, with ids of its own.
    title, caption : str
        What it shows, in a few words and in full.
    """

    svg: Html
    title: str
    caption: str


@dataclass(frozen=True)
class ExperimentContent:
    """What the page shows of one experiment besides tables.

    Attributes
    ----------
    results : Results
        The experiment.
    figures : sequence of FigureMarkup
        Its figures.
    remarks : sequence of str
        Why figures are not there.
    """

    results: Results
    figures: Sequence[FigureMarkup] = ()
    remarks: Sequence[str] = ()


def section_id(name: str) -> str:
    """Return the id of an experiment's section."""
    return anchor(f"experiment-{name}")


def experiment_section(
    content: ExperimentContent, level: int, tables: str = ""
) -> Html:
    """Return an experiment's section under a heading of a level.

    Parameters
    ----------
    content : ExperimentContent
        What to show.
    level : int
        Level of the heading.
    tables : str
        HTML to show before the figures.
    """
    results = content.results
    return section(
        section_id(results.name),
        level,
        f"{results.name}: {results.experiment.title}",
        _standing(results),
        tables,
        *map(_figure, content.figures),
        *(tag("p", remark) for remark in content.remarks),
        *_amiss(results, level + 1),
        details("How it was run, and the grids", *_protocol(results)),
        details("How to reproduce these numbers", *_reproduce(results)),
    )


def _standing(results: Results) -> Html:
    count = progress(results)
    return tag(
        "p",
        f"{target_words(results.experiment.reproduces)}:"
        f" {times(len(results.datasets), 'data set')},"
        f" {times(len(results.methods), 'method')},"
        f" {count.done:,} of {count.expected:,} cells done.",
    )


def _figure(figure: FigureMarkup) -> Html:
    caption = tag("figcaption", tag("strong", f"{figure.title}. "), figure.caption)
    card = tag(
        "div",
        figure.svg,
        class_="card",
        role="region",
        tabindex="0",
        aria_label=f"Figure: {figure.title}",
    )
    return tag("figure", card, caption)


def _amiss(results: Results, level: int) -> Iterator[Html]:
    """Give what differs from the paper, is missing or failed."""
    heading = f"h{level}"
    if results.experiment.deviations:
        yield tag(heading, "What differs from the paper")
        yield bullets(results.experiment.deviations)
    if stood_in := substitutes(results):
        yield tag(heading, "Data that another set stood in for")
        yield bullets(stood_in)
    if missing := missing_table(results):
        yield tag(heading, "Missing data")
        yield shown(missing)
    if failures := failures_table(results):
        yield tag(heading, "Cells without a figure")
        yield shown(failures)


def _protocol(results: Results) -> Iterator[Html]:
    experiment = results.experiment
    limit = experiment.timeout
    yield terms(
        [
            ("Split", split_words(experiment.split)),
            ("Selection", selection_words(results)),
            *(("Scaling", words) for words in scaling_words(results)),
            ("Metrics", metrics_words(results)),
            ("Seed", f"{experiment.seed}"),
            ("Time limit of a cell", f"{limit:g} s" if limit else "none"),
        ]
    )
    yield shown(_methods_table(results))


def _methods_table(results: Results) -> Table:
    rows = [
        (
            label,
            entry["title"],
            entry["column"] or "",
            grid_words(entry["grid"]) or "nothing to choose",
            grid_words(entry["params"]),
        )
        for label, entry in results.methods.items()
    ]
    return plain_table(
        f"{section_id(results.name)}-methods",
        f"{results.name}: methods and the parameter values they chose from",
        ("method", "what", "the paper's column", "grid", "fixed"),
        rows,
    )


def _reproduce(results: Results) -> Iterator[Html]:
    dataset, method = next(iter(results.datasets)), next(iter(results.methods))
    yield tag("p", "All numbers of this experiment, then those of a single table cell:")
    lines = [
        run_command(results),
        run_command(results, "--dataset", dataset, "--method", method),
    ]
    yield commands(lines, f"Commands that reproduce {results.name}")
    yield terms(
        [
            ("--dataset is one of", ", ".join(results.datasets)),
            ("--method is one of", ", ".join(results.methods)),
        ]
    )
    if config := results.manifest["config"]:
        yield tag("p", "The configuration as it was run:")
        yield commands([config.rstrip()], f"Configuration of {results.name}")
