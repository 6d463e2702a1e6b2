"""A drawing: a picture with its name, title and caption, and when there is none."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.figure import Figure

from drmbench.errors import DrmbenchError


@dataclass(frozen=True, eq=False)
class Drawing:
    """A picture and the words that belong to it.

    Attributes
    ----------
    id : str
        Stem of its files: the experiment or table, and what is shown.
    title : str
        One line.
    caption : str
        What is shown, of how many data sets, under which protocol, and what is
        missing.
    figure : Figure
        The picture, without title and caption.
    """

    id: str
    title: str
    caption: str
    figure: Figure


class NothingToDrawError(DrmbenchError):
    """The results have no row that a drawing could show; the text says what lacks."""
