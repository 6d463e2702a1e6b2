"""When to use the DRM: by traits of the data, by training size, by α and β."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from drmbench.report.analyses.curves import learning_curve
from drmbench.report.analyses.sensitivity import sensitivity
from drmbench.report.analyses.when import (
    TRAITS,
    UNEVEN,
    Trait,
    gains,
    lift,
    trend,
)
from drmbench.report.figures.drawing import (
    Drawing,
    NothingToDrawError,
    experiment_caption,
    fair_mode,
    is_drm,
    listed,
    methods_of,
    metric_label,
    range_words,
    source_sentence,
)
from drmbench.report.figures.style import (
    DARK_END,
    DOUBLE,
    GREY,
    LIGHT_END,
    SEQUENTIAL,
    VERMILION,
    grid_of_panels,
    legend_above,
    log_limits,
    log_ticks,
    look_of,
    new_figure,
    plain_numbers,
)
from drmbench.report.protocol_words import split_words, times
from drmbench.report.score_pool import ENTRIES
from drmbench.running.results import Results
from drmbench.words import metric_words

#: The DRM with class weights, and the DRM it mends.
FIX, PLAIN = "drm-balanced", ENTRIES[0]
#: Gains beyond this are at the edge of a panel.
_EDGE = 0.1
#: Means within this of the best are about as good.
NEAR = 0.01


def draw_gain(results: Mapping[str, Results], origins: Mapping[str, str]) -> Drawing:
    """Draw how much better each DRM is than its rival, a panel a trait of the data."""
    rows = gains(list(results.values()), origins)
    sets = rows["dataset"].nunique()
    sizes = rows.groupby("method")["dataset"].nunique()
    shown = [str(x) for x in rows["method"].unique() if 2 * sizes[x] >= sets]
    trends = {
        (trait.column, method): trend(rows[rows["method"] == method], "gain", trait)
        for trait in TRAITS
        for method in shown
    }
    if not any(len(found) > 1 for found in trends.values()):
        raise NothingToDrawError(
            f"{listed(list(results))}: too few comparable data sets for the gain of the"
            " DRM by traits of the data"
        )
    names = tuple(dict.fromkeys(x for names in rows["experiments"] for x in names))
    methods = methods_of(results, names)
    figure, panels = grid_of_panels(
        len(TRAITS), columns=2, height=2.0, width=DOUBLE, margin=0.6, shared=False
    )
    for panel, trait in zip(panels, TRAITS, strict=True):
        panel.axhline(0, color=GREY, lw=0.8, zorder=1)
        panel.set(xscale="log", ylim=(-_EDGE, _EDGE))
        panel.set_xlabel(trait.words)
        for place, method in enumerate(shown):
            part = rows[rows["method"] == method].dropna(subset=[trait.column])
            look = look_of(methods[method])
            panel.scatter(
                part[trait.column],
                part["gain"].clip(-_EDGE, _EDGE),
                s=4,
                color=look.colour,
                alpha=0.22,
                lw=0,
            )
            found = trends[trait.column, method]
            # Intervals of several methods stand beside each other.
            at = found["place"] * 1.05 ** (2 * place - len(shown) + 1)
            panel.vlines(at, found["low"], found["high"], color=look.colour, lw=1.5)
            name = f"{method} ({look.name})"
            look.plot(panel, at, found["median"], ms=5, lw=1.8, label=name)
        values = rows.loc[rows["method"].isin(shown), trait.column].dropna()
        panel.set_xlim(*log_limits(values.to_numpy(dtype=float)))
        log_ticks(panel.xaxis)
        panel.xaxis.set_major_formatter(plain_numbers())
    figure.supylabel("balanced accuracy: DRM − best other method")
    legend_above(figure, panels)
    single = f"{names[0]}_" if len(names) == 1 else ""
    lifted = lift(rows, FIX, PLAIN)
    return Drawing(
        f"{single}when_gain",
        gain_title(lifted, trends),
        _gain_caption(rows, trends, lifted, shown, names),
        figure,
        names,
    )


def gain_title(
    lifted: pd.DataFrame, trends: Mapping[tuple[str, str], pd.DataFrame]
) -> str:
    """Say what class weights add where, and whether a DRM is ahead anywhere.

    `lifted` is of :func:`~drmbench.report.analyses.when.lift`, `trends` of each trait
    and method.
    """
    ahead = ahead_of_rivals(trends)
    if not ahead:
        where = "no trait of the data puts a DRM clearly ahead of the best other method"
    elif len(ahead) == 1:
        where = f"a DRM is clearly ahead of the best other method at {ahead[0]}"
    else:
        where = (
            f"a DRM is clearly ahead of the best other method at {ahead[0]} and"
            f" {times(len(ahead) - 1, 'other trait')}"
        )
    up = {bool(x["uneven"]): x["low"] > 0 for x in lifted.to_dict("records")}
    if up.get(True) and not up.get(False):
        return f"Class weights lift the DRM where classes are uneven; {where}"
    if up.get(True):
        return f"Class weights lift the DRM, be classes even or not; {where}"
    if up:
        return f"Class weights do not clearly lift the DRM on uneven classes; {where}"
    return f"{where[0].upper()}{where[1:]}"


def ahead_of_rivals(trends: Mapping[tuple[str, str], pd.DataFrame]) -> list[str]:
    """Return the bins in which the interval of a DRM's gain is above zero, in words."""
    by_column: dict[str, Trait] = {trait.column: trait for trait in TRAITS}
    found = [
        by_column[column].bin_words(int(number))
        for (column, _), frame in trends.items()
        for number in frame.loc[frame["low"] > 0, "bin"]
    ]
    return list(dict.fromkeys(found))


