"""``drmbench tables``, ``figures`` and ``report``: write what can be shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from drmbench.cli.output import examples
from drmbench.errors import InputError

Out = Annotated[Path, typer.Option("--out", help="Folder to write into.")]


def _epilogue(name: str) -> str:
    return examples(f"drmbench {name}", f"drmbench {name} --out elsewhere")


def add_to(app: typer.Typer) -> None:
    """Add the three commands to the command line."""
    for name, command in (
        ("tables", tables),
        ("figures", figures),
        ("report", report),
    ):
        app.command(name, epilog=_epilogue(name))(command)


def tables(out: Out = Path("results")) -> None:
    """Write the paper's tables of data sets, beside what the catalogue has."""
    from drmbench.report.write import write_tables

    _print_written(write_tables, out)


def figures(out: Out = Path("results")) -> None:
    """Draw the figures: so far the objective against the iteration."""
    from drmbench.report.write import write_figures

    _print_written(write_figures, out)


def report(out: Out = Path("results")) -> None:
    """Write one self-contained HTML page with the tables and figures."""
    from drmbench.report.write import write_report

    _print_written(write_report, out)


def _print_written(write: Callable[[Path], list[Path]], out: Path) -> None:
    try:
        paths = write(out)
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error.strerror or error}") from error
    for path in paths:
        typer.echo(str(path))
