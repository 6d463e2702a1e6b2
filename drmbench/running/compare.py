"""A comparison for a person with a table of their own: methods, config, ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from drmbench.data.catalogue import load_catalogue
from drmbench.data.dataset import Dataset
from drmbench.data.reading import Reading
from drmbench.methods.foreign import default_label
from drmbench.metrics import get_metric, mean_and_spread
from drmbench.running.results import Results, Summary

#: Training rows beyond which kernel methods take too long to be sensible.
MANY_ROWS = 8000
#: Rows that parameters are selected on, at most.
SELECTION_ROWS = 500
#: Rows of each class among them, where there are so many.
SELECTION_LEAST = 20
#: Largest class over smallest from which on methods for imbalanced classes are added.
IMBALANCED = 3.0

_DRM_WEIGHTS: Mapping[str, list[Any]] = {
    "alpha": [0.01, 1.0],
    "beta": [0.001, 0.1, 10.0, 1000.0],
}
_DRM_KERNELS = ["linear", "poly 2", "rbf 0.1", "rbf 1", "rbf 10", "rbf 100"]
_DRM_GRID: Mapping[str, list[Any]] = {"kernel": _DRM_KERNELS, **_DRM_WEIGHTS}
#: Boosting in steps of one size: twice the number of steps is much like twice the size.
_BOOSTING_GRID: Mapping[str, list[Any]] = {
    "learning_rate": [0.1],
    "max_leaf_nodes": [4, 31],
    "max_iter": [25, 50, 100, 200],
}
#: Grids of methods that otherwise take much longer than the others.
GRIDS: Mapping[str, Mapping[str, list[Any]]] = {
    **dict.fromkeys(("drm", "drm-balanced", "drm-threshold"), _DRM_GRID),
    **dict.fromkeys(("drm-rbf", "drm-poly"), _DRM_WEIGHTS),
    **dict.fromkeys(("hgb", "hgb-balanced"), _BOOSTING_GRID),
    "drm-exact": {"alpha": [1e-5, 1e-3, 0.1], "beta": [1e-6, 1e-4, 0.01, 1.0, 100.0]},
}

Item = str | Mapping[str, Any]


def _forest(name: str) -> dict[str, Any]:
    """Return a forest of 100 trees, which is enough to tell how a forest does."""
    return {
        "name": name,
        "as": name.replace("500", "100"),
        "grid": {"max_features": ["sqrt"]},
        "params": {"n_estimators": 100},
    }


_ALWAYS: tuple[Item, ...] = ("nb", "logistic", "logistic-balanced", "hgb")
_SMALL: tuple[Item, ...] = ("knn-euclidean", "svm-rbf", "svm-balanced", "drm")
_LARGE: tuple[Item, ...] = ("l2-svm-balanced", "drm-exact", "drm-nystroem")
_WEIGHTED: tuple[Item, ...] = ("hgb-balanced", _forest("rf-500-balanced"))
_SMALL_WEIGHTED: tuple[Item, ...] = ("smote-rf", "drm-balanced", "drm-threshold")


def sensible_methods(dataset: Dataset) -> tuple[Item, ...]:
    """Return the methods that suit a data set's size and balance.

    Whatever the balance, methods that weigh classes are among them: a table of which
    only unweighted methods are tried flatters whichever copes with small classes.
    """
    small = dataset.n_samples <= MANY_ROWS
    found = (*_ALWAYS, *(_SMALL if small else _LARGE), _forest("rf-500"))
    if dataset.imbalance_ratio >= IMBALANCED:
        found += (*(_SMALL_WEIGHTED if small else ()), *_WEIGHTED)
    return found


def comparison_config(
    dataset: Dataset,
    path: Path,
    target: str | None,
    *,
    methods: Sequence[Item],
    metric: str,
    folds: int,
    seed: int,
    repeats: int,
    scaling: str = "honest",
    reading: Reading | None = None,
) -> str:
    """Return the YAML text of an honest comparison, to build on.

    ``dataset`` is what was read from ``path``, ``methods`` are names, classes as
    ``module:Class`` or items of a config, ``metric`` is what selects parameters and is
    reported first, ``folds`` the number of outer folds, drawn ``repeats`` times, and
    ``reading`` what was said about reading the file.
    """
    others = [m for m in ("gmean", "accuracy", "balanced_accuracy") if m != metric]
    # One plan for all: a method that selects otherwise has better or worse luck.
    selection: dict[str, object] = {"kind": "kfold", "k": 5, "metric": metric}
    selection |= {"subset": SELECTION_ROWS, "subset_least": SELECTION_LEAST}
    source: dict[str, object] = {"path": str(path), "name": own_name(dataset.name)}
    if target is not None:
        source["target"] = target
    source |= (reading or Reading()).said()
    config = {
        "name": comparison_name(dataset),
        "title": f"Methods compared on {dataset.name}",
        "datasets": [source],
        "methods": [config_item(method) for method in methods],
        "protocol": {
            "split": {"kind": "kfold", "k": folds, "repeats": repeats},
            "selection": selection,
            "scaling": scaling,
            # The paper scales each part by itself, which leaves nothing to prepare by.
            **({} if scaling == "paper" else {"preparation": "table"}),
        },
        "metrics": [metric, *others],
        "seed": seed,
        "timeout": "10m",
    }
    text: str = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    return text


def _item(method: Item) -> dict[str, Any]:
    """Return a method as a mapping, with the grid that it has in comparisons."""
    if not isinstance(method, str):
        return dict(method)
    if ":" in method:
        return {"estimator": method}
    grid = {"grid": {k: list(v) for k, v in GRIDS.get(method, {}).items()}}
    return {"name": method, **(grid if method in GRIDS else {})}


def config_item(method: Item) -> str | dict[str, Any]:
    """Return a method as a config says it, a name alone where that says all."""
    item = _item(method)
    return str(item["name"]) if item.keys() == {"name"} else item


def label_of(method: Item) -> str:
    """Return what results call a method of a comparison."""
    item = _item(method)
    own = default_label(item["estimator"]) if "estimator" in item else item["name"]
    return str(item.get("as") or own)


def comparison_name(dataset: Dataset) -> str:
    """Return what a comparison is called: two tables of one name share no folder."""
    return f"compare-{slug(dataset.name)}-{dataset.fingerprint[:8]}"


def own_name(name: str) -> str:
    """Return what a table is called that may share its name with the catalogue's.

    Examples
    --------
    >>> own_name("sales"), own_name("iris")
    ('sales', 'my-iris')
    """
    return f"my-{name}" if name in load_catalogue().names else name


def slug(name: str) -> str:
    """Return a name as an experiment may be called.

    Examples
    --------
    >>> slug("My data (v2)")
    'my-data-v2'
    """
    letters = "".join(c if c.isascii() and c.isalnum() else " " for c in name.lower())
    return "-".join(letters.split()) or "data"


def ranking(results: Results) -> list[Summary]:
    """Return the methods of a one-data-set experiment, best first, the rest last.

    Those that are ranked have a figure on the splits that all of them have
    (:func:`judged`).
    """
    ranked = judged(results)
    names = {cell.method for cell in ranked}
    rest = [cell for cell in results.summaries() if cell.method not in names]
    return ranked + sorted(rest, key=lambda cell: (math.isnan(cell.mean), -cell.done))


def judged(results: Results) -> list[Summary]:
    """Return the methods that can be compared, best first, on the same splits.

    Where a run ended early these are the methods that have all folds of the first
    repeat at least, on the splits that all of these have.
    """
    first = set(range(results.experiment.split.k))
    found: list[tuple[Summary, dict[int, float]]] = []
    for cell in results.summaries():
        if not math.isnan(cell.mean):
            mode = results.modes[0]
            rows = results.split_rows(cell.dataset, cell.method, mode, cell.scaling)
            numbers = [int(row["split"]) for row in rows]
            values = dict(zip(numbers, cell.values, strict=True))
            if first <= values.keys():
                found.append((cell, values))
    if not found:
        return []
    common = sorted(set.intersection(*(set(values) for _, values in found)))
    sign, ranked = get_metric(results.metric).sign, []
    for cell, values in found:
        kept = tuple(values[number] for number in common)
        mean, spread = mean_and_spread(kept)
        ranked.append(
            replace(cell, mean=mean, spread=spread, done=len(kept), values=kept)
        )
    return sorted(ranked, key=lambda cell: -sign * cell.mean)


def seconds_of(results: Results, dataset: str, method: str) -> float:
    """Return the seconds of selection, fit and prediction over all of a cell's rows."""
    rows = results.rows
    rows = rows[(rows["dataset"] == dataset) & (rows["method"] == method)]
    columns = ["seconds_select", "seconds_fit", "seconds_predict"]
    return float(rows[columns].sum().sum())
