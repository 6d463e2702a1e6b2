"""The cells of experiments as compact data: what a browser shows of each.

An experiment's rows are laid out as a grid, data set by method by scaling by split, and
each of their columns is one list in that order, so that nothing is said twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from drmbench.protocol.protocol import ROWS_OF_MODE
from drmbench.report.protocol_words import run_command, selection_words, split_words
from drmbench.running.results import Results

#: Metrics are whole numbers of these.
UNITS = 10_000
#: What is said of each split besides metrics.
_BESIDES = ("seconds", "predict", "params", "scaling")


def cells_data(results: Mapping[str, Results]) -> list[dict[str, Any]]:
    """Return the cells of all experiments that classify, one entry per experiment.

    The lists of ``columns`` have a value for every data set, method, pair of ``ways``
    (scaling mode and scaling) and split, in this order; None where nothing was run.
    Metrics count ten-thousandths, ``seconds`` are of selection and fit, ``predict`` are
    those of prediction; ``params`` and ``scaling`` are places in ``texts``.
    ``failures`` has what went wrong, by place.
    """
    return [
        _experiment(found)
        for found in results.values()
        if found.experiment.kind == "classification"
    ]


def _experiment(found: Results) -> dict[str, Any]:
    metrics = [name for name in found.experiment.metrics if name in found.rows.columns]
    ways = [(mode, scaling) for mode in found.modes for scaling in ROWS_OF_MODE[mode]]
    texts: dict[str, int] = {}
    columns: dict[str, list[float | int | None]] = {
        name: [] for name in (*metrics, *_BESIDES)
    }
    failures: dict[int, str] = {}
    for dataset, entry in found.datasets.items():
        for method in found.methods:
            for mode, scaling in ways:
                rows = found.split_rows(dataset, method, mode, scaling)
                by_split = {int(row["split"]): row for row in rows}
                for split in range(int(entry["splits"])):
                    row = by_split.get(split)
                    if row is not None and row["status"] != "ok":
                        failures[len(columns["seconds"])] = (
                            f"{row['status']}: {row['reason']}"
                        )
                    for name, value in _values(row, metrics, texts).items():
                        columns[name].append(value)
    environment = found.manifest["environment"]
    return {
        "name": found.name,
        "title": found.experiment.title,
        "command": run_command(found),
        "commit": str(environment.get("commit") or ""),
        "version": found.manifest["drmbench"],
        "machine": str(environment.get("cpu") or ""),
        "split": split_words(found.experiment.split),
        "selection": selection_words(found),
        "metrics": metrics,
        "ways": ways,
        "methods": list(found.methods),
        "datasets": [
            {
                "name": name,
                "real": entry.get("substitute") or name,
                "splits": int(entry["splits"]),
                "missing": entry.get("missing") or "",
            }
            for name, entry in found.datasets.items()
        ],
        "columns": columns,
        "failures": failures,
        "texts": list(texts),
    }


def _values(
    row: Mapping[str, Any] | None, metrics: Sequence[str], texts: dict[str, int]
) -> dict[str, float | int | None]:
    """Return a row's value in each column; texts that are new get a place."""
    if row is None or row["status"] != "ok":
        return dict.fromkeys((*metrics, *_BESIDES))
    spent = float(row["seconds_select"]) + float(row["seconds_fit"])
    return {
        **{name: _whole(row[name]) for name in metrics},
        "seconds": short(spent),
        "predict": short(float(row["seconds_predict"])),
        **{
            name: texts.setdefault(str(row[column]), len(texts))
            for name, column in (("params", "params"), ("scaling", "applied_scaling"))
        },
    }


def _whole(value: Any) -> int | None:
    number = float(value) if isinstance(value, int | float) else math.nan
    return None if math.isnan(number) else round(number * UNITS)


def short(value: float) -> float | int | None:
    """Return a number with two significant digits; None for NaN.

    Examples
    --------
    >>> short(0.012345), short(123.4), short(0.0)
    (0.012, 120, 0)
    """
    if math.isnan(value):
        return None
    rounded = float(f"{value:.2g}")
    return int(rounded) if rounded == int(rounded) else rounded
