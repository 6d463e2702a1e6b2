"""The single values that several keys of an experiment file hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from drmbench.config import names
from drmbench.config.shapes import Choice, Number, Text

#: Random splits and k-fold partitions of one data set; more is taken for a mistake.
MAX_REPEATS = 1000


def one_of(literal: Any) -> Choice:
    """Return the shape of one of the words of a ``Literal``."""
    values: Sequence[str] = get_args(literal)
    return Choice(lambda: values)


DATASET = Choice(names.dataset_names, "data set", "drmbench data list")
GROUP = Choice(names.group_names, "group")
METHOD = Choice(names.method_names, "method", "drmbench methods", names.QUICK_METHODS)
METRIC = Choice(names.metric_names, "metric")
SCALAR_METRIC = Choice(names.scalar_metric_names, "one-number metric")

LABEL = Text(r"^\S(.*\S)?$", "one line of text without spaces around it")
PROSE = Text(one_line=False)
COUNT = Number(low=1, whole=True)
FOLDS = Number(low=2, whole=True)
REPEATS = Number(low=1, high=MAX_REPEATS, whole=True)
SHARE = Number(above=0, below=1)
