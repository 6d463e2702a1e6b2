"""Ours against the paper: how far every figure is from the published one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from drmbench.report.figures.drawing import (
    Drawing,
    NothingToDrawError,
    is_drm,
    listed,
    source_sentence,
)
from drmbench.report.figures.style import (
    DIVERGING,
    DOUBLE,
    LIGHT,
    PALE,
    SINGLE,
    VERMILION,
    new_figure,
)
from drmbench.report.protocol_words import target_words, times
from drmbench.report.scores import NO_SPREAD, TableSource, scores_of, table_sources
from drmbench.running.results import Results
from drmbench.words import OPTIMISTIC

#: Colours end at so many standard deviations.
_END = 3.0
#: Heights of a row, of the names of columns and of the scale, and the width of the
#: names of data sets, in inches.
_ROW, _HEAD, _SCALE, _NAMES = 0.135, 0.92, 0.66, 1.22


def deviations(sources: Sequence[TableSource]) -> pd.DataFrame:
    """Return how far ours are from the published figures, in standard deviations.

    One row per published figure with a complete one of ours on the very data set:
    ``table``, ``experiment``, ``dataset``, ``column``, ``drm``, ``ours``, ``paper``,
    ``sd`` and ``deviation``. The standard deviation is the paper's, where it has one,
    else ours, and at least 0.005: several have none, and some are nearly zero. Ours are
    in the paper's mode if it was run, else in the first.
    """
    records = []
    for source in sources:
        modes = source.modes
        mode = "paper" if "paper" in modes else modes[0]
        methods = source.methods
        for lender in source.lenders:
            methods = {**lender.methods, **methods}
        frame = scores_of(source, mode, source.metric).frame
        shown = frame[frame["difference"].notna() & (frame["substitute"] == "")]
        for row in shown.to_dict("records"):
            spreads = [row["paper_sd"], row["ours_sd"]]
            known = [x for x in spreads if x is not None and not math.isnan(x)]
            sd = max(next(iter(known), 0.0), NO_SPREAD)
            records.append(
                {
                    "table": source.id,
                    "experiment": row["experiment"],
                    "dataset": row["dataset"],
                    "column": row["column"],
                    "drm": is_drm(methods[row["method"]]),
                    "ours": row["ours_mean"],
                    "paper": row["paper_mean"],
                    "sd": sd,
                    "deviation": row["difference"] / sd,
                }
            )
    columns = ["table", "experiment", "dataset", "column", "drm", "ours", "paper", "sd"]
    return pd.DataFrame(records, columns=[*columns, "deviation"])


def draw_published(results: Mapping[str, Results]) -> Drawing:
    """Draw the deviation of every published figure as a heat map, one panel a table."""
    sources = [source for source in table_sources(results) if source.published]
    cells = deviations(sources)
    if cells.empty:
        drawn = listed([r.name for source in sources for r in source.results])
        raise NothingToDrawError(
            f"{drawn}: no published cell has a complete figure of ours"
        )
    shown = [source for source in sources if (cells["table"] == source.id).any()]
    maps = [_layout(source, cells) for source in shown]
    figure, panels, scale = _two_stacks(maps)
    for panel, source, wide in zip(panels, shown, maps, strict=True):
        part = cells[cells["table"] == source.id]
        _draw_table(panel, wide, set(part.loc[part["drm"], "column"]))
        assert source.published is not None
        panel.annotate(
            target_words(source.published.id),
            (0, 1),
            xytext=(-4, 4),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            va="bottom",
            weight="bold",
        )
    bar = figure.colorbar(
        ScalarMappable(Normalize(-_END, _END), DIVERGING),
        cax=scale,
        orientation="horizontal",
        extend="both",
    )
    bar.outline.set_linewidth(0.4)
    bar.set_label("(ours − paper's) / standard deviation")
    names = tuple(dict.fromkeys(cells["experiment"]))
    single = f"{names[0]}_" if len(names) == 1 else ""
    return Drawing(
        f"{single}published",
        _title(cells),
        _caption(cells, shown, names),
        figure,
        names,
    )


def _layout(source: TableSource, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the deviations of a table as data sets x columns, in the table's order."""
    part = cells[cells["table"] == source.id]
    wide = part.pivot(index="dataset", columns="column", values="deviation")
    rows = [row.dataset for row in source.rows() if row.dataset in wide.index]
    known = (column.heading for column in source.columns())
    return wide.loc[rows, [name for name in known if name in wide.columns]]


