"""``drmbench config``: check experiment files, and print the schema they follow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from drmbench.cli.inputs import config_files, writing
from drmbench.cli.listing import Field, print_listing
from drmbench.cli.output import AsJson, examples, print_json

app = typer.Typer(
    no_args_is_help=True,
    help="Check experiment files, and print the schema they follow.",
    epilog=examples(
        "drmbench config check gene", "drmbench config schema --out schema.json"
    ),
)


@app.command(
    epilog=examples(
        "drmbench config check configs/gene.yaml",
        "drmbench config check configs/*.yaml",
        "drmbench config check gene uci --json",
    ),
)
def check(
    files: Annotated[
        list[Path],
        Argument(metavar="FILE", help="Experiment files (YAML), or names of packaged."),
    ],
    as_json: AsJson = False,
) -> None:
    """Check experiment files; say what each would run, or all that is wrong."""
    from drmbench.config import load_experiments

    experiments = load_experiments(config_files(files))
    if as_json:
        print_json(
            [
                {
                    "experiment": one.name,
                    "title": one.title,
                    "kind": one.kind,
                    "datasets": [dataset.name for dataset in one.datasets],
                    "methods": [method.label for method in one.methods],
                    "splits": one.split.describe(),
                }
                for one in experiments
            ]
        )
        return
    print_listing(
        (
            *(Field("experiment"), Field("data sets", "right")),
            *(Field("methods", "right"), Field("splits", least=20)),
        ),
        [
            (one.name, str(len(one.datasets)), str(len(one.methods)), splits)
            for one in experiments
            if (splits := one.split.describe())
        ],
    )


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
