"""How an experiment was run, in words, from what its manifest says."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from drmbench.config.model import Measurement, SplitSpec
from drmbench.protocol.protocol import OPTIMISTIC, ScalingMode
from drmbench.run.results import Results

_SCALINGS = {
    "honest": "honest: selection chooses, on the training part alone, between unscaled"
    " features and features divided by their largest absolute value there",
    "paper": f"as in the paper ({OPTIMISTIC})",
    "none": "features as they are",
    "maxabs": "features divided by their largest absolute value in the training part",
}


def times(number: int, noun: str) -> str:
    """Say a number of things.

    Examples
    --------
    >>> times(1, "split"), times(1200, "split")
    ('1 split', '1,200 splits')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def target_words(reproduces: str) -> str:
    """Say what part of the paper an experiment reproduces.

    Examples
    --------
    >>> target_words("table3"), target_words("figure4"), target_words("")
    ('Table 3', 'Figure 4', 'beyond the paper')
    """
    for kind in ("table", "figure"):
        if reproduces.startswith(kind):
            return f"{kind.capitalize()} {reproduces.removeprefix(kind)}"
    return reproduces or "beyond the paper"


def split_words(split: SplitSpec) -> str:
    """Say which rows train and which test.

    Examples
    --------
    >>> split_words(SplitSpec(train=0.8))
    'stratified random, 5 times, 80% train, the others test'
    >>> split_words(SplitSpec(kind="folds"))
    "the data set's own folds, each the test part once"
    """
    again = f", {split.repeats} times" if split.repeats > 1 else ""
    if split.kind == "given":
        return "the data set's own training and test part"
    if split.kind == "folds":
        return "the data set's own folds, each the test part once"
    if split.kind == "kfold":
        return f"stratified {split.k}-fold{again}"
    rest = f"{split.test:,} test" if split.test else "the others test"
    return f"stratified random{again}, {_train_words(split.train)}, {rest}"


def _train_words(train: object) -> str:
    if isinstance(train, int | float):
        return f"{train:.0%} train" if train < 1 else f"{train:,} train"
    return "the paper's numbers train"


def selection_words(results: Results) -> str:
    """Say how parameters were selected, or at which they were measured."""
    experiment = results.experiment
    if experiment.kind != "classification":
        return measure_words(experiment.measure)
    return " ".join(
        f"Mode {mode}: {_selection_in(results, mode)}." for mode in results.modes
    )


def _selection_in(results: Results, mode: ScalingMode) -> str:
    others = results.selected_otherwise(mode).items()
    exceptions = "".join(f"; {', '.join(labels)}: {text}" for text, labels in others)
    return f"{results.selection(mode)}{exceptions}"


def metrics_words(results: Results) -> str:
    """Say what was measured."""
    if results.experiment.kind != "classification":
        return "seconds and iterations"
    return ", ".join(results.experiment.metrics)


def measure_words(measure: Measurement) -> str:
    """Say at which parameters solvers were measured.

    Examples
    --------
    >>> measure_words(Measurement(betas=(1, 1e4), examples=9))
    'none: α = 0.001, β = 1, 10000, tolerance = 1e-05, 50 iterations, 9 test examples'
    """
    said = [
        f"{name} = {values_words(values)}"
        for name, values in (
            ("α", [measure.alpha]),
            ("β", measure.betas),
            ("training sizes", measure.sizes),
            ("tolerance", [measure.tol]),
        )
        if any(values)
    ]
    said.append(f"{measure.iterations:,} iterations")
    said.append(f"{measure.examples:,} test examples")
    return f"none: {', '.join(said)}"


def values_words(values: Sequence[object]) -> str:
    """List values, numbers in their shortest form."""
    return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values)


def grid_words(grid: Mapping[str, Any]) -> str:
    """Say which parameter values were tried.

    Examples
    --------
    >>> grid_words({"C": [0.1, 1.0], "gamma": 2})
    'C: 0.1, 1; gamma: 2'
    """
    return "; ".join(
        f"{name}: {values_words(values if isinstance(values, list) else [values])}"
        for name, values in grid.items()
    )


def scaling_words(results: Results) -> list[str]:
    """Say what each scaling mode of an experiment did."""
    return [_SCALINGS[mode] for mode in results.modes]


def run_command(results: Results, *options: str) -> str:
    """Return the command that makes an experiment's results, or a part of them."""
    return shlex.join([*shlex.split(results.manifest["command"]), *options])
