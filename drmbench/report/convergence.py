"""Objective against iteration for the three algorithms: the paper's second figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from drmbench.data.dataset import Dataset
from drmbench.drm.classifier import DRMClassifier, SolveTrace
from drmbench.protocol.scaling import feature_scales

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALPHA, BETA, ITERATIONS = 1e-3, 1e4, 50
#: Below this, gaps are rounding and no longer convergence.
_ROUNDING = 1e-14
#: Colour-blind safe (Okabe and Ito 2008), and told apart without colour.
_STYLES = {
    "gd": ("DRM-GD", "#0072B2", "-"),
    "ppa": ("DRM-PPA", "#D55E00", "--"),
    "apg": ("DRM-APG", "#009E73", ":"),
}


def traces(dataset: Dataset) -> dict[str, SolveTrace]:
    """Return how each algorithm solves for the last sample, given all the others.

    Features are divided by their largest absolute value, as the paper does.
    """
    X = dataset.X / feature_scales(dataset.X)
    found = {}
    for name in _STYLES:
        model = DRMClassifier(
            alpha=ALPHA,
            beta=BETA,
            kernel="linear",
            solver=name,
            tol=0.0,
            max_iter=ITERATIONS,
        )
        found[name] = model.fit(X[:-1], dataset.y[:-1]).solve_trace(X[-1])
    return found


def draw(datasets: list[Dataset]) -> Figure:
    """Draw the gap to the optimum against the iteration, a panel a data set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.2 * len(datasets), 3.0), layout="constrained")
    panels = figure.subplots(1, len(datasets), squeeze=False)[0]
    for panel, dataset in zip(panels, datasets, strict=True):
        found = traces(dataset)
        best = min(float(trace.objective.min()) for trace in found.values())
        for name, trace in found.items():
            label, colour, line = _STYLES[name]
            gap = (trace.objective - best) / abs(best)
            panel.plot(np.maximum(gap, _ROUNDING), line, color=colour, label=label)
        panel.set_yscale("log")
        panel.set_ylim(bottom=_ROUNDING)
        panel.set_title(f"{dataset.name} (n = {dataset.n_samples:,})", fontsize=10)
        panel.set_xlabel("iteration")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("relative gap of the objective", fontsize=9)
    panels[0].legend(frameon=False, fontsize=8)
    return figure


CAPTION = (
    "Relative gap of the objective against the iteration, linear kernel,"
    f" α = {ALPHA:g}, β = {BETA:g}, one test sample, all others training, max-abs"
    " scaling. The paper shows this for its large data sets; these come with packages."
)
