"""Runs and workers forked from a process that has imported everything, and their ends.

A fork costs a fiftieth of a new interpreter. A forked run is a session of its own with
files for its output; its workers are forked too, with nothing but the pipes that a
started one would have. Both may carry a :class:`CrashPoint`. The process that forks
them is the one that orphans fall to, so that it knows of every process that is left.
"""

from __future__ import annotations

import copy
import fcntl
import functools
import io
import os
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from unittest import mock

import typer

import drmbench.report.facts
import drmbench.running.execute
from drmbench.cli import main
from drmbench.methods.registry import builtin_names, get_method
from drmbench.running import child, manifest, runner, worker
from drmbench.running.pool import Job
from drmbench.running.worker import Answer

from .driver import adopt_orphans, descendants
from .trials import Trial

#: Calls of a run at which it can be struck, by the module that they are looked up in.
RUN_CALLS: dict[str, Any] = {
    **dict.fromkeys(("fsync", "replace", "write", "read", "open", "unlink"), os),
    **dict.fromkeys(("flock", "lockf"), fcntl),
    "select": select,
    "write_bytes": Path,
    "write_text": Path,
}
#: Calls of a worker at which it can be struck.
WORKER_CALLS: dict[str, Any] = {
    **dict.fromkeys(("main", "_die_with_the_run", "_start"), child),
    **dict.fromkeys(("_answer", "_send"), child),
}
#: Seconds that a run of twelve small cells may take.
LIMIT = 60.0
#: Seconds within which everything of an ended run must be gone.
GRACE = 5.0


@dataclass(frozen=True)
class CrashPoint:
    """Who is struck, by what, and at which moment of which call."""

    side: str  #: ``run`` or ``worker``: whose call it is
    call: str  #: Name of the call
    count: int  #: The how manieth one of that process
    moment: str  #: ``before``, ``half`` or ``after`` it
    #: ``run``, ``worker`` (all of them, or the one whose call it is), ``group`` (the
    #: process group of the run), ``all`` (every process of the run at once)
    victim: str
    number: int = signal.SIGKILL  #: The signal
    once: bool = True  #: Whether only the first process that gets there is struck


@dataclass
class Strikes:
    """Strikes at the calls of a process, noted in a file before they fall."""

    point: CrashPoint | None  #: Where; None only counts the calls
    noted: Path  #: One byte per strike
    run: int = 0  #: The run's process
    calls: dict[str, int] = field(default_factory=dict)  #: How many there were

    def arm(self, side: str) -> None:
        """Put every call of this process under watch, for good."""
        for name, module in (RUN_CALLS if side == "run" else WORKER_CALLS).items():
            if self.point is None or (self.point.side, self.point.call) == (side, name):
                setattr(module, name, self._watched(name, getattr(module, name)))

    def _watched(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] = self.calls.get(name, 0) + 1
            due = self.point is not None and self.calls[name] == self.point.count
            if not due:
                return original(*args, **kwargs)
            moment = self.point.moment
            if moment == "half" and name in _HALVES:
                return _HALVES[name](original, self.strike, *args, **kwargs)
            if moment != "after":
                self.strike()
            result = original(*args, **kwargs)
            if moment == "after":
                self.strike()
            return result

        return watched

    def strike(self) -> None:
        """Send the signal, unless it was sent before and is to be sent once."""
        point = self.point
        assert point is not None
        flags = os.O_WRONLY | os.O_CREAT | (os.O_EXCL if point.once else os.O_APPEND)
        try:
            noted = _REAL_OPEN(self.noted, flags, 0o644)
        except FileExistsError:
            return
        _REAL_WRITE(noted, b"x")
        os.close(noted)
        victims = {
            "run": [self.run],
            "worker": [os.getpid()]
            if point.side == "worker"
            else descendants(self.run)[:1],
            "group": [-self.run],
            "all": [*descendants(self.run), self.run],
        }[point.victim]
        for pid in victims:
            with suppress(ProcessLookupError):
                os.kill(pid, point.number)


