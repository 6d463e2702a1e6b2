"""Cells keep their identity: what is planned today is what the stored rows have."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from support import REPOSITORY

from drmbench.config import load_experiments
from drmbench.running.plan import make_plan
from drmbench.running.results import read_results

CONFIGS = sorted((REPOSITORY / "configs").glob("*.yaml"))
REFERENCE = REPOSITORY / "results" / "reference"


def stored_cells(path: Path) -> dict[str, set[str]]:
    """Return the cells that have rows, by data set."""
    cells: dict[str, set[str]] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            cells.setdefault(row["dataset"], set()).add(row["cell"])
    return cells


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_planned_cells_are_those_of_the_committed_rows(path: Path) -> None:
    (experiment,) = load_experiments([path])
    folder = REFERENCE / experiment.name
    stored = stored_cells(folder / "results.csv")
    known = read_results(folder).datasets
    plan = make_plan(experiment, wanted=lambda name: False, known=known)
    planned: dict[str, set[str]] = {}
    for task in plan.cells:
        planned.setdefault(task.dataset.name, set()).add(task.key)
    assert stored
    assert {name: planned[name] for name in stored} == stored
    # Only what the manifest calls missing, or has no facts of, was not run.
    for name in planned.keys() - stored.keys():
        assert known[name].get("missing") or not known[name].get("fingerprint")
