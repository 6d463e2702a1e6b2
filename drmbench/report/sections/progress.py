"""What was run and what came of it: counts, failures and data that is missing."""

from __future__ import annotations

from dataclasses import dataclass

from drmbench.report.sections.tables import plain_table
from drmbench.report.table import Table
from drmbench.run.results import Results

_CELL = ["dataset", "method", "mode", "split"]


@dataclass(frozen=True)
class Progress:
    """Cells of an experiment: a method on one split of a data set in one mode.

    Attributes
    ----------
    done, expected : int
        Cells with any result, also a failure, and cells there should be.
    failed, timeouts, skipped : int
        Cells that failed, that were stopped at the time limit, and that the method
        does not apply to.
    """

    done: int
    expected: int
    failed: int
    timeouts: int
    skipped: int

    @property
    def without_figure(self) -> int:
        """Cells that ended without a figure."""
        return self.failed + self.timeouts + self.skipped


def progress(results: Results) -> Progress:
    """Count the cells of an experiment."""
    rows = results.rows
    return Progress(
        len(rows[_CELL].drop_duplicates()),
        int(results.manifest["expected"]),
        *(
            len(rows.loc[rows["status"] == status, _CELL].drop_duplicates())
            for status in ("failed", "timeout", "skipped")
        ),
    )


def failures_table(results: Results) -> Table | None:
    """Return what failed, timed out or was skipped and why; None if nothing was."""
    bad = results.rows[results.rows["status"] != "ok"]
    keys = ["dataset", "method", "mode", "scaling", "status", "reason"]
    counts = bad.groupby(keys, sort=False)["split"].nunique()
    if not len(counts):
        return None
    rows = [
        (*key, int(number)) for key, number in zip(counts.index, counts, strict=True)
    ]
    return plain_table(
        f"experiment-{results.name}-failures",
        f"{results.name}: what failed, timed out or was skipped",
        ("data set", "method", "mode", "scaling", "status", "reason", "splits"),
        rows,
    )


def missing_table(results: Results) -> Table | None:
    """Return which data was missing, why, and what would get it; None if none was."""
    rows = [
        (name, ", ".join(entry["paper_names"]), entry["missing"], entry["get"])
        for name, entry in results.datasets.items()
        if entry.get("missing")
    ]
    if not rows:
        return None
    return plain_table(
        f"experiment-{results.name}-missing",
        f"{results.name}: data that was missing",
        ("data set", "in the paper", "why", "command that would get it"),
        rows,
    )


def substitutes(results: Results) -> list[str]:
    """Say for which data sets a relative stood in."""
    return [
        f"{name}: {entry['substitute']} stood in. {entry['note']}".rstrip()
        for name, entry in results.datasets.items()
        if entry.get("substitute")
    ]
