"""How an experiment was run, in words, from what its manifest says."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from drmbench.config.model import Measurement, SplitSpec
from drmbench.protocol.protocol import SCALINGS_OF_TABLE, ScalingMode
from drmbench.running.results import Results
from drmbench.words import MODES, TABLE_PREPARED, paper_place


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
    rank, number = paper_place(reproduces)
    return (f"Table {number}", f"Figure {number}", "beyond the paper")[rank]


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
    train = "the paper's numbers"
    if isinstance(split.train, int | float):
        train = f"{split.train:.0%}" if split.train < 1 else f"{split.train:,}"
    rest = f"{split.test:,} test" if split.test else "the others test"
    return f"stratified random{again}, {train} train, {rest}"


def selection_words(results: Results) -> str:
    """Say how parameters were selected, or at which they were measured."""
    if results.experiment.kind != "classification":
        return measure_words(results.experiment.measure)
    said = []
    for mode in results.modes:
        others = results.selected_otherwise(mode).items()
        exceptions = (f"; {', '.join(labels)}: {text}" for text, labels in others)
        said.append(f"Mode {mode}: {results.selection(mode)}{''.join(exceptions)}.")
    return " ".join(said)


def modes_words(results: Results) -> str:
    """Name the scaling modes, and the preparation unless it is the usual one."""
    prepared = results.experiment.preparation
    of_what = "" if prepared == "codes" else f" (preparation: {prepared})"
    return f"{', '.join(results.modes)}{of_what}"


def scaling_words(results: Results, mode: ScalingMode) -> str:
    """Say how columns were prepared and scaled in a scaling mode."""
    said = MODES[mode].description
    if results.experiment.preparation != "table":
        return said
    if mode == "honest":
        tried = ", ".join(SCALINGS_OF_TABLE)
        said = f"honest: selection chooses, on the training part alone, from {tried}"
    return f"{said}. {TABLE_PREPARED}"


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
    given: dict[str, Sequence[float]] = {
        **{"α": [measure.alpha], "β": measure.betas},
        **{"training sizes": measure.sizes, "tolerance": [measure.tol]},
    }
    said = [f"{x} = {_listed(values)}" for x, values in given.items() if any(values)]
    said.append(f"{measure.iterations:,} iterations")
    said.append(f"{measure.examples:,} test examples")
    return f"none: {', '.join(said)}"


def _listed(values: Sequence[object]) -> str:
    return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values)


def grid_words(grid: Mapping[str, Any]) -> str:
    """Say which parameter values were tried.

    Examples
    --------
    >>> grid_words({"C": [0.1, 1.0], "gamma": 2})
    'C: 0.1, 1; gamma: 2'
    """
    return "; ".join(
        f"{name}: {_listed(values if isinstance(values, list) else [values])}"
        for name, values in grid.items()
    )


def run_command(results: Results, *options: str) -> str:
    """Return the command that makes an experiment's results, or a part of them."""
    return shlex.join([*shlex.split(results.manifest["command"]), *options])
