"""What an experiment is, once its YAML file has been read and checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from drmbench.methods.base import Method
from drmbench.methods.registry import get_method, with_overrides
from drmbench.protocol.protocol import Protocol, ScalingMode
from drmbench.protocol.selection import SelectionPlan
from drmbench.protocol.splits import SplitKind, SplitPlan

Kind = Literal["classification", "timing", "convergence"]


@dataclass(frozen=True)
class DatasetRef:
    """A data set of the catalogue, or a user's own file.

    Attributes
    ----------
    name : str
        Name in the catalogue, or the name that result rows use for a file.
    path : Path or None
        The file, already resolved against the config's folder.
    target : str or None
        Column with the classes, for a file.
    parameters : mapping
        Parameters of generated data.
    source : str
        Name in the catalogue where it differs from ``name``: the config says ``as``.
    """

    name: str
    path: Path | None = None
    target: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    @property
    def catalogue_name(self) -> str:
        """The data set's name in the catalogue."""
        return self.source or self.name


@dataclass(frozen=True)
class MethodRef:
    """A method of the registry, perhaps with another grid, under a label.

    Attributes
    ----------
    name : str
        Name in the registry.
    label : str
        What result rows call it; the name unless the config says ``as``.
    grid, params : mapping
        Changes, as :func:`drmbench.methods.registry.with_overrides` takes them.
    """

    name: str
    label: str
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)

    def method(self) -> Method:
        """Return the method, with the changes."""
        return self._method

    @cached_property
    def _method(self) -> Method:
        # Changes are checked against every candidate, once and not for every cell.
        method = get_method(self.name)
        if not (self.grid or self.params):
            return method
        return with_overrides(method, grid=self.grid, params=self.params)


@dataclass(frozen=True)
class SplitSpec:
    """How data sets are split, before the paper's sizes are looked up.

    Attributes
    ----------
    kind : {"random", "given", "folds", "kfold"}
        As in :class:`~drmbench.protocol.splits.SplitPlan`.
    train : int or float or "paper"
        Rows or share that train in a random split; ``paper`` takes the paper's sizes
        from the catalogue.
    test : int or None
        Test rows; None is the rest.
    max_train : int or None
        Train on at most so many rows, where ``train`` is a share.
    k, repeats : int
        As in :class:`~drmbench.protocol.splits.SplitPlan`.
    """

    kind: SplitKind = "random"
    train: int | float | Literal["paper"] = "paper"
    test: int | None = None
    max_train: int | None = None
    k: int = 5
    repeats: int = 5

    def train_rows(self, n: int) -> int:
        """Return how many of n rows train in a random split; not for ``paper``."""
        assert self.train != "paper"
        rows = round(self.train * n) if self.train < 1 else int(self.train)
        return min(rows, self.max_train or rows)

    def plan(self, train: int | float | None, test: int | None) -> SplitPlan:
        """Return the plan with the training and test size that a data set has."""
        return SplitPlan(self.kind, train, test, self.k, self.repeats)

    def describe(self) -> str:
        """Say in words how data sets are split.

        Examples
        --------
        >>> SplitSpec(train=0.8).describe(), SplitSpec("kfold", repeats=1).describe()
        ('5 random splits (train: 0.8)', '5-fold')
        """
        test = f", test: {self.test}" if self.test else ""
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        return {
            "random": f"{self.repeats} random splits (train: {self.train}{test})",
            "given": "their own split",
            "folds": "their own folds",
            "kfold": f"{self.k}-fold{times}",
        }[self.kind]


@dataclass(frozen=True)
class Measurement:
    """What the timing and convergence experiments measure.

    Attributes
    ----------
    alpha : float
        The weight α of the within-class scatter.
    betas : tuple of float
        Ridge penalties β; timing uses the first alone.
    sizes : tuple of int
        Training sizes of timing; a size above what a data set has is left out, and
        the whole training part is always added. Empty for convergence.
    examples : int
        Test examples, each solved by itself.
    iterations : int
        Iterations of each solve: exactly so many in timing, at most so many in
        convergence.
    tol : float
        Stopping tolerance of convergence.
    """

    alpha: float = 1e-3
    betas: tuple[float, ...] = (1e4,)
    sizes: tuple[int, ...] = ()
    examples: int = 100
    iterations: int = 50
    tol: float = 1e-5


