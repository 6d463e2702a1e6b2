"""Listings: one line per thing, with the columns that the terminal has room for.

Where there is too little of it, columns that matter least are hidden and long texts
cut, and a line below says so. What goes into a file or a pipe has everything.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, zip_longest
from typing import Literal, TextIO

import typer

from drmbench.cli.terminal import Style, folded, painted, remark, tell, width_of
from drmbench.report.render import to_text
from drmbench.report.table import Table

_BETWEEN = "  "
#: A cut text ends where a word does, if that leaves this share of the room.
_WORD_SHARE = 0.6
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Word:
    """A text of a listing that has a colour."""

    text: str
    style: Style = ""


@dataclass(frozen=True)
class Field:
    """A column of a listing."""

    heading: str
    align: Literal["left", "right"] = "left"
    least: int | None = None  #: letters it may be cut down to; None: never cut
    hide: int = 0  #: the highest number is hidden first; 0 is always shown
    fold: bool = False  #: whether long texts go on in the next line, instead of cut


#: The cells of a line, or a heading above the lines that follow.
Row = Sequence[str | Word] | str


def print_listing(
    fields: Sequence[Field], rows: Iterable[Row], stream: TextIO | None = None
) -> None:
    """Print a listing with headings; columns without any text are left out."""
    out = stream or sys.stdout
    fields, lines = _filled(fields, list(rows))
    width = width_of(out)
    room = _rooms(fields, lines, width)
    shown = [place for place, letters in enumerate(room) if letters is not None]
    widths = [letters for letters in room if letters is not None]
    kept = [fields[place] for place in shown]
    heads = [Word(field.heading, "heading") for field in kept]
    for text in _drawn(kept, heads, widths, out):
        typer.echo(text, file=out)
    for row in lines:
        if isinstance(row, str):
            typer.echo(painted(row, "heading", out), file=out)
            continue
        for text in _drawn(kept, [row[place] for place in shown], widths, out):
            typer.echo(text, file=out)
    if len(kept) < len(fields):
        hidden = [f for place, f in enumerate(fields) if place not in shown]
        names = ", ".join(field.heading for field in hidden)
        say = tell if out is sys.stdout else remark
        say(f"Hidden at {width} columns: {names}. A pipe or --json has all.", "quiet")


def show(table: Table) -> None:
    """Print headings and cells of a table of results, none of them hidden.

    What is too wide for the terminal stands in parts below each other.
    """
    width = width_of(sys.stdout)
    if width is None:
        typer.echo(to_text(table))
        return
    gap = len(_BETWEEN)
    widths = [float(letters + gap) for letters in _natural(*_listed(table))]
    for number, part in enumerate(table.blocks(widths, width + gap, len(widths))):
        if number:
            typer.echo("")
        print_listing(*_listed(part))


def _listed(table: Table) -> tuple[list[Field], list[list[Word]]]:
    """Return the columns and lines of a table; what is too long for one is folded."""
    fields = [Field(c.text, c.align, least=12, fold=True) for c in table.columns]
    return fields, [
        [
            Word(f"{cell.text} {cell.mark}".strip(), "good" if cell.bold else "")
            for cell in row
        ]
        for row in table.rows
    ]


def _text(cell: str | Word) -> str:
    """Return what is read of a cell, nothing that would steer a terminal."""
    text = cell if isinstance(cell, str) else cell.text
    return _CONTROL.sub("�", text.replace("\n", " "))


def _filled(
    fields: Sequence[Field], rows: list[Row]
) -> tuple[Sequence[Field], list[Row]]:
    """Return columns that have a text in any line; all of them if there is no line."""
    cells = [row for row in rows if not isinstance(row, str)]
    if not cells:
        return fields, rows
    used = [any(_text(row[place]) for row in cells) for place in range(len(fields))]
    return list(compress(fields, used)), [
        row if isinstance(row, str) else list(compress(row, used)) for row in rows
    ]


def _letters(text: str) -> int:
    from rich.cells import cell_len  # some letters take two places, some none

    return cell_len(text)


def _natural(fields: Sequence[Field], rows: Sequence[Row]) -> list[int]:
    """Return the letters that each column needs to show all."""
    widths = [_letters(field.heading) for field in fields]
    for row in rows:
        if not isinstance(row, str):
            widths = [
                max(w, _letters(_text(c))) for w, c in zip(widths, row, strict=True)
            ]
    return widths


def _rooms(
    fields: Sequence[Field], rows: Sequence[Row], width: int | None
) -> list[int | None]:
    """Return the letters that each column gets, and None for those that are hidden."""
    natural = _natural(fields, rows)
    if width is None:
        return list(natural)
    least = [
        full if field.least is None else min(full, max(field.least, len(field.heading)))
        for field, full in zip(fields, natural, strict=True)
    ]
    rooms: list[int | None] = list(least)
    gap = len(_BETWEEN)

    def left() -> int:
        return width + gap - sum(room + gap for room in rooms if room is not None)

    order = sorted(range(len(fields)), key=lambda place: -fields[place].hide)
    for place in order:
        if left() >= 0 or not fields[place].hide:
            break
        rooms[place] = None
    for place, room in enumerate(rooms):  # what is left goes to the first ones
        if room is not None:
            rooms[place] = room + max(0, min(natural[place] - room, left()))
    return rooms


def _drawn(
    fields: Sequence[Field],
    cells: Sequence[str | Word],
    widths: Sequence[int],
    stream: TextIO,
) -> Iterator[str]:
    """Give the lines of a row, one unless a text is folded."""
    columns = [
        folded(_text(cell), width) if field.fold else [cut(_text(cell), width)]
        for field, cell, width in zip(fields, cells, widths, strict=True)
    ]
    for line in zip_longest(*columns, fillvalue=""):
        parts, blank = [], ""
        for field, cell, width, text in zip(fields, cells, widths, line, strict=True):
            style = "" if isinstance(cell, str) else cell.style
            space = " " * (width - _letters(text))
            before, after = ("", space) if field.align == "left" else (space, "")
            if text:
                parts.append(blank + before + painted(text, style, stream))
                blank = after + _BETWEEN
            else:
                blank += space + _BETWEEN
        yield "".join(parts)


def cut(text: str, width: int) -> str:
    """Return a text of at most so many letters, cut between words where it can be.

    Examples
    --------
    >>> cut("superior to several others", 16), cut("keel-imbalanced", 8)
    ('superior to…', 'keel-im…')
    """
    if _letters(text) <= width:
        return text
    short = text
    while short and _letters(short) >= width:
        short = short[:-1]
    words = short if text[len(short)].isspace() else short.rpartition(" ")[0]
    if len(words) >= _WORD_SHARE * width:
        short = words
    return short.rstrip(" ,;:") + "…"
