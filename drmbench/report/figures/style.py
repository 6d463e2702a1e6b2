"""The look that all figures share: sizes, colours, markers and panels.

Colours are those of Okabe and Ito (2008), which people who confuse colours can tell
apart; every series also has a marker or a line of its own, for print without colour.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.text import Text
from matplotlib.ticker import (
    FuncFormatter,
    LogFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

#: Widths of one and of two columns of a journal, in inches.
SINGLE, DOUBLE = 3.5, 7.2

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GREY, LIGHT, PALE = "#666666", "#BBBBBB", "#E6E6E6"

_SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "figure.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "mathtext.default": "regular",
    "svg.hashsalt": "drmbench",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


@dataclass(frozen=True)
class Look:
    """How one series is drawn."""

    #: As matplotlib names them
    colour: str
    marker: str
    line: str = "-"
    name: str = ""  #: What a legend calls it

    def plot(self, panel: Axes, *data: Any, **options: Any) -> None:
        """Draw a series in this look, as ``Axes.plot`` takes data and options."""
        look = {"color": self.colour, "marker": self.marker, "label": self.name}
        panel.plot(*data, self.line, **{**look, **options})


#: The three algorithms of the paper, by the name of the method.
SOLVERS: Mapping[str, Look] = {
    "drm-gd": Look(BLUE, "o", "-", "DRM-GD"),
    "drm-ppa": Look(VERMILION, "s", "--", "DRM-PPA"),
    "drm-apg": Look(GREEN, "^", ":", "DRM-APG"),
}

_FAMILIES: Mapping[str, Look] = {
    "drm": Look(VERMILION, "o", "-", "DRM"),
    "krr": Look(GREY, "<", "--", "KRR"),
    "svm": Look(BLUE, "s", name="SVM"),
    "knn": Look(GREEN, "^", name="KNN"),
    "rf": Look(ORANGE, "D", name="random forest"),
    "c45": Look(PURPLE, "v", name="C4.5"),
    "nb": Look(SKY, "P", name="naive Bayes"),
    "slda": Look(BLACK, "X", name="SLDA"),
}
#: Families that are drawn like another, also on data that was over-sampled before.
_LIKE = {"drm-large": "drm", "drm-balanced": "drm", "linear-svm": "svm"}
_LIKE |= {f"oversampled-{name}": _LIKE.get(name, name) for name in (*_FAMILIES, *_LIKE)}


def base_family(family: str) -> str:
    """Return the family whose look a family of the manifest shares, or itself.

    Examples
    --------
    >>> base_family("oversampled-svm"), base_family("drm-large"), base_family("nb")
    ('svm', 'drm', 'nb')
    """
    return _LIKE.get(family, family)


def family_look(family: str) -> Look:
    """Return how methods of a family are drawn; an unknown one is a grey star."""
    base = base_family(family)
    return _FAMILIES.get(base, Look(GREY, "*", name=base or "other"))


@contextmanager
def house_style() -> Iterator[None]:
    """Apply the settings inside the block, whatever the user's own are."""
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # said elsewhere
        mpl.rcdefaults()
        cast(Any, mpl.rcParams).update(_SETTINGS)
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that is known to no global state of matplotlib."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def grid_of_panels(
    number: int,
    *,
    columns: int,
    height: float,
    width: float | None = None,
    margin: float = 0.55,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with so many panels of the same axes, row by row, and the panels.

    A place that is left over in the last row stays empty, and the panel above it
    gets the tick labels that would have been there. `height` is that of a panel,
    `width` that of the figure, `margin` the height of what all panels have in common:
    a legend, a label; all in inches.
    """
    columns = min(columns, number)
    rows = -(-number // columns)
    width = width or (SINGLE if number == 1 else DOUBLE)
    figure = new_figure(width, height * rows + margin)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    panels = list(grid.flat)
    for spare in panels[number:]:
        spare.remove()
    for panel in panels[max(0, number - columns) : number]:
        panel.tick_params(labelbottom=True)
    return figure, panels[:number]


def fix_layout(figure: Figure) -> None:
    """Lay the figure out once and for all, so that every format has the same layout."""
    lay_out(figure)
    figure.set_layout_engine("none")


def lay_out(figure: Figure) -> None:
    r"""Place everything; what people have named is text, never a formula.

    A label such as ``$\frac$`` is drawn as it stands. Only the powers at the ticks of
    logarithmic axes, which matplotlib writes, are formulas.
    """
    for text in figure.findobj(Text):
        text.set_parse_math(False)
    for axis in (axis for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)):
        for formatter, ticks in (
            (axis.get_major_formatter(), axis.get_major_ticks()),
            (axis.get_minor_formatter(), axis.get_minor_ticks()),
        ):
            for tick in ticks if isinstance(formatter, LogFormatter) else ():
                tick.label1.set_parse_math(True)
                tick.label2.set_parse_math(True)
    figure.draw_without_rendering()


def unknown_letters(figure: Figure) -> str:
    """Return the letters of a figure that its font does not have."""
    known = get_font(findfont(_SETTINGS["font.family"])).get_charmap()
    letters = {letter for text in figure.findobj(Text) for letter in text.get_text()}
    return "".join(sorted(x for x in letters if ord(x) not in known and x != "\n"))


def plain_numbers() -> FuncFormatter:
    """Return a formatter of ticks that writes 1,000 and 0.01, not powers of ten."""
    return FuncFormatter(lambda value, _: f"{value:,g}")


def log_ticks(axis: Axis) -> None:
    """Put a few readable ticks on a logarithmic axis whose limits are final.

    Matplotlib's own leave a short axis without a number, or fill it with many.
    """
    low, high = axis.get_view_interval()
    axis.set_minor_formatter(NullFormatter())
    if high < 10 * low:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axis.set_minor_locator(NullLocator())
    elif high < 100 * low:
        # In thousands 1, 2, 5 would run into each other on a narrow panel.
        subs = (1.0, 3.0) if high >= 1e4 else (1.0, 2.0, 5.0)
        axis.set_major_locator(LogLocator(subs=subs))
    if high < 100 * low or (low >= 1e-3 and high < 1e5):
        axis.set_major_formatter(plain_numbers())


def legend_above(figure: Figure, panels: Iterable[Axes], *more: Artist) -> None:
    """Put one legend above all panels: each of their labels once, then `more`."""
    found: dict[str, Artist] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    handles = [*found.values(), *more]
    columns = min(len(handles), 6 if figure.get_figwidth() > SINGLE else 2)
    figure.legend(handles=handles, loc="outside upper center", ncols=columns)
