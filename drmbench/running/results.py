"""Stored results: tidy rows, a manifest, and summaries.

A folder of results has one folder per experiment, each with ``results.csv`` (one row
per data set, method, scaling and split) and ``manifest.json``; ``test_scaling.csv`` has
the models of scaled rows fitted again, where that was done
(:mod:`drmbench.running.refit`), and ``rules.csv`` what other ways to read the paper
give (``tools/keel_rules.py``).
"""

from __future__ import annotations

import io
import logging
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_integer_dtype

from drmbench.config.model import Experiment
from drmbench.data.fast_cells import EVERY_DIGIT
from drmbench.errors import InputError, did_you_mean, quoted
from drmbench.files import read_regular
from drmbench.metrics import METRICS, get_metric, mean_and_spread
from drmbench.protocol.evaluate import better_on_test
from drmbench.protocol.protocol import ROWS_OF_MODE, ScalingMode
from drmbench.running.manifest import read_manifest
from drmbench.running.provenance import maker_words, one_code
from drmbench.running.signature import AlteredResultsError, healing, require_rows
from drmbench.running.store import JOURNAL, Store

logger = logging.getLogger(__name__)
_warn_once = lru_cache(maxsize=64)(logger.warning)

ROWS_FILE = "results.csv"
MANIFEST_FILE = "manifest.json"
REFITS_FILE = "test_scaling.csv"
RULES_FILE = "rules.csv"

#: Columns that hold text; an empty cell is an empty text, not a missing number.
_TEXT = (
    *("dataset", "substitute", "method", "scaling", "mode", "status", "reason"),
    *("params", "applied_scaling", "notes", "cell", "trace"),
)
#: What identifies a refit, and says whether it is one of the stored row.
_REFIT = ("dataset", "method", "split", "status", "reason", "cell")
#: What a rule that was tried is, and what it gives; the last two are numbers.
_RULES = (
    *("dataset", "column", "method", "reading", "figure", "scaling", "rule"),
    *("mean", "sd"),
)

#: What every row has.
_IDENTITY = ("dataset", "method", "mode", "scaling", "split", "status", "reason")

#: What can become of a cell.
STATUSES = ("ok", "failed", "timeout", "skipped")
#: What a metric's columns of refits end with: whose maxima scaled the test part.
OWN_MAXIMA, TRAINING_MAXIMA = "_own_maxima", "_training_maxima"


@dataclass(frozen=True)
class Summary:
    """One cell of a table: a method on a data set, over all splits."""

    #: Name and label, as in the rows
    dataset: str
    method: str
    #: Over the splits that are done; NaN if none is. Splits on which the method failed
    #: count as the metric's worst value if any other succeeded, as the published
    #: figures do.
    mean: float
    spread: float
    #: Splits with a result (also one that failed), and splits there should be
    done: int
    expected: int
    failed: int = 0  #: Splits on which the method failed or timed out
    #: What the rows say; in the mode ``paper`` the better one on the test parts
    scaling: str = ""
    reason: str = ""  #: Why there is no figure, or why some splits failed; else empty
    values: tuple[float, ...] = ()  #: The values over the splits, in split order

    @property
    def complete(self) -> bool:
        """Whether all expected splits are done and there is a figure."""
        return self.done == self.expected and not math.isnan(self.mean)


