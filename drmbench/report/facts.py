"""Facts about experiments as plain tables: what was run, how, on what, what failed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

from drmbench.data.catalogue import DatasetEntry, load_catalogue
from drmbench.metrics import get_metric
from drmbench.paper import table_rows
from drmbench.protocol.protocol import ScalingMode
from drmbench.report import protocol_words as words
from drmbench.report.table import (
    Cell,
    Column,
    Marks,
    Table,
    left,
    right,
    text_table,
)
from drmbench.running.results import Results, Summary
from drmbench.words import OPTIMISTIC, TABLE_PREPARED

#: The column that says what something is called in the paper.
_IN_PAPER = "in the paper"
_CELL = ["dataset", "method", "mode", "split"]
#: What the manifest calls the facts of a machine, and what the page does.
_MACHINE = {
    **{"drmbench": "drmbench", "commit": "commit", "python": "Python"},
    **{"platform": "platform", "cpu": "processor", "cores": "cores"},
    **{"memory": "memory", "blas": "BLAS", "threads": "BLAS threads"},
}
#: More names than these are counted, not listed.
_LISTED = 4
#: Columns of methods that fit a terminal; beyond that methods become rows.
_MOST_COLUMNS = 6
#: The paper's tables of data sets: number, kind of ours and title.
_DATASET_TABLES = (
    (2, "small-datasets", "Small to medium data sets"),
    (4, "large-datasets", "Large-scale data sets"),
    (7, "imbalanced-datasets", "Imbalanced data sets (KEEL)"),
)
_DATASET_COLUMNS = (
    *left("data set", _IN_PAPER),
    *right("n", "n (paper)", "p", "p (paper)", "classes"),
    *right("train + test", "train + test (paper)", "IR", "IR (paper)"),
    *left("what differs"),
)


@dataclass(frozen=True)
class CellCount:
    """Cells of an experiment: a method on one split of a data set in one mode."""

    #: Cells with any result, also a failure, and cells there should be
    done: int
    expected: int
    #: Cells that failed, that were stopped at the time limit, and that the method does
    #: not apply to
    failed: int
    timeouts: int
    skipped: int


def count_cells(results: Results) -> CellCount:
    """Count the cells of an experiment."""
    rows = results.rows
    bad = (
        len(rows.loc[rows["status"] == status, _CELL].drop_duplicates())
        for status in ("failed", "timeout", "skipped")
    )
    done = len(rows[_CELL].drop_duplicates())
    return CellCount(done, int(results.manifest["expected"]), *bad)


def plain_table(
    name: str, title: str, headings: Sequence[str], rows: Iterable[Sequence[str | int]]
) -> Table:
    """Return a table of texts and whole numbers; columns of numbers align right."""
    lines = [tuple(row) for row in rows]
    columns = tuple(
        Column(heading, "right" if set(map(type, values)) == {int} else "left")
        for heading, *values in zip(headings, *lines, strict=True)
    )
    cells = tuple(
        tuple(
            Cell(f"{value:,}", float(value)) if isinstance(value, int) else Cell(value)
            for value in line
        )
        for line in lines
    )
    return Table(experiment=name, kind="", title=title, columns=columns, rows=cells)


def _without_column(table: Table, heading: str) -> Table:
    """Return a table without a column."""
    place = [column.text for column in table.columns].index(heading)
    return replace(
        table,
        columns=table.columns[:place] + table.columns[place + 1 :],
        rows=tuple(row[:place] + row[place + 1 :] for row in table.rows),
    )


def run_table(results: Mapping[str, Results], *, own: bool = False) -> Table:
    """Return what was run, one row per experiment, and how complete it is.

    Here and below, `own` experiments have no column that speaks of the paper.
    """
    headings = (
        *("experiment", "what", _IN_PAPER, "data sets", "missing", "substituted"),
        *("methods", "cells done", "cells expected", "failed", "timed out", "skipped"),
    )
    rows: list[tuple[str | int, ...]] = []
    for name, found in results.items():
        count, datasets = count_cells(found), found.datasets.values()
        rows.append(
            (
                *(name, found.experiment.title),
                words.target_words(found.experiment.reproduces),
                len(datasets),
                sum(bool(entry.get("missing")) for entry in datasets),
                sum(bool(entry.get("substitute")) for entry in datasets),
                *(len(found.methods), count.done, count.expected),
                *(count.failed, count.timeouts, count.skipped),
            )
        )
    title = "Experiments and how complete they are"
    table = plain_table("run-table", title, headings, rows)
    return _without_column(table, _IN_PAPER) if own else table


def protocol_table(results: Mapping[str, Results]) -> Table:
    """Return how experiments were run, one row per experiment."""
    rows = [
        (
            name,
            words.split_words(found.experiment.split),
            words.selection_words(found),
            words.modes_words(found),
            words.metrics_words(found),
            found.experiment.seed,
        )
        for name, found in results.items()
    ]
    headings = ("experiment", "split", "selection", "scaling", "metrics", "seed")
    return plain_table("protocol-table", "Protocol of each experiment", headings, rows)


def methods_table(results: Results, *, own: bool = False) -> Table:
    """Return the methods of an experiment with their grids."""
    rows = [
        (
            label,
            entry["title"],
            entry["column"] or "",
            words.grid_words(entry["grid"]) or "nothing to choose",
            words.grid_words(entry["params"]),
        )
        for label, entry in results.methods.items()
    ]
    title = f"{results.name}: methods and the parameter values they chose from"
    headings = ("method", "what", "the paper's column", "grid", "fixed")
    name = f"experiment-{results.name}-methods"
    table = plain_table(name, title, headings, rows)
    return _without_column(table, headings[2]) if own else table


def failures_table(results: Results) -> Table:
    """Return what failed, timed out or was skipped, and why."""
    bad = results.rows[results.rows["status"] != "ok"]
    keys = ["dataset", "method", "mode", "scaling", "status", "reason"]
    counts = bad.groupby(keys, sort=False)["split"].nunique()
    return plain_table(
        f"experiment-{results.name}-failures",
        f"{results.name}: what failed, timed out or was skipped",
        ("data set", "method", "mode", "scaling", "status", "reason", "splits"),
        [(*key, int(number)) for key, number in zip(counts.index, counts, strict=True)],
    )


def missing_table(results: Results, *, own: bool = False) -> Table:
    """Return which data was missing, why, and what would get it."""
    table = plain_table(
        f"experiment-{results.name}-missing",
        f"{results.name}: data that was missing",
        ("data set", _IN_PAPER, "why", "command that would get it"),
        [
            (name, ", ".join(entry["paper_names"]), entry["missing"], entry["get"])
            for name, entry in results.datasets.items()
            if entry.get("missing")
        ],
    )
    return _without_column(table, _IN_PAPER) if own else table


def machines_table(results: Mapping[str, Results]) -> Table:
    """Return machines and versions, one column per environment that differs."""
    used_by: dict[tuple[str, ...], list[str]] = {}
    for name, found in results.items():
        manifest = found.manifest
        known = {**manifest["environment"], "drmbench": manifest["drmbench"]}
        facts = tuple(str(known.get(field, "")) for field in _MACHINE)
        used_by.setdefault(facts, []).append(name)
    headings = ["fact", *(_all_or(names, results) for names in used_by.values())]
    rows = zip(_MACHINE.values(), *used_by, strict=True)
    return plain_table("machines", "Machine and versions", headings, rows)


def packages_table(results: Mapping[str, Results]) -> Table:
    """Return packages and versions, and which experiments were run with them."""
    used_by: dict[tuple[str, str], list[str]] = {}
    for name, found in results.items():
        for pair in found.manifest["environment"]["packages"].items():
            used_by.setdefault(pair, []).append(name)
    rows = [(*pair, _all_or(used_by[pair], results)) for pair in sorted(used_by)]
    headings = ("package", "version", "experiments")
    return plain_table("packages", "Packages", headings, rows)


def _all_or(names: list[str], results: Mapping[str, Results]) -> str:
    return "all experiments" if len(names) == len(results) else ", ".join(names)


def datasets_table(results: Mapping[str, Results], *, own: bool = False) -> Table:
    """Return the data sets as they were used, and by which experiments."""
    used_by: dict[tuple[str | int, ...], list[str]] = {}
    for name, found in results.items():
        for entry in found.datasets.values():
            facts = (  # a data set that was never looked at has a name alone
                entry["name"],
                ", ".join(entry.get("paper_names") or ()),
                *(entry.get(size, "") for size in ("n", "p", "classes")),
                entry.get("substitute") or "",
                entry.get("missing") or entry.get("note") or "",
                *(entry.get(field) or "" for field in ("source", "fingerprint")),
            )
            used_by.setdefault(facts, []).append(name)
    headings = (
        *("data set", _IN_PAPER, "n", "p", "classes", "stood in", "note"),
        *("source", "fingerprint", "experiments"),
    )
    rows = [(*facts, ", ".join(names)) for facts, names in used_by.items()]
    table = plain_table("datasets", "Data sets as they were used", headings, rows)
    return _without_column(table, _IN_PAPER) if own else table


def files_table(results: Mapping[str, Results]) -> Table:
    """Return each file with its checksum once, however many sets came from it."""
    used_by: dict[tuple[str, str], dict[str, None]] = {}
    for found in results.values():
        for entry in found.datasets.values():
            for pair in (entry.get("files") or {}).items():
                used_by.setdefault(pair, {})[entry["name"]] = None
    rows = []
    for pair in sorted(used_by):
        names = list(used_by[pair])
        listed = ", ".join(names) if len(names) <= _LISTED else ""
        rows.append((*pair, listed or words.times(len(names), "data set")))
    headings = ("file", "checksum", "data sets")
    return plain_table("files", "Files and their checksums", headings, rows)


def dataset_tables() -> list[Table]:
    """Return the paper's tables of data sets beside what the catalogue has."""
    import pandas as pd  # not for the listings that need none

    by_name = {
        spelling: entry
        for entry in load_catalogue()
        if entry.paper
        for spelling in entry.paper.names
    }
    tables = []
    for number, kind, title in _DATASET_TABLES:
        published = table_rows(f"table{number}_{kind.replace('-', '_')}")
        rows = [_dataset_row(row, by_name[row["dataset"]]) for row in published]
        used = [any(cell.text for cell in cells) for cells in zip(*rows, strict=True)]
        columns = tuple(compress(_DATASET_COLUMNS, used))
        records = [
            {c.text: _number_or_text(x) for c, x in zip(columns, cells, strict=True)}
            for cells in (compress(line, used) for line in rows)
        ]
        used[-1], marks = False, Marks()  # what differs is said below the table
        marked = [
            (replace(line[0], mark=marks(line[-1].text)), *line[1:])
            if line[-1].text
            else line
            for line in rows
        ]
        tables.append(
            Table(
                experiment=f"table{number}",
                kind=kind,
                title=f"Table {number}. {title}: the catalogue against the paper",
                columns=tuple(compress(_DATASET_COLUMNS, used)),
                rows=tuple(tuple(compress(line, used)) for line in marked),
                footnotes=marks.footnotes,
                frame=pd.DataFrame(records, dtype=object),
            )
        )
    return tables


