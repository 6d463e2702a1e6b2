"""Worker processes: the handle that a run has on one, its own loop, and their memory.

A worker is started as ``python -m drmbench.running.worker``; it takes cells and gives
back rows as lines of JSON, and ends when its standard input does, so it never outlives
the run that started it. Plain pipes rather than ``multiprocessing``: the same class
serves the local pool and the workers of a dask cluster, which may not start daemons'
children.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:  # a worker imports what is heavy after it has set its limits
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


@dataclass(frozen=True)
class Answer:
    """What became of a cell."""

    status: str  #: ``ok`` means that rows came back; they have statuses of their own
    rows: list[dict[str, Any]] = field(default_factory=list)  #: The rows, if ok
    reason: str = ""  #: Why there are none
    seconds: float = 0.0  #: Wall-clock time of the cell
    process_ended: bool = False  #: Whether the worker is dead or must be ended
    #: Whether something outside killed the worker, such as the system for want of
    #: memory
    killed: bool = False
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
        self._started = time.monotonic()
        self._ready = False
        self._timeout: float | None = None
        environment = {**os.environ, "DRMBENCH_WORKER_BYTES": str(memory)}
        environment |= dict.fromkeys(THREAD_VARIABLES, "1")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "drmbench.running.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )
        os.set_blocking(self.fileno(), False)

    def fileno(self) -> int:
        """Return what to wait for: the pipe that answers come through."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def give(self, task: str, timeout: float | None) -> None:
        """Send a cell, as its line of JSON; :meth:`poll` returns the answer."""
        self._timeout, self._started = timeout, time.monotonic()
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(task.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it died before; poll() tells why

    def poll(self) -> Answer | None:
        """Return the answer if there is one by now; a time-out or a death is one."""
        with contextlib.suppress(BlockingIOError):
            self._buffer += os.read(self.fileno(), 1 << 20)
        while b"\n" in self._buffer:
            line, _, self._buffer = self._buffer.partition(b"\n")
            message = json.loads(line)
            seconds = time.monotonic() - self._started
            if "rows" in message:
                return Answer("ok", message["rows"], seconds=seconds)
            if "failure" in message:
                return Answer("failed", reason=message["failure"], seconds=seconds)
            self._ready, self.made_by = True, message.get("made_by", {})
            self._started = time.monotonic()  # starting is not the cell's time
        seconds = time.monotonic() - self._started
        if self._process.poll() is not None:
            killed = self._process.returncode == -signal.SIGKILL
            return Answer("failed", [], self._exit_reason(), seconds, True, killed)
        limit = self._timeout if self._ready else START_SECONDS
        if limit is not None and seconds > limit:
            reason = f"not done within its time limit of {limit:g} s"
            return Answer("timeout", [], reason, seconds, process_ended=True)
        return None

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _exit_reason(self) -> str:
        """Say why the process ended, with the last line of its standard error."""
        code = self._process.returncode
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
        return f"its process {ended}" + (f": {written[-1]}" if written else "")


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


def main() -> None:
    """Be a worker: answer cells until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the run's to handle
    # Standard output is kept for answers; whatever prints goes to standard error.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if limit := int(os.environ.get("DRMBENCH_WORKER_BYTES", "0")):
        # An allocation beyond the limit fails here, rather than the whole machine.
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read_lines() -> None:
        for line in sys.stdin.buffer:
            lines.put(line)
        os._exit(0)  # the run is gone, so nobody waits for an answer

    threading.Thread(target=read_lines, daemon=True).start()
    # Import what cells need before any cell, so that none is timed with it.
    import sklearn.datasets  # noqa: F401
    from threadpoolctl import threadpool_limits

    from drmbench.methods.registry import builtin_names, get_method
    from drmbench.running import execute  # noqa: F401
    from drmbench.running.provenance import maker_here

    for name in builtin_names():
        get_method(name)
    _send(answers, {"ready": os.getpid(), "made_by": maker_here()})
    with threadpool_limits(limits=1):
        while True:
            _send(answers, _answer(lines.get()))


def _answer(line: bytes) -> dict[str, Any]:
    from drmbench.errors import DrmbenchError
    from drmbench.running.execute import execute
    from drmbench.running.task import Task

    try:
        return {"rows": execute(Task.model_validate_json(line))}
    except MemoryError as error:
        return {"failure": f"out of memory: {error}".rstrip(": ")}
    except DrmbenchError as error:
        return {"failure": str(error)}
    except Exception as error:  # a cell's bug is that cell's status, not the run's end
        import traceback

        traceback.print_exc()
        return {"failure": f"{type(error).__name__}: {error}"}


def _send(answers: BinaryIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main()
