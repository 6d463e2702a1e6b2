"""Kills of a run, its workers, its group and everything, anywhere and at any moment.

Each trial strikes the runs of one folder several times and then lets one end. What was
acknowledged must be there after every strike, once, and the end must be the undisturbed
one.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .driver import descendants
from .small import (
    NAME,
    Cell,
    Small,
    acknowledged,
    check_journal,
    check_part,
    check_whole,
    command,
    make_small,
    run_inline,
)
from .trials import Attack, Trial
from .warm import (
    LIMIT,
    RUN_CALLS,
    WORKER_CALLS,
    CrashPoint,
    ForkedRun,
    Strikes,
    check_end,
    fork_run,
    orphans,
    wait_for,
    warm_up,
)

_DEADLY = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_VICTIMS = ("run", "run", "group", "all", "worker")


@dataclass(frozen=True)
class Target:
    """The small experiment, and what an undisturbed run of it is like."""

    small: Small
    calls: dict[str, int]  #: How often it makes each call that it can be struck at
    seconds: float  #: How long it takes


def prepare(folder: Path) -> Target:
    """Run the experiment, once to have its results and once to count calls."""
    warm_up()
    small = make_small(folder, run_inline)
    place = folder / "counted"
    strikes, found = Strikes(None, place / "struck"), place / "calls.json"
    started = time.monotonic()
    run = fork_run(
        *(place, "run", small.config, "--out", place, "--jobs", 2, "-v"),
        strikes=strikes,
        at_end=lambda: found.write_text(json.dumps(strikes.calls)),
    )
    assert not wait_for([run], LIMIT)
    seconds = time.monotonic() - started
    assert run.code == 0, run.err
    assert not orphans()
    return Target(small, json.loads(found.read_text()), seconds)


def attempt(target: Target, trial: Trial, rng: random.Random) -> None:
    """Strike runs into one folder one to four times, then let one end."""
    small, place = target.small, target.small.folder / f"trial-{trial.number}"
    said: set[Cell] = set()
    for number in range(rng.randint(1, 4)):
        strikes = _draw(target, rng, place / f"{number}" / "struck")
        delay = rng.uniform(0.0, 1.1 * target.seconds)
        trial.story.append(str(strikes.point if strikes else f"after {delay:.3f} s"))
        run = _start(small, place, number, rng.randint(1, 2), strikes)
        if strikes is None:
            trial.units += _strike_later(run, delay, rng)
        hanging = wait_for([run], LIMIT)
        trial.units += run.struck
        check_end(trial, [run], hanging)
        said |= acknowledged(run.err)
        check_journal(trial, small, place / NAME, said)
        if (place / NAME / "manifest.json").exists():
            shown = command("results", "--experiment", NAME, "--out", place)
            check_part(trial, small, place / NAME, shown)
    run = _start(small, place, 9, rng.randint(1, 2), None)
    check_end(trial, [run], wait_for([run], LIMIT))
    if run.code != 0:
        trial.violate("wrong", f"the last run ended with {run.code}: {run.err[-500:]}")
    for cell in said & acknowledged(run.err):
        trial.violate("doubled", f"{cell} was run again")
    check_whole(trial, small, place / NAME)
    if not trial.violations:
        shutil.rmtree(place)


def _start(
    small: Small, place: Path, number: int, jobs: int, strikes: Strikes | None
) -> ForkedRun:
    command = ("run", small.config, "--out", place, "--jobs", jobs, "-v")
    return fork_run(place / f"{number}", *command, strikes=strikes)


def _draw(target: Target, rng: random.Random, noted: Path) -> Strikes | None:
    """Return a crash point, or None for a random moment."""
    side = rng.choice(("run", "run", "run", "worker", "worker", "moment"))
    if side == "moment":
        return None
    if side == "run":
        call = rng.choice([name for name in RUN_CALLS if target.calls.get(name)])
        count = rng.randint(1, target.calls[call])
        moments = ("before", "half", "after")
    else:
        call = rng.choice(list(WORKER_CALLS))
        count = rng.randint(1, 6) if call in ("_answer", "_send") else 1
        moments = ("before", "half", "after")
    victim = rng.choice(_VICTIMS)
    number = signal.SIGKILL
    if victim != "worker" and rng.random() < 0.4:
        number = rng.choice(_DEADLY)
    once = victim != "worker" or rng.random() < 0.5
    point = CrashPoint(side, call, count, rng.choice(moments), victim, number, once)
    return Strikes(point, noted)


def _strike_later(run: ForkedRun, delay: float, rng: random.Random) -> int:
    """Strike a run after some seconds; returns how often."""
    if not wait_for([run], delay):
        return 0
    victim, number = rng.choice(_VICTIMS), rng.choice(_DEADLY)
    below = descendants(run.pid)
    victims = {
        "run": [run.pid],
        "group": [-run.pid],
        "all": [*below, run.pid],
        "worker": below[:1],
    }[victim]
    for pid in victims:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
    return bool(victims)


ATTACK = Attack(
    name="kills",
    unit="kills",
    full=600,
    sample=14,
    share=0.32,
    limit=300.0,
    prepare=prepare,
    attempt=attempt,
)
