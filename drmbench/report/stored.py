"""Read stored results.

A folder of results has one folder an experiment, each with ``results.csv`` (one row a
data set, method, scaling and split) and ``manifest.json``; ``test_scaling.csv`` has the
models of scaled rows fitted again, where that was done (:mod:`drmbench.run.refit`), and
``rules.csv`` what other ways to read the paper give (``tools/keel_rules.py``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_integer_dtype

from drmbench.errors import InputError, did_you_mean
from drmbench.report.results import Results

ROWS_FILE = "results.csv"
MANIFEST_FILE = "manifest.json"
REFITS_FILE = "test_scaling.csv"
RULES_FILE = "rules.csv"

#: Columns that hold text; an empty cell is an empty text, not a missing number.
_TEXT = ("dataset", "substitute", "method", "scaling", "mode", "status", "reason")
_MORE_TEXT = ("params", "applied_scaling", "notes", "cell", "trace")
#: What identifies a refit, and says whether it is one of the stored row.
_REFIT = ("dataset", "method", "split", "status", "reason", "cell")
#: What a rule that was tried is, and what it gives; the last two are numbers.
_RULES = (
    *("dataset", "column", "method", "reading", "figure", "scaling", "rule"),
    *("mean", "sd"),
)

#: Before 3.1 pandas read a last digit wrong unless asked; now asking is deprecated.
_EVERY_DIGIT: dict[str, Any] = (
    {"float_precision": "round_trip"}
    if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
    else {}
)


def read_rows(path: Path) -> pd.DataFrame:
    """Read a file of result rows; text columns stay text, numbers become numbers.

    Numbers are read to the last digit, so that tables of them are the same everywhere.
    """
    text = dict.fromkeys((*_TEXT, *_MORE_TEXT), str)
    try:
        rows: pd.DataFrame = pd.read_csv(
            path,
            dtype=text,
            keep_default_na=False,
            na_values={column: [""] for column in _numeric_columns(path)},
            **_EVERY_DIGIT,
        )
        return rows
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path}: cannot be read as result rows: {error}") from error


def _numeric_columns(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as stream:
        header = stream.readline().strip().split(",")
    return [name for name in header if name not in (*_TEXT, *_MORE_TEXT)]


def read_results(folder: Path) -> Results:
    """Read the results of one experiment.

    Parameters
    ----------
    folder : Path
        The experiment's folder, with ``results.csv`` and ``manifest.json``.

    Raises
    ------
    InputError
        If a file is missing or not what it should be.
    """
    manifest_path = folder / MANIFEST_FILE
    try:
        manifest = json.loads(manifest_path.read_text(encoding="utf-8"))
        name = str(manifest["experiment"]["name"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{manifest_path}: not a manifest of results: {error}") from (
            error
        )
    return Results(
        name,
        read_rows(folder / ROWS_FILE),
        manifest,
        _read_refits(folder / REFITS_FILE),
        _read_rules(folder / RULES_FILE),
    )


def _read_refits(path: Path) -> pd.DataFrame | None:
    if not path.exists():
        return None
    refits = read_rows(path)
    lacking = [column for column in _REFIT if column not in refits]
    if lacking or (len(refits) and not is_integer_dtype(refits["split"])):
        what = f"lacks {', '.join(lacking)}" if lacking else "has splits without number"
        raise InputError(f"{path}: {what}; delete it and make it anew")
    return refits


def _read_rules(path: Path) -> pd.DataFrame | None:
    if not path.exists():
        return None
    text = dict.fromkeys(_RULES[:-2], str)
    try:
        rules: pd.DataFrame = pd.read_csv(
            path, dtype=text, keep_default_na=False, **_EVERY_DIGIT
        )
        return rules[list(_RULES)].astype({"mean": float, "sd": float})
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path}: cannot be read as rules tried: {error}") from error


def experiments_in(folder: Path) -> list[str]:
    """Return the names of the experiments that have results in a folder, sorted."""
    return sorted(path.parent.name for path in folder.glob(f"*/{MANIFEST_FILE}"))


def load_results(folder: Path, names: Sequence[str] = ()) -> dict[str, Results]:
    """Read the results of some or all experiments in a folder.

    Parameters
    ----------
    folder : Path
        Folder with one folder an experiment, such as ``results/reference``.
    names : sequence of str
        Experiments to read; none means all.

    Raises
    ------
    InputError
        If there is no such experiment; the message lists those there are.
    """
    there = experiments_in(folder)
    for name in names:
        if name not in there:
            listed = ", ".join(there) or "none"
            raise InputError(
                f"{folder} has no results of {name!r}.{did_you_mean(name, there)}"
                f" There are: {listed}. `drmbench run configs/{name}.yaml --out"
                f" {folder}` would make them."
            )
    return {name: read_results(folder / name) for name in names or there}
