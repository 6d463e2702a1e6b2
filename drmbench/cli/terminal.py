"""How commands speak: as wide as the terminal and in colour, plainly elsewhere.

A text is broken between words only, and never where it goes into a file or a pipe.
"""

from __future__ import annotations

import os
import sys
import textwrap
from typing import Any, Literal, TextIO

import typer

#: What a text is, which decides its colour.
Style = Literal["", "heading", "good", "fair", "bad", "quiet"]

_COLOURS: dict[Style, dict[str, Any]] = {
    "heading": {"bold": True},
    "good": {"fg": "green"},
    "fair": {"fg": "yellow"},
    "bad": {"fg": "red"},
    "quiet": {"dim": True},
}
#: Letters of a line of prose, at most, and where it does not go to a terminal.
_LONGEST_LINE, _PLAIN_LINE = 100, 80


def width_of(stream: TextIO) -> int | None:
    """Return the letters of a line of a terminal; None if it is none.

    ``COLUMNS`` says it where it is set.
    """
    if not stream.isatty():
        return None
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _PLAIN_LINE
    except (OSError, ValueError):
        return _PLAIN_LINE


def painted(text: str, style: Style, stream: TextIO) -> str:
    """Return a text in its colour, where colours are shown and wanted."""
    if not (style and text and stream.isatty()):
        return text
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return typer.style(text, **_COLOURS[style])


def tell(text: str, style: Style = "") -> None:
    """Print what was asked for; broken between words at a terminal."""
    _write(text, style, sys.stdout)


def remark(text: str, style: Style = "") -> None:
    """Print something about how it goes, on standard error."""
    _write(text, style, sys.stderr)


def _write(text: str, style: Style, stream: TextIO) -> None:
    width = width_of(stream)
    for line in text.split("\n") if width is None else folded(text, width):
        typer.echo(painted(line, style, stream), file=stream)


def prose(text: str, indent: str = "") -> list[str]:
    """Return the lines of a paragraph, short enough to be read, for standard output."""
    width = min(width_of(sys.stdout) or _PLAIN_LINE, _LONGEST_LINE)
    return folded(indent + text, width)


def tell_fact(label: str, text: str, indent: int) -> None:
    """Print a paragraph with a label in front of it; nothing without a text."""
    room = min(width_of(sys.stdout) or _PLAIN_LINE, _LONGEST_LINE) - indent
    for number, line in enumerate(folded(text, room) if text else ()):
        first = painted("" if number else label, "heading", sys.stdout)
        space = " " * (indent if number else indent - len(label))
        typer.echo(f"{first}{space}{line}")


def folded(text: str, width: int) -> list[str]:
    """Return lines of at most so many letters; a longer word stays whole.

    A line that is broken goes on below its first letter.

    Examples
    --------
    >>> folded("  one two three", 9)
    ['  one two', '  three']
    """
    lines: list[str] = []
    for line in text.split("\n"):
        start = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(
            line,
            width,
            subsequent_indent=start,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return lines
