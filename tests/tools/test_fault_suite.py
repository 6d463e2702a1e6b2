"""A sample of the attacks, and that each of them notices what it is there to notice."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import REPOSITORY

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="looks at processes through /proc"
)

#: Makes trials with the package spoiled by a line of code; prints what they violate.
PLANTED = """
import os, sys
os.environ["DRMBENCH_OFFLINE"] = "1"
{spoil}
from tools.faults.attacks import ATTACKS
from tools.faults.driver import run_attack
attack = {{attack.name: attack for attack in ATTACKS}}["{name}"]
kinds = set()
for seed in range(1, 16):  # files hold times, so whether a fault shows is chance
    report = run_attack(attack, seed=seed, asked={asked}, seconds=60, shards=1)
    kinds |= {{kind for _, kind, _ in report.violations}}
    if "{found}" in kinds:
        break
print(*sorted(kinds))
"""
#: Says that cells are done before they are in the journal.
LATE = """
import drmbench.running.store as s
append, release = s.Store.append, s.Store.release
def late(self, record):
    self.records[record["key"]] = record
    vars(self).setdefault("late", []).append(record)
def flush(self):
    for record in vars(self).pop("late", []):
        append(self, record)
    release(self)
s.Store.append, s.Store.release = late, flush
"""


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
    )


def test_a_sample_violates_nothing() -> None:
    ended = python("-m", "tools.faults", "--sample")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[0].startswith("seed ")
    assert [line.split()[0] for line in lines[2:7]] == [
        *("kills", "crowds", "flips", "configs", "mutations")
    ]
    for line in lines[2:7]:
        made = int(line.split()[1].replace(",", ""))
        assert made > 0, "an attack did not come to anything"


@pytest.mark.parametrize(
    ("name", "asked", "spoil", "found"),
    [
        ("kills", 8, LATE, "lost"),
        (
            *("flips", 200),
            "import drmbench.running.results as r\n"
            "r.require_rows = lambda *arguments: None",
            "wrong",
        ),
        (
            *("mutations", 400),
            "import drmbench.data.readers.compression as c\nc.zlib.error = KeyError",
            "traceback",
        ),
    ],
)
def test_a_planted_fault_is_found(
    name: str, asked: int, spoil: str, found: str
) -> None:
    ended = python(
        "-c", PLANTED.format(name=name, asked=asked, spoil=spoil, found=found)
    )
    assert ended.returncode == 0, ended.stderr
    assert found in ended.stdout.split(), ended.stdout + ended.stderr


@pytest.fixture
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY))


def test_a_trial_is_the_same_by_seed_and_number(on_path: None) -> None:
    from tools.faults.trials import Trial, generator

    first, again = (generator(3, "kills", 17).random() for _ in range(2))
    other: random.Random = generator(3, "kills", 18)
    assert first == again != other.random()
    trial = Trial(4, 2)
    trial.outcomes["refused"] += 1
    trial.violate("wrong", "why")
    plain: dict[str, Any] = trial.plain()
    assert Trial.of(plain) == trial