def _gain_caption(
    rows: pd.DataFrame,
    trends: Mapping[tuple[str, str], pd.DataFrame],
    lifted: pd.DataFrame,
    shown: Sequence[str],
    names: Sequence[str],
) -> str:
    rivals = rows.drop_duplicates("regime").set_index("regime")["rival"].to_dict()
    numbers = rows.groupby("method")["dataset"].nunique()
    bins = sum(map(len, trends.values()))
    ahead = sum(int((frame["low"] > 0).sum()) for frame in trends.values())
    behind = sum(int((frame["high"] < 0).sum()) for frame in trends.values())
    outside = int((rows[rows["method"].isin(shown)]["gain"].abs() > _EDGE).sum())
    edge = (
        f" {times(outside, 'dot')} beyond {_EDGE:g} are at the edge." if outside else ""
    )
    added = [
        f"{row['median']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f}) on the"
        f" {times(row['datasets'], 'data set')} with an imbalance ratio"
        f" {'of at least' if row['uneven'] else 'below'} {UNEVEN:g}"
        for row in lifted.to_dict("records")
    ]
    weights = (
        f" {FIX} minus {PLAIN}, median with interval: {'; '.join(added)}."
        if added
        else ""
    )
    supports = "supports" if ahead > behind else "does not support"
    return (
        "Balanced accuracy of the DRM minus that of the best other method of the same"
        " kind of data by mean rank"
        f" ({', '.join(f'{key}: {rival}' for key, rival in rivals.items())}): chosen by"
        " these results, which favours it. A dot is a data set; lines are medians of"
        " bins, bars their 95 % bootstrap intervals over origins;"
        f" n = {', '.join(f'{numbers[x]} data sets of {x}' for x in shown)}.{edge}"
        f" In {ahead} of {bins} bins a DRM is clearly ahead, in {behind} clearly"
        " behind, each at the 5% level: this"
        f" {supports} choosing a DRM by these traits alone.{weights}"
        " Parameters were selected by the metric of each kind of data; honest mode, the"
        " same splits and the same selection for all methods of a kind."
        f" {source_sentence(names)}"
    )


def draw_learning(group: Sequence[Results]) -> Drawing:
    """Draw the metric against the number of training rows, one panel per data set."""
    first = group[0]
    mode = fair_mode(first)
    curves = learning_curve(group, mode, first.metric).dropna(subset="mean")
    datasets = [name for name in first.datasets if name in set(curves["dataset"])]
    if not datasets:
        raise NothingToDrawError(
            f"{listed([r.name for r in group])}: no method has complete results"
        )
    figure, panels = grid_of_panels(
        len(datasets), columns=3, height=1.85, width=DOUBLE, margin=0.75, shared=False
    )
    for panel, dataset in zip(panels, datasets, strict=True):
        part = curves[curves["dataset"] == dataset]
        panel.set_title(dataset)
        panel.set_xscale("log")
        for label, entry in first.methods.items():
            series = part[part["method"] == label].sort_values("n_train")
            look = look_of(entry)
            look.plot(
                panel, series["n_train"], series["mean"], ms=3.5, label=label, lw=1.1
            )
        panel.set_xlim(*log_limits(part["n_train"].to_numpy(dtype=float)))
        log_ticks(panel.xaxis)
    figure.supxlabel("training rows")
    figure.supylabel(metric_label(first.metric))
    legend_above(figure, panels)
    names = tuple(found.name for found in group)
    counts = lead_counts(curves, first.methods)
    return Drawing(
        "when_learning",
        learning_title(counts),
        _learning_caption(group, curves, counts),
        figure,
        names,
    )


