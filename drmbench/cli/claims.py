"""``drmbench claims``: what became of each claim of the paper."""

from __future__ import annotations

import dataclasses
import textwrap
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drmbench.cli.output import examples
from drmbench.errors import InputError

if TYPE_CHECKING:
    from drmbench.report.claims import Verdict

EPILOGUE = examples(
    "drmbench claims",
    "drmbench claims --results results/runs",
    "drmbench claims --json",
)

_DEFAULT = Path("results/reference")
_WIDTH = 88


def claims(
    results: Annotated[
        Path | None,
        typer.Option("--results", help=f"Folder of results; {_DEFAULT} if not given."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the verdicts as JSON.")
    ] = False,
) -> None:
    """Print each claim of the paper: reproduced, partly, not reproduced, not testable.

    Claims are tested on stored results, in the paper's own protocol and beside it in
    the honest one; some on the paper's own tables. What has not been run is not
    testable, and the command that would run it is shown.
    """
    from drmbench.report.claims import judge
    from drmbench.run.results import load_results

    if results is not None and not results.is_dir():
        raise InputError(f"{results} is not a folder of results")
    verdicts = judge(load_results(results or _DEFAULT))
    if json:
        rows = [dataclasses.asdict(verdict) for verdict in verdicts]
        typer.echo(dumps(rows, indent=2, ensure_ascii=False))
        return
    for section, members in groupby(verdicts, lambda verdict: verdict.section):
        typer.echo(f"{section}\n{'=' * len(section)}")
        for verdict in members:
            typer.echo("\n".join(_lines(verdict)) + "\n")
    counts = Counter(verdict.status for verdict in verdicts)
    counted = ", ".join(f"{number} {status}" for status, number in counts.items())
    typer.echo(f"{len(verdicts)} claims: {counted}")


def _lines(verdict: Verdict) -> Iterator[str]:
    yield f"{verdict.status.upper()}: {verdict.id}"
    texts = [f"“{verdict.quote}”", verdict.numbers, verdict.explanation]
    if verdict.status == "not testable":
        texts += [f"Run: {command}" for command in verdict.commands]
    for text in filter(None, texts):
        yield from textwrap.wrap(
            text, _WIDTH, initial_indent="  ", subsequent_indent="    "
        )
