"""The rules of one experiment: selection, scaling mode, metrics and seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from drmbench.methods.base import Labels, Method
from drmbench.protocol.labels import smallest_class_first
from drmbench.protocol.scaling import Scaling
from drmbench.protocol.selection import SelectionPlan
from drmbench.words import OPTIMISTIC as OPTIMISTIC

ScalingMode = Literal["honest", "paper", "none", "maxabs"]
#: What a result row says about scaling; ``selected`` is the choice of honest mode.
RowScaling = Literal["none", "maxabs", "separate", "selected"]

#: The ``scaling`` of the result rows of each mode.
ROWS_OF_MODE: dict[ScalingMode, tuple[RowScaling, ...]] = {
    "honest": ("selected",),
    "paper": ("none", "separate"),
    "none": ("none",),
    "maxabs": ("maxabs",),
}


@dataclass(frozen=True)
class Protocol:
    """How a method is evaluated on a split.

    Attributes
    ----------
    selection : SelectionPlan
        How parameters are selected.
    overrides : mapping of str to SelectionPlan
        Another plan for some methods, by name, such as 10-fold where leave-one-out is
        out of reach; each has a note for the table's footnote.
    scaling : {"honest", "paper", "none", "maxabs"}
        ``honest`` chooses between none and max-abs (fitted on the training part)
        within selection. ``paper`` gives two results, unscaled and with each part
        scaled by itself, and does as the paper did also in what methods get
        (``Method.paper_params``, :meth:`training_order`). The others scale always or
        never.
    metrics : tuple of str
        Names of the metrics to compute.
    seed : int
        Seed of the experiment.
    """

    selection: SelectionPlan = field(default_factory=SelectionPlan)
    overrides: Mapping[str, SelectionPlan] = field(default_factory=dict)
    scaling: ScalingMode = "honest"
    metrics: tuple[str, ...] = ("accuracy",)
    seed: int = 0

    def selection_for(self, method: Method) -> SelectionPlan:
        """Return the method's own selection plan, or the experiment's."""
        return self.overrides.get(method.name, self.selection)

    def rows(self) -> tuple[RowScaling, ...]:
        """Return the ``scaling`` of each result row that a split gives."""
        return ROWS_OF_MODE[self.scaling]

    def scalings_tried(self, row: RowScaling, method: Method) -> tuple[Scaling, ...]:
        """Return the scalings that selection chooses from for a row.

        A method that is invariant to scaling has nothing to choose. Only ``separate``
        is run for it all the same: there the two parts are scaled by different
        numbers, to which no method is invariant.
        """
        if row != "selected":
            return (row,)
        return ("none",) if method.scale_invariant else ("none", "maxabs")

    def training_order(self, y_train: Labels) -> NDArray[np.intp]:
        """Return the order in which methods get the training rows.

        In the mode ``paper`` rows are grouped by class, otherwise they stay as they
        are. It matters only where equal distances or scores are told apart by order.
        """
        if self.scaling == "paper":
            return smallest_class_first(y_train)
        return np.arange(len(y_train))

    def method_as_used(self, method: Method) -> Method:
        """Return the method with the paper's parameters where the mode asks for it."""
        if self.scaling != "paper" or not method.paper_params:
            return method
        defaults = {**method.defaults, **method.paper_params}
        return dataclasses.replace(method, defaults=defaults)


def paper_protocol(metric: str, *, seed: int = 0) -> Protocol:
    """Return the protocol of the published tables on small and imbalanced data.

    Parameters
    ----------
    metric : str
        What selects and what is reported: ``accuracy`` or ``gmean``.
    seed : int
        Seed of splits and of methods that draw numbers.
    """
    return Protocol(
        selection=SelectionPlan("loo", metric, tie="first"),
        scaling="paper",
        metrics=(metric,),
        seed=seed,
    )
