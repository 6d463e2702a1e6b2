"""The look that all figures share: sizes, colours, markers and panels.

One thing has one colour in all figures. Methods have those of Okabe and Ito (2008) and
a few more, which people who confuse colours can tell apart; every series also has a
marker or a line of its own, for print without colour.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
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
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

#: Widths of one and of two columns of a journal, in inches.
SINGLE, DOUBLE = 3.5, 7.2

#: What is neither a method nor a figure is drawn in these alone, so that a page may
#: give them other values on a dark ground.
INK, GREY, LIGHT, PALE, GRID, PAPER = (
    "#000000",
    "#666666",
    "#BBBBBB",
    "#E6E6E6",
    "#DDDDDD",
    "#FFFFFF",
)
NEUTRALS = (INK, GREY, LIGHT, PALE, GRID, PAPER)

VERMILION, PURPLE, ORANGE, BROWN = "#D55E00", "#CC79A7", "#E69F00", "#8C564B"
BLUE, SKY, GREEN, TEAL = "#0072B2", "#56B4E9", "#009E73", "#44AA99"
OLIVE, SLATE, ROSE, PINE = "#999933", "#6A5ACD", "#AA4466", "#4B7F52"

#: Differences and means as colours, of heat maps; no method has one of them.
DIVERGING = LinearSegmentedColormap.from_list(
    "differences", mpl.colormaps["BrBG"](np.linspace(0.1, 0.9, 17))
)
SEQUENTIAL = "cividis"
#: Its ends, for text on its light and its dark cells, which stay so on a dark page.
DARK_END, LIGHT_END = "#00224E", "#FEE838"

#: Room around a title, in inches.
_INDENT = 0.08

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
    "grid.color": GRID,
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
    hollow: bool = False  #: Whether markers are filled with the colour of paper

    @property
    def fill(self) -> str:
        """The colour inside markers."""
        return PAPER if self.hollow else self.colour

    def plot(self, panel: Axes, *data: Any, **options: Any) -> None:
        """Draw a series in this look, as ``Axes.plot`` takes data and options."""
        look = {"color": self.colour, "marker": self.marker, "label": self.name}
        panel.plot(*data, **{**look, "ls": self.line, "mfc": self.fill, **options})


#: The three algorithms of the paper, by the name of the method.
SOLVERS: Mapping[str, Look] = {
    "drm-gd": Look(SLATE, "o", "-", "DRM-GD"),
    "drm-ppa": Look(ROSE, "s", "--", "DRM-PPA"),
    "drm-apg": Look(PINE, "^", ":", "DRM-APG"),
}

_DRM = Look(VERMILION, "o", "-", "DRM")
_WEIGHTED_DRM = Look(PURPLE, "D", "--", "DRM, class weights")
_SVM = Look(BLUE, "s", "-", "SVM")
_WEIGHTED_SVM = Look(SKY, "s", "--", "SVM, class weights", hollow=True)
_LINEAR_SVM = Look(BLUE, ">", ":", "SVM, linear", hollow=True)
_FOREST = Look(GREEN, "^", "-.", "forest")
_WEIGHTED_FOREST = Look(TEAL, "^", "--", "forest, class weights", hollow=True)
_LINEAR = Look(OLIVE, "P", ":", "linear model")

#: One look for one thing in all figures: methods that are drawn otherwise than their
#: family, by name.
_METHODS: Mapping[str, Look] = {
    "drm-threshold": Look(ORANGE, "v", "-.", "DRM, chosen threshold"),
    "drm-nystroem": Look(BROWN, "X", ":", "DRM, low rank"),
    "svm-linear": _LINEAR_SVM,
    "svm-balanced": _WEIGHTED_SVM,
    "l2-svm-balanced": _WEIGHTED_SVM,
    "rf-500-balanced": _WEIGHTED_FOREST,
    "balanced-rf": _WEIGHTED_FOREST,
}
_FAMILIES: Mapping[str, Look] = {
    "drm": _DRM,
    "drm-large": _DRM,
    "drm-balanced": _WEIGHTED_DRM,
    "krr": Look(GREY, "<", "--", "KRR", hollow=True),
    "svm": _SVM,
    "linear-svm": _LINEAR_SVM,
    "rf": _FOREST,
    "logistic": _LINEAR,
    "ridge": _LINEAR,
    "lda": _LINEAR,
}
#: Of all other methods, which are grey.
_OTHER = Look(GREY, "*", "-", "other")
#: The order of methods in legends: DRMs, then what they are compared with.
_ORDER = tuple(
    look.name
    for look in (
        *(_DRM, _WEIGHTED_DRM, _METHODS["drm-threshold"], _METHODS["drm-nystroem"]),
        *(_FAMILIES["krr"], _SVM, _WEIGHTED_SVM, _LINEAR_SVM),
        *(_FOREST, _WEIGHTED_FOREST, _LINEAR, _OTHER),
    )
)
OVERSAMPLED = "oversampled-"


def look_of(method: Mapping[str, Any]) -> Look:
    """Return how a method of a manifest is drawn, in every figure.

    What was over-sampled before is drawn like the method itself, with a hollow marker;
    what has no look of its own is a grey star.

    Examples
    --------
    >>> look_of({"name": "drm-rbf", "family": "drm"}).name
    'DRM'
    >>> look_of({"name": "mine", "family": "LinearSVC"}).name
    'other'
    """
    family = str(method.get("family") or "")
    look = _METHODS.get(str(method["name"]), _FAMILIES.get(family))
    base = family.removeprefix(OVERSAMPLED)
    if look is None and base != family and base in _FAMILIES:
        plain = _FAMILIES[base]
        look = replace(plain, name=f"{plain.name}, over-sampled", hollow=True)
    return look or _OTHER


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
    shared: bool = True,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with so many panels, row by row, and the panels.

    Their axes have the same limits if they are `shared`.

    A place that is left over in the last row stays empty, and the panel above it
    gets the tick labels that would have been there. `height` is that of a panel,
    `width` that of the figure, `margin` the height of what all panels have in common:
    a legend, a label; all in inches.
    """
    columns = min(columns, number)
    rows = -(-number // columns)
    width = width or (SINGLE if number == 1 else DOUBLE)
    figure = new_figure(width, height * rows + margin)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=shared, sharey=shared)
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
    for legend in figure.legends:  # these hang on the edge of what is saved
        box = legend.get_window_extent().transformed(figure.transFigure.inverted())
        legend.borderaxespad = 0.0
        legend.set_loc("lower left")
        legend.set_bbox_to_anchor((box.x0, box.y0), transform=figure.transFigure)


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


