"""``drmbench config``: check experiment files, and print the schema they follow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from drmbench.cli.inputs import config_files, writing
from drmbench.cli.output import LEFT, RIGHT, examples, print_table

app = typer.Typer(
    no_args_is_help=True,
    help="Check experiment files, and print the schema they follow.",
)


@app.command(
    epilog=examples(
        "drmbench config check configs/gene.yaml",
        "drmbench config check configs/*.yaml",
    ),
)
def check(
    files: Annotated[
        list[Path],
        Argument(metavar="FILE", help="Experiment files (YAML), or names of packaged."),
    ],
) -> None:
    """Check experiment files; say what each would run, or all that is wrong."""
    from drmbench.config import load_experiments

    columns = [("experiment", LEFT), ("data sets", RIGHT), ("methods", RIGHT)]
    columns.append(("splits", LEFT))
    rows = []
    for one in load_experiments(config_files(files)):
        sizes = str(len(one.datasets)), str(len(one.methods))
        rows.append([one.name, *sizes, one.split.describe()])
    print_table(columns, rows)


@app.command(
    epilog=examples(
        "drmbench config schema",
        "drmbench config schema --out experiment.schema.json",
    ),
)
def schema(
    out: Annotated[
        Path | None, Option("--out", help="Write to this file instead.")
    ] = None,
) -> None:
    """Print the JSON schema of experiment files, for editors and programs."""
    from drmbench.config import json_schema

    text = json.dumps(json_schema(), indent=1, ensure_ascii=False)
    if out is None:
        typer.echo(text)
        return
    with writing(out) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    typer.echo(str(out))
