"""Facts about experiments as plain tables: what was run, how, on what, what failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from drmbench.report.protocol_words import (
    grid_words,
    metrics_words,
    selection_words,
    split_words,
    target_words,
    times,
)
from drmbench.report.table import Cell, Column, Table
from drmbench.run.results import Results

_CELL = ["dataset", "method", "mode", "split"]
#: What the manifest calls the facts of a machine, and what the page does.
_MACHINE = {
    "drmbench": "drmbench",
    "commit": "commit",
    "python": "Python",
    "platform": "platform",
    "cpu": "processor",
    "cores": "cores",
    "memory": "memory",
    "blas": "BLAS",
    "threads": "BLAS threads",
}
#: More names than these are counted, not listed.
_LISTED = 4


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

    @property
    def without_figure(self) -> int:
        """Cells that ended without a figure."""
        return self.failed + self.timeouts + self.skipped


def count_cells(results: Results) -> CellCount:
    """Count the cells of an experiment."""
    rows = results.rows
    return CellCount(
        len(rows[_CELL].drop_duplicates()),
        int(results.manifest["expected"]),
        *(
            len(rows.loc[rows["status"] == status, _CELL].drop_duplicates())
            for status in ("failed", "timeout", "skipped")
        ),
    )


def plain_table(
    name: str,
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str | int]],
) -> Table:
    """Return a table of texts and whole numbers; columns of numbers align right."""
    lines = [tuple(row) for row in rows]
    columns = tuple(
        Column(
            heading, "right" if lines and set(map(type, values)) == {int} else "left"
        )
        for heading, *values in zip(headings, *lines, strict=True)
    )
    cells = (
        tuple(
            Cell(f"{value:,}", float(value)) if isinstance(value, int) else Cell(value)
            for value in line
        )
        for line in lines
    )
    return Table(
        experiment=name, kind="", title=title, columns=columns, rows=tuple(cells)
    )


def run_table(results: Mapping[str, Results]) -> Table:
    """Return what was run, one row per experiment, and how complete it is."""
    headings = (
        *("experiment", "what", "in the paper", "data sets", "missing", "substituted"),
        *("methods", "cells done", "cells expected", "failed", "timed out", "skipped"),
    )
    rows: list[tuple[str | int, ...]] = []
    for name, found in results.items():
        count, datasets = count_cells(found), found.datasets.values()
        rows.append(
            (
                name,
                found.experiment.title,
                target_words(found.experiment.reproduces),
                len(datasets),
                sum(bool(entry.get("missing")) for entry in datasets),
                sum(bool(entry.get("substitute")) for entry in datasets),
                len(found.methods),
                *(count.done, count.expected),
                *(count.failed, count.timeouts, count.skipped),
            )
        )
    title = "Experiments and how complete they are"
    return plain_table("run-table", title, headings, rows)


def protocol_table(results: Mapping[str, Results]) -> Table:
    """Return how experiments were run, one row per experiment."""
    rows = [
        (
            name,
            split_words(found.experiment.split),
            selection_words(found),
            ", ".join(found.modes),
            metrics_words(found),
            found.experiment.seed,
        )
        for name, found in results.items()
    ]
    headings = ("experiment", "split", "selection", "scaling", "metrics", "seed")
    return plain_table("protocol-table", "Protocol of each experiment", headings, rows)


def methods_table(results: Results, name: str) -> Table:
    """Return the methods of an experiment with their grids; `name` is the table's."""
    rows = [
        (
            label,
            entry["title"],
            entry["column"] or "",
            grid_words(entry["grid"]) or "nothing to choose",
            grid_words(entry["params"]),
        )
        for label, entry in results.methods.items()
    ]
    return plain_table(
        name,
        f"{results.name}: methods and the parameter values they chose from",
        ("method", "what", "the paper's column", "grid", "fixed"),
        rows,
    )


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


def missing_table(results: Results) -> Table:
    """Return which data was missing, why, and what would get it."""
    return plain_table(
        f"experiment-{results.name}-missing",
        f"{results.name}: data that was missing",
        ("data set", "in the paper", "why", "command that would get it"),
        [
            (name, ", ".join(entry["paper_names"]), entry["missing"], entry["get"])
            for name, entry in results.datasets.items()
            if entry.get("missing")
        ],
    )


def machines_table(results: Mapping[str, Results]) -> Table:
    """Return machines and versions, one column per environment that differs."""
    used_by: dict[tuple[str, ...], list[str]] = {}
    for name, found in results.items():
        known = {
            **found.manifest["environment"],
            "drmbench": found.manifest["drmbench"],
        }
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


def datasets_table(results: Mapping[str, Results]) -> Table:
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
        *("data set", "in the paper", "n", "p", "classes", "stood in", "note"),
        *("source", "fingerprint", "experiments"),
    )
    rows = [(*facts, ", ".join(names)) for facts, names in used_by.items()]
    return plain_table("datasets", "Data sets as they were used", headings, rows)


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
        rows.append((*pair, listed or times(len(names), "data set")))
    headings = ("file", "checksum", "data sets")
    return plain_table("files", "Files and their checksums", headings, rows)
