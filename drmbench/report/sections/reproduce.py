"""How to make every number on the page again: the commands, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from drmbench.report.markup import Html, commands, section, tag
from drmbench.report.sections.words import run_command
from drmbench.run.results import Results


def reproduce_section(results: Mapping[str, Results]) -> Html:
    """Return the section with the commands that make the whole page again."""
    return section(
        "reproduce",
        2,
        "How to reproduce every number",
        tag(
            "p",
            "From a checkout of drmbench at the commit below, with the package"
            " installed. Data is fetched and verified by itself where a public source"
            " has it. Cells that are stored already are not run again. To make a"
            " single table cell, add the data set's name and the method's label to its"
            " experiment's command, as in the last line.",
        ),
        commands(_lines(results), "Commands that reproduce the page"),
    )


def _lines(results: Mapping[str, Results]) -> Iterator[str]:
    for found in results.values():
        yield run_command(found)
    yield "drmbench report --results results/runs"
    for found in list(results.values())[:1]:
        dataset, method = next(iter(found.datasets)), next(iter(found.methods))
        yield run_command(found, "--dataset", dataset, "--method", method)
