"""Printing for people at a terminal, and plainly for everything else."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence

import typer

from drmbench.errors import shortened
from drmbench.report.render import to_rich, to_text
from drmbench.report.table import Cell, Column, Table

LEFT, RIGHT = "left", "right"
_SHOWN_CLASSES = 10


def examples(*commands: str) -> str:
    """Return the epilogue of a command's help: example calls, one per paragraph.

    Examples
    --------
    >>> examples("drmbench data list").splitlines()
    ['Examples:', '', 'drmbench data list']
    """
    return "\n\n".join(["Examples:", *commands])


def class_words(counts: Mapping[str, int]) -> str:
    """Return how many classes there are and how many samples each has, shortened.

    Examples
    --------
    >>> class_words({"no": 305, "yes": 25})
    '2 classes (no 305, yes 25)'
    """
    named = [f"{shortened(name, 40)} {count}" for name, count in counts.items()]
    more = ", …" if len(named) > _SHOWN_CLASSES else ""
    return f"{len(named)} classes ({', '.join(named[:_SHOWN_CLASSES])}{more})"


def print_table(
    columns: Iterable[tuple[str, str]], rows: Iterable[Sequence[str]]
) -> None:
    """Print a table: drawn by rich on a terminal, as plain aligned columns elsewhere.

    A column is its heading and ``LEFT`` or ``RIGHT``.
    """
    shown = tuple(
        Column(h, "right" if side == RIGHT else "left") for h, side in columns
    )
    cells = tuple(tuple(map(Cell, row)) for row in rows)
    show(Table(experiment="", kind="", title="", columns=shown, rows=cells))


def show(table: Table) -> None:
    """Print headings and cells: drawn by rich on a terminal, plainly elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(to_rich(table))
    else:
        typer.echo(to_text(table))


def bar(share: float, width: int = 40) -> str:
    """Return a horizontal bar for a share of the largest, never empty above zero.

    Examples
    --------
    >>> len(bar(1.0)), len(bar(0.5)), len(bar(0.001)), len(bar(0.0))
    (40, 20, 1, 0)
    """
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    block = "█" if encoding.startswith("utf") else "#"
    return block * (max(1, round(width * share)) if share > 0 else 0)
