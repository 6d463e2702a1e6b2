"""Checking stored results by themselves: rows that can be what a run has written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drmbench.errors import InputError
from drmbench.protocol.protocol import ROWS_OF_MODE
from drmbench.report.check_cells import KEY, Row, is_scalar, place_of, require_columns
from drmbench.report.facts import count_cells
from drmbench.run.results import (
    MANIFEST_FILE,
    ROWS_FILE,
    STATUSES,
    Results,
    load_results,
)


@dataclass(frozen=True)
class Soundness:
    """What the rows of one experiment are like.

    Attributes
    ----------
    name : str
        The experiment.
    done, expected : int
        Cells with a result, also one without a figure, and cells there should be.
    missing : tuple of str
        Data sets that could not be had; no fault.
    faults : tuple of str
        What cannot be, each with its file and row.
    """

    name: str
    done: int
    expected: int
    missing: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return one line: how complete the rows are, and what was missing.

        Examples
        --------
        >>> Soundness("gene", 20, 30, ("gcm", "pix")).summary()
        'gene: 20 of 30 cells, rows sound; without the data of gcm, pix'
        """
        state = f"faults: {len(self.faults)}" if self.faults else "rows sound"
        without = f"; without the data of {', '.join(self.missing)}"
        return (
            f"{self.name}: {self.done} of {self.expected} cells,"
            f" {state}{without if self.missing else ''}"
        )


def check_folder(folder: Path, names: Sequence[str] = ()) -> list[Soundness]:
    """Check the rows of all experiments of a folder, or of some.

    Parameters
    ----------
    folder : Path
        Folder with one folder an experiment, such as ``results/reference``.
    names : sequence of str
        Experiments; none means all.

    Raises
    ------
    InputError
        If there is no such experiment, or its files cannot be read as results.
    """
    return [
        check_rows(results, folder / name)
        for name, results in load_results(folder, names).items()
    ]


def check_rows(results: Results, folder: Path) -> Soundness:
    """Check the rows of one experiment against its manifest.

    Parameters
    ----------
    results : Results
        What was read.
    folder : Path
        Where from, for messages.

    Raises
    ------
    InputError
        If columns or entries are missing that identify rows.
    """
    try:
        check = _Check.of(results)
        expected = int(results.manifest["expected"])
        missing = tuple(n for n, d in results.datasets.items() if d.get("missing"))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{folder / MANIFEST_FILE}: not a manifest of results: {error!r}"
        ) from error
    require_columns(results)
    faults = tuple(f"{folder / ROWS_FILE}, {fault}" for fault in check.faults(results))
    return Soundness(results.name, count_cells(results).done, expected, missing, faults)


@dataclass(frozen=True)
class _Check:
    """What rows may have in them."""

    splits: Mapping[str, int]
    methods: frozenset[str]
    #: By mode, the scalings of its rows; None where the manifest does not say.
    scalings: Mapping[str, tuple[str, ...] | None]
    #: Columns between 0 and 1.
    shares: tuple[str, ...]
    #: Whether a row may lack one: rows of several runs need not have the same metrics.
    may_lack: bool

    @classmethod
    def of(cls, results: Results) -> _Check:
        classified = results.experiment.kind == "classification"
        metrics = [m for m in results.experiment.metrics if is_scalar(m)]
        shares = metrics if classified else ["converged"]
        return cls(
            {name: int(entry["splits"]) for name, entry in results.datasets.items()},
            frozenset(results.methods),
            {m: ROWS_OF_MODE[m] if classified else None for m in results.modes},
            tuple(column for column in shares if column in results.rows),
            bool(results.manifest.get("updates")),
        )

    def faults(self, results: Results) -> Iterator[str]:
        """Say what cannot be, row by row, the first below the heading being row 1."""
        seen: dict[tuple[Any, ...], int] = {}
        records: list[Row] = results.rows.to_dict("records")  # type: ignore[assignment]
        for number, row in enumerate(records, start=1):
            key = tuple(row[column] for column in KEY)
            if key in seen:
                yield f"row {number}: {place_of(key)} is row {seen[key]} again"
            seen.setdefault(key, number)
            for fault in (*self._identity_faults(row), *self._figure_faults(row)):
                yield f"row {number}: {place_of(key)}: {fault}"

    def _identity_faults(self, row: Row) -> Iterator[str]:
        if row["method"] not in self.methods:
            yield f"{MANIFEST_FILE} has no method {row['method']!r}"
        if row["mode"] not in self.scalings:
            yield f"{MANIFEST_FILE} has no mode {row['mode']!r}"
        elif row["scaling"] not in (self.scalings[row["mode"]] or (row["scaling"],)):
            yield f"the mode {row['mode']} has no scaling {row['scaling']!r}"
        if row["dataset"] not in self.splits:
            yield f"{MANIFEST_FILE} has no data set {row['dataset']!r}"
        elif not _is_split(row["split"], self.splits[row["dataset"]]):
            last = self.splits[row["dataset"]] - 1
            yield f"the split is {row['split']!r}, not one of 0 to {last}"

    def _figure_faults(self, row: Row) -> Iterator[str]:
        if row["status"] not in STATUSES:
            yield f"the status is {row['status']!r}, not one of {', '.join(STATUSES)}"
        if row["status"] != "ok":
            return
        for column in self.shares:
            value = float(row[column])
            if value != value and not self.may_lack:
                yield f"no {column}, although the status is ok"
            elif value < 0 or value > 1:
                yield f"{column} is {value:g}, not between 0 and 1"


def _is_split(value: Any, number: int) -> bool:
    try:
        return int(value) == float(value) and 0 <= int(value) < number
    except (ValueError, OverflowError):  # a text, nothing, infinity
        return False