def _two_stacks(maps: Sequence[pd.DataFrame]) -> tuple[Figure, list[Axes], Axes]:
    """Return a panel for each map in at most two columns, and one for the scale.

    Cells have one size in all panels; the tallest panels are placed first.
    """
    heights = [_HEAD + _ROW * len(wide) for wide in maps]
    filled = [0.0, 0.0]
    corners: dict[int, tuple[int, float]] = {}
    for number in sorted(range(len(maps)), key=lambda i: -heights[i]):
        stack = int(filled[1] < filled[0])
        corners[number] = stack, filled[stack]
        filled[stack] += heights[number]
    width = DOUBLE if filled[1] else SINGLE
    room = width / (2 if filled[1] else 1)
    most = max(wide.shape[1] for wide in maps)
    cell = min(0.3, (room - _NAMES - 0.1) / most)
    height = max(filled) + _SCALE
    figure = new_figure(width, height)
    figure.set_layout_engine("none")  # everything has its place

    def place(left: float, top: float, wide: float, high: float) -> Axes:
        box = left / width, 1 - (top + high) / height, wide / width, high / height
        return figure.add_axes(box)

    panels = []
    for number, wide in enumerate(maps):
        stack, top = corners[number]
        size = cell * wide.shape[1], _ROW * len(wide)
        panels.append(place(stack * room + _NAMES, top + _HEAD, *size))
    scale = place(_NAMES, max(filled) + 0.15, width - _NAMES - 0.3, 0.09)
    return figure, panels, scale


def _draw_table(panel: Axes, wide: pd.DataFrame, drm: set[str]) -> None:
    values = np.ma.masked_invalid(wide.to_numpy(dtype=float))
    panel.set_facecolor(PALE)  # where the paper or we have no figure
    norm = Normalize(-_END, _END)
    panel.pcolormesh(values, norm=norm, cmap=DIVERGING, edgecolors=LIGHT, linewidth=0.3)
    panel.grid(False)
    panel.spines[:].set_visible(False)
    panel.invert_yaxis()
    panel.set_yticks(np.arange(len(wide)) + 0.5, list(wide.index))
    panel.xaxis.tick_top()
    panel.set_xticks(np.arange(wide.shape[1]) + 0.5, list(wide.columns), rotation=90)
    panel.tick_params(length=0)
    for text, column in zip(panel.get_xticklabels(), wide.columns, strict=True):
        if column in drm:
            text.set(color=VERMILION, weight="bold")


def _title(cells: pd.DataFrame) -> str:
    """Say how many are within a standard deviation, and whether the DRM's are."""
    near = cells["deviation"].abs() <= 1
    found = (
        f"{near.mean():.0%} of our figures are within one standard deviation of the"
        " paper's"
    )
    ours, others = near[cells["drm"]], near[~cells["drm"]]
    if ours.empty or others.empty:
        return found
    if abs(ours.mean() - others.mean()) < 0.05:
        return f"{found}, the DRM's as often as others"
    more = "more" if ours.mean() > others.mean() else "less"
    return f"{found}, the DRM's {more} often ({ours.mean():.0%}) than others"


def _caption(
    cells: pd.DataFrame, sources: Sequence[TableSource], names: Sequence[str]
) -> str:
    off = cells[cells["deviation"].abs() > 1]
    parts = []
    for drm, who in ((True, "the DRM"), (False, "other methods")):
        some = off[off["drm"] == drm]
        higher = int((some["deviation"] > 0).sum())
        of = int((cells["drm"] == drm).sum())
        parts.append(
            f"of {who} {higher} are higher, {len(some) - higher} lower (n = {of})"
        )
    tables = ", ".join(target_words(s.published.id) for s in sources if s.published)
    relatives = [
        name
        for source in sources
        for r in source.results
        for name, entry in r.datasets.items()
        if entry.get("substitute")
    ]
    apart = (
        f" Not compared, a relative stands in: {listed(relatives)}."
        if relatives
        else ""
    )
    return (
        f"Ours minus the paper's ({tables}), divided by the standard deviation over the"
        f" splits: {times(len(cells), 'published figure')} of"
        f" {cells['dataset'].nunique()} data sets. The standard deviation is the"
        " paper's, else ours where it has none, and at least"
        f" {NO_SPREAD:g}; brown is lower than the paper's, green higher, white alike,"
        " grey not there. Colours end at"
        f" {_END:g}. Of figures further off than one standard deviation"
        f" {'; '.join(parts)}. Ours are in the paper's mode where it was run, so"
        f" {OPTIMISTIC}.{apart} {source_sentence(names)}"
    )
