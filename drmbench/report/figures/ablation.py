"""The DRM against kernel ridge regression: the paper's fourth and fifth figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from drmbench.metrics import get_metric
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.analyses.sensitivity import fixed_value
from drmbench.report.figures.drawing import (
    Drawing,
    NothingToDrawError,
    beta_sweeps,
    dataset_name,
    experiment_caption,
    fair_mode,
    metric_label,
    paper_figure,
)
from drmbench.report.figures.style import (
    DOUBLE,
    GREY,
    LIGHT,
    VERMILION,
    Look,
    grid_of_panels,
    legend_above,
    look_of,
    new_figure,
    plain_numbers,
)
from drmbench.running.results import Results, Summary

MODELS = ("drm", "krr")
KERNELS = {"rbf": "rbf kernel", "poly": "polynomial kernel"}
#: Both are the DRM's difference from KRR, so they share its colour.
_KERNEL_LOOKS = {
    "rbf": Look(VERMILION, "o", "-", KERNELS["rbf"]),
    "poly": Look(VERMILION, "s", ":", KERNELS["poly"], hollow=True),
}
#: Differences of more than this are worth a word.
_FAR = 0.05


def has_selected(results: Results) -> bool:
    """Tell whether an experiment compares DRM and KRR, and nothing else."""
    families = {entry["family"] for entry in results.methods.values()}
    return families == set(MODELS) and bool(_selected_pairs(results))


def _selected_pairs(results: Results) -> dict[str, tuple[str, ...]]:
    """Return the labels of both models with β selected, by kernel."""
    labels: dict[str, str] = {}
    for label, entry in results.methods.items():
        if fixed_value(entry, "beta") is None:
            labels.setdefault(entry["name"], label)
    names = {kernel: [f"{model}-{kernel}" for model in MODELS] for kernel in KERNELS}
    return {
        kernel: tuple(labels[name] for name in pair)
        for kernel, pair in names.items()
        if all(name in labels for name in pair)
    }


def draw_selected(results: Results) -> Drawing:
    """Draw the DRM and KRR on each data set, one panel per kernel."""
    pairs = _selected_pairs(results)
    labels = [label for pair in pairs.values() for label in pair]
    datasets = _datasets_with(results, labels)
    figure = new_figure(DOUBLE, 0.17 * len(datasets) + 1.0)
    panels = figure.subplots(1, len(pairs), sharey=True, sharex=True, squeeze=False)[0]
    for panel, (kernel, pair) in zip(panels, pairs.items(), strict=True):
        for label, shift in zip(pair, (-0.14, 0.14), strict=True):
            cells = [_cell(results, dataset, label) for dataset in datasets]
            _draw_means(panel, cells, look_of(results.methods[label]), shift)
        names = [dataset_name(results, dataset) for dataset in datasets]
        panel.set_yticks(range(len(datasets)), names)
        panel.set_ylim(len(datasets) - 0.4, -0.6)
        panel.set_xlabel(metric_label(results.metric))
        panel.set_title(KERNELS[kernel])
    legend_above(figure, panels)
    differences = {
        kernel: selected_differences(results, datasets, pair)
        for kernel, pair in pairs.items()
    }
    shown = "all parameters selected: mean and ± 1 standard deviation over splits."
    return Drawing(
        f"{results.name}_selected",
        _selected_title(differences) + paper_figure(results, 4),
        _caption(results, f", {shown}{_counted(differences)}", datasets, labels),
        figure,
        (results.name,),
    )


def selected_differences(
    results: Results, datasets: Sequence[str], pair: tuple[str, ...]
) -> pd.DataFrame:
    """Return the DRM minus KRR, one row per data set on which both are complete.

    ``difference`` is positive where the DRM is better; ``clear`` where it is larger
    than the standard deviation over the splits of either.
    """
    sign = get_metric(results.metric).sign
    records = []
    for dataset in datasets:
        drm, krr = (_cell(results, dataset, label) for label in pair)
        if drm.complete and krr.complete:
            difference = sign * (drm.mean - krr.mean)
            spread = np.nanmax([drm.spread, krr.spread, 0.0])
            records.append((dataset, difference, abs(difference) > spread))
    return pd.DataFrame(records, columns=["dataset", "difference", "clear"])


def _selected_title(differences: Mapping[str, pd.DataFrame]) -> str:
    """Say on how many data sets the two models clearly differ."""
    found = pd.concat(differences.values())
    clear = found[found["clear"]]
    better = int((clear["difference"] > 0).sum())
    if clear.empty:
        return (
            "With all parameters selected DRM and KRR differ by less than a standard"
            " deviation on every data set"
        )
    return (
        "With all parameters selected the DRM is better than KRR by more than a"
        f" standard deviation in {better} of {len(found)} cases and worse in"
        f" {len(clear) - better}"
    )


def _counted(differences: Mapping[str, pd.DataFrame]) -> str:
    said = []
    for kernel, frame in differences.items():
        higher, lower = (
            int((side * frame["difference"] > 0).sum()) for side in (1, -1)
        )
        said.append(
            f"{KERNELS[kernel]}: DRM better on {higher}, worse on {lower} of"
            f" {len(frame)} data sets, mean difference"
            f" {frame['difference'].mean():+.4f}"
        )
    return f" {'; '.join(said)}."


def _cell(results: Results, dataset: str, label: str) -> Summary:
    return results.summary(dataset, label, mode=fair_mode(results))


def _datasets_with(results: Results, labels: Sequence[str]) -> list[str]:
    """Return the data sets that have complete results of any of some methods."""
    shown = [
        dataset
        for dataset in results.datasets
        if any(_cell(results, dataset, label).complete for label in labels)
    ]
    if not shown:
        raise NothingToDrawError(
            f"{results.name}: no data set has complete results of"
            f" {', '.join(labels[:4])}{' …' if len(labels) > 4 else ''}"
        )
    return shown


def _draw_means(panel: Axes, cells: list[Summary], look: Look, shift: float) -> None:
    """Draw a model's means and deviations; no score is below 0 or above 1."""
    shown = [(place, cell) for place, cell in enumerate(cells) if cell.complete]
    means = [cell.mean for _, cell in shown]
    spreads = [0.0 if math.isnan(cell.spread) else cell.spread for _, cell in shown]
    above = [1.0 - mean for mean in means]
    panel.errorbar(
        means,
        [place + shift for place, _ in shown],
        xerr=[list(map(min, spreads, room)) for room in (means, above)],
        fmt=look.marker,
        color=look.colour,
        mfc=look.fill,
        ecolor=LIGHT,
        elinewidth=1,
        label=look.name,
    )