def _number_or_text(cell: Cell) -> float | str:
    return cell.text if cell.value is None else cell.value


def _count(number: int) -> Cell:
    return Cell(f"{number:,}", number)


def _dataset_row(published: Mapping[str, str], entry: DatasetEntry) -> tuple[Cell, ...]:
    ratio = entry.imbalance_ratio if "ir" in published else None
    paper, sizes, published_sizes = entry.paper, "", ""
    if paper and paper.split == "given" and entry.given_split:
        sizes = f"{entry.given_split:,} + {entry.n - entry.given_split:,}"
    elif paper and paper.train:
        sizes = f"{paper.train:,} + {paper.test:,}"
    if published.get("train"):
        published_sizes = f"{int(published['train']):,} + {int(published['test']):,}"
    return (
        *(Cell(entry.name), Cell(published["dataset"])),
        *(_count(entry.n), _count(int(published["size"]))),
        *(_count(entry.p), _count(int(published["dim"]))),
        *(_count(entry.classes), Cell(sizes), Cell(published_sizes)),
        Cell(f"{ratio:.2f}", ratio) if ratio else Cell(""),
        *(Cell(published.get("ir", "")), Cell(entry.difference)),
    )


def overviews(
    results: Results, datasets: Sequence[str] = (), methods: Sequence[str] = ()
) -> Iterator[tuple[str, Table | None, list[str]]]:
    """Give a heading, a table and remarks for each scaling mode of a run.

    They are of the data sets and methods that are named, or of all. Measurements have
    no table here, and a heading that counts them.
    """
    title = results.experiment.title or results.name
    if results.experiment.kind != "classification":
        done = int((results.rows["status"] == "ok").sum())
        expected = results.manifest["expected"]
        yield f"{title}: {done} of {expected} cells done.", None, []
        return
    for mode in results.modes:
        sets, labels = datasets or [*results.datasets], methods or [*results.methods]
        table = _overview(results, mode, sets, labels)
        remarks = list(_remarks(results, mode, sets, labels))
        yield f"{title}; scaling mode {mode}", table, remarks


