"""A first experiment file, with comments, that runs as it is."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from drmbench.data.dataset import Dataset
from drmbench.errors import InputError
from drmbench.running.compare import (
    SELECTION_ROWS,
    config_item,
    own_name,
    sensible_methods,
    slug,
)

#: Outer folds, where every class has so many rows.
_FOLDS = 5
_EXAMPLE_SETS = ("iris", "wine")
_EXAMPLE_METHODS = ("drm-rbf", "drm-linear", "svm-rbf", "knn-euclidean", "rf", "nb")

_TEXT = """\
# An experiment of drmbench.
#   drmbench config check {file}     names every mistake in it
#   drmbench run {file} --dry-run    says how long it takes
#   drmbench run {file}              runs it
name: "{name}"  # results go to results/runs/{name}
title: {title}
datasets:{dataset_words}
{datasets}
methods:  # `drmbench methods` lists them all, with their parameters
{methods}
protocol:
  # Which rows train and which test: kfold, or random with a share or number of rows to
  # train on, such as {{kind: random, train: 0.8, repeats: 5}}.
  split: {{kind: kfold, k: {folds}, repeats: 1}}
  # How parameters are chosen within the training rows: kfold, loo or random; on at most
  # `subset` of them.
  selection: {{kind: kfold, k: 3, metric: {metric}, subset: {subset}}}
  scaling: honest  # chosen within the training rows too; or none, maxabs, paper
{preparation}metrics: [{metric}, accuracy, gmean]  # the first one is shown in tables
seed: 0  # the same seed gives the same splits
timeout: 10m  # of one method on one split
"""

#: What a table of one's own needs beyond that.
_PREPARATION = """\
  # Within the training rows text columns become zeros and ones, and missing values are
  # filled in; codes uses columns as they are.
  preparation: table
"""


def example_config(path: Path) -> str:
    """Return the text of an experiment on data that comes with scikit-learn."""
    words = "  # `drmbench data list` has more; {group: keel} is a whole group"
    title = "A first comparison, on packaged data"
    return _fill(path, title, words, _EXAMPLE_SETS, _EXAMPLE_METHODS, _FOLDS)


def config_for_table(
    path: Path, table: Path, target: str | None, dataset: Dataset
) -> str:
    """Return the text of an experiment on a person's own table, already read."""
    smallest = min(dataset.class_counts.values())
    if smallest < 2:
        raise InputError(
            f"{table}: a class has a single row, which cannot both train and test;"
            " leave it out or merge it with another class"
        )
    place = os.path.relpath(table.resolve(), path.resolve().parent)
    name = own_name(slug(dataset.name))
    item = f"{{path: {json.dumps(place)}, name: {json.dumps(name)}"
    if target is not None:
        item += f", target: {json.dumps(target, ensure_ascii=False)}"
    words = "  # files from the folder of this one, and names of `drmbench data list`"
    title = json.dumps(f"Methods on {dataset.name}", ensure_ascii=False)
    methods = [_flow(config_item(method)) for method in sensible_methods(dataset)]
    folds = min(_FOLDS, smallest)
    return _fill(path, title, words, [item + "}"], methods, folds, _PREPARATION)


def _flow(item: str | dict[str, Any]) -> str:
    """Return an item of a list on one line."""
    return item if isinstance(item, str) else json.dumps(item)


def _fill(
    path: Path,
    title: str,
    dataset_words: str,
    datasets: Sequence[str],
    methods: Sequence[str],
    folds: int,
    preparation: str = "",
) -> str:
    return _TEXT.format(
        file=path.as_posix(),
        name=slug(path.stem),
        title=title,
        dataset_words=dataset_words,
        datasets="\n".join(f"  - {item}" for item in datasets),
        methods="\n".join(f"  - {name}" for name in methods),
        folds=folds,
        preparation=preparation,
        metric="balanced_accuracy",
        subset=SELECTION_ROWS,
    )
