"""The small experiment that is attacked, and what its folder must hold afterwards."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from run_support import TIMINGS, write_config

from drmbench.cli import main

from .trials import Trial
from .warm import inline_workers

NAME = "trial"
SETS, METHODS, FOLDS = ("ants", "bees"), ("nb", "knn-euclidean"), 3
#: What a run prints of a cell that is done.
_SAID = re.compile(r"^\[\d+/\d+\] \W?(\w+), ([\w-]+), (\w+), split (\d+): ", re.M)

Cell = tuple[str, str, str, str]  # data set, method, mode, split


@dataclass(frozen=True)
class Small:
    """An experiment of twelve cells, and its undisturbed results."""

    folder: Path  #: Where data and configs lie
    config: Path  #: The experiment
    other: Path  #: Another one of the same name
    rows: list[dict[str, str]]  #: Its rows, without timings
    records: dict[str, dict[str, Any]]  #: By key the records, without timings
    shown: str  #: What ``drmbench results`` prints of it


def make_small(folder: Path, run: Callable[[Path, Path], None]) -> Small:
    """Write the experiment, and let it run undisturbed."""
    rng = random.Random(60)
    for name in SETS:
        lines = ["x,y,z,kind"]
        for row in range(60):
            kind = row % 2
            values = [f"{rng.gauss(kind, 1.0):.3f}" for _ in range(3)]
            lines.append(",".join([*values, ["no", "yes"][kind]]))
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    split = {"kind": "kfold", "k": FOLDS, "repeats": 1}
    selection = {"kind": "kfold", "k": 3, "metric": "accuracy"}
    protocol = {"split": split, "selection": selection, "scaling": "none"}
    datasets = [{"path": f"{name}.csv", "target": "kind"} for name in SETS]
    wanted = {"datasets": datasets, "methods": METHODS, "protocol": protocol}
    config = write_config(folder, name=NAME, **wanted)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    wanted["datasets"] = [{**one, "path": f"../{one['path']}"} for one in datasets]
    other = write_config(elsewhere, name=NAME, seed=7, **wanted)
    run(config, folder / "whole")
    whole = folder / "whole" / NAME
    records = {r["key"]: untimed(r) for r in journal(whole)[0]}
    shown = command("results", "--experiment", NAME, "--out", whole.parent)
    assert shown.code == 0, shown.err
    small = Small(folder, config, other, rows_of(whole), records, shown.out)
    assert len(small.rows) == len(records) == len(SETS) * len(METHODS) * FOLDS
    return small


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def command(*arguments: object) -> Ended:
    """Run the command line in this process; what escapes is printed as Python would."""
    import traceback

    out, err, code = io.StringIO(), io.StringIO(), 0
    argv = ["drmbench", *map(str, arguments)]
    with redirect_stdout(out), redirect_stderr(err), mock.patch("sys.argv", argv):
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        except Exception:
            traceback.print_exc()
            code = 1
    return Ended(code, out.getvalue(), err.getvalue())


def run_inline(config: Path, out: Path) -> None:
    """Run an experiment in this process, its cells too."""
    with inline_workers():
        ended = command("run", config, "--out", out, "--jobs", 1, "-v")
    assert ended.code == 0, ended.err


def journal(folder: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the whole records of a journal, and the number of other lines.

    An own reader, which trusts no code that is under attack.
    """
    try:
        content = (folder / "cells.jsonl").read_bytes()
    except FileNotFoundError:
        return [], 0
    found, other = [], 0
    for line in content.split(b"\n"):
        payload = line[9:]
        if len(line) > 9 and line[:8] == f"{zlib.crc32(payload):08x}".encode():
            found.append(json.loads(payload))
        else:
            other += bool(line)
    return found, other


def untimed(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without what differs from run to run."""
    rows = [
        {k: v for k, v in row.items() if k not in TIMINGS} for row in record["rows"]
    ]
    return {**record, "seconds": 0.0, "rows": rows}


def rows_of(folder: Path) -> list[dict[str, str]]:
    """Return the tidy rows without timings; none if there is no file."""
    try:
        text = (folder / "results.csv").read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    return [{k: v for k, v in row.items() if k not in TIMINGS} for row in rows]


def cell_of(record: dict[str, Any]) -> Cell:
    """Return which cell a record is of, as a run names it."""
    return (
        *(record["dataset"], record["method"]),
        *(record["mode"], str(record["split"])),
    )


def acknowledged(err: str) -> set[Cell]:
    """Return the cells that a run said were done, in whole lines."""
    return set(_SAID.findall(err[: err.rfind("\n") + 1]))


def check_journal(
    trial: Trial, small: Small, folder: Path, said: Iterable[Cell]
) -> None:
    """Hold a journal to all that was acknowledged, once each, with the right rows."""
    records, _ = journal(folder)
    count = Counter(cell_of(record) for record in records)
    for cell in set(said) - set(count):
        trial.violate("lost", f"{cell} was acknowledged and is not in the journal")
    for cell, times in count.items():
        if times > 1:
            trial.violate("doubled", f"{cell} is in the journal {times} times")
    for record in records:
        if untimed(record) != small.records.get(record["key"]):
            trial.violate("wrong", f"the record of {cell_of(record)} differs")


def check_whole(trial: Trial, small: Small, folder: Path) -> None:
    """Hold a folder to the undisturbed results, every row once and in order."""
    rows = rows_of(folder)
    count = Counter((r["dataset"], r["method"], r["split"]) for r in rows)
    for cell, times in count.items():
        if times > 1:
            trial.violate("doubled", f"{cell} has {times} rows")
    if rows != small.rows:
        there = [row for row in rows if row in small.rows]
        kind = "wrong" if len(there) < len(rows) else "lost"
        trial.violate(kind, f"{len(rows)} rows, {len(there)} as undisturbed")
    check_journal(trial, small, folder, map(cell_of, small.records.values()))
    shown = command("results", "--experiment", NAME, "--out", folder.parent)
    if shown.code or shown.out != small.shown:
        trial.violate("wrong", f"results ended with {shown.code}: {shown.err[-300:]}")


def check_part(trial: Trial, small: Small, folder: Path, shown: Ended) -> None:
    """Hold what is read from an unfinished folder to a part of it, or a refusal."""
    if "Traceback" in shown.err:
        trial.violate("traceback", shown.err[-2000:])
    if shown.code:
        trial.outcomes["view refused until the next run"] += 1
        if str(folder) not in shown.err and str(folder.parent) not in shown.err:
            trial.violate("wrong", f"a refusal without a name: {shown.err[-300:]}")
        return
    for row in rows_of(folder):
        if row not in small.rows:
            trial.violate("wrong", f"a row that is not of the undisturbed run: {row}")