@dataclass(frozen=True, eq=False)
class Results:
    """The stored results of one experiment."""

    name: str  #: Name of the experiment
    rows: pd.DataFrame  #: One row per data set, method, scaling and split
    manifest: dict[str, Any]  #: How the rows came about, and what was expected
    #: Models of scaled rows fitted again: one row per data set, method and split; None
    #: if that was not done
    refits: pd.DataFrame | None = None
    #: What other ways to read the paper give: one row per data set, way and scaling;
    #: None if none was tried
    rules: pd.DataFrame | None = None

    @cached_property
    def experiment(self) -> Experiment:
        """What was run."""
        return Experiment.model_validate(self.manifest["experiment"])

    @property
    def plans_known(self) -> bool:
        """Whether it is known how parameters were selected, not only in words.

        It is not where an early manifest has a config that is not valid any more.
        """
        return "selection_words" not in self.manifest

    @cached_property
    def datasets(self) -> dict[str, dict[str, Any]]:
        """What the manifest says of each data set, by name, in the config's order."""
        return {entry["name"]: entry for entry in self.manifest["datasets"]}

    @cached_property
    def methods(self) -> dict[str, dict[str, Any]]:
        """What the manifest says of each method, by label, in the config's order."""
        return {entry["label"]: entry for entry in self.manifest["methods"]}

    @cached_property
    def makers(self) -> list[str]:
        """What computed the cells, each in words, if it was not one code; else none."""
        found = self.manifest.get("made_by") or []
        return [] if one_code(found) else maker_words(found)

    @property
    def modes(self) -> tuple[ScalingMode, ...]:
        """The scaling modes that were run, in the config's order."""
        return self.experiment.scaling

    def selection(self, mode: ScalingMode) -> str:
        """Say how parameters were selected in a scaling mode."""
        words = self.manifest.get("selection_words")
        if words is None:
            return self.experiment.selection_for(None, mode).describe()
        by_mode = words.get("selection_modes", {})
        return str(by_mode.get(mode) or words.get("selection", ""))

    def selection_overrides(self, mode: ScalingMode) -> dict[str, str]:
        """Say how they were selected for single methods in a mode, by label."""
        words = self.manifest.get("selection_words")
        if words is not None:
            uniform = mode in words.get("uniform_modes", ())
            return {} if uniform else dict(words.get("selection_overrides", {}))
        if mode in self.experiment.selection_modes:
            return {}
        return {
            label: plan.note or plan.describe()
            for label, plan in self.experiment.selection_overrides.items()
        }

    def selected_otherwise(self, mode: ScalingMode) -> dict[str, list[str]]:
        """Return the labels of the methods of each other way of selection."""
        labels: dict[str, list[str]] = {}
        for label, text in self.selection_overrides(mode).items():
            labels.setdefault(text, []).append(label)
        return labels

    @property
    def metric(self) -> str:
        """The metric that tables show first."""
        return self.experiment.metrics[0]

    def summary(
        self,
        dataset: str,
        method: str,
        *,
        mode: ScalingMode | None = None,
        metric: str | None = None,
    ) -> Summary:
        """Summarise a method on a data set over its splits.

        Mode and metric are the experiment's first if they are not given; the metric
        must be one number per row.
        """
        mode, metric = mode or self.modes[0], metric or self.metric
        key = dataset, method, mode, metric
        if key not in self._summaries:
            self._summaries[key] = self._summarised(*key)
        return self._summaries[key]

    def _summarised(
        self, dataset: str, method: str, mode: ScalingMode, metric: str
    ) -> Summary:
        expected = int(self.datasets[dataset]["splits"])
        worst = get_metric(metric, scalar=True).worst
        values: dict[str, list[float]] = {
            scaling: [float(r[metric]) if r["status"] == "ok" else worst for r in rows]
            for scaling in ROWS_OF_MODE[mode]
            if (rows := self.split_rows(dataset, method, mode, scaling))
        }
        mean = spread = math.nan
        if not values:
            reason = self.datasets[dataset].get("missing") or "not run"
            return Summary(dataset, method, mean, spread, 0, expected, reason=reason)
        scaling = better_on_test(values, metric)
        rows = self.split_rows(dataset, method, mode, scaling)
        bad = [row for row in rows if row["status"] != "ok"]
        if len(bad) < len(rows):
            mean, spread = mean_and_spread(values[scaling])
        return Summary(
            *(dataset, method, mean, spread, len(rows), expected, len(bad), scaling),
            reason=f"{bad[0]['status']}: {bad[0]['reason']}" if bad else "",
            values=tuple(values[scaling]),
        )

    def split_rows(
        self, dataset: str, method: str, mode: ScalingMode, scaling: str
    ) -> Sequence[dict[str, Any]]:
        """Return a method's rows on a data set under one scaling, in split order."""
        return self._groups.get((dataset, method, mode, scaling), ())

    def refit_of(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the refit of a scaled row, or None if there is none of this very row.

        A row that was run again, with another grid say, has another ``cell``, and the
        old refit is no longer its own.
        """
        found = self._refits.get((row["dataset"], row["method"], int(row["split"])))
        if found is None or found["status"] != "ok" or found["cell"] != row["cell"]:
            return None
        return found

    def summaries(self, *, mode: ScalingMode | None = None) -> Iterator[Summary]:
        """Give the summary of every data set and method, data set by data set."""
        for dataset in self.datasets:
            for method in self.methods:
                yield self.summary(dataset, method, mode=mode)

    def means(self, *, mode: ScalingMode | None = None) -> pd.DataFrame:
        """Return data sets x methods with the means; NaN where not complete."""
        frame = pd.DataFrame(
            math.nan, index=list(self.datasets), columns=list(self.methods), dtype=float
        )
        for cell in self.summaries(mode=mode):
            if cell.complete:
                frame.loc[cell.dataset, cell.method] = cell.mean
        return frame

    @cached_property
    def _summaries(self) -> dict[tuple[str, str, str, str], Summary]:
        """What was summarised: tables, figures and text ask for the same."""
        return {}

    @cached_property
    def _refits(self) -> dict[tuple[str, str, int], dict[str, Any]]:
        if self.refits is None:
            return {}
        records: list[dict[str, Any]] = self.refits.to_dict("records")  # type: ignore[assignment]
        return {(r["dataset"], r["method"], int(r["split"])): r for r in records}

    @cached_property
    def _groups(self) -> dict[tuple[str, str, str, str], list[dict[str, Any]]]:
        """The rows of each data set, method, mode and scaling, in split order."""
        groups: dict[tuple[str, str, str, str], list[dict[str, Any]]] = {}
        ordered = self.rows.sort_values("split", kind="stable")
        records: list[dict[str, Any]] = ordered.to_dict("records")  # type: ignore[assignment]
        for row in records:
            key = (row["dataset"], row["method"], row["mode"], row["scaling"])
            groups.setdefault(key, []).append(row)
        return groups


def rows_expected(results: Results) -> int:
    """Return how many rows an experiment has when it is complete."""
    splits = sum(int(entry["splits"]) for entry in results.datasets.values())
    if results.experiment.kind == "classification":
        rows = sum(len(ROWS_OF_MODE[mode]) for mode in results.modes)
    else:
        rows = len(results.modes)
    return splits * len(results.methods) * rows


def read_rows(path: Path, content: bytes | None = None) -> pd.DataFrame:
    """Read a file of result rows; text columns stay text, numbers become numbers.

    Numbers are read to the last digit, so that tables of them are the same everywhere.
    ``content`` is that of the file, if it was read already.
    """
    text = dict.fromkeys(_TEXT, str)
    with _reading(path, "result rows"):
        source = io.BytesIO(read_regular(path) if content is None else content)
        rows: pd.DataFrame = pd.read_csv(
            source, dtype=text, keep_default_na=False, na_values=[""], **EVERY_DIGIT
        )
        return rows.fillna(dict.fromkeys(set(_TEXT).intersection(rows), ""))


def read_results(folder: Path) -> Results:
    """Read the results in an experiment's folder; every file must be sound."""
    manifest, rows = _read_view(folder)
    name = manifest["experiment"]["name"]
    refits = rules = None
    if (path := folder / REFITS_FILE).exists():
        refits = read_rows(path)
        lacking = [column for column in _REFIT if column not in refits]
        if lacking or (len(refits) and not is_integer_dtype(refits["split"])):
            lacks = f"lacks {', '.join(lacking)}"
            what = lacks if lacking else "has splits without number"
            raise InputError(f"{path}: {what}; delete it and make it again")
    if (path := folder / RULES_FILE).exists():
        text = dict.fromkeys(_RULES[:-2], str)
        with _reading(path, "rules tried"):
            content = io.BytesIO(read_regular(path))
            found: pd.DataFrame = pd.read_csv(
                content, dtype=text, keep_default_na=False, **EVERY_DIGIT
            )
            rules = found[list(_RULES)].astype({"mean": float, "sd": float})
    return Results(name, rows, manifest, refits, rules)


def _read_view(folder: Path) -> tuple[dict[str, Any], pd.DataFrame]:
    """Read a manifest and its rows, which a run may be replacing at this moment."""
    for seconds in (0.05, 0.2, None) if (folder / JOURNAL).exists() else (None,):
        try:
            manifest = read_manifest(folder / MANIFEST_FILE)
            path = folder / ROWS_FILE
            with _reading(path, "result rows"):
                content = read_regular(path)
            require_rows(manifest, content, path)
            break
        except AlteredResultsError:
            if seconds is None:
                raise
            time.sleep(seconds)
    rows = read_rows(path, content)
    _require_journal(folder, manifest, rows)
    return manifest, rows


def _require_journal(
    folder: Path, manifest: Mapping[str, Any], rows: pd.DataFrame
) -> None:
    """Refuse rows of cells that the journal beside them does not have."""
    written = (manifest.get("digests") or {}).get("journal")
    if not written or not (folder / JOURNAL).exists() or "cell" not in rows:
        return
    store = Store(folder, read_only=True)
    lost = set(rows["cell"]) - store.records.keys()
    if lost or store.generation < written["generation"]:
        raise AlteredResultsError(
            f"{folder / ROWS_FILE} was not written from the {JOURNAL} beside it, which"
            f" lacks {len(lost)} of its cells. {healing(folder)}"
        )


@contextmanager
def _reading(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read as {what}: {why}") from error


def experiments_in(folder: Path) -> list[str]:
    """Return the names of the experiments that have results in a folder, sorted."""
    return sorted(path.parent.name for path in folder.glob(f"*/{MANIFEST_FILE}"))


def without_manifest(folder: Path) -> list[Path]:
    """Return the folders of experiments whose manifest was lost, sorted."""
    left = {p.parent for name in (ROWS_FILE, JOURNAL) for p in folder.glob(f"*/{name}")}
    return sorted(path for path in left if not (path / MANIFEST_FILE).exists())


def load_results(
    folder: Path, names: Sequence[str] = (), *, sound: bool = True
) -> dict[str, Results]:
    """Read the results of some experiments below a folder; no name means all.

    Rows that cannot be are refused, unless they need not be ``sound``. A folder whose
    manifest was lost is named in a warning, once.
    """
    there, lost = experiments_in(folder), without_manifest(folder)
    for path in lost if not names else ():
        _warn_once(f"{path} has no {MANIFEST_FILE} and is left out. {healing(path)}")
    for name in names:
        if folder / name in lost:
            path = folder / name
            raise InputError(f"{path} has no {MANIFEST_FILE}. {healing(path)}")
        if name not in there:
            listed = ", ".join(there) or "none"
            raise InputError(
                f"{folder} has no results of {quoted(name)}.{did_you_mean(name, there)}"
                f" There are: {listed}. `drmbench run configs/{name}.yaml --out"
                f" {folder}` would make them."
            )
    found = {name: read_results(folder / name) for name in names or there}
    for name, results in found.items() if sound else ():
        _require_sound(results, folder / name / ROWS_FILE)
    return found


def _require_sound(results: Results, path: Path) -> None:
    """Refuse rows that lack a column, or say what rows cannot say."""
    rows, again = results.rows, "it is damaged: run the experiment again to write it"
    metrics: list[str] = []
    if results.experiment.kind == "classification":
        metrics = [name for name in results.experiment.metrics if name in METRICS]
    lacking = [name for name in (*_IDENTITY, *metrics) if name not in rows]
    if lacking:
        raise InputError(f"{path} lacks {', '.join(lacking)}; {again}")
    numbers = ["split", *(name for name in metrics if METRICS[name].scalar)]
    read = rows[numbers].apply(pd.to_numeric, errors="coerce")
    strange = {
        **{column: read[column].isna() & rows[column].notna() for column in numbers},
        "status": ~rows["status"].isin(STATUSES),
        "method": ~rows["method"].isin(list(results.methods)),
        "dataset": ~rows["dataset"].isin(list(results.datasets)),
    }
    for column, wrong in strange.items():
        if wrong.any():
            number = int(wrong.to_numpy().argmax())
            value = rows[column].iloc[number]
            where = f"{path}, row {number + 1}"
            raise InputError(f"{where}: {column} cannot be {quoted(value)}; {again}")
    if len(rows) and not is_integer_dtype(rows["split"]):
        raise InputError(f"{path}: a row has no whole number as its split; {again}")
