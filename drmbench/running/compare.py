"""A comparison for a person with a table of their own: the config, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from drmbench.data.catalogue import load_catalogue
from drmbench.data.dataset import Dataset
from drmbench.data.reading import Reading
from drmbench.methods.foreign import default_label
from drmbench.methods.registry import get_method
from drmbench.metrics import get_metric, mean_and_spread
from drmbench.running.results import Results, Summary

#: Training rows beyond which kernel methods take too long to be sensible.
MANY_ROWS = 8000
#: Rows that parameters are selected on, at most.
SELECTION_ROWS = 500
#: Largest class over smallest from which on over-sampling is worth a try.
IMBALANCED = 3.0

_SMALL = (
    *("drm-rbf", "drm-poly", "drm-linear", "svm-rbf", "svm-linear"),
    *("knn-euclidean", "knn-cosine", "rf", "c45-plain", "nb"),
)
_LARGE = ("drm-exact", "l2-svm", "rf", "nb")
#: Families in which leave-one-out costs about as much as one fit.
_FAST_LEAVE_ONE_OUT = ("drm", "krr", "knn", "nb", "drm-large", "crc", "ridge")
_OVERSAMPLED = ("smote-rf", "smote-knn")
#: How the other methods select.
_FEW_FOLDS: dict[str, object] = {
    "kind": "kfold",
    "k": 5,
    "note": "5-fold selection; there is no fast leave-one-out",
}


def sensible_methods(dataset: Dataset) -> tuple[str, ...]:
    """Return the methods that suit a data set's size and balance."""
    if dataset.n_samples > MANY_ROWS:
        return _LARGE
    if dataset.imbalance_ratio >= IMBALANCED:
        return _SMALL + _OVERSAMPLED
    return _SMALL


def comparison_config(
    dataset: Dataset,
    path: Path,
    target: str | None,
    *,
    methods: Sequence[str | Mapping[str, Any]],
    metric: str,
    folds: int,
    seed: int,
    repeats: int = 1,
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
    items = [_item(method) for method in methods]
    slow = {
        _label(item): {**_FEW_FOLDS}
        for item in items
        if not _has_fast_leave_one_out(item)
    }
    selection: dict[str, object] = {"kind": "loo", "metric": metric}
    selection["subset"] = SELECTION_ROWS
    if slow:
        selection["methods"] = slow
    source: dict[str, object] = {"path": str(path), "name": own_name(dataset.name)}
    if target is not None:
        source["target"] = target
    source |= (reading or Reading()).said()
    config = {
        "name": f"compare-{slug(dataset.name)}",
        "title": f"Methods compared on {dataset.name}",
        "datasets": [source],
        "methods": [
            item["name"] if item.keys() == {"name"} else item for item in items
        ],
        "protocol": {
            "split": {"kind": "kfold", "k": folds, "repeats": repeats},
            "selection": selection,
            "scaling": scaling,
            "preparation": "table",
        },
        "metrics": [metric, *others],
        "seed": seed,
        "timeout": "10m",
    }
    text: str = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    return text


def _item(method: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return a method as an item of a config."""
    if isinstance(method, str):
        return {"estimator" if ":" in method else "name": method}
    return dict(method)


def _label(item: Mapping[str, Any]) -> str:
    own = default_label(item["estimator"]) if "estimator" in item else item["name"]
    return str(item.get("as") or own)


def _has_fast_leave_one_out(item: Mapping[str, Any]) -> bool:
    if "estimator" in item:
        return False
    method = get_method(item["name"])
    fast = method.family in _FAST_LEAVE_ONE_OUT
    return fast and method.predict_left_out is not None


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
    """Return the methods of a one-data-set experiment, best first, failures last."""
    sign = get_metric(results.metric).sign
    return sorted(
        results.summaries(),
        key=lambda c: (not c.complete, math.isnan(c.mean), -sign * c.mean),
    )


def seconds_of(results: Results, dataset: str, method: str) -> float:
    """Return the seconds of selection, fit and prediction over all of a cell's rows."""
    rows = results.rows
    rows = rows[(rows["dataset"] == dataset) & (rows["method"] == method)]
    columns = ["seconds_select", "seconds_fit", "seconds_predict"]
    return float(rows[columns].sum().sum())


def verdict(results: Results) -> str:
    """Say in plain words which method did best, and how sure that is."""
    ranked = [cell for cell in ranking(results) if cell.complete]
    if not ranked:
        return "No method came to a result on every split; see the reasons above."
    best = ranked[0]
    sign = get_metric(results.metric).sign
    equal = [c.method for c in ranked[1:] if not clearly_better(best, c, sign)]
    text = f"Best: {best.method} ({results.metric} {best.mean:.3f})."
    if equal:
        text += f" Not clearly worse on these splits: {', '.join(equal)}."
    elif len(ranked) > 1:
        text += " It is clearly ahead of all others on these splits."
    drm = next((cell for cell in ranked if "drm" in cell.method), best)
    if drm is not best:
        text += (
            f" The best DRM, {drm.method}, is number {ranked.index(drm) + 1} of"
            f" {len(ranked)}, {abs(best.mean - drm.mean):.3f} behind."
        )
    return text


def clearly_better(best: Summary, other: Summary, sign: int = 1) -> bool:
    """Say whether a lead is more than two standard errors of the paired differences.

    The splits share training rows, so this is a rule of thumb, not a test. The sign is
    -1 where lower values are better.
    """
    pairs = zip(best.values, other.values, strict=True)
    differences = [sign * (a - b) for a, b in pairs]
    if len(differences) < 2:
        return False
    mean, spread = mean_and_spread(differences)
    return mean > 0 and mean > 2 * spread / math.sqrt(len(differences))
