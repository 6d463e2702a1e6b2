"""The committed results: whether their rows are possible, and replacing them."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from drmbench.errors import InputError, quoted, reason_of
from drmbench.files import read_regular, replacing
from drmbench.protocol.protocol import ROWS_OF_MODE
from drmbench.report.check import (
    KEY,
    RowValues,
    compare,
    is_scalar,
    place_of,
    require_columns,
)
from drmbench.report.facts import count_cells
from drmbench.running.manifest import (
    MANIFEST_VERSION,
    read_manifest,
    upgrade,
    write_manifest,
)
from drmbench.running.provenance import merged_makers
from drmbench.running.results import (
    MANIFEST_FILE,
    ROWS_FILE,
    STATUSES,
    Results,
    experiments_in,
    load_results,
    read_results,
)
from drmbench.running.signature import signed


@dataclass(frozen=True)
class Soundness:
    """What the rows of one experiment are like."""

    name: str  #: The experiment
    #: Cells with a result, also one without a figure, and cells there should be
    done: int
    expected: int
    missing: tuple[str, ...] = ()  #: Data sets that could not be obtained; no fault
    faults: tuple[str, ...] = ()  #: What is impossible, each with its file and row
    makers: tuple[str, ...] = ()  #: What computed the cells, if it was not one code

    def summary(self) -> str:
        """Return one line: how complete the rows are, and what was missing.

        Examples
        --------
        >>> Soundness("gene", 20, 30, ("gcm", "pix")).summary()
        'gene: 20 of 30 cells, rows sound; without the data of gcm, pix'
        """
        state = f"faults: {len(self.faults)}" if self.faults else "rows sound"
        joined = "; ".join(self.makers)
        without = f"; without the data of {', '.join(self.missing)}"
        return (
            f"{self.name}: {self.done} of {self.expected} cells,"
            f" {state}{without if self.missing else ''}"
            f"{f'; not of one code: {joined}' if joined else ''}"
        )


def check_folder(folder: Path, names: Sequence[str] = ()) -> list[Soundness]:
    """Check the rows of all experiments of a folder, or of those named.

    Raises InputError if there is no such experiment, or its files cannot be read as
    results.
    """
    return [
        check_rows(results, folder / name)
        for name, results in load_results(folder, names, sound=False).items()
    ]


def check_rows(results: Results, folder: Path) -> Soundness:
    """Check the rows of one experiment, read from `folder`, against its manifest."""
    try:
        _ = results.methods  # looked at with each row
        classified = results.experiment.kind == "classification"
        datasets = results.datasets.items()
        splits = {name: int(entry["splits"]) for name, entry in datasets}
        expected = int(results.manifest["expected"])
        missing = tuple(name for name, entry in datasets if entry.get("missing"))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{folder / MANIFEST_FILE}: not a manifest of results: {quoted(error)}"
        ) from error
    require_columns(results)
    metrics = [m for m in results.experiment.metrics if is_scalar(m)]
    columns = metrics if classified else ["converged"]
    shares = [column for column in columns if column in results.rows]
    # Rows of several runs need not have the same metrics.
    may_lack = bool(results.manifest.get("updates"))
    seen: dict[tuple[Any, ...], int] = {}
    faults = []
    records: list[RowValues] = results.rows.to_dict("records")  # type: ignore[assignment]
    for number, row in enumerate(records, start=1):
        key = tuple(row[column] for column in KEY)
        where = f"{folder / ROWS_FILE}, row {number}: {place_of(key)}"
        if key in seen:
            faults.append(f"{where} is row {seen[key]} again")
        seen.setdefault(key, number)
        strange = _identity_faults(row, results, splits)
        impossible = _figure_faults(row, shares, may_lack)
        faults += [f"{where}: {fault}" for fault in (*strange, *impossible)]
    done = count_cells(results).done
    makers = tuple(results.makers)
    return Soundness(results.name, done, expected, missing, tuple(faults), makers)


def _identity_faults(
    row: RowValues, results: Results, splits: Mapping[str, int]
) -> Iterator[str]:
    """Say what in a row the manifest does not list; a measurement has any scaling."""
    classified = results.experiment.kind == "classification"
    if row["method"] not in results.methods:
        yield f"{MANIFEST_FILE} has no method {quoted(row['method'])}"
    if row["mode"] not in results.modes:
        yield f"{MANIFEST_FILE} has no mode {quoted(row['mode'])}"
    elif classified and row["scaling"] not in ROWS_OF_MODE[row["mode"]]:
        yield f"the mode {row['mode']} has no scaling {quoted(row['scaling'])}"
    if row["dataset"] not in splits:
        yield f"{MANIFEST_FILE} has no data set {quoted(row['dataset'])}"
    elif not _is_split(row["split"], splits[row["dataset"]]):
        last = splits[row["dataset"]] - 1
        yield f"the split is {quoted(row['split'])}, not one of 0 to {last}"


def _is_split(value: Any, number: int) -> bool:
    try:
        return int(value) == float(value) and 0 <= int(value) < number
    except (ValueError, OverflowError):  # a text, nothing, infinity
        return False


def _figure_faults(
    row: RowValues, shares: Sequence[str], may_lack: bool
) -> Iterator[str]:
    """Say which figures of a row are impossible."""
    if row["status"] not in STATUSES:
        yield f"the status is {quoted(row['status'])}, not one of {', '.join(STATUSES)}"
    if row["status"] != "ok":
        return
    for column in shares:
        value = float(row[column])
        if value != value and not may_lack:
            yield f"no {column}, although the status is ok"
        elif value < 0 or value > 1:
            yield f"{column} is {value:g}, not between 0 and 1"


def update_reference(
    reference: Path, fresh: Path, names: Sequence[str] = ()
) -> list[str]:
    """Write fresh results of experiments over the reference, and say what was written.

    Both folders have one folder per experiment; no `names` means all fresh ones. Rows
    that were not run again stay. Their manifest stays too, with what the fresh run adds
    to it, and lists the run under ``updates``. Raises InputError if only a part was run
    and it is not the same experiment; nothing is written for any experiment then.
    """
    wanted = list(names) or experiments_in(fresh)
    known = set(experiments_in(reference))
    for name in wanted:
        old, new = reference / name, fresh / name
        if name not in known or _rows(old).index.isin(_rows(new).index).all():
            continue  # all of it was run again
        obstacles = compare(read_results(old), read_results(new)).obstacles
        if obstacles:
            raise InputError(
                f"{new} has a part of the cells of {old}, and is not the same"
                f" experiment: {'; '.join(obstacles)}. Run all of {name} to replace the"
                " reference."
            )
    return [_update(reference / name, fresh / name, name in known) for name in wanted]


def _rows(folder: Path) -> pd.DataFrame:
    """Read rows as text, so that what stays keeps every digit."""
    path = folder / ROWS_FILE
    try:
        content = io.BytesIO(read_regular(path))
        rows = pd.read_csv(content, dtype=str, keep_default_na=False)
        return rows.set_index(list(KEY), drop=False)
    except (OSError, ValueError, KeyError) as error:
        why = reason_of(error) if isinstance(error, OSError) else error
        raise InputError(f"{path}: cannot be read as result rows: {why}") from error


def _update(reference: Path, fresh: Path, known: bool) -> str:
    """Write one experiment, and say what was written."""
    new = _rows(fresh)
    if new.empty:
        return f"{fresh.name}: no cells, so nothing is updated"
    old = _rows(reference) if known else new.iloc[:0]
    kept = old.index.difference(new.index, sort=False)
    added = new.index.difference(old.index, sort=False)
    if len(kept):
        columns = list(dict.fromkeys([*old.columns, *new.columns]))
        rows = pd.concat([new, old.loc[kept]]).loc[[*old.index, *added], columns]
        was, now = (read_manifest(x / MANIFEST_FILE) for x in (reference, fresh))
        merged = _merged_manifest(was, now, new)
        text = rows.fillna("").to_csv(index=False, lineterminator="\n").encode()
        with replacing(reference / ROWS_FILE) as temporary:
            temporary.write_bytes(text)
        write_manifest(reference / MANIFEST_FILE, signed(merged, text))
    else:
        for name in (ROWS_FILE, MANIFEST_FILE):
            with replacing(reference / name) as temporary:
                shutil.copyfile(fresh / name, temporary)
    if not known:
        return f"{fresh.name}: added {len(new)} cells"
    return (
        f"{fresh.name}: replaced {len(new) - len(added)} cells, added {len(added)},"
        f" kept {len(kept)}"
    )


def sign_reference(folder: Path) -> None:
    """Write the digests of an experiment's rows and manifest into the manifest.

    For whoever changed one of them on purpose; all else stays as it is.
    """
    path = folder / MANIFEST_FILE
    manifest = json.loads(read_regular(path))
    if manifest.get("manifest_version", 1) < MANIFEST_VERSION:
        manifest = upgrade(manifest)
    rows = read_regular(folder / ROWS_FILE)
    write_manifest(path, signed(manifest, rows))


def _merged_manifest(
    old: Mapping[str, Any], new: Mapping[str, Any], rows: pd.DataFrame
) -> dict[str, Any]:
    """Describe the rows of both; `rows` are the new ones.

    The newer config stands if it has every data set and method of the older. Of a data
    set that the new run did not have, for want of data or by a filter, what the
    reference says stays, like its rows.
    """
    datasets = _merged(
        old["datasets"],
        new["datasets"],
        "name",
        lambda entry: bool(entry.get("fingerprint")) and not entry.get("missing"),
    )
    methods = _merged(old["methods"], new["methods"], "label")
    described = len(new["datasets"]), len(new["methods"])
    describing = new if described == (len(datasets), len(methods)) else old
    was, now = old["experiment"], new["experiment"]
    run_again = set(rows["method"])
    experiment = {
        **describing["experiment"],
        "datasets": _merged(was["datasets"], now["datasets"], "name"),
        "methods": _merged(was["methods"], now["methods"], "label"),
        "scaling": list(dict.fromkeys([*was["scaling"], *now["scaling"]])),
        "metrics": list(dict.fromkeys([*was["metrics"], *now["metrics"]])),
        "selection_modes": {**now["selection_modes"], **was["selection_modes"]},
        "selection_overrides": _merged_overrides(was, now, run_again),
    }
    splits = sum(int(entry["splits"]) for entry in datasets)
    run = {key: new.get(key) for key in ("command", "environment")}
    words = [m["selection_words"] for m in (old, new) if "selection_words" in m]
    if words:  # how parameters were selected is not known of the whole either
        overrides = _merged_overrides(words[0], words[-1], run_again)
        old = {**old, "selection_words": {**words[0], "selection_overrides": overrides}}
    return {
        **old,
        "config": describing.get("config"),
        "experiment": experiment,
        "datasets": datasets,
        "methods": methods,
        "expected": splits * len(methods) * len(experiment["scaling"]),
        "made_by": merged_makers(old["made_by"], new["made_by"]),
        "updates": [*old.get("updates", []), {**run, "cells": len(rows)}],
    }


def _merged_overrides(
    was: Mapping[str, Any], now: Mapping[str, Any], run_again: Container[str]
) -> dict[str, Any]:
    """Return the selections of single methods, those of now where they were run."""
    newer = now.get("selection_overrides", {})
    return {
        **was.get("selection_overrides", {}),
        **{label: plan for label, plan in newer.items() if label in run_again},
    }


def _merged(
    old: Sequence[Mapping[str, Any]],
    new: Sequence[Mapping[str, Any]],
    key: str,
    replaces: Callable[[Mapping[str, Any]], bool] = lambda entry: True,
) -> list[Mapping[str, Any]]:
    """Return the old entries, some replaced by their new ones, and what is new."""
    entries = {entry[key]: entry for entry in old}
    entries |= {e[key]: e for e in new if e[key] not in entries or replaces(e)}
    return list(entries.values())