def lead_counts(
    curves: pd.DataFrame, methods: Mapping[str, Mapping[str, Any]]
) -> pd.DataFrame:
    """Count the data sets on which the best method is a DRM, by share.

    One row per share: ``share``, ``leads``, ``datasets`` and ``difference``, the mean
    of the best DRM minus the best other method; over data sets on which all methods
    are complete at every share. Equal means count for neither.
    """
    wide = curves.pivot(index=["dataset", "share"], columns="method", values="mean")
    drms = [str(x) for x in wide.columns if is_drm(methods[str(x)])]
    others = [str(x) for x in wide.columns if str(x) not in drms]
    columns = ["share", "leads", "datasets", "difference"]
    if not drms or not others:
        return pd.DataFrame(columns=columns)
    ahead = wide[drms].max(axis=1, skipna=False) - wide[others].max(
        axis=1, skipna=False
    )
    by_share = ahead.unstack("share").dropna()
    records = [
        (share, int((found > 0).sum()), len(found), float(found.mean()))
        for share, found in by_share.items()
        if len(found)
    ]
    return pd.DataFrame(records, columns=columns)


def learning_title(counts: pd.DataFrame) -> str:
    """Say whether a DRM leads where few rows train, or where many do."""
    if counts.empty:
        return "Learning curves: no data set has all methods at every size"
    few, many = counts.iloc[0], counts.iloc[-1]
    numbers = (
        f"a DRM leads on {few['leads']:.0f} of"
        f" {times(int(few['datasets']), 'data set')} with {few['share']:.0%} of the"
        f" rows, on {many['leads']:.0f} with {many['share']:.0%}"
    )
    if few["leads"] > many["leads"]:
        return f"Few training rows favour the DRM: {numbers}"
    if few["leads"] < many["leads"]:
        return f"Many training rows favour the DRM: {numbers}"
    return f"The number of training rows neither favours nor harms the DRM: {numbers}"


def _learning_caption(
    group: Sequence[Results], curves: pd.DataFrame, counts: pd.DataFrame
) -> str:
    first = group[0]
    by_share = ", ".join(
        f"{row.leads} of {row.datasets} at {row.share:.0%} ({row.difference:+.3f})"
        for row in counts.itertuples(index=False)
    )
    few = len(counts) and counts["leads"].iloc[0] > counts["leads"].iloc[-1]
    supports = "supports" if few else "does not support"
    missing = sorted(set(first.datasets) - set(curves["dataset"]))
    return (
        f"{metric_label(first.metric)} against the number of training rows (logarithmic"
        f" axis), mean over {range_words(curves['splits'])} splits, on"
        f" {times(curves['dataset'].nunique(), 'data set')} (n ="
        f" {range_words(first.datasets[x]['n'] for x in set(curves['dataset']))}"
        " samples). Data sets on which the best method is a DRM, and the mean of the"
        f" best DRM minus the best other: {by_share or 'none is complete'}. This"
        f" {supports} the use of the DRM because training rows are few. Protocol:"
        f" {split_words(first.experiment.split)}, and larger shares up to"
        f" {curves['share'].max():.0%}; parameters selected by"
        f" {first.selection(fair_mode(first))}."
        f" {source_sentence([found.name for found in group])}"
        + (f" Not shown: {listed(missing)}." if missing else "")
    )


