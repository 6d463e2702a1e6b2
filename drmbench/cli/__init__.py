"""The command line: thin commands, and the one place where errors are caught.

Command modules import numerical libraries inside their functions, never at the top, so
that ``drmbench --help`` stays fast; ``tests/cli/test_startup.py`` holds them to it.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

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
from drmbench.cli.output import examples
from drmbench.cli.streams import standard_streams
from drmbench.cli.terminal import remark
from drmbench.errors import (
    DrmbenchError,
    InputError,
    explained,
    reason_of,
    shortened,
)

#: Characters of a line of a message, at most.
_LONGEST_LINE = 2000

app = typer.Typer(
    name="drmbench",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Benchmark the Discriminative Ridge Machine on real data, against fair"
    " baselines.",
    epilog=examples(
        "drmbench run quick",
        "drmbench compare mine.csv --target label",
        "drmbench claims",
    ),
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


def _unbroken(text: str) -> str:
    """Return a text whose paragraphs are one line each, for help of any width."""
    return "\n\n".join(x.replace("\n", " ") for x in text.split("\n\n"))


def _unbreak_help(group: typer.Typer) -> None:
    """Let the help of every command be as wide as the terminal, not as the code."""
    for command in group.registered_commands:
        command.help = _unbroken(inspect.getdoc(command.callback) or "")
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            _unbreak_help(inner.typer_instance)


_unbreak_help(app)


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
    try:
        Path.cwd()
    except OSError as error:
        why = f"the working folder cannot be used ({reason_of(error)})"
        raise InputError(f"{why}; change to another one") from error


def main() -> None:
    """Run the command line; expected errors become one message and an exit code.

    Expected is also what the system may do to any command: a full disk, too little
    memory, a file that cannot be opened.
    """
    with standard_streams():
        try:
            try:
                app()
            except SystemExit:  # as every command ends
                sys.stdout.flush()
                raise
        except (DrmbenchError, OSError, MemoryError, UnicodeError) as error:
            expected = explained(error)
            lines = [shortened(x, _LONGEST_LINE) for x in str(expected).splitlines()]
            if lines:
                remark("drmbench: " + "\n".join(lines), "bad")
            sys.exit(expected.exit_code)
        except KeyboardInterrupt:
            remark("drmbench: interrupted")
            sys.exit(130)