def _overview(
    results: Results, mode: ScalingMode, datasets: Sequence[str], methods: Sequence[str]
) -> Table:
    """Return the table that a run prints at its end."""
    sign = get_metric(results.metric).sign
    cells: dict[tuple[str, str], Cell] = {}
    named = {}
    for name in datasets:
        facts = results.datasets[name]
        named[name] = f"{name}†" if facts.get("substitute") else name
        row = [results.summary(name, method, mode=mode) for method in methods]
        means = (sign * cell.mean for cell in row if cell.complete)
        best = sign * max(means, default=math.nan)
        for cell in row:
            if cell.done == 0:
                shown = Cell("missing" if facts.get("missing") else "·")
            elif math.isnan(cell.mean):
                splits = results.split_rows(name, cell.method, mode, cell.scaling)
                bad = (r["status"] for r in splits if r["status"] != "ok")
                shown = Cell(next(bad, ""))
            else:
                shown = _figure(cell, best)
            cells[name, cell.method] = shown
    if len(methods) > _MOST_COLUMNS and len(named) <= _MOST_COLUMNS:
        headings = ["method", *named.values()]
        rows = [[Cell(m), *(cells[d, m] for d in named)] for m in methods]
    else:
        headings = ["data set", *methods]
        rows = [[Cell(named[d]), *(cells[d, m] for m in methods)] for d in named]
    return text_table(headings, rows)


