"""The command line: one file a command, each thin, and the one place errors are caught.

Command modules import numerical libraries inside their functions, never at the top, so
that ``drmbench --help`` stays fast; ``tests/cli/test_startup.py`` holds them to it.
"""

from __future__ import annotations

import sys

import typer

from drmbench import __version__
from drmbench.cli import (
    check,
    claims,
    compare,
    config,
    data,
    figures,
    fit,
    keel_cells,
    methods,
    predict,
    report,
    results,
    run,
    tables,
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
app.add_typer(config.app, name="config")
app.add_typer(data.app, name="data")
app.command("run", epilog=run.EPILOGUE)(run.run_command)
app.command("results", epilog=results.EPILOGUE)(results.results_command)
app.command("compare", epilog=compare.EPILOGUE)(compare.compare_command)
app.command("tables", epilog=tables.EPILOGUE)(tables.tables)
app.command("figures", epilog=figures.EPILOGUE)(figures.figures)
app.command("report", epilog=report.EPILOGUE)(report.report)
app.command("keel-cells", epilog=keel_cells.EPILOGUE)(keel_cells.keel_cells)
app.command("check", epilog=check.EPILOGUE)(check.check)
app.command("claims", epilog=claims.EPILOGUE)(claims.claims)
app.command("methods", epilog=methods.EPILOGUE)(methods.methods_command)
app.command("fit", epilog=fit.EPILOGUE)(fit.fit_command)
app.command("predict", epilog=predict.EPILOGUE)(predict.predict_command)


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
