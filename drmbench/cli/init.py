"""``drmbench init``: a first experiment file to build on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from drmbench.cli.inputs import writing
from drmbench.cli.output import examples
from drmbench.errors import InputError

app = typer.Typer()

_NAME = "experiment.yaml"


@app.command(
    "init",
    epilog=examples(
        "drmbench init",
        "drmbench init studies/first.yaml",
        "drmbench init --data mine.csv --target label",
    ),
)
def init_command(
    place: Annotated[
        Path, Argument(metavar="FILE or FOLDER", help=f"By default {_NAME}.")
    ] = Path(_NAME),
    data: Annotated[
        Path | None,
        Option(help="Your own table: csv, Excel, parquet, npz, ARFF …"),
    ] = None,
    target: Annotated[
        str | None, Option(help="Column of the table with the classes.")
    ] = None,
    force: Annotated[
        bool, Option("--force", help="Write over a file that is there.")
    ] = False,
) -> None:
    """Write a commented experiment file that runs as it is.

    It compares some methods on data that comes with drmbench, or on a table of yours.
    """
    from drmbench.data.user import load_user_file
    from drmbench.running.starter import config_for_table, example_config

    path = place if place.suffix in (".yaml", ".yml") else place / _NAME
    if path != place and place.is_file():
        raise InputError(f"{place}: a file; give a folder, or a name in .yaml")
    if target is not None and data is None:
        raise InputError("--target names a column of a table: give the table by --data")
    if path.exists() and not force:
        raise InputError(f"{path} is there already; --force writes over it")
    text = example_config(path)
    if data is not None:
        dataset = load_user_file(data, target=target)
        text = config_for_table(path, data, target, dataset)
    with writing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    typer.echo(f"{path}\nRun it with: drmbench run {path}")
