"""The DRM against kernel ridge regression: the paper's fourth and fifth figure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

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
    LIGHT,
    base_family,
    family_look,
    grid_of_panels,
    legend_above,
    new_figure,
    plain_numbers,
)
from drmbench.running.results import Results, Summary

MODELS = ("drm", "krr")
KERNELS = {"rbf": "rbf kernel", "poly": "polynomial kernel"}


def has_selected(results: Results) -> bool:
    """Tell whether an experiment compares DRM and KRR, and nothing else."""
    families = {base_family(entry["family"]) for entry in results.methods.values()}
    return families == set(MODELS) and bool(_selected_pairs(results))


def _selected_pairs(results: Results) -> dict[str, tuple[str, ...]]:
    """Return the labels of both models with β selected, by kernel."""
    labels: dict[str, str] = {}
    for label, entry in results.methods.items():
        if "beta" not in entry["params"]:
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
        for model, label, shift in zip(MODELS, pair, (-0.14, 0.14), strict=True):
            cells = [_cell(results, dataset, label) for dataset in datasets]
            _draw_means(panel, cells, model, shift)
        names = [dataset_name(results, dataset) for dataset in datasets]
        panel.set_yticks(range(len(datasets)), names)
        panel.set_ylim(len(datasets) - 0.4, -0.6)
        panel.set_xlabel(metric_label(results.metric))
        panel.set_title(KERNELS[kernel])
    legend_above(figure, panels)
    shown = "all parameters selected: mean and ± 1 standard deviation over splits."
    return Drawing(
        f"{results.name}_selected",
        f"DRM against KRR, all parameters selected{paper_figure(results, 4)}",
        _caption(results, f", {shown}", datasets, labels),
        figure,
    )


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


def _draw_means(panel: Axes, cells: list[Summary], model: str, shift: float) -> None:
    """Draw a model's means and deviations; no score is below 0 or above 1."""
    look = family_look(model)
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
        mfc=look.colour if model == "drm" else "white",
        ecolor=LIGHT,
        elinewidth=1,
        label=look.name,
    )


def swept_kernels(results: Results) -> list[str]:
    """Return the kernels with which both models were run at several fixed β."""
    sweeps = beta_sweeps(results)
    return [k for k in KERNELS if all(f"{model}-{k}" in sweeps for model in MODELS)]


def draw_fixed(results: Results, kernel: str) -> Drawing:
    """Draw the DRM and KRR against a fixed β, one panel per data set."""
    sweeps = beta_sweeps(results)
    curves = {model: sweeps[f"{model}-{kernel}"] for model in MODELS}
    labels = [label for curve in curves.values() for label in curve.values()]
    datasets = _datasets_with(results, labels)
    figure, panels = grid_of_panels(len(datasets), columns=5, height=1.25)
    for panel, dataset in zip(panels, datasets, strict=True):
        for model, curve in curves.items():
            cells = [_cell(results, dataset, label) for label in curve.values()]
            # The line has a gap where a mean is not complete.
            means = [cell.mean if cell.complete else math.nan for cell in cells]
            look = family_look(model)
            fill = look.colour if model == "drm" else "white"
            look.plot(panel, list(curve), means, ms=3, mfc=fill)
        panel.set_title(dataset_name(results, dataset), fontsize=7)
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(base=100))
        panel.xaxis.set_major_formatter(plain_numbers())
    figure.supxlabel("β, fixed")
    figure.supylabel(metric_label(results.metric))
    legend_above(figure, panels)
    shown = (
        " against β, which is fixed; all other parameters selected;"
        f" {KERNELS[kernel]}, mean over the splits."
    )
    return Drawing(
        f"{results.name}_fixed_beta_{kernel}",
        f"DRM against KRR with β fixed, {KERNELS[kernel]}{paper_figure(results, 5)}",
        _caption(results, shown, datasets, labels),
        figure,
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
