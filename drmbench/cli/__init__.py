"""The command line: thin commands, and the one place where errors are caught.

Command modules import numerical libraries inside their functions, never at the top, so
that ``drmbench --help`` stays fast; ``tests/cli/test_startup.py`` holds them to it.
"""

from __future__ import annotations

import sys

import typer

from drmbench import __version__
from drmbench.cli import (
    checks,
    claims,
    compare,
    config,
    data,
    fit_predict,
    init,
    keel_cells,
    methods,
    publish,
    results,
    run,
)
from drmbench.errors import DrmbenchError

app = typer.Typer(
    name="drmbench",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Benchmark the Discriminative Ridge Machine on real data, against fair"
    " baselines.",
)
for module in (
    init,
    run,
    results,
    compare,
    publish,
    keel_cells,
    checks,
    claims,
    methods,
    fit_predict,
):
    app.add_typer(module.app)
app.add_typer(config.app, name="config")
app.add_typer(data.app, name="data")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"drmbench {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False,
        "--version",
        callback=_print_version,
        is_eager=True,
        help="Print the version and leave.",
    ),
) -> None:
    """Benchmark the Discriminative Ridge Machine on real data."""


def main() -> None:
    """Run the command line; expected errors become one message and an exit code."""
    try:
        app()
    except DrmbenchError as error:
        typer.echo(f"drmbench: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("drmbench: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:  # `drmbench … | head`: the reader left, nothing is wrong
        sys.stderr.close()
        sys.exit(0)
