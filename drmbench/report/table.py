"""A table of the report: what it is about, its cells, and the data behind them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from string import ascii_lowercase
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # tables are also printed by commands that need no pandas
    import pandas as pd

#: What stands where there is no figure.
NO_FIGURE = "–"

#: What the ids of tables are made of, by kind; of others, of experiment and kind.
_IDS = {
    "": "{experiment}",
    "scores": "{experiment}-{metric}-{mode}-mode",
    "ranks": "{experiment}-{metric}-{mode}-mode-statistics",
    "wilcoxon": "{experiment}-{metric}-{mode}-mode-{kind}",
    "wilcoxon-beyond": "{experiment}-{metric}-{mode}-mode-{kind}",
    "agreement": "{experiment}-{metric}-{mode}-mode-{kind}",
    "agreement-cells": "{experiment}-{metric}-{mode}-mode-{kind}",
    "distribution": "{experiment}-{metric}-{mode}-mode-{kind}",
    "modes": "{experiment}-{metric}-paper-minus-honest",
    "worth": "{experiment}-{metric}-protocol-worth",
    "rules": "{experiment}-{metric}-{kind}",
    "rules-cells": "{experiment}-{metric}-{kind}",
    "seconds": "{experiment}-{kind}-{mode}-mode",
    "naive": "{experiment}-naive-selection-{mode}-mode",
    "measured": "{experiment}-{metric}",
    "curves": "{experiment}-{metric}-{mode}-mode-{kind}",
    "sensitivity": "{experiment}-{metric}-{mode}-mode",
    "draws": "{experiment}-{metric}-{mode}-mode-{kind}",
    "searches": "{experiment}-{metric}-{mode}-mode-{kind}",
}


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    heading: str  #: what stands above it
    #: "left" or "right", where its cells stand
    align: Literal["left", "right"] = "left"
    unit: str = ""  #: unit of its numbers, shown in the heading
    mark: str = ""  #: references to footnotes, separated by spaces

    @property
    def text(self) -> str:
        """The heading with its unit."""
        return f"{self.heading} [{self.unit}]" if self.unit else self.heading


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str  #: what is read
    value: float | None = None  #: the number behind it, with full precision, or None
    bold: bool = False  #: whether it is emphasised, as the best of its row
    mark: str = ""  #: references to footnotes, separated by spaces
    title: str = ""  #: more about it, shown by a browser when one points at it


@dataclass(frozen=True)
class Footnote:
    """What a mark means; within a table a mark has one meaning."""

    mark: str  #: what refers to it: a letter, or a sign that speaks for itself
    text: str  #: one sentence or more

    def __str__(self) -> str:
        return f"{self.mark} {self.text}"

    def __html__(self) -> str:
        return f"<sup>{escape(self.mark)}</sup> {escape(self.text)}"


class Marks:
    """The letters of a table's footnotes, in the order in which they are asked for.

    Examples
    --------
    >>> marks = Marks()
    >>> marks("not run."), marks("other rows."), marks("not run.")
    ('a', 'b', 'a')
    >>> [str(note) for note in marks.footnotes]
    ['a not run.', 'b other rows.']
    """

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def __call__(self, *texts: str) -> str:
        """Return the marks of footnotes, the same for the same text."""
        for text in texts:
            self._letters.setdefault(text, self._letter(len(self._letters)))
        return " ".join(self._letters[text] for text in texts)

    @staticmethod
    def _letter(number: int) -> str:
        before, last = divmod(number, len(ascii_lowercase))
        first = ascii_lowercase[before - 1] if before else ""
        return first + ascii_lowercase[last]

    @property
    def footnotes(self) -> tuple[Footnote, ...]:
        """The footnotes so far."""
        return tuple(Footnote(mark, text) for text, mark in self._letters.items())


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """A table with its footnotes."""

    experiment: str  #: what it is of: ``table3``, or the name of an experiment
    kind: str  #: what it shows: ``scores``, ``ranks``, ``seconds`` …
    #: metric and scaling mode of its figures, or empty
    metric: str = ""
    mode: str = ""
    title: str  #: its caption
    #: headings and cells
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    summaries: int = 0  #: how many of the last rows sum up the others
    #: how many of the first columns name a row; 0 for those that stand left
    heads: int = 0
    footnotes: tuple[Footnote, ...] = ()  #: what the marks mean
    notes: tuple[str, ...] = ()  #: sentences below the table that belong to no mark
    #: tidy data that is written as CSV; without it, the cells' numbers (or texts)
    frame: pd.DataFrame | None = None

    @property
    def id(self) -> str:
        """Stem of its files, and its anchor on a page."""
        parts = {"experiment": self.experiment, "kind": self.kind, "mode": self.mode}
        pattern = _IDS.get(self.kind, "{experiment}-{kind}")
        return pattern.format(metric=self.metric.replace("_", "-"), **parts)

    def blocks(self, widths: Sequence[float], room: float, most: int) -> list[Table]:
        """Return the table in parts that have room, side by side no longer.

        Each part has at most so many columns, and begins with those that name a row;
        ``widths`` are those of the columns. Parts are about equally wide.
        """
        named = (column.align != "left" for column in self.columns)
        heads = self.heads or next((i for i, x in enumerate(named) if x), 0) or 1
        first, others = range(heads), range(heads, len(self.columns))
        free = room - sum(widths[i] for i in first)
        for parts in range(1, len(others) + 1):
            size = -(-len(others) // parts)
            chunks = [others[i : i + size] for i in range(0, len(others), size)]
            widest = max(sum(widths[i] for i in chunk) for chunk in chunks)
            if (heads + size <= most and widest <= free) or size == 1:
                return [self._part([*first, *chunk]) for chunk in chunks]
        return [self]

    def _part(self, places: Sequence[int]) -> Table:
        rows = tuple(tuple(row[i] for i in places) for row in self.rows)
        return replace(self, columns=tuple(self.columns[i] for i in places), rows=rows)


def left(*headings: str) -> tuple[Column, ...]:
    """Return columns of texts."""
    return tuple(Column(heading) for heading in headings)


def right(*headings: str) -> tuple[Column, ...]:
    """Return columns of numbers."""
    return tuple(Column(heading, "right") for heading in headings)


def text_table(headings: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Table:
    """Return a table for the terminal; the first column stands left."""
    columns = (*left(*headings[:1]), *right(*headings[1:]))
    cells = tuple(map(tuple, rows))
    return Table(experiment="", kind="", title="", columns=columns, rows=cells)


def count_cell(number: int) -> Cell:
    """Return a cell with a whole number."""
    return Cell(str(number), number)


def figure_cell(
    mean: float | None, spread: float | None = None, digits: int | None = None
) -> Cell:
    """Return ``mean ± spread``, the mean alone where there is no spread, or a dash.

    Without a number of decimals, both have three significant digits.

    Examples
    --------
    >>> figure_cell(0.5, 0.1, 4).text, figure_cell(0.5, math.nan, 2).text
    ('0.5000 ± 0.1000', '0.50')
    >>> figure_cell(0.00012345).text, figure_cell(1234.5).text
    ('0.000123', '1230')
    """
    if mean is None or math.isnan(mean):
        return Cell(NO_FIGURE)
    shown = [mean] if spread is None or math.isnan(spread) else [mean, spread]
    texts = (three_digits(x) if digits is None else f"{x:.{digits}f}" for x in shown)
    return Cell(" ± ".join(texts), mean)


def three_digits(value: float) -> str:
    """Return a number with three significant digits and no exponent.

    Examples
    --------
    >>> three_digits(0.0123), three_digits(12345.0)
    ('0.0123', '12300')
    """
    if not value:
        return "0"
    decimals = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, decimals):.{max(0, decimals)}f}"


def signed(value: float, digits: int) -> str:
    """Return a difference with its sign, but for one that is printed as zero.

    Examples
    --------
    >>> signed(0.01234, 4), signed(-0.5, 1), signed(-0.00001, 4)
    ('+0.0123', '−0.5', '0.0000')
    """
    text, sign = f"{abs(value):.{digits}f}", "+" if value > 0 else "−"
    return f"{sign}{text}" if float(text) else text


def signed_cell(value: float, digits: int, after: str = "") -> Cell:
    """Return a difference with its sign and what follows it, or a dash."""
    if math.isnan(value):
        return Cell(NO_FIGURE)
    return Cell(signed(value, digits) + after, value)


def probability(p: float) -> str:
    """Return a p value to read.

    Examples
    --------
    >>> probability(0.04321), probability(0.0000123), probability(1.0)
    ('0.0432', '1.2e-05', '1.0000')
    """
    return f"{p:.4f}" if p >= 1e-4 or p == 0 else f"{p:.1e}"


def sentence(text: str) -> str:
    """Return a text with a full stop, unless it ends like a sentence."""
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def anchor(text: str) -> str:
    """Return a text as a file's stem, a label or an anchor can have it.

    Examples
    --------
    >>> anchor("my sets/β")
    'my-sets-'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)
