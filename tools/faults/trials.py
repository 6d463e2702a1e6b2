"""Trials and what they found: plain data that shards send and the table shows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: What a trial can find, in the order of the table's columns.
VIOLATIONS = (
    *("lost", "doubled", "wrong", "traceback", "orphan", "hang"),
    "broken",  # the trial itself, or the process that it ran in
)


@dataclass
class Trial:
    """One trial: what it did, and what it found to be wrong."""

    number: int  #: Its number; seed, kind and number give the same trial again
    units: int = 0  #: How many kills, groups, flips, configs or mutations it made
    #: What happened, by name
    outcomes: Counter[str] = field(default_factory=Counter)
    #: Pairs of a kind of :data:`VIOLATIONS` and a sentence
    violations: list[tuple[str, str]] = field(default_factory=list)
    story: list[str] = field(default_factory=list)  #: What was done, for violations

    def violate(self, kind: str, text: str) -> None:
        """Note that a promise was broken."""
        assert kind in VIOLATIONS
        self.violations.append((kind, "\n".join([*self.story, text])))

    def plain(self) -> dict[str, Any]:
        """Return the trial as JSON can hold it."""
        return {**vars(self), "outcomes": dict(self.outcomes)}

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Trial:
        """Return the trial of :meth:`plain`."""
        pairs = [(kind, text) for kind, text in plain["violations"]]
        return cls(
            plain["number"],
            plain["units"],
            Counter(plain["outcomes"]),
            violations=pairs,
        )


@dataclass(frozen=True)
class Attack:
    """A kind of attack: how to prepare it, and how to make one trial of it."""

    name: str  #: As ``--only`` takes it
    unit: str  #: What is counted
    #: Units asked for in a full run and in a sample
    full: int
    sample: int
    share: float  #: Part of the time that it may take
    limit: float  #: Seconds that a trial may take before it counts as hanging
    #: Makes what all trials share, in a folder of its own
    prepare: Callable[[Path], Any]
    #: Makes one trial of what was prepared
    attempt: Callable[[Any, Trial, random.Random], None]


@dataclass
class Report:
    """What all trials of an attack found."""

    attack: Attack  #: Which attack it was
    asked: int  #: Units that were asked for
    seconds: float = 0.0  #: Wall-clock time
    trials: int = 0  #: Trials that were made
    units: int = 0  #: Units that they made
    outcomes: Counter[str] = field(default_factory=Counter)  #: What happened, by name
    #: Number of the trial, kind and sentence
    violations: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, trial: Trial) -> None:
        """Count a trial."""
        self.trials += 1
        self.units += trial.units
        self.outcomes.update(trial.outcomes)
        self.violations += [(trial.number, *pair) for pair in trial.violations]


def generator(seed: int, attack: str, number: int) -> random.Random:
    """Return the random numbers of a trial."""
    return random.Random(f"{seed}/{attack}/{number}")
