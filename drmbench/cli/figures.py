"""``drmbench figures``: draw stored results; nothing is run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drmbench.cli.output import examples

EPILOGUE = examples(
    "drmbench figures",
    "drmbench figures timing convergence",
    "drmbench figures --results results/runs --out elsewhere --format svg,pdf",
)


def figures(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXPERIMENT]...", help="Experiments to draw; else all."
        ),
    ] = None,
    results: Annotated[
        Path, typer.Option(help="Folder with one folder of results per experiment.")
    ] = Path("results/reference"),
    out: Annotated[
        Path, typer.Option(help="Folder whose folder `figures` is written.")
    ] = Path("results"),
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help="svg, pdf, png or all; several are separated by commas.",
        ),
    ] = None,
) -> None:
    """Draw stored results, as SVG by default, with captions in figures/README.md."""
    from drmbench.report.figures import write_figures

    wanted = [name for text in formats or ["svg"] for name in text.split(",")]
    names = experiments or []
    for path in write_figures(results, names, out, formats=wanted, say=_say):
        typer.echo(str(path))


def _say(message: str) -> None:
    typer.echo(f"drmbench: {message}", err=True)
