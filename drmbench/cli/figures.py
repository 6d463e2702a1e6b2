"""``drmbench figures``: draw stored results; nothing is run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drmbench.cli.output import examples

EPILOGUE = examples(
    "drmbench figures",
    "drmbench figures timing convergence",
    "drmbench figures --results results/runs --out elsewhere",
)


def figures(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXPERIMENT]...", help="Experiments to draw; else all."
        ),
    ] = None,
    results: Annotated[
        Path, typer.Option(help="Folder with a folder of results an experiment.")
    ] = Path("results/reference"),
    out: Annotated[
        Path, typer.Option(help="Folder whose folder `figures` is written.")
    ] = Path("results"),
) -> None:
    """Draw stored results as SVG, PDF and PNG, with captions in figures/README.md."""
    from drmbench.report.figures import write_figures

    for path in write_figures(results, experiments or [], out, say=_say):
        typer.echo(str(path))


def _say(message: str) -> None:
    typer.echo(f"drmbench: {message}", err=True)