_REAL_OPEN, _REAL_WRITE = os.open, os.write


def _write_half(
    write: Callable[..., int], strike: Callable[[], None], file: int, data: bytes
) -> int:
    """Write half; that is a short write to whoever survives."""
    written = write(file, data[: max(1, len(data) // 2)])
    strike()
    return written


def _write_file_half(
    write: Callable[..., int],
    strike: Callable[[], None],
    path: Path,
    data: Any,
    **how: Any,
) -> int:
    """Leave half a file while the signal comes."""
    write(path, data[: len(data) // 2], **how)
    strike()
    return write(path, data, **how)


def _send_half(
    send: Callable[..., None],
    strike: Callable[[], None],
    stream: BinaryIO,
    *answer: Any,
) -> None:
    """Send an answer in two parts, and the signal between them."""
    whole = io.BytesIO()
    send(whole, *answer)
    data = whole.getvalue()
    stream.write(data[: len(data) // 2])
    stream.flush()
    strike()
    stream.write(data[len(data) // 2 :])
    stream.flush()


#: How calls that write are done by halves.
_HALVES: dict[str, Callable[..., Any]] = {
    "write": _write_half,
    "write_bytes": _write_file_half,
    "write_text": _write_file_half,
    "_send": _send_half,
}


def warm_up() -> None:
    """Import all that runs need, and become the process that orphans fall to.

    What a command does again each time, and always with the same result, is done once.
    """
    for name in builtin_names():
        get_method(name)
    here = manifest.environment()
    manifest.environment = lambda: copy.deepcopy(here)
    typer.main.get_command = functools.cache(typer.main.get_command)
    adopt_orphans()


class ForkedWorker:
    """What ``subprocess.Popen`` would be of a worker, forked instead of started."""

    #: What the worker of a run is struck by
    strikes: Strikes | None = None

    def __init__(
        self, arguments: Sequence[str], *, stderr: Any, **options: Any
    ) -> None:
        inside, self._to_worker = os.pipe()
        self._from_worker, outside = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            os.dup2(inside, 0)
            os.dup2(outside, 1)
            os.dup2(stderr.fileno(), 2)
            os.closerange(3, 4096)  # locks and pipes of the run
            _as_started(options["env"])
            if self.strikes is not None:
                self.strikes.calls.clear()
                self.strikes.arm("worker")
            try:
                child.main()
            finally:
                traceback.print_exc()
                os._exit(1)
        os.close(inside)
        os.close(outside)
        self.stdin = os.fdopen(self._to_worker, "wb")
        self.stdout = os.fdopen(self._from_worker, "rb")
        self._code: int | None = None

    def kill(self) -> None:
        """End it."""
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Collect it."""
        if self._code is None:
            _, status = os.waitpid(self.pid, 0)
            self._code = os.waitstatus_to_exitcode(status)
        return self._code


def _as_started(environment: dict[str, str]) -> None:
    """Undo what a started program would not inherit."""
    for number in (signal.SIGINT, signal.SIGTSTP, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    os.environ.update(environment)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)


@dataclass
class ForkedRun:
    """A command that runs beside this process."""

    pid: int
    folder: Path  #: Where its output goes
    code: int | None = None  #: Its exit code, or minus the signal, once it has ended

    @property
    def out(self) -> str:
        """What it has printed so far."""
        return (self.folder / "out").read_text(encoding="utf-8", errors="replace")

    @property
    def err(self) -> str:
        """What it has said on standard error so far."""
        return (self.folder / "err").read_text(encoding="utf-8", errors="replace")

    @property
    def struck(self) -> int:
        """How many strikes fell at its crash point."""
        path = self.folder / "struck"
        return path.stat().st_size if path.exists() else 0


def fork_run(
    folder: Path,
    *arguments: object,
    strikes: Strikes | None = None,
    at_end: Callable[[], object] = lambda: None,
) -> ForkedRun:
    """Start a command in a process forked from this one; `folder` takes its output.

    It does something `at_end`, if it gets there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("out", "err"):
        (folder / name).write_bytes(b"")
    pid = os.fork()
    if pid:
        run = _RUNNING[pid] = ForkedRun(pid, folder)
        return run
    code = 70
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(folder / name, os.O_WRONLY | os.O_APPEND), number)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1, closefd=False)
        sys.argv = ["drmbench", *map(str, arguments)]
        shim = mock.Mock(Popen=ForkedWorker, PIPE=subprocess.PIPE)
        worker.subprocess = shim  # type: ignore[attr-defined]
        if strikes is not None:
            strikes.run = os.getpid()
            ForkedWorker.strikes = strikes
            strikes.arm("run")
        code = _ended_with(main)
        sys.stdout.flush()
        at_end()
    finally:
        os._exit(code)


def _ended_with(command: Callable[[], None]) -> int:
    """Run a command and return its exit code; what escapes is printed."""
    try:
        command()
    except SystemExit as stop:
        return int(stop.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


#: Runs that have not ended, by process.
_RUNNING: dict[int, ForkedRun] = {}


def wait_for(runs: Sequence[ForkedRun], seconds: float) -> list[ForkedRun]:
    """Wait until runs have ended, and return those that have not by then."""
    end = time.monotonic() + seconds
    while True:
        _collect()
        left = [run for run in runs if run.code is None]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.005)


def _collect() -> bool:
    """Collect what has ended; False if no process is left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if not pid:
            return True
        if pid in _RUNNING:
            _RUNNING.pop(pid).code = os.waitstatus_to_exitcode(status)


def orphans() -> list[str]:
    """Return what is left of ended runs after :data:`GRACE`, and end it."""
    end = time.monotonic() + GRACE
    while _collect() and time.monotonic() < end:
        time.sleep(0.005)
    if not _collect():
        return []
    found = []
    for pid in descendants(os.getpid()):
        with suppress(OSError):  # it has just ended
            text = Path(f"/proc/{pid}/stat").read_text()
            found.append(f"{pid} {text.rpartition(')')[2].split()[0]}")
            os.kill(pid, signal.SIGKILL)
    while _collect():
        time.sleep(0.01)
    return found


def check_end(
    trial: Trial, runs: Sequence[ForkedRun], hanging: Sequence[ForkedRun]
) -> None:
    """Hold runs to having ended, with nothing left of them and no traceback."""
    for run in hanging:
        trial.violate("hang", f"a run did not end within {LIMIT:g} s: {run.err[-500:]}")
        with suppress(ProcessLookupError):
            os.kill(run.pid, signal.SIGKILL)
    for left in orphans():
        trial.violate("orphan", f"{left} outlived its run; {runs[-1].err[-300:]}")
    for run in runs:
        trial.outcomes[f"ended with {run.code}"] += 1
        if "Traceback" in run.err:
            trial.violate("traceback", run.err[-3000:])


class InlinePool:
    """Runs each cell in this process, at once: for what does not concern workers."""

    def __init__(self) -> None:
        self._answers: list[tuple[Job, Answer]] = []

    @property
    def running(self) -> list[Job]:
        """Cells whose answer was not taken yet."""
        return [job for job, _ in self._answers]

    def has_room(self, job: Job) -> bool:
        """Take one at a time."""
        return not self._answers

    def submit(self, job: Job) -> None:
        """Run a cell."""
        rows = drmbench.running.execute.execute(job.task)
        self._answers.append((job, Answer("ok", rows)))

    def wait(self, seconds: float) -> list[tuple[Job, Answer]]:
        """Return the answers."""
        answers, self._answers = self._answers, []
        return answers

    def pause(self, stopped: bool) -> None:
        """Do nothing: there is no other process."""

    def close(self) -> None:
        """Do nothing: there is no other process."""


def _inline_pool(*options: object) -> InlinePool:
    return InlinePool()


def inline_workers() -> Any:
    """Let runs of this process run their cells themselves, during a block."""
    return mock.patch.object(runner, "make_pool", _inline_pool)
