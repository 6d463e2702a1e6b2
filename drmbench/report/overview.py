"""The table at the end of a run: data sets x methods, in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from drmbench.metrics import get_metric
from drmbench.protocol.protocol import ScalingMode
from drmbench.run.results import Results, Summary
from drmbench.words import OPTIMISTIC

#: Columns of methods that fit a terminal; beyond that methods become rows.
_MOST_COLUMNS = 6


def overview(
    results: Results, mode: ScalingMode
) -> tuple[list[str], list[list[str]], list[str]]:
    """Return headings, rows and remarks of the table of one scaling mode."""
    cells = {(cell.dataset, cell.method): cell for cell in results.summaries(mode=mode)}
    methods = list(results.methods)
    text, named = {}, {}
    for name, facts in results.datasets.items():
        named[name] = f"{name}†" if facts.get("substitute") else name
        row = [cells[name, method] for method in methods]
        best = max((cell.mean for cell in row if cell.complete), default=math.nan)
        for cell in row:
            is_best = math.isclose(cell.mean, best, abs_tol=5e-5)
            text[name, cell.method] = _cell_text(cell, is_best)
    if len(methods) > _MOST_COLUMNS and len(named) <= _MOST_COLUMNS:
        headings = ["method", *named.values()]
        rows = [[m, *(text[d, m] for d in named)] for m in methods]
    else:
        headings = ["data set", *methods]
        rows = [[named[d], *(text[d, m] for m in methods)] for d in named]
    return headings, rows, list(_remarks(results, mode))


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
