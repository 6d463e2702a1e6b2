"""Every key of an experiment file's ``protocol``: splits, selection and scaling."""

from __future__ import annotations

import dataclasses
from typing import get_args, get_type_hints

from drmbench.config.model import SplitSpec
from drmbench.config.shapes import Choice, Either, Field, ListOf, MapOf, Number, Record
from drmbench.config.values import (
    COUNT,
    FOLDS,
    PROSE,
    REPEATS,
    SCALAR_METRIC,
    SHARE,
    one_of,
)
from drmbench.protocol.protocol import ScalingMode
from drmbench.protocol.selection import PAPER_SUBSET, SelectionPlan
from drmbench.protocol.splits import SplitKind

_HINTS = get_type_hints(SelectionPlan)

SPLIT = Record(
    (
        Field(
            "kind",
            one_of(SplitKind),
            "random: stratified parts; given: the data set's own split; folds: its own"
            " folds; kfold: stratified k-fold.",
            default=SplitSpec.kind,
        ),
        Field(
            "train",
            Either(
                (Choice(lambda: ("paper",)), COUNT, SHARE),
                "paper, a number of rows, or a share above 0 and below 1",
            ),
            "Training size: a number of rows, a share, or paper for the paper's sizes.",
            default=SplitSpec.train,
            kinds=("random",),
        ),
        Field(
            "test",
            COUNT,
            "Number of test rows; by default all that do not train. train: paper has"
            " its own.",
            kinds=("random",),
        ),
        Field(
            "max_train",
            COUNT,
            "Train on at most so many rows, where train is a share.",
            kinds=("random",),
        ),
        Field("k", FOLDS, "Number of folds.", default=SplitSpec.k, kinds=("kfold",)),
        Field(
            "repeats",
            REPEATS,
            "How often splits are drawn anew; by default 5 times, with kfold once.",
            kinds=("random", "kfold"),
        ),
    ),
    default_kind=SplitSpec.kind,
)

_PLAN = (
    Field(
        "kind",
        one_of(_HINTS["kind"]),
        "loo: leave-one-out; kfold: stratified k-fold; random: random splits of a"
        " random subset; each within the training part.",
        default=SelectionPlan.kind,
    ),
    Field(
        "metric",
        SCALAR_METRIC,
        "What selects; by default the first of the experiment's metrics.",
    ),
    Field(
        "k",
        FOLDS,
        "Number of folds; fewer where there are fewer rows.",
        default=SelectionPlan.k,
        kinds=("kfold",),
    ),
    Field(
        "repeats",
        REPEATS,
        "Number of k-fold partitions, or of random splits.",
        default=SelectionPlan.repeats,
        kinds=("kfold", "random"),
    ),
    Field(
        "subset",
        Number(low=2, whole=True),
        "Select on so many training rows, drawn stratified, where there are more; by"
        f" default on all, with random on {PAPER_SUBSET:,}.",
    ),
    Field(
        "train_share",
        SHARE,
        "Share of the subset that trains in each random split.",
        default=SelectionPlan.train_share,
        kinds=("random",),
    ),
    Field("note", PROSE, "Footnote on why parameters are selected so."),
)
#: A method's own plan; what it does not say is as in the experiment's.
OVERRIDE = Record(tuple(dataclasses.replace(field, default=None) for field in _PLAN))
SELECTION = Record(
    (
        *_PLAN,
        Field(
            "tie",
            one_of(_HINTS["tie"]),
            "Which of equal scores is selected, for all methods: the one the method"
            " prefers (the more regularised) or the first in grid order; by default"
            " first in the scaling mode paper, preferred in the others.",
        ),
        Field(
            "methods",
            MapOf(OVERRIDE, "plans by the label of a method"),
            "Another plan for some methods, by label; each key that is not there is as"
            " in the experiment's plan.",
        ),
        Field(
            "modes",
            Record(
                tuple(
                    Field(mode, OVERRIDE, f"The plan of all methods in mode {mode}.")
                    for mode in get_args(ScalingMode)
                )
            ),
            "Another plan in some scaling modes, for all methods alike; each key that"
            " is not there is as in the experiment's plan.",
        ),
    ),
    default_kind=SelectionPlan.kind,
)
PROTOCOL = Record(
    (
        Field(
            "split",
            SPLIT,
            "How data sets are split. By default as in the paper, if that is the same"
            " for all of them (random with train: paper, given or folds); otherwise"
            " kfold with k: 5, once.",
        ),
        Field("selection", SELECTION, "How parameters are selected."),
        Field(
            "scaling",
            ListOf(one_of(ScalingMode), or_one=True),
            "Scaling modes, each of which is run. honest: none or max-abs, selected"
            " with the parameters; paper: the paper's, better of two on the test part;"
            " none; maxabs. By default honest; timing and convergence use maxabs.",
        ),
    )
)
