"""The DRM against kernel ridge regression: the paper's fourth and fifth figure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from drmbench.report.figures.captions import (
    absent_datasets,
    caption,
    dataset_name,
    incomplete_cells,
    missing_sentence,
    paper_figure,
    protocol_sentence,
    sizes_sentence,
    stand_in_sentence,
)
from drmbench.report.figures.classified import (
    fair_mode,
    fixed_beta,
    is_classification,
    metric_label,
)
from drmbench.report.figures.drawing import Drawing, NothingToDrawError
from drmbench.report.figures.style import (
    DOUBLE,
    LIGHT,
    base_family,
    family_look,
    grid_of_panels,
    legend_above,
    new_figure,
    plain_numbers,
    unique_handles,
)
from drmbench.run.results import Results, Summary

MODELS = ("drm", "krr")
KERNELS = {"rbf": "rbf kernel", "poly": "polynomial kernel"}


def has_selected(results: Results) -> bool:
    """Tell whether an experiment compares DRM and KRR, and nothing else."""
    families = {base_family(entry["family"]) for entry in results.methods.values()}
    return (
        is_classification(results)
        and families == set(MODELS)
        and bool(_kernels(results))
    )


def _kernels(results: Results) -> list[str]:
    """Return the kernels for which both models were run with all selected."""
    return [k for k in KERNELS if all(f"{m}-{k}" in results.methods for m in MODELS)]


def draw_selected(results: Results) -> Drawing:
    """Draw the DRM and KRR on each data set, a panel a kernel.

    Raises
    ------
    NothingToDrawError
        If no data set has complete results.
    """
    labels = [f"{model}-{kernel}" for kernel in _kernels(results) for model in MODELS]
    datasets = _datasets_with(results, labels)
    figure = new_figure(DOUBLE, 0.17 * len(datasets) + 1.0)
    kernels = _kernels(results)
    panels = figure.subplots(1, len(kernels), sharey=True, sharex=True, squeeze=False)
    for panel, kernel in zip(panels[0], kernels, strict=True):
        _draw_pairs(panel, results, datasets, kernel)
    legend_above(figure, unique_handles(panels[0]))
    return Drawing(
        f"{results.name}_selected",
        f"DRM against KRR, all parameters selected{paper_figure(results, 4)}",
        caption(
            f"{metric_label(results.metric)} of the DRM and of kernel ridge regression,"
            " all parameters selected: mean and ± 1 standard deviation over splits.",
            _words(results, datasets, labels),
        ),
        figure,
    )


def _datasets_with(results: Results, labels: Sequence[str]) -> list[str]:
    mode = fair_mode(results)
    shown = [
        dataset
        for dataset in results.datasets
        if any(results.summary(dataset, m, mode=mode).complete for m in labels)
    ]
    if not shown:
        raise NothingToDrawError(
            f"{results.name}: no data set has complete results of"
            f" {', '.join(labels[:4])}{' …' if len(labels) > 4 else ''}"
        )
    return shown


def _draw_pairs(
    panel: Axes, results: Results, datasets: Sequence[str], kernel: str
) -> None:
    for shift, model in zip((-0.14, 0.14), MODELS, strict=True):
        look = family_look(model)
        cells = [
            results.summary(d, f"{model}-{kernel}", mode=fair_mode(results))
            for d in datasets
        ]
        shown = [(place, c) for place, c in enumerate(cells) if c.complete]
        panel.errorbar(
            [cell.mean for _, cell in shown],
            [place + shift for place, _ in shown],
            xerr=_bars([cell for _, cell in shown]),
            fmt=look.marker,
            color=look.colour,
            mfc=look.colour if model == "drm" else "white",
            ecolor=LIGHT,
            elinewidth=1,
            label=look.name,
        )
    panel.set_yticks(
        range(len(datasets)), [dataset_name(results.datasets[d]) for d in datasets]
    )
    panel.set_ylim(len(datasets) - 0.4, -0.6)
    panel.set_xlabel(metric_label(results.metric))
    panel.set_title(KERNELS[kernel])


def _bars(cells: Sequence[Summary]) -> list[list[float]]:
    """Return how far deviations reach down and up; no score is below 0 or above 1."""
    spreads = [0.0 if math.isnan(cell.spread) else cell.spread for cell in cells]
    pairs = list(zip(cells, spreads, strict=True))
    return [
        [min(spread, cell.mean) for cell, spread in pairs],
        [min(spread, 1.0 - cell.mean) for cell, spread in pairs],
    ]


def has_fixed(results: Results, kernel: str) -> bool:
    """Tell whether an experiment has runs of both models with β fixed."""
    return is_classification(results) and all(
        _labels_by_beta(results, model, kernel) for model in MODELS
    )


def _labels_by_beta(results: Results, model: str, kernel: str) -> dict[float, str]:
    found = {
        beta: label
        for label in results.methods
        if label.startswith(f"{model}-{kernel} ")
        and (beta := fixed_beta(label)) is not None
    }
    return dict(sorted(found.items()))


def draw_fixed(results: Results, kernel: str) -> Drawing:
    """Draw the DRM and KRR against a fixed β, a panel a data set.

    Raises
    ------
    NothingToDrawError
        If no data set has complete results.
    """
    curves = {model: _labels_by_beta(results, model, kernel) for model in MODELS}
    labels = [label for curve in curves.values() for label in curve.values()]
    datasets = _datasets_with(results, labels)
    figure, panels = grid_of_panels(
        len(datasets), columns=5, height=1.25, sharex=True, sharey=True
    )
    for panel, dataset in zip(panels, datasets, strict=True):
        for model, curve in curves.items():
            _draw_curve(panel, results, dataset, model, curve)
        panel.set_title(dataset_name(results.datasets[dataset]), fontsize=7)
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(base=100))
        panel.xaxis.set_major_formatter(plain_numbers())
    figure.supxlabel("β, fixed", fontsize=8)
    figure.supylabel(metric_label(results.metric), fontsize=8)
    legend_above(figure, unique_handles(panels))
    return Drawing(
        f"{results.name}_fixed_beta_{kernel}",
        f"DRM against KRR with β fixed, {KERNELS[kernel]}{paper_figure(results, 5)}",
        caption(
            f"{metric_label(results.metric)} of the DRM and of kernel ridge regression"
            " against β, which is fixed; all other parameters selected;"
            f" {KERNELS[kernel]}, mean over the splits.",
            _words(results, datasets, labels),
        ),
        figure,
    )


def _draw_curve(
    panel: Axes, results: Results, dataset: str, model: str, curve: dict[float, str]
) -> None:
    """Draw a model's means; the line has a gap where one is not complete."""
    look, mode = family_look(model), fair_mode(results)
    cells = [results.summary(dataset, label, mode=mode) for label in curve.values()]
    panel.plot(
        list(curve),
        [cell.mean if cell.complete else math.nan for cell in cells],
        look.line,
        color=look.colour,
        marker=look.marker,
        ms=3,
        mfc=look.colour if model == "drm" else "white",
        label=look.name,
    )


def _words(results: Results, datasets: Sequence[str], labels: Sequence[str]) -> str:
    mode = fair_mode(results)
    missing = [
        *absent_datasets(results, datasets),
        *incomplete_cells(results, datasets, labels, mode),
    ]
    return caption(
        sizes_sentence(results, datasets),
        protocol_sentence(results, mode),
        stand_in_sentence(results, datasets),
        missing_sentence(missing),
    )
