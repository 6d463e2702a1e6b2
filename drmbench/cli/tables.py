"""``drmbench tables``: the paper's tables from stored results, and their statistics."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from drmbench.cli.output import examples
from drmbench.errors import InputError

EPILOGUE = examples(
    "drmbench tables",
    "drmbench tables imbalanced --view difference",
    "drmbench tables --results results/runs --out mine --metric balanced_accuracy",
    "drmbench tables --format csv,tex",
)

_DEFAULT = Path("results/reference")


class ViewOption(StrEnum):
    """What tables of scores show."""

    OURS = "ours"
    PAPER = "paper"
    BOTH = "both"
    DIFFERENCE = "difference"


def tables(
    experiment: Annotated[
        list[str] | None,
        typer.Argument(help="Experiments; all there are if none is named."),
    ] = None,
    results: Annotated[
        Path, typer.Option("--results", help="Folder of stored results.")
    ] = _DEFAULT,
    out: Annotated[Path, typer.Option("--out", help="Folder to write into.")] = Path(
        "results"
    ),
    view: Annotated[
        ViewOption, typer.Option("--view", help="What tables of scores show.")
    ] = ViewOption.BOTH,
    metric: Annotated[
        str | None, typer.Option("--metric", help="Show this metric alone.")
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help="md, csv, tex, html or all; several are separated by commas.",
        ),
    ] = None,
) -> None:
    """Write the paper's tables, ours beside the paper's, and their statistics.

    Tables are written to OUT/tables as Markdown, in one file per subject with an index
    in README.md; the other formats have one file per table. Nothing is run: figures
    come from the stored results, the paper's from the files that drmbench ships.
    """
    from drmbench.report.tables import INDEX, write_tables
    from drmbench.run.results import experiments_in

    if not results.is_dir() and results != _DEFAULT:
        raise InputError(f"there is no folder of results {results}")
    if not experiment and not experiments_in(results):
        typer.echo(
            f"{results} has no results: writing the tables of data sets only."
            " `drmbench run` makes results, --results names another folder.",
            err=True,
        )
    names = list(dict.fromkeys(experiment or ()))
    wanted = [name.strip() for text in formats or ["md"] for name in text.split(",")]
    written = write_tables(
        results, names, out, view=view.value, metric=metric, formats=wanted
    )
    index = out / "tables" / INDEX
    lists = f"; {index} lists them" if index in written else ""
    typer.echo(f"{len(written)} files in {out / 'tables'}{lists}")