def draw_sensitivity(results: Results, origins: Mapping[str, str]) -> Drawing:
    """Draw the mean metric at each fixed α and β as a heat map."""
    mode = fair_mode(results)
    found = sensitivity(results, mode, results.metric, origins)
    if found.empty:
        raise NothingToDrawError(
            f"{results.name}: no data set has complete results at every α and β"
        )
    wide = found.pivot(index="alpha", columns="beta", values="mean")
    figure = new_figure(DOUBLE, 0.27 * len(wide) + 0.85)
    panel = figure.subplots()
    mesh = panel.pcolormesh(wide.to_numpy(), cmap=SEQUENTIAL)
    panel.grid(False)
    panel.tick_params(length=0)
    panel.set_xticks(np.arange(wide.shape[1]) + 0.5, [f"{x:g}" for x in wide.columns])
    panel.set_yticks(np.arange(len(wide)) + 0.5, [_alpha_words(x) for x in wide.index])
    panel.set(xlabel="β, the ridge penalty", ylabel="α, the within-class term")
    _write_values(panel, wide)
    bar = figure.colorbar(mesh, ax=panel, aspect=15)
    bar.set_label(f"{metric_label(results.metric)}, mean")
    bar.outline.set_linewidth(0.4)
    means = results.means(mode=mode)
    lacking = means.index[means.isna().any(axis=1)]
    return Drawing(
        f"{results.name}_alpha_beta",
        sensitivity_title(found),
        experiment_caption(
            results,
            f"Mean over data sets of the {metric_words(results.metric)} at fixed α and"
            " β, all other parameters selected; α = 0 is kernel ridge regression. The"
            " frame is around the best pair. " + _sensitivity_sentence(found),
            datasets=[str(x) for x in means.dropna().index],
            modes=[mode],
            missing=[f"{x} (no complete results)" for x in lacking],
        ),
        figure,
        (results.name,),
    )


def _alpha_words(alpha: float) -> str:
    return f"{alpha:g}" if alpha else "0 (KRR)"


def _write_values(panel: Axes, wide: pd.DataFrame) -> None:
    """Write the means into their cells, and frame the best."""
    values = wide.to_numpy()
    middle = (values.min() + values.max()) / 2
    for (row, column), value in np.ndenumerate(values):
        colour = DARK_END if value > middle else LIGHT_END
        panel.text(
            column + 0.5,
            row + 0.5,
            f"{value:.3f}",
            color=colour,
            ha="center",
            va="center",
            fontsize=7,
        )
    row, column = divmod(int(values.argmax()), values.shape[1])
    panel.add_patch(Rectangle((column, row), 1, 1, fill=False, ec=VERMILION, lw=2))


def spread_along(found: pd.DataFrame, name: str) -> float:
    """Return how far means vary along α or β: the mean range with the other fixed."""
    other = "beta" if name == "alpha" else "alpha"
    ranges = found.groupby(other)["mean"].agg(lambda means: means.max() - means.min())
    return float(ranges.mean())


def sensitivity_title(found: pd.DataFrame) -> str:
    """Say which of α and β matters more, and whether any α helps at all."""
    alpha, beta = (spread_along(found, name) for name in ("alpha", "beta"))
    more, less = ("β", "α") if beta >= alpha else ("α", "β")
    sizes = f"{max(alpha, beta):.3f} against {min(alpha, beta):.3f}"
    first = f"{more} matters more than {less} ({sizes})"
    without = found[found["alpha"] == 0]
    if without.empty:
        return first
    best = without.sort_values("behind", kind="stable").iloc[0]
    if best["behind"] <= 0:
        return f"{first}; the best pair has α = 0, which is KRR"
    if best["behind_low"] > 0:
        return (
            f"{first}; the best α gains {best['behind']:.3f} over α = 0, which is KRR"
        )
    return f"{first}; no α gains clearly over α = 0, which is KRR"


def _sensitivity_sentence(found: pd.DataFrame) -> str:
    near = found[found["behind"] <= NEAR]
    best = found.sort_values("behind", kind="stable").iloc[0]
    said = (
        f"Best: α = {best['alpha']:g}, β = {best['beta']:g};"
        f" {len(near)} of {len(found)} pairs are within {NEAR:g} of it."
    )
    without = found[found["alpha"] == 0]
    if without.empty:
        return said
    krr = without.sort_values("behind", kind="stable").iloc[0]
    supports = "supports" if krr["behind_low"] > 0 else "does not support"
    return (
        f"{said} KRR at its best β ({krr['beta']:g}) is behind by {krr['behind']:.4f}"
        f" ({krr['behind_low']:+.4f} to {krr['behind_high']:+.4f}, 95 % bootstrap"
        f" interval over origins): this {supports} the within-class term."
    )
