"""A table of text cells with its title and notes, as Markdown, CSV or HTML."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import dataclass


@dataclass(frozen=True)
class TextTable:
    """What is written: the same cells in every format.

    Attributes
    ----------
    name : str
        Stem of the files it is written to.
    title : str
        Its caption.
    columns : tuple of str
        Headings.
    rows : tuple of tuples of str
        The cells.
    notes : tuple of str
        Sentences below the table.

    Examples
    --------
    >>> print(TextTable("t", "Sizes", ("set", "n"), (("iris", "150"),)).markdown())
    ### Sizes
    <BLANKLINE>
    | set | n |
    |---|---|
    | iris | 150 |
    <BLANKLINE>
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        cells = [[cell.replace("|", r"\|") for cell in line] for line in lines]
        body = [f"| {' | '.join(line)} |" for line in cells]
        body[1] = body[1].replace(" ", "")
        notes = [f"\n{note}" for note in self.notes]
        return "\n".join([f"### {self.title}", "", *body, *notes]) + "\n"

    def csv(self) -> str:
        """Return the cells as CSV, headings first."""
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows([self.columns, *self.rows])
        return stream.getvalue()

    def html(self) -> str:
        """Return the table as an HTML fragment."""
        head = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in self.columns)
        body = "\n".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return (
            f'<div class="scroll"><table>\n'
            f"<caption>{html.escape(self.title)}</caption>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
            f"\n{notes}"
        )
