"""``drmbench report``: write one HTML page with all that the results say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drmbench.cli.output import examples

EPILOGUE = examples(
    "drmbench report",
    "drmbench report gene imbalanced --out gene.html",
    "drmbench report --results results/runs --out mine.html",
)


def report(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXPERIMENT", help="Experiments to report on; all without any."
        ),
    ] = None,
    results: Annotated[
        Path, typer.Option("--results", help="Folder with one folder per experiment.")
    ] = Path("results/reference"),
    out: Annotated[Path, typer.Option("--out", help="HTML file to write.")] = Path(
        "results/report.html"
    ),
) -> None:
    """Write one HTML page: verdicts, tables, figures, and where numbers come from.

    The page needs no other file and no network.
    """
    from drmbench.report.page import write_report

    typer.echo(str(write_report(results, experiments or (), out)))
