"""Several runs into one folder at once: with filters, of one name, and some killed.

The cells that the runs of one config were to run are there afterwards, once each, and
so is every row; a run of another config of the same name is refused while they run.
Readers beside them see a part of the undisturbed results or are told to wait.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .small import (
    METHODS,
    NAME,
    SETS,
    Cell,
    Small,
    acknowledged,
    cell_of,
    check_journal,
    check_part,
    check_whole,
    command,
    journal,
    make_small,
    run_inline,
)
from .trials import Attack, Trial
from .warm import LIMIT, ForkedRun, check_end, fork_run, wait_for, warm_up

_REFUSED = "another config of the name"


@dataclass
class Member:
    """A run of a crowd."""

    run: ForkedRun
    other: bool  #: Whether it is of the other config
    #: What its filters leave; all if there is none
    sets: tuple[str, ...]
    methods: tuple[str, ...]
    killed: bool = False

    @property
    def cells(self) -> set[tuple[str, str]]:
        """The data sets and methods that it was to run."""
        return {(name, method) for name in self.sets for method in self.methods}


def prepare(folder: Path) -> Small:
    """Run the experiment once to have its results."""
    warm_up()
    return make_small(folder, run_inline)


def attempt(small: Small, trial: Trial, rng: random.Random) -> None:
    """Let two to five runs loose on a folder, and look at what they leave."""
    place = small.folder / f"trial-{trial.number}"
    others, donor = rng.random() < 0.3, rng.random() < 0.3
    if donor:  # another experiment in the folder has the same cells
        shutil.copytree(small.folder / "whole" / NAME, place / "donor")
        trial.outcomes["folders to take cells over from"] += 1
    members = []
    for number in range(rng.randint(2, 5)):
        other = others and number > 0 and rng.random() < 0.4
        members.append(_start(small, place, number, other, rng))
        time.sleep(rng.choice((0.0, 0.0, rng.uniform(0.0, 0.3))))
    if rng.random() < 0.4:
        _kill_one(members, rng)
    runs = [member.run for member in members]
    end = time.monotonic() + LIMIT
    while wait_for(runs, 0.1) and time.monotonic() < end:
        if (place / NAME / "manifest.json").exists() and not others:
            shown = command("results", "--experiment", NAME, "--out", place)
            trial.outcomes["readings meanwhile"] += 1
            check_part(trial, small, place / NAME, shown)
    check_end(trial, runs, wait_for(runs, 0.0))
    trial.units += 1
    trial.outcomes["runs"] += len(members)
    _check_members(trial, small, members, place / NAME)
    last = fork_run(place / "last", "run", small.config, "--out", place, "-j", 2, "-v")
    check_end(trial, [last], wait_for([last], LIMIT))
    if last.code != 0:
        trial.violate(
            "wrong", f"the last run ended with {last.code}: {last.err[-500:]}"
        )
    if not others:
        check_whole(trial, small, place / NAME)
    if not trial.violations:
        shutil.rmtree(place)


def _start(
    small: Small, place: Path, number: int, other: bool, rng: random.Random
) -> Member:
    """Start a run with or without filters."""
    sets = rng.choice((SETS, SETS[:1], SETS[1:]))
    methods = rng.choice((METHODS, METHODS, METHODS[:1], METHODS[1:]))
    filters = [f"--dataset={name}" for name in sets if len(sets) < len(SETS)]
    filters += [f"--method={name}" for name in methods if len(methods) < len(METHODS)]
    config = small.other if other else small.config
    options = ("--out", place, "--jobs", rng.randint(1, 2), "-v", *filters)
    run = fork_run(place / f"{number}", "run", config, *options)
    return Member(run, other, sets, methods)


def _kill_one(members: list[Member], rng: random.Random) -> None:
    """Kill a run at a random moment, as the power switch would."""
    victim = rng.choice(members)
    if wait_for([victim.run], rng.uniform(0.05, 1.0)):
        victim.killed = True
        with suppress(ProcessLookupError):
            os.kill(victim.run.pid, signal.SIGKILL)


def _check_members(
    trial: Trial, small: Small, members: list[Member], folder: Path
) -> None:
    """Hold every run to its exit code, and the folder to all that they ran."""
    said: set[Cell] = set()
    wanted: set[tuple[str, str]] = set()
    for member in members:
        run = member.run
        refused = run.code == 2 and _REFUSED in run.err
        if refused:
            trial.outcomes["refused beside another config"] += 1
            if not any(one.other != member.other for one in members):
                trial.violate("wrong", f"refused without another config: {run.err}")
            continue
        if run.code != 0 and not member.killed:
            trial.violate("wrong", f"ended with {run.code}: {run.err[-500:]}")
        if member.other:
            continue
        said |= acknowledged(run.err)
        if not member.killed:
            wanted |= member.cells
    records, _ = journal(folder)
    own = [record for record in records if record["key"] in small.records]
    done = {cell_of(record)[:2] for record in own}
    for cell in wanted - done:
        trial.violate("lost", f"{cell} was to be run and is not in the journal")
    if not any(member.other for member in members):
        check_journal(trial, small, folder, said)


ATTACK = Attack(
    name="crowds",
    unit="groups",
    full=120,
    sample=3,
    share=0.12,
    limit=240.0,
    prepare=prepare,
    attempt=attempt,
)