@dataclass(frozen=True)
class Experiment:
    """One experiment: data sets x methods x splits under a protocol.

    Attributes
    ----------
    name : str
        Short name; also the folder of its results.
    title : str
        One line for people.
    reproduces : str
        The paper's table or figure (``table3``, ``figure4``), or empty.
    kind : {"classification", "timing", "convergence"}
        What a cell does.
    datasets, methods : tuple
        What is crossed.
    split : SplitSpec
        How data sets are split.
    selection : SelectionPlan
        How parameters are selected.
    selection_overrides : mapping of str to SelectionPlan
        Another plan for some methods, by label.
    selection_modes : mapping of str to SelectionPlan
        Another plan for all methods alike in some scaling modes, by mode.
    tie : {"preferred", "first"} or None
        Which of equal scores is selected; None is the paper's ``first`` in the scaling
        mode ``paper`` and ``preferred`` in the others.
    scaling : tuple of {"honest", "paper", "none", "maxabs"}
        Scaling modes; a cell is run in each.
    metrics : tuple of str
        The first is the one that the table shows.
    measure : Measurement
        For timing and convergence.
    seed : int
        Seed of splits and methods.
    timeout : float or None
        Time limit of a cell in seconds.
    substitutes : bool
        Whether a real relative may stand in for a data set that cannot be had.
    deviations : tuple of str
        What differs from the paper, shown under the table.
    source : Path or None
        The file it was read from.
    """

    name: str
    datasets: tuple[DatasetRef, ...]
    methods: tuple[MethodRef, ...]
    title: str = ""
    reproduces: str = ""
    kind: Kind = "classification"
    split: SplitSpec = field(default_factory=SplitSpec)
    selection: SelectionPlan = field(default_factory=SelectionPlan)
    selection_overrides: Mapping[str, SelectionPlan] = field(default_factory=dict)
    selection_modes: Mapping[str, SelectionPlan] = field(default_factory=dict)
    tie: Literal["preferred", "first"] | None = None
    scaling: tuple[ScalingMode, ...] = ("honest",)
    metrics: tuple[str, ...] = ("accuracy", "gmean", "balanced_accuracy")
    measure: Measurement = field(default_factory=Measurement)
    seed: int = 0
    timeout: float | None = None
    substitutes: bool = False
    deviations: tuple[str, ...] = ()
    source: Path | None = None

    def selection_for(self, ref: MethodRef, mode: ScalingMode) -> SelectionPlan:
        """Return how a method's parameters are selected in a scaling mode."""
        if mode in self.selection_modes or ref.label not in self.selection_overrides:
            return self.plan_of(mode)
        return self._with_tie(self.selection_overrides[ref.label], mode)

    def plan_of(self, mode: ScalingMode) -> SelectionPlan:
        """Return how parameters are selected in a mode, if not said for a method."""
        return self._with_tie(self.selection_modes.get(mode, self.selection), mode)

    def _with_tie(self, plan: SelectionPlan, mode: ScalingMode) -> SelectionPlan:
        tie = self.tie or ("first" if mode == "paper" else "preferred")
        return dataclasses.replace(plan, tie=tie)

    def protocol(self, ref: MethodRef, mode: ScalingMode) -> Protocol:
        """Return the rules under which a method's cells run in a scaling mode."""
        return Protocol(
            selection=self.selection_for(ref, mode),
            scaling=mode,
            metrics=self.metrics,
            seed=self.seed,
        )


def experiment_identity(experiment: Experiment) -> dict[str, Any]:
    """Return all that decides an experiment's numbers, and nothing that is prose.

    Parameters
    ----------
    experiment : Experiment
        Any experiment, from a file or from a manifest.

    Returns
    -------
    dict
        Nested plain values. ``datasets`` is by name, ``methods`` and
        ``selection_overrides`` by label, ``selection_modes`` by mode. Names, titles,
        notes, paths and time limits are not in it.
    """
    plans = {
        "selection": _plain_plan(experiment.selection),
        "selection_overrides": {
            label: _plain_plan(plan)
            for label, plan in experiment.selection_overrides.items()
        },
        "selection_modes": {
            mode: _plain_plan(plan) for mode, plan in experiment.selection_modes.items()
        },
    }
    return {
        "kind": experiment.kind,
        "seed": experiment.seed,
        "substitutes": experiment.substitutes,
        "datasets": {
            ref.name: {
                "source": ref.catalogue_name,
                "target": ref.target,
                "parameters": dict(ref.parameters),
            }
            for ref in experiment.datasets
        },
        "methods": {
            ref.label: {
                "name": ref.name,
                "grid": {name: list(values) for name, values in ref.grid.items()},
                "params": dict(ref.params),
            }
            for ref in experiment.methods
        },
        "split": dataclasses.asdict(experiment.split),
        **plans,
        "tie": experiment.tie,
        "scaling": list(experiment.scaling),
        "metrics": list(experiment.metrics),
        "measure": dataclasses.asdict(experiment.measure),
    }


def _plain_plan(plan: SelectionPlan) -> dict[str, Any]:
    fields = dataclasses.asdict(plan)
    del fields["note"]
    return fields