def swept_kernels(results: Results) -> list[str]:
    """Return the kernels with which both models were run at several fixed β."""
    sweeps = beta_sweeps(results)
    return [k for k in KERNELS if all(f"{model}-{k}" in sweeps for model in MODELS)]


def fixed_differences(results: Results, mode: ScalingMode) -> pd.DataFrame:
    """Return the DRM minus KRR at every β at which both are complete.

    One row per kernel, data set and β: ``kernel``, ``dataset``, ``beta`` and
    ``difference``, positive where the DRM is better.
    """
    sweeps, sign = beta_sweeps(results), get_metric(results.metric).sign
    records = []
    for kernel in swept_kernels(results):
        drm, krr = (sweeps[f"{model}-{kernel}"] for model in MODELS)
        for dataset in results.datasets:
            for beta in (beta for beta in drm if beta in krr):
                pair = [
                    results.summary(dataset, label, mode=mode)
                    for label in (drm[beta], krr[beta])
                ]
                if all(cell.complete for cell in pair):
                    difference = sign * (pair[0].mean - pair[1].mean)
                    records.append((kernel, dataset, beta, difference))
    return pd.DataFrame(records, columns=["kernel", "dataset", "beta", "difference"])


def draw_fixed(results: Results) -> Drawing:
    """Draw the DRM minus KRR against a fixed β, a panel a data set, largest first."""
    found = fixed_differences(results, fair_mode(results))
    if found.empty:
        raise NothingToDrawError(
            f"{results.name}: no data set has complete results of DRM and KRR at one β"
        )
    size = found["difference"].abs().groupby(found["dataset"]).max()
    datasets = [str(x) for x in size.sort_values(ascending=False, kind="stable").index]
    figure, panels = grid_of_panels(len(datasets), columns=5, height=1.15)
    for panel, dataset in zip(panels, datasets, strict=True):
        panel.axhline(0, color=GREY, lw=0.8, zorder=1)
        for kernel, look in _KERNEL_LOOKS.items():
            chosen = (found["dataset"] == dataset) & (found["kernel"] == kernel)
            part = found[chosen].sort_values("beta")
            if len(part):
                look.plot(panel, part["beta"], part["difference"], ms=3)
        panel.set_title(dataset_name(results, dataset), fontsize=7)
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(base=100))
        panel.xaxis.set_major_formatter(plain_numbers())
    figure.supxlabel("β, fixed")
    figure.supylabel(f"{metric_label(results.metric)}: DRM − KRR")
    legend_above(figure, panels)
    sweeps = beta_sweeps(results)
    labels = [
        label
        for kernel in swept_kernels(results)
        for model in MODELS
        for label in sweeps[f"{model}-{kernel}"].values()
    ]
    shown = (
        ": the DRM minus KRR at the same β, which is fixed, all other parameters"
        " selected, mean over the splits; above zero the DRM is better. Panels are"
        " sorted by the largest difference. Mean difference at each β:"
        f" {_by_beta(found)}."
    )
    return Drawing(
        f"{results.name}_fixed_beta",
        _fixed_title(found) + paper_figure(results, 5),
        _caption(results, shown, datasets, labels),
        figure,
        (results.name,),
    )


def _by_beta(found: pd.DataFrame) -> str:
    means = found.groupby("beta")["difference"].mean()
    return ", ".join(f"{value:+.3f} at {beta:g}" for beta, value in means.items())


def _fixed_title(found: pd.DataFrame) -> str:
    """Say on how many data sets fixing β makes a difference, and to whose good."""
    size = found["difference"].abs().groupby(found["dataset"]).max()
    far = size[size > _FAR].index
    if far.empty:
        sets = f"all {len(size)} data sets"
        return f"With β fixed DRM and KRR stay within {_FAR:g} on {sets}"
    means = found[found["dataset"].isin(far)].groupby("dataset")["difference"].mean()
    better, worse = int((means > 0).sum()), int((means < 0).sum())
    return (
        f"With β fixed DRM and KRR are more than {_FAR:g} apart on {len(far)} of"
        f" {len(size)} data sets: the DRM is better on {better}, worse on {worse} of"
        " them on average"
    )


def _caption(
    results: Results, shown: str, datasets: Sequence[str], labels: Sequence[str]
) -> str:
    missing = [
        f"{name} ({entry.get('missing') or 'no complete results'})"
        for name, entry in results.datasets.items()
        if name not in datasets
    ]
    for cell in (_cell(results, d, label) for d in datasets for label in labels):
        if not cell.complete:
            part = f"{cell.done} of {cell.expected} splits"
            why = "failed" if cell.done == cell.expected else part
            missing.append(f"{cell.method} on {cell.dataset} ({why})")
    return experiment_caption(
        results,
        f"{metric_label(results.metric)} of the DRM and of kernel ridge regression"
        + shown,
        datasets=datasets,
        modes=[fair_mode(results)],
        missing=missing,
    )
