"""Where the numbers come from: machine, packages, data sets and their checksums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drmbench.report.markup import Html, details, section, tag
from drmbench.report.sections.tables import plain_table, shown
from drmbench.report.sections.words import times
from drmbench.report.table import Table
from drmbench.run.results import Results

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


def environment_section(results: Mapping[str, Results]) -> Html:
    """Return the section on machine and packages."""
    return section(
        "environment",
        2,
        "Environment",
        shown(_machines(results)),
        shown(_packages(results)),
    )


def data_section(results: Mapping[str, Results], published: Sequence[Table]) -> Html:
    """Return the section on where the data came from.

    Parameters
    ----------
    results : mapping of str to Results
        The experiments.
    published : sequence of Table
        The paper's tables of data sets, beside what the catalogue has.
    """
    return section(
        "data",
        2,
        "Data",
        tag(
            "p",
            "The fingerprint is a hash of the features and classes as methods got them;"
            " checksums are of the files as they were read.",
        ),
        shown(_datasets(results)),
        shown(_files(results)),
        details("The paper's tables of data sets", *map(shown, published)),
    )


def _machines(results: Mapping[str, Results]) -> Table:
    """Return a column for each environment that differs from the others."""
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


def _packages(results: Mapping[str, Results]) -> Table:
    used_by: dict[tuple[str, str], list[str]] = {}
    for name, found in results.items():
        for pair in found.manifest["environment"]["packages"].items():
            used_by.setdefault(pair, []).append(name)
    rows = [(*pair, _all_or(used_by[pair], results)) for pair in sorted(used_by)]
    headings = ("package", "version", "experiments")
    return plain_table("packages", "Packages", headings, rows)


def _all_or(names: list[str], results: Mapping[str, Results]) -> str:
    return "all experiments" if len(names) == len(results) else ", ".join(names)


def _datasets(results: Mapping[str, Results]) -> Table:
    used_by: dict[tuple[str | int, ...], list[str]] = {}
    for experiment, found in results.items():
        for entry in found.manifest["datasets"]:
            used_by.setdefault(_facts(entry), []).append(experiment)
    headings = (
        *("data set", "in the paper", "n", "p", "classes", "stood in", "note"),
        *("source", "fingerprint", "experiments"),
    )
    return plain_table(
        "datasets",
        "Data sets as they were used",
        headings,
        [(*facts, ", ".join(names)) for facts, names in used_by.items()],
    )


def _facts(entry: Mapping[str, Any]) -> tuple[str | int, ...]:
    """Return a data set's row; a set that was never looked at has a name alone."""
    return (
        entry["name"],
        ", ".join(entry.get("paper_names") or ()),
        *(entry.get(size, "") for size in ("n", "p", "classes")),
        entry.get("substitute") or "",
        entry.get("missing") or entry.get("note") or "",
        *(entry.get(field) or "" for field in ("source", "fingerprint")),
    )


def _files(results: Mapping[str, Results]) -> Table:
    """Return each file with its checksum once, however many sets came from it."""
    used_by: dict[tuple[str, str], dict[str, None]] = {}
    for found in results.values():
        for entry in found.manifest["datasets"]:
            for pair in (entry.get("files") or {}).items():
                used_by.setdefault(pair, {})[entry["name"]] = None
    rows = [(*pair, _some(list(used_by[pair]))) for pair in sorted(used_by)]
    headings = ("file", "checksum", "data sets")
    return plain_table("files", "Files and their checksums", headings, rows)


def _some(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else times(len(names), "data set")
