"""How much α and β matter: mean figures of DRMs at fixed pairs of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from drmbench.metrics import get_metric
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.analyses.complete import complete_means
from drmbench.report.bootstrap import mean_intervals
from drmbench.report.scores import DRM_FAMILIES
from drmbench.report.statistics import complete_part, stable
from drmbench.report.table import Cell, Table, figure_cell, right, sentence
from drmbench.running.results import Results
from drmbench.words import MODES, metric_words

#: Families whose methods are the DRM without its within-class term.
_WITHOUT_ALPHA = ("krr",)


def fixed_value(entry: Mapping[str, Any], parameter: str) -> float | None:
    """Return the one number that a method's parameter is fixed at, or None.

    It is fixed as a parameter or by a grid of one value.
    """
    listed = (entry.get("grid") or {}).get(parameter)
    value = (entry.get("params") or {}).get(parameter)
    if isinstance(listed, list) and len(listed) == 1:
        value = listed[0]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def fixed_pairs(results: Results) -> dict[str, tuple[float, float]]:
    """Return α and β of each method, by label, if all have one value of either.

    Kernel ridge regression is the DRM with α = 0. If a method is neither, or searches
    α or β, or a pair is there twice, nothing is returned; nor if there are fewer than
    two of either.
    """
    pairs: dict[str, tuple[float, float]] = {}
    for label, entry in results.methods.items():
        family = entry.get("family")
        alpha = 0.0 if family in _WITHOUT_ALPHA else fixed_value(entry, "alpha")
        beta = fixed_value(entry, "beta")
        if family not in (*DRM_FAMILIES, *_WITHOUT_ALPHA):
            return {}
        if alpha is None or beta is None:
            return {}
        pairs[label] = (alpha, beta)
    alphas, betas = ({pair[i] for pair in pairs.values()} for i in (0, 1))
    whole = len(set(pairs.values())) == len(pairs)
    return pairs if whole and min(len(alphas), len(betas)) > 1 else {}


def sensitivity(
    results: Results,
    mode: ScalingMode,
    metric: str,
    origins: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return one row per pair of α and β, of a ``method``: the mean over data sets.

    ``behind`` is the mean distance from the best pair's figures, with the ends
    ``behind_low`` and ``behind_high`` of its 95 % bootstrap interval over origins. The
    data sets, of which there are ``datasets``, are those on which every pair is
    complete; pairs that are complete on few are left out.
    """
    labels = fixed_pairs(results)
    columns = ["method", "alpha", "beta", "mean"]
    ends = ["behind", "behind_low", "behind_high"]
    means = complete_part(complete_means(results, mode, metric)).means
    if means.empty:
        return pd.DataFrame(columns=[*columns, *ends, "datasets"])
    sign = get_metric(metric).sign
    best = (sign * means.mean()).idxmax()
    behind = means.rsub(means[best], axis=0) * sign
    given = origins or {}
    sources = [given.get(str(name), str(name)) for name in means.index]
    records = [
        (str(label), *labels[str(label)], stable(float(means[label].mean())))
        for label in means.columns
    ]
    found = pd.DataFrame(records, columns=columns)
    found[ends] = mean_intervals(behind, sources).to_numpy()
    found["datasets"] = len(means)
    return found.sort_values(["alpha", "beta"], ignore_index=True)


def sensitivity_table(results: Results, mode: ScalingMode, metric: str) -> Table:
    """Return α by β: the mean figure over data sets."""
    frame, pairs = sensitivity(results, mode, metric), fixed_pairs(results)
    means = {(a, b): m for a, b, m in frame[["alpha", "beta", "mean"]].to_numpy()}
    alphas, betas = (
        sorted(set(values)) for values in zip(*pairs.values(), strict=True)
    )
    sign, words = get_metric(metric).sign, metric_words(metric)
    notes = [
        f"Mean {words} over the {frame['datasets'].max() if len(frame) else 0} of"
        f" {len(results.datasets)} data sets on which every pair is complete; α = 0 is"
        " kernel ridge regression.",
    ]
    if means:
        alpha, beta = max(means, key=lambda pair: sign * means[pair])
        worst = min(sign * mean for mean in means.values())
        notes.append(
            f"The best pair is α = {alpha:g}, β = {beta:g}"
            f" ({means[alpha, beta]:.4f}), found on the test parts; the worst has"
            f" {sign * worst:.4f}."
        )
    notes += [MODES[mode].note, f"Selection of the others: {results.selection(mode)}."]
    return Table(
        experiment=results.name,
        kind="sensitivity",
        metric=metric,
        mode=mode,
        title=f"{results.experiment.title or results.name}: mean {words},"
        f" {MODES[mode].title}",
        columns=right("α", *(f"β = {beta:g}" for beta in betas)),
        rows=tuple(
            (
                Cell(f"{alpha:g}", alpha),
                *(figure_cell(means.get((alpha, beta)), digits=4) for beta in betas),
            )
            for alpha in alphas
        ),
        heads=1,
        notes=(*notes, *map(sentence, results.experiment.deviations)),
        frame=frame,
    )