def _figure(cell: Summary, best: float) -> Cell:
    is_best = cell.complete and math.isclose(cell.mean, best, abs_tol=5e-5)
    spread = "" if math.isnan(cell.spread) else f" ±{cell.spread:.3f}"
    part = "" if cell.done == cell.expected else f" {cell.done}/{cell.expected}"
    text = f"{cell.mean:.4f}{spread}{'*' if is_best else ''}{part}"
    return Cell(text, cell.mean, bold=is_best)


def _remarks(
    results: Results, mode: ScalingMode, datasets: Sequence[str], methods: Sequence[str]
) -> Iterator[str]:
    metric = get_metric(results.metric)
    yield f"{metric.label}, mean ±sd over splits; * best of its data set."
    if mode == "paper":
        yield f"Mode paper is {OPTIMISTIC}."
    for name in datasets:
        facts = results.datasets[name]
        if facts.get("substitute"):
            yield f"† {facts['substitute']} stands in for {name}: {facts['note']}"
        if facts.get("missing"):
            reason = str(facts["missing"]).partition("\n")[0]
            yield f"{name} is missing: {reason} Get it: {facts['get']}"
    if results.makers:
        yield f"Not computed by one code: {'; '.join(results.makers)}."
    if results.experiment.preparation == "table":
        yield f"{TABLE_PREPARED}."
    yield f"Selection of parameters: {results.selection(mode)}."
    for note, labels in results.selected_otherwise(mode).items():
        if shown := [label for label in labels if label in methods]:
            yield f"‡ {', '.join(shown)}: {note}"
    if len(methods) == len(results.methods):  # they speak of all methods
        yield from (f"‡ {text}" for text in results.experiment.deviations)
