"""One flipped bit, cut or gap in a journal, its rows or its manifest.

A reader then shows the same tables or refuses by name, and the next run restores all of
it: what it cannot trust it says and computes again, and nothing else.
"""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from drmbench.running import results

from .small import NAME, Small, check_whole, command, make_small, run_inline
from .trials import Attack, Trial
from .warm import inline_workers, warm_up

#: Files that are damaged, and how often; the longer ones have more to lose.
_FILES = {
    "cells.jsonl": 5,
    "results.csv": 3,
    "manifest.json": 3,
    "cells.generation": 1,
}
#: What else is in the folder and is taken along.
_KEPT = (*_FILES, "results.parquet")
_DAMAGES = ("bit",) * 20 + ("byte", "cut", "gap", "gone", "empty")
#: Share of the damaged folders that the experiment is run in again.
_RUN_AGAIN = 0.25


@dataclass(frozen=True)
class Prey:
    """The small experiment, and the files of a finished run of it."""

    small: Small
    files: dict[str, bytes]


def prepare(folder: Path) -> Prey:
    """Run the experiment, and let its journal be rewritten once."""
    warm_up()
    small = make_small(folder, run_inline)
    whole = folder / "whole" / NAME
    with (whole / "cells.jsonl").open("ab") as stream:
        stream.write(b"damaged\n")
    run_inline(small.config, whole.parent)  # it sets that aside: generation 1
    return Prey(small, {name: (whole / name).read_bytes() for name in _KEPT})


def attempt(prey: Prey, trial: Trial, rng: random.Random) -> None:
    """Damage a file, read the folder, run the experiment, and read it again."""
    small = prey.small
    out = small.folder / f"trial-{trial.number}"
    folder = out / NAME
    folder.mkdir(parents=True)
    for name, content in prey.files.items():
        (folder / name).write_bytes(content)
    victim = rng.choices(list(_FILES), list(_FILES.values()))[0]
    damage = _damage(folder / victim, rng)
    trial.units += damage == "bit"
    trial.outcomes[f"{damage} of {victim}"] += 1
    trial.story.append(f"{victim}: {damage}")
    with mock.patch.object(results.time, "sleep"):  # no run is replacing the files
        shown = command("results", "--experiment", NAME, "--out", out)
    _check_reading(trial, small, shown.code, shown.out, shown.err, victim)
    if rng.random() < _RUN_AGAIN:
        _run_again(trial, small, out, victim, damage)
    shutil.rmtree(out)


def _run_again(trial: Trial, small: Small, out: Path, victim: str, damage: str) -> None:
    """Hold the next run to restoring everything, with no more work than it must."""
    with inline_workers():
        ended = command("run", small.config, "--out", out, "--jobs", 1, "-v")
    if "Traceback" in ended.err:
        trial.violate("traceback", ended.err[-3000:])
    if ended.code:
        trial.violate("wrong", f"the run ended with {ended.code}: {ended.err[-500:]}")
    again = "0 to run" not in ended.err
    if again and victim != "cells.jsonl":
        trial.violate("doubled", f"cells were run again: {ended.err[-500:]}")
    if again and damage not in _SILENT and "damaged line(s) set aside" not in ended.err:
        trial.violate(
            "wrong", f"cells are run again without a word: {ended.err[-500:]}"
        )
    trial.outcomes["cells run again" if again else "nothing run again"] += 1
    check_whole(trial, small, out / NAME)


#: What leaves a journal of whole lines, in which nothing tells that some are missing.
_SILENT = ("gone", "empty", "cut", "gap")


def _damage(path: Path, rng: random.Random) -> str:
    """Damage a file; returns how."""
    content, how = bytearray(path.read_bytes()), rng.choice(_DAMAGES)
    place = rng.randrange(len(content))
    if how == "bit":
        content[place] ^= 1 << rng.randrange(8)
    elif how == "byte":
        content[place] = rng.randrange(256)
    elif how == "cut":
        del content[place:]
    elif how == "gap":
        del content[place : place + rng.randint(1, 64)]
    elif how == "empty":
        content.clear()
    path.write_bytes(content)
    if how == "gone":
        path.unlink()
    return how


def _check_reading(
    trial: Trial, small: Small, code: int, out: str, err: str, victim: str
) -> None:
    """Hold a reader to the undisturbed tables, or to a refusal that names a file."""
    if "Traceback" in err:
        trial.violate("traceback", err[-3000:])
    if code == 0 and out != small.shown:
        trial.violate("wrong", f"other tables, and exit code 0: {out[-1500:]}")
    if code and not any(name in err for name in (victim, "results.csv", "no results")):
        trial.violate("wrong", f"a refusal that names no file: {err}")
    trial.outcomes["refused" if code else "same tables"] += 1


ATTACK = Attack(
    name="flips",
    unit="bits",
    full=10_500,
    sample=120,
    share=0.17,
    limit=30.0,
    prepare=prepare,
    attempt=attempt,
)
