"""One worker process, seen from the run: ask, listen, kill, tell why it died.

Plain pipes and lines of JSON rather than ``multiprocessing``: the same class serves the
local pool and the workers of a dask cluster, which may not start daemons' children.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from drmbench.run.task import Task
from drmbench.run.worker import THREAD_VARIABLES

#: How long a worker may take to start; slow disks and loaded machines are normal.
START_SECONDS = 300.0


@dataclass(frozen=True)
class Answer:
    """What became of a cell.

    Attributes
    ----------
    status : {"ok", "failed", "timeout"}
        ``ok`` means that rows came back; they have statuses of their own.
    rows : list of dict
        The rows, if ok.
    reason : str
        Why there are none.
    seconds : float
        Wall-clock time of the cell.
    process_ended : bool
        Whether the worker is dead or must be ended.
    killed : bool
        Whether something outside killed the worker, such as the system for want of
        memory.
    """

    status: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    reason: str = ""
    seconds: float = 0.0
    process_ended: bool = False
    killed: bool = False


class Worker:
    """A child process that runs one cell at a time and can be killed alone.

    Parameters
    ----------
    memory : int
        Bytes it may use; 0 is no limit.
    """

    def __init__(self, memory: int = 0) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed by stop()
        self._buffer = b""
        self._started = time.monotonic()
        self.ready = False
        self.task: Task | None = None
        self.timeout: float | None = None
        environment = {**os.environ, "DRMBENCH_WORKER_BYTES": str(memory)}
        environment |= dict.fromkeys(THREAD_VARIABLES, "1")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "drmbench.run.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    def fileno(self) -> int:
        """Return what to wait for: the pipe that answers come through."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def give(self, task: Task, timeout: float | None) -> None:
        """Hand out a task; the answer comes by and by through :meth:`poll`."""
        self.task, self.timeout = task, timeout
        self._started = time.monotonic()
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(task.to_json().encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it died before; poll() tells why

    @property
    def seconds(self) -> float:
        """Time since the task was handed out."""
        return time.monotonic() - self._started

    def poll(self) -> Answer | None:
        """Return the answer if there is one by now, a time-out and a death included."""
        self._listen()
        while b"\n" in self._buffer:
            line, _, self._buffer = self._buffer.partition(b"\n")
            if (answer := self._understand(json.loads(line))) is not None:
                return answer
        if self._process.poll() is not None:
            return Answer(
                "failed",
                reason=self._obituary(),
                seconds=self.seconds,
                process_ended=True,
                killed=self._process.returncode == -signal.SIGKILL,
            )
        limit = self.timeout if self.ready else START_SECONDS
        if limit is not None and self.seconds > limit and self.task is not None:
            return Answer(
                "timeout",
                reason=f"not done within its time limit of {limit:g} s",
                seconds=self.seconds,
                process_ended=True,
            )
        return None

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    @property
    def pid(self) -> int:
        """Process number."""
        return self._process.pid

    def _listen(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._buffer += os.read(self.fileno(), 1 << 20)

    def _understand(self, message: Mapping[str, Any]) -> Answer | None:
        if "ready" in message:
            self.ready = True
            self._started = time.monotonic()  # starting is not the cell's time
            return None
        if "rows" in message:
            return Answer("ok", message["rows"], seconds=self.seconds)
        return Answer("failed", reason=message["failure"], seconds=self.seconds)

    def _obituary(self) -> str:
        code = self._process.returncode
        if code >= 0:
            return f"its process ended with exit code {code}{self._last_words()}"
        name = signal.Signals(-code).name
        meaning = {
            "SIGKILL": "killed from outside, most likely for want of memory",
            "SIGSEGV": "crashed with a segmentation fault",
        }.get(name, f"ended by the signal {name}")
        return (
            f"its process was {meaning}"
            if name == "SIGKILL"
            else (f"its process {meaning}{self._last_words()}")
        )

    def _last_words(self) -> str:
        """Return the last line that the process wrote to standard error."""
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode(errors="replace").split("\n")
        spoken = [line.strip() for line in lines if line.strip()]
        return f": {spoken[-1]}" if spoken else ""
