"""Worker processes: the handle that a run has on one, and the memory they may use.

A worker is started as ``python -m drmbench.running.child``; it takes cells and gives
back rows as lines of JSON. Plain pipes rather than ``multiprocessing``: the same class
serves the local pool and the workers of a dask cluster, which may not start daemons'
children. Every answer repeats the number and the random token that its cell was sent
with, so whatever else comes through the pipe is never taken for a cell's rows. A worker
leads a session of its own and is ended together with all that it started.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drmbench.errors import shortened

if TYPE_CHECKING:
    from drmbench.methods.base import Method

#: How long a worker may take to start; slow disks and loaded machines are normal.
START_SECONDS = 300.0
#: One thread per worker: more of them slow small problems down by a factor of 50.
THREAD_VARIABLES = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
    "LOKY_MAX_CPU_COUNT",  # joblib's, and that of packages which ask it, as LightGBM
)

#: Share of the machine's memory that all cells together may use.
_SHARE = 0.8
#: Bytes of a worker that has imported everything and done nothing.
_IDLE_WORKER = 250 * 2**20
#: Matrices of the size (training rows)² that a kernel method holds at a time.
_SQUARE_MATRICES = 8
#: Copies of the data that a cell holds at a time: loaded, split, scaled, fitted.
_DATA_COPIES = 5
#: Parts of the names of families that hold matrices of all pairs of samples.
_PAIRWISE = {"svm", "drm", "krr", "knn", "crc"}
#: Signals by which people and systems end a process; a crash raises others.
_FROM_OUTSIDE = {
    *(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT),
    *(signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU),
}
#: Seconds between two looks at a worker that count at most: a longer gap means that
#: the run itself was stopped, as by Ctrl-Z.
_LONGEST_STEP = 2.0
#: Bytes of an answer; more than that are no rows.
_LONGEST_ANSWER = 256 * 2**20
_BAD_ANSWER = "something other than its rows came through the pipe for answers"


@dataclass(frozen=True)
class Answer:
    """What became of a cell."""

    #: ``ok`` means that rows came back; they have statuses of their own. ``unstarted``
    #: means that no worker can be started, ``refused`` that what it was given is wrong
    status: str
    rows: list[dict[str, Any]] = field(default_factory=list)  #: The rows, if ok
    reason: str = ""  #: Why there are none
    seconds: float = 0.0  #: Time that the cell ran; time while it was stopped is none
    process_ended: bool = False  #: Whether the worker is dead or must be ended
    #: Whether the cause may lie outside the cell, so that it is worth another try
    again: bool = False
    #: Whether somebody ended the worker, so that it says nothing about the cell
    outside: bool = False
    #: What computed it (:mod:`drmbench.running.provenance`); empty if that is not known
    made_by: dict[str, Any] = field(default_factory=dict)


class Worker:
    """A child process that runs one cell at a time and can be killed alone.

    It may use ``memory`` bytes.
    """

    def __init__(self, memory: int) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed by stop()
        self._buffer = b""
        self.made_by: dict[str, Any] = {}  #: What it computes with, once it is ready
        self._ready = False
        self._timeout: float | None = None
        self._number, self._token = 0, ""
        self._begin()
        environment = {**os.environ, "DRMBENCH_WORKER_BYTES": str(memory)}
        environment |= dict.fromkeys(THREAD_VARIABLES, "1")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "drmbench.running.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            start_new_session=True,
        )
        os.set_blocking(self.fileno(), False)

    def fileno(self) -> int:
        """Return what to wait for: the pipe that answers come through."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def _begin(self) -> None:
        """Start to count time, and remember how many processes starved so far."""
        self._ran, self._looked = 0.0, time.monotonic()
        self._starved = _starved_processes()

    def wait_until_ready(self) -> Answer | None:
        """Wait until the worker has tested itself; an answer says why it cannot."""
        while not self._ready and (answer := self.poll()) is None:
            select.select([self], [], [], 0.25)
        return None if self._ready else answer

    def fit_for_use(self) -> bool:
        """Say whether an idle worker still lives and has kept silent since."""
        self._read()
        return not self._buffer and self._change() != "ended"

    def give(self, task: str, timeout: float | None) -> None:
        """Send a cell, as its line of JSON; :meth:`poll` returns the answer."""
        self._timeout, self._number = timeout, self._number + 1
        self._token = secrets.token_hex(8)
        self._begin()
        try:
            assert self._process.stdin is not None
            line = f"{self._number} {self._token} {task}\n"
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it died before; poll() tells why

    def poll(self) -> Answer | None:
        """Return the answer if there is one by now; a time-out or a death is one."""
        change = self._change()
        now = time.monotonic()
        if change != "stopped":
            self._ran += min(now - self._looked, _LONGEST_STEP)
        self._looked = now
        self._read()
        while b"\n" in self._buffer:
            line, _, self._buffer = self._buffer.partition(b"\n")
            if (answer := self._answer_of(line)) is not None:
                return answer
        if len(self._buffer) > _LONGEST_ANSWER:
            return self._ended("failed", _BAD_ANSWER, again=True)
        if change == "ended":
            return self._death()
        limit = self._timeout if self._ready else START_SECONDS
        if limit is not None and self._ran > limit:
            reason = f"not done within its time limit of {limit:g} s"
            return self._ended("timeout" if self._ready else "unstarted", reason)
        return None

    def pause(self, stopped: bool) -> None:
        """Stop the process and all that it started, or let them go on."""
        self._signal(signal.SIGSTOP if stopped else signal.SIGCONT)

    def stop(self) -> None:
        """End the process and all that it started, whatever they are doing."""
        self._signal(signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _signal(self, number: int) -> None:
        # Its process is not collected before stop() ends, so the group is its own.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _read(self) -> None:
        """Take what is in the pipe."""
        with contextlib.suppress(BlockingIOError):
            while len(self._buffer) <= _LONGEST_ANSWER and (
                chunk := os.read(self.fileno(), 1 << 20)
            ):
                self._buffer += chunk

    def _answer_of(self, line: bytes) -> Answer | None:
        """Return what a line says of the present cell; None if a worker got ready."""
        try:
            message = json.loads(line)
            sent_with = message["number"], message["token"]
        except (ValueError, KeyError, TypeError, RecursionError):
            sent_with = None
        if not self._ready and sent_with == (0, ""):
            if "refusal" in message:
                return self._ended("refused", str(message["refusal"]))
            if "ready" not in message:
                return self._ended("unstarted", str(message["failure"]))
            self._ready, self.made_by = True, message["made_by"]
            self._begin()  # starting is not the cell's time
            return None
        if sent_with != (self._number, self._token) or not self._number:
            return self._ended("failed", _BAD_ANSWER, again=True)
        self._token = secrets.token_hex(8)  # a second answer is none
        if "rows" in message:
            return Answer("ok", message["rows"], seconds=self._ran)
        return Answer("failed", reason=str(message["failure"]), seconds=self._ran)

    def _ended(self, status: str, reason: str, *, again: bool = False) -> Answer:
        return Answer(status, [], reason, self._ran, process_ended=True, again=again)

    def _death(self) -> Answer:
        """Say how the process ended, and whether that was the cell's doing."""
        code = self._exit_code()
        outside = -code in _FROM_OUTSIDE
        starved = code == -signal.SIGKILL and _starved_processes() > self._starved
        status = "failed" if self._ready or outside else "unstarted"
        return Answer(
            *(status, [], self._exit_reason(code), self._ran),
            process_ended=True,
            again=outside,
            outside=outside and not (starved and self._ready),
        )

    def _change(self) -> str:
        """Say whether the process has ``ended``, is ``stopped`` or neither.

        It is not collected, so that its number stays its own until :meth:`stop`. Where
        a system cannot tell, a stopped process counts as running.
        """
        if not hasattr(os, "waitid"):
            return "" if self._process.poll() is None else "ended"
        flags = os.WEXITED | os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        change = os.waitid(os.P_PID, self._process.pid, flags)
        if change is None:
            return ""
        return "stopped" if change.si_code == os.CLD_STOPPED else "ended"

    def _exit_code(self) -> int:
        """Return the exit code, or minus the signal, of the process that has ended."""
        if hasattr(os, "waitid"):
            pid, flags = self._process.pid, os.WEXITED | os.WNOWAIT
            if (ended := os.waitid(os.P_PID, pid, flags)) is not None:
                normal = ended.si_code == os.CLD_EXITED
                return ended.si_status if normal else -ended.si_status
        return self._process.wait()

    def _exit_reason(self, code: int) -> str:
        """Say why the process ended, with the last line of its standard error."""
        if code == -signal.SIGKILL:
            return "its process was killed from outside, most likely for want of memory"
        if code >= 0:
            ended = f"ended with exit code {code}"
        elif code == -signal.SIGSEGV:
            ended = "crashed with a segmentation fault"
        else:
            ended = f"ended by the signal {signal.Signals(-code).name}"
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode(errors="replace").split("\n")
        written = [line.strip() for line in lines if line.strip()]
        return f"its process {ended}" + (
            f": {shortened(written[-1], 500)}" if written else ""
        )


def _starved_processes() -> int:
    """Return how many processes the system has ended for want of memory, if it says."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def machine_memory() -> int:
    """Return the memory of this machine, or of its container if that has less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            total = min(total, int(Path("/sys/fs/cgroup", name).read_text()))
    return total


def default_memory() -> int:
    """Return the bytes that all cells together may use if the user says nothing."""
    return int(_SHARE * machine_memory())


def cell_memory(method: Method, n_train: int, n: int, p: int) -> int:
    """Estimate the bytes that a cell needs at its peak.

    A kernel method holds square matrices of the training part.
    """
    data = 8 * n * p * _DATA_COPIES
    squares = 0
    if _PAIRWISE & set(method.family.split("-")) and not method.large_scale:
        squares = 8 * n_train**2 * _SQUARE_MATRICES
    return _IDLE_WORKER + data + squares
