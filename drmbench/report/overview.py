"""The table at the end of a run: data sets x methods, in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from drmbench.metrics import get_metric
from drmbench.protocol.protocol import OPTIMISTIC, ScalingMode
from drmbench.run.results import Results, Summary

#: Columns of methods that fit a terminal; beyond that methods become rows.
_MOST_COLUMNS = 6


def overview(
    results: Results, mode: ScalingMode
) -> tuple[list[str], list[list[str]], list[str]]:
    """Return headings, rows and remarks of the table of one scaling mode."""
    cells = {(cell.dataset, cell.method): cell for cell in results.summaries(mode=mode)}
    datasets, methods = list(results.datasets), list(results.methods)
    best = {name: _best(results, name, cells) for name in datasets}
    text = {
        key: _cell_text(cell, math.isclose(cell.mean, best[key[0]], abs_tol=5e-5))
        for key, cell in cells.items()
    }
    named = {name: _dataset_text(results, name) for name in datasets}
    if len(methods) > _MOST_COLUMNS and len(datasets) <= _MOST_COLUMNS:
        rows = [[m, *(text[d, m] for d in datasets)] for m in methods]
        return ["method", *named.values()], rows, list(_remarks(results, mode))
    rows = [[named[d], *(text[d, m] for m in methods)] for d in datasets]
    return ["data set", *methods], rows, list(_remarks(results, mode))


def _best(
    results: Results, dataset: str, cells: dict[tuple[str, str], Summary]
) -> float:
    complete = [
        cell.mean
        for method in results.methods
        if (cell := cells[dataset, method]).complete
    ]
    return max(complete, default=math.nan)


def _dataset_text(results: Results, name: str) -> str:
    return f"{name}†" if results.datasets[name].get("substitute") else name


def _cell_text(cell: Summary, is_best: bool) -> str:
    if cell.done == 0:
        return "missing" if cell.reason != "not run" else "·"
    if math.isnan(cell.mean):
        return cell.reason.partition(":")[0]
    spread = "" if math.isnan(cell.spread) else f" ±{cell.spread:.3f}"
    part = "" if cell.done == cell.expected else f" {cell.done}/{cell.expected}"
    return f"{cell.mean:.4f}{spread}{'*' if is_best and cell.complete else ''}{part}"


def _remarks(results: Results, mode: ScalingMode) -> Iterator[str]:
    metric = get_metric(results.metric)
    yield f"{metric.label}, mean ±sd over splits; * best of its data set."
    if mode == "paper":
        yield f"Mode paper is {OPTIMISTIC}."
    for name, facts in results.datasets.items():
        if facts.get("substitute"):
            yield f"† {facts['substitute']} stands in for {name}: {facts['note']}"
        if facts.get("missing"):
            reason = str(facts["missing"]).partition("\n")[0]
            yield f"{name} is missing: {reason} Get it: {facts['get']}"
    yield f"Selection of parameters: {results.selection(mode)}."
    for note, labels in results.selected_otherwise(mode).items():
        yield f"‡ {', '.join(labels)}: {note}"
    for text in results.experiment.deviations:
        yield f"‡ {text}"
