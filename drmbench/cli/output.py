"""Printing for people at a terminal, and plainly for everything else."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

LEFT, RIGHT = "left", "right"


def examples(*commands: str) -> str:
    """Return the epilogue of a command's help: example calls, one a paragraph.

    Examples
    --------
    >>> examples("drmbench data list").splitlines()
    ['Examples:', '', 'drmbench data list']
    """
    return "\n\n".join(["Examples:", *commands])


def print_table(
    columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]
) -> None:
    """Print a table: drawn by rich on a terminal, as plain aligned columns elsewhere.

    Parameters
    ----------
    columns : sequence of (str, str)
        Heading and alignment ("left" or "right") of each column.
    rows : sequence of sequences of str
        The cells.
    """
    if sys.stdout.isatty():
        _print_rich_table(columns, rows)
    else:
        typer.echo("\n".join(plain_lines(columns, rows)))


def plain_lines(
    columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]
) -> list[str]:
    """Return the lines of a plain table, headings first.

    Examples
    --------
    >>> plain_lines([("name", LEFT), ("n", RIGHT)], [("iris", "150"), ("pix", "9")])
    ['name    n', 'iris  150', 'pix     9']
    """
    table = [[heading for heading, _ in columns], *rows]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    sides = [side for _, side in columns]
    return ["  ".join(_align(row, widths, sides)).rstrip() for row in table]


def _align(
    row: Sequence[str], widths: Sequence[int], sides: Sequence[str]
) -> list[str]:
    return [
        cell.rjust(width) if side == RIGHT else cell.ljust(width)
        for cell, width, side in zip(row, widths, sides, strict=True)
    ]


def _print_rich_table(
    columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]
) -> None:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, side in columns:
        table.add_column(heading, justify="right" if side == RIGHT else "left")
    for row in rows:
        table.add_row(*map(escape, row))
    Console().print(table)


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
