"""Trials spread over processes, each watched: one that hangs or dies is named.

A shard is a fork of a process that has imported everything. It makes every n-th trial
and sends each as a line of JSON; before a trial it sends the number, so that a shard
that falls silent or ends tells which trial it was at. It then goes on after that one.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .trials import Attack, Report, Trial, generator

#: ``PR_SET_PDEATHSIG`` of Linux's ``prctl``: the signal to get when the parent dies.
_PARENT_DEATH_SIGNAL = 1
#: ``PR_SET_CHILD_SUBREAPER`` of Linux's ``prctl``; a fork does not inherit it.
_SUBREAPER = 36
#: Seconds beyond its limit after which a shard is ended from outside.
_PATIENCE = 15.0
#: Bytes of addresses that a trial may take beyond what the shard has.
_ROOM = 3 * 2**30


class OverdueError(BaseException):
    """A trial took longer than its limit; nothing should catch this by accident."""


@dataclass
class _Shard:
    """A process that makes trials."""

    first: int  #: Number of its next trial
    pid: int = 0
    pipe: int = -1
    buffer: bytes = b""
    at: int = -1  #: Trial that it is at
    heard: float = field(default_factory=time.monotonic)  #: When it last said anything


def _scratch(attack: Attack) -> tempfile.TemporaryDirectory[str]:
    """Make a folder for trials, in memory where there is such a place.

    A killed process leaves there what it would leave on a disk, and nothing waits.
    """
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix=f"faults-{attack.name}-", dir=place)


def run_attack(
    attack: Attack, *, seed: int, asked: int, seconds: float, shards: int
) -> Report:
    """Make trials until so many units are made or the time is up."""
    report, started = Report(attack, asked), time.monotonic()
    with _scratch(attack) as folder:
        prepared = attack.prepare(Path(folder))
        family = [_Shard(first) for first in range(shards)]
        for shard in family:
            _start(shard, attack, prepared, seed, shards)
        end = time.monotonic() + seconds
        while family and report.units < asked and time.monotonic() < end:
            _listen(family, report)
            for shard in list(family):
                ended = _ended(shard, attack)
                if ended is not None:
                    report.add(ended)
                    shard.first = shard.at + shards
                    _start(shard, attack, prepared, seed, shards)
        for shard in family:
            _stop(shard)
    report.seconds = time.monotonic() - started
    return report


def run_trial(attack: Attack, *, seed: int, number: int) -> Report:
    """Make one trial again, in this process."""
    report, started = Report(attack, 0), time.monotonic()
    with _scratch(attack) as folder:
        prepared = attack.prepare(Path(folder))
        report.add(_attempt(attack, prepared, seed, number))
    report.seconds = time.monotonic() - started
    return report


def _start(
    shard: _Shard, attack: Attack, prepared: Any, seed: int, shards: int
) -> None:
    """Fork the process of a shard."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    shard.pid = os.fork()
    if shard.pid == 0:
        try:
            os.close(reading)
            _limit_memory()
            _serve(
                writing, attack, prepared, seed, range(shard.first, sys.maxsize, shards)
            )
        finally:
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    shard.pipe, shard.buffer = reading, b""
    shard.heard = time.monotonic()


def _serve(
    pipe: int, attack: Attack, prepared: Any, seed: int, numbers: Iterable[int]
) -> None:
    """Make trials for ever."""
    os.setsid()
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    adopt_orphans()
    for number in numbers:
        os.write(pipe, b"%d\n" % number)
        trial = _attempt(attack, prepared, seed, number)
        line = json.dumps(trial.plain()).encode() + b"\n"
        while line:
            line = line[os.write(pipe, line) :]


def adopt_orphans() -> None:
    """Become the process that orphans of what this one starts fall to."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _limit_memory() -> None:
    """Let a file that asks for all memory fail, rather than this machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + _ROOM
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))


def _attempt(attack: Attack, prepared: Any, seed: int, number: int) -> Trial:
    """Make a trial; one that raises or takes too long says so."""
    trial = Trial(number)

    def overdue(signal_number: int, frame: Any) -> None:
        raise OverdueError

    signal.signal(signal.SIGALRM, overdue)
    signal.setitimer(signal.ITIMER_REAL, attack.limit)
    try:
        attack.attempt(prepared, trial, generator(seed, attack.name, number))
    except OverdueError:
        where = "".join(traceback.format_exc(limit=-3))
        trial.violate("hang", f"not done within {attack.limit:g} s: {where}")
    except Exception:
        trial.violate("broken", traceback.format_exc(limit=-6))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return trial


def _listen(family: list[_Shard], report: Report) -> None:
    """Take what shards have sent, after a second at most."""
    ready, _, _ = select.select([shard.pipe for shard in family], [], [], 1.0)
    for shard in family:
        if shard.pipe not in ready:
            continue
        shard.buffer += os.read(shard.pipe, 1 << 20)
        shard.heard = time.monotonic()
        *lines, shard.buffer = shard.buffer.split(b"\n")
        for line in lines:
            message = json.loads(line)
            if isinstance(message, int):
                shard.at = message
            else:
                report.add(Trial.of(message))


def _ended(shard: _Shard, attack: Attack) -> Trial | None:
    """Return what to say of a shard that died or fell silent; it is gone then."""
    silent = time.monotonic() - shard.heard
    pid, status = os.waitpid(shard.pid, os.WNOHANG)
    if pid:
        os.close(shard.pipe)
        code = os.waitstatus_to_exitcode(status)
        trial = Trial(shard.at, 1)
        trial.violate("broken", f"the process of the trial ended with {code}")
        return trial
    if silent > attack.limit + _PATIENCE:
        _stop(shard)
        trial = Trial(shard.at, 1)
        trial.violate("hang", f"silent for {silent:.0f} s, and nothing interrupts it")
        return trial
    return None


def _stop(shard: _Shard) -> None:
    """End a shard and, by their sessions, all that it started."""
    os.kill(shard.pid, signal.SIGSTOP)  # it must not start more meanwhile
    for pid in [*descendants(shard.pid), shard.pid]:
        with suppress(ProcessLookupError):  # it has just ended
            os.kill(pid, signal.SIGKILL)
    os.waitpid(shard.pid, 0)
    os.close(shard.pipe)


def descendants(pid: int) -> list[int]:
    """Return all processes below a process."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(text) for text in path.read_text().split()]
        except OSError:  # the thread has ended
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found
