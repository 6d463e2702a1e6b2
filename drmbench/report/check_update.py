"""Writing fresh results over the reference, without losing what was not run again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from drmbench.errors import InputError
from drmbench.files import replacing
from drmbench.report.check import Comparison, compare
from drmbench.report.check_cells import KEY
from drmbench.run.manifest import read_manifest
from drmbench.run.results import (
    MANIFEST_FILE,
    ROWS_FILE,
    experiments_in,
    read_results,
)


def update_reference(
    reference: Path, fresh: Path, names: Sequence[str] = ()
) -> list[str]:
    """Write fresh results of experiments over the reference.

    Rows that were not run again stay. Their manifest stays too, with what the fresh run
    adds to it, and lists the run under ``updates``.

    Parameters
    ----------
    reference, fresh : Path
        Folders with one folder an experiment.
    names : sequence of str
        Experiments; none means all fresh ones.

    Returns
    -------
    list of str
        What was written, a line an experiment.

    Raises
    ------
    InputError
        If only a part was run and it is not the same experiment; nothing is written
        for any experiment then.
    """
    wanted = list(names) or experiments_in(fresh)
    known = set(experiments_in(reference))
    for name in wanted:
        if name in known and _part(reference / name, fresh / name):
            _refuse_mixture(name, reference, fresh)
    return [_update(reference / name, fresh / name, name in known) for name in wanted]


def _refuse_mixture(name: str, reference: Path, fresh: Path) -> None:
    found: Comparison = compare(
        read_results(reference / name), read_results(fresh / name)
    )
    if found.obstacles:
        raise InputError(
            f"{fresh / name} has a part of the cells of {reference / name}, and is not"
            f" the same experiment: {'; '.join(found.obstacles)}. Run all of {name} to"
            " replace the reference."
        )


def _part(reference: Path, fresh: Path) -> bool:
    """Whether the reference has cells that were not run again."""
    return bool(set(_rows(reference).index) - set(_rows(fresh).index))


def _rows(folder: Path) -> pd.DataFrame:
    """Read rows as text, so that what stays keeps every digit."""
    path = folder / ROWS_FILE
    try:
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
        return rows.set_index(list(KEY), drop=False)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path}: cannot be read as result rows: {error}") from error


def _update(reference: Path, fresh: Path, known: bool) -> str:
    new = _rows(fresh)
    if new.empty:
        return f"{fresh.name}: no cells, so nothing is updated"
    if not known:
        _copy(fresh, reference)
        return f"{fresh.name}: added {len(new)} cells"
    old = _rows(reference)
    kept = old.index.difference(new.index, sort=False)
    if len(kept):
        _merge(reference, fresh, old, new)
    else:
        _copy(fresh, reference)
    added = new.index.difference(old.index)
    return (
        f"{fresh.name}: replaced {len(new) - len(added)} cells, added {len(added)},"
        f" kept {len(kept)}"
    )


def _copy(fresh: Path, reference: Path) -> None:
    for name in (ROWS_FILE, MANIFEST_FILE):
        with replacing(reference / name) as temporary:
            shutil.copyfile(fresh / name, temporary)


def _merge(reference: Path, fresh: Path, old: pd.DataFrame, new: pd.DataFrame) -> None:
    columns = list(dict.fromkeys([*old.columns, *new.columns]))
    order = [*old.index, *new.index.difference(old.index, sort=False)]
    rows = pd.concat([new, old.loc[old.index.difference(new.index, sort=False)]])
    merged = _merged_manifest(
        read_manifest(reference / MANIFEST_FILE),
        read_manifest(fresh / MANIFEST_FILE),
        new,
    )
    with replacing(reference / ROWS_FILE) as temporary:
        rows.loc[order, columns].fillna("").to_csv(
            temporary, index=False, lineterminator="\n"
        )
    with replacing(reference / MANIFEST_FILE) as temporary:
        text = json.dumps(merged, indent=2, ensure_ascii=False)
        temporary.write_text(f"{text}\n", encoding="utf-8")


def _merged_manifest(
    old: Mapping[str, Any], new: Mapping[str, Any], rows: pd.DataFrame
) -> dict[str, Any]:
    """Describe the rows of both; `rows` are the new ones."""
    run = {key: new.get(key) for key in ("command", "environment")}
    datasets = _merged(old["datasets"], new["datasets"], "name", _was_looked_at)
    methods = _merged(old["methods"], new["methods"], "label")
    experiment = _merged_experiment(old, new, set(rows["method"]))
    splits = sum(int(entry["splits"]) for entry in datasets)
    words = [m["selection_words"] for m in (old, new) if "selection_words" in m]
    if words:
        overrides = _merged_overrides(words[0], words[-1], set(rows["method"]))
        old = {**old, "selection_words": {**words[0], "selection_overrides": overrides}}
    return {
        **old,
        "config": (new if _describes_all(old, new) else old).get("config"),
        "experiment": experiment,
        "datasets": datasets,
        "methods": methods,
        "expected": splits * len(methods) * len(experiment["scaling"]),
        "updates": [*old.get("updates", []), {**run, "cells": len(rows)}],
    }


def _merged_experiment(
    old: Mapping[str, Any], new: Mapping[str, Any], run: set[str]
) -> dict[str, Any]:
    """Return the newer description, with what only the older rows have."""
    was, now = old["experiment"], new["experiment"]
    experiment = dict(now if _describes_all(old, new) else was)
    for key in ("scaling", "metrics"):
        experiment[key] = list(dict.fromkeys([*was[key], *now[key]]))
    for key, label in (("datasets", "name"), ("methods", "label")):
        experiment[key] = _merged(was[key], now[key], label)
    experiment["selection_overrides"] = _merged_overrides(was, now, run)
    return experiment


def _merged_overrides(
    was: Mapping[str, Any], now: Mapping[str, Any], run: set[str]
) -> dict[str, Any]:
    """Return how single methods were selected: those that were run now, and then."""
    newer = now.get("selection_overrides", {})
    return {
        **was.get("selection_overrides", {}),
        **{label: plan for label, plan in newer.items() if label in run},
    }


def _describes_all(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Tell whether the newer config has every data set and method of the older."""
    return all(
        {entry[key] for entry in old[part]} <= {entry[key] for entry in new[part]}
        for part, key in (("datasets", "name"), ("methods", "label"))
    )


def _was_looked_at(dataset: Mapping[str, Any]) -> bool:
    """Tell whether a run had a data set.

    Its manifest also describes those that were missing, or that its filters left out;
    what the reference says of them stays, like their rows.
    """
    return bool(dataset.get("fingerprint")) and not dataset.get("missing")


def _merged(
    old: Sequence[Mapping[str, Any]],
    new: Sequence[Mapping[str, Any]],
    key: str,
    replaces: Callable[[Mapping[str, Any]], bool] = lambda entry: True,
) -> list[Mapping[str, Any]]:
    """Return the old entries, some replaced by their new ones, and what is new."""
    entries = {entry[key]: entry for entry in old}
    entries |= {
        entry[key]: entry
        for entry in new
        if entry[key] not in entries or replaces(entry)
    }
    return list(entries.values())