@contextmanager
def headed(figure: Figure, title: str) -> Iterator[Bbox]:
    """Put a title above a figure that is laid out; give what then is to be saved.

    The figure is as before after the block.
    """
    width, height = figure.get_size_inches()
    text = figure.text(
        _INDENT / width,
        1.0,
        title,
        va="bottom",
        size=9,
        weight="bold",
        parse_math=False,
    )
    renderer = cast(Any, figure.canvas).get_renderer()

    def inches(words: str) -> Bbox:
        text.set_text(words)
        return text.get_window_extent(renderer).transformed(
            figure.dpi_scale_trans.inverted()
        )

    lines = [""]
    for word in title.split():
        longer = f"{lines[-1]} {word}".strip()
        if inches(longer).width <= width - 2 * _INDENT or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    above = inches("\n".join(lines)).height + 2 * _INDENT
    text.set_y(1 + _INDENT / height)
    try:
        yield Bbox.from_bounds(0, 0, width, height + above)
    finally:
        text.remove()


def unknown_letters(figure: Figure, title: str) -> str:
    """Return the letters of a figure and its title that the font does not have."""
    known = get_font(findfont(_SETTINGS["font.family"])).get_charmap()
    letters = {letter for text in figure.findobj(Text) for letter in text.get_text()}
    letters |= set(title)
    return "".join(sorted(x for x in letters if ord(x) not in known and x != "\n"))


def plain_numbers() -> FuncFormatter:
    """Return a formatter of ticks that writes 1,000 and 0.01, not powers of ten."""
    return FuncFormatter(lambda value, _: f"{value:,g}")


def log_limits(values: NDArray[np.float64], margin: float = 0.08) -> tuple[float, ...]:
    """Return limits of a logarithmic axis that leave a margin around the values.

    Examples
    --------
    >>> [round(edge, 3) for edge in log_limits(np.array([1.0, 100.0]), 0.5)]
    [0.1, 1000.0]
    """
    low, high = np.log10(values.min()), np.log10(values.max())
    room = max(margin * (high - low), 0.1)
    return float(10 ** (low - room)), float(10 ** (high + room))


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
    """Put one legend above all panels: each of their labels once, then `more`.

    Looks of methods are always in the same order.
    """
    found: dict[str, Artist] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    order = {name: number for number, name in enumerate(_ORDER)}
    names = sorted(found, key=lambda name: order.get(name, len(order)))
    handles = [*(found[name] for name in names), *more]
    columns = min(len(handles), 4 if figure.get_figwidth() > SINGLE else 2)
    figure.legend(handles=handles, loc="outside upper center", ncols=columns)
