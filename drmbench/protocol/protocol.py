"""The rules of one experiment as plain data: selection, scaling mode, metrics, seed.

Every room above reads them, so this module imports no estimator.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from drmbench.protocol.scaling import Scaling

if TYPE_CHECKING:
    from drmbench.methods.base import Labels, Method

#: Rows that the paper selects on where data is large.
PAPER_SUBSET = 3000

SelectionKind = Literal["loo", "kfold", "random"]
Tie = Literal["preferred", "first"]
ScalingMode = Literal["honest", "paper", "none", "maxabs"]
Preparation = Literal["codes", "table"]
#: What a result row says about scaling; ``selected`` is the choice of honest mode.
RowScaling = Literal["none", "maxabs", "separate", "selected"]

#: The ``scaling`` of the result rows of each mode.
ROWS_OF_MODE: dict[ScalingMode, tuple[RowScaling, ...]] = {
    "honest": ("selected",),
    "paper": ("none", "separate"),
    "none": ("none",),
    "maxabs": ("maxabs",),
}

#: What selection chooses from in honest mode, the first of equally good ones. Of a
#: table's numbers some are in unequal units (standard), some have outliers (robust),
#: and some have a zero that means something (max-abs).
SCALINGS: dict[Preparation, tuple[Scaling, ...]] = {
    "codes": ("none", "maxabs"),
    "table": ("none", "standard", "robust", "maxabs"),
}


@dataclass(frozen=True)
class SelectionPlan:
    """How parameters are selected within a training part."""

    #: Leave-one-out, stratified k-fold, or random splits of a random subset
    kind: SelectionKind = "loo"
    metric: str = "accuracy"  #: A one-number metric of the registry
    k: int = 10  #: Number of folds of ``kfold``; fewer where there are fewer rows
    repeats: int = 1  #: Number of k-fold partitions, or of random splits
    #: Select on this many rows (stratified) where there are more. None is all rows, but
    #: 3,000 for ``random``, as in the paper.
    subset: int | None = None
    train_share: float = 0.8  #: Share of the subset that trains in each random split
    #: Among equal scores take what the method prefers, the more regularised
    #: (:attr:`~drmbench.methods.base.Method.prefer`), or the first in grid order, which
    #: is what the paper did
    tie: Tie = "preferred"
    note: str = ""  #: Footnote where this plan replaces the experiment's for a method
    #: The subset has so many rows of each class, or all that there are; 0 is as many as
    #: its share gives, one at least
    subset_least: int = 0

    def identity(self) -> dict[str, Any]:
        """Return all of it that decides a number; what is not set is not there."""
        said = dataclasses.asdict(self)
        del said["note"]
        if not self.subset_least:
            del said["subset_least"]
        return said

    @property
    def rows_used(self) -> int | None:
        """How many training rows selection looks at; None for all."""
        if self.subset is None and self.kind == "random":
            return PAPER_SUBSET
        return self.subset

    def naive_fits(self, n: int) -> int:
        """Return how often a candidate is fitted to n rows where no shortcut is used.

        Examples
        --------
        >>> SelectionPlan("loo").naive_fits(80)
        80
        >>> SelectionPlan("kfold", k=5, repeats=2, subset=60).naive_fits(80)
        10
        """
        if self.kind == "random":
            return self.repeats
        rows = self._rows_of(n)
        return rows if self.kind == "loo" else min(self.k, rows) * self.repeats

    def naive_predictions(self, n: int) -> int:
        """Return how many held-out rows these fits of one candidate predict in all.

        Examples
        --------
        >>> SelectionPlan("kfold", k=5, repeats=2).naive_predictions(80)
        160
        >>> SelectionPlan("random", repeats=3).naive_predictions(80)
        48
        """
        rows = self._rows_of(n)
        if self.kind == "random":
            return self.repeats * (rows - round(self.train_share * rows))
        return rows if self.kind == "loo" else rows * self.repeats

    def _rows_of(self, n: int) -> int:
        return n if self.rows_used is None else min(n, self.rows_used)

    def describe(self) -> str:
        """Say in words how parameters are selected.

        Examples
        --------
        >>> SelectionPlan("kfold", "gmean", k=5, tie="first").describe()
        '5-fold by gmean; of equal scores the first in grid order'
        """
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        how = {
            "loo": "leave-one-out",
            "kfold": f"{self.k}-fold{times}",
            "random": f"random splits ({self.train_share:.0%} train{times})",
        }[self.kind]
        if self.rows_used is not None:
            how += f" of at most {self.rows_used:,} rows"
            if self.subset_least:
                how += f" (at least {self.subset_least} of each class, if it has them)"
        ties = {"first": "first in grid order", "preferred": "more regularised"}
        return f"{how} by {self.metric}; of equal scores the {ties[self.tie]}"


@dataclass(frozen=True)
class Protocol:
    """How a method is evaluated on a split."""

    #: How parameters are selected
    selection: SelectionPlan = field(default_factory=SelectionPlan)
    #: ``honest`` chooses between none and max-abs (fitted on the training part) within
    #: selection, or among more where tables are prepared. ``paper`` gives two results,
    #: unscaled and with each part scaled by itself, and does as the paper did also in
    #: what methods get (``Method.paper_params``, :meth:`training_order`). The others
    #: scale always or never.
    scaling: ScalingMode = "honest"
    metrics: tuple[str, ...] = ("accuracy",)  #: Names of the metrics to compute
    seed: int = 0  #: Seed of the experiment
    #: ``codes`` leaves columns as they are. ``table`` prepares them by what the rows
    #: that train tell (:class:`~drmbench.protocol.preparation.TablePreparation`), and
    #: ``honest`` then chooses among more :data:`SCALINGS`. It cannot be had with the
    #: mode ``paper``.
    preparation: Preparation = "codes"

    def __post_init__(self) -> None:
        if self.preparation == "table" and self.scaling == "paper":
            raise ValueError("the paper's scaling takes data as it is, not prepared")

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
        return ("none",) if method.scale_invariant else SCALINGS[self.preparation]

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

    The metric, ``accuracy`` or ``gmean``, selects and is reported.
    """
    plan = SelectionPlan("loo", metric, tie="first")
    return Protocol(plan, scaling="paper", metrics=(metric,), seed=seed)


def smallest_class_first(y: Labels) -> NDArray[np.intp]:
    """Return row numbers grouped by class: the smallest first, of equal ones the last.

    The published figures were computed on such rows. It shows where neighbours of two
    classes are equally near and the first of them counts.

    Examples
    --------
    >>> smallest_class_first(np.array([0, 1, 0, 0, 1]))
    array([1, 4, 0, 2, 3])
    """
    sizes = np.bincount(y)
    return np.lexsort((-y, sizes[y]))
