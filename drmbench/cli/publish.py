"""``drmbench tables``, ``figures``, ``report``: stored results for people to read."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from drmbench.cli.inputs import REFERENCE, reference_folder
from drmbench.cli.output import AsJson, examples, print_json
from drmbench.cli.terminal import remark, tell
from drmbench.errors import InputError

app = typer.Typer()


class ViewOption(StrEnum):
    """What tables of scores show."""

    OURS = "ours"
    PAPER = "paper"
    BOTH = "both"
    DIFFERENCE = "difference"


@app.command(
    epilog=examples(
        "drmbench tables",
        "drmbench tables imbalanced --view difference",
        "drmbench tables --results results/runs --out mine --metric balanced_accuracy",
        "drmbench tables --format csv,tex",
        "drmbench tables gene --json",
    )
)
def tables(
    experiment: Annotated[
        list[str] | None, Argument(help="Experiments; all there are if none is named.")
    ] = None,
    results: Annotated[Path, Option(help="Folder of stored results.")] = REFERENCE,
    out: Annotated[Path, Option(help="Folder to write into.")] = Path("results"),
    view: Annotated[
        ViewOption, Option(help="What tables of scores show.")
    ] = ViewOption.BOTH,
    metric: Annotated[str | None, Option(help="Show this metric alone.")] = None,
    formats: Annotated[
        list[str] | None,
        Option(
            "--format",
            help="md, csv, tex, html or all; several are separated by commas.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the paper's tables, ours beside them, with statistics.

    Tables are written to OUT/tables as Markdown, in one file per subject with an index
    in README.md; the other formats have one file per table. Nothing is run: figures
    come from the stored results, the paper's from the files that drmbench ships.
    """
    from drmbench.report.tables import INDEX, write_tables
    from drmbench.running.results import experiments_in

    results = reference_folder(results)
    if not results.is_dir():
        raise InputError(f"there is no folder of results {results}")
    if not experiment and not experiments_in(results):
        remark(
            f"{results} has no results: writing the tables of data sets only."
            " `drmbench run` makes results, --results names another folder."
        )
    names = list(dict.fromkeys(experiment or ()))
    wanted = [name.strip() for text in formats or ["md"] for name in text.split(",")]
    written = write_tables(
        results, names, out, view=view.value, metric=metric, formats=wanted
    )
    if as_json:
        print_json([str(path) for path in written])
        return
    index = out / "tables" / INDEX
    lists = f"; {index} lists them" if index in written else ""
    tell(f"{len(written)} files in {out / 'tables'}{lists}")


@app.command(
    epilog=examples(
        "drmbench figures",
        "drmbench figures timing convergence",
        "drmbench figures --results results/runs --out elsewhere --format svg,pdf",
        "drmbench figures gene --json",
    )
)
def figures(
    experiments: Annotated[
        list[str] | None,
        Argument(metavar="EXPERIMENT", help="Experiments to draw; else all."),
    ] = None,
    results: Annotated[
        Path, Option(help="Folder with one folder of results per experiment.")
    ] = REFERENCE,
    out: Annotated[Path, Option(help="Folder whose folder `figures` is written.")] = (
        Path("results")
    ),
    formats: Annotated[
        list[str] | None,
        Option(
            "--format", help="svg, pdf, png or all; several are separated by commas."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw stored results.

    Drawings are SVG by default; figures/README.md has them with their captions.
    """
    from drmbench.report.figures import write_figures

    def say(message: str) -> None:
        remark(f"drmbench: {message}")

    wanted = [name for text in formats or ["svg"] for name in text.split(",")]
    folder = reference_folder(results)
    written = write_figures(folder, experiments or [], out, formats=wanted, say=say)
    if not written:
        say("these results have nothing to draw")
    if as_json:
        print_json([str(path) for path in written])
        return
    for path in written:
        tell(str(path))


@app.command(
    epilog=examples(
        "drmbench report",
        "drmbench report gene imbalanced --out gene.html",
        "drmbench report --results results/runs --out mine.html",
    )
)
def report(
    experiments: Annotated[
        list[str] | None,
        Argument(
            metavar="EXPERIMENT", help="Experiments to report on; all without any."
        ),
    ] = None,
    results: Annotated[
        Path, Option(help="Folder with one folder per experiment.")
    ] = REFERENCE,
    out: Annotated[Path, Option(help="HTML file to write.")] = Path(
        "results/report.html"
    ),
) -> None:
    """Write one HTML page with verdicts, tables and figures.

    It also says where the numbers come from, and needs no other file and no network.
    """
    from drmbench.report.page import write_report

    folder = reference_folder(results)
    typer.echo(str(write_report(folder, experiments or (), out)))
