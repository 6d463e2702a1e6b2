"""What a worker process does: set its limits, test itself, answer cells until the end.

A method may print, read standard input, fork, close descriptors or leave with
``sys.exit``: the pipes of the worker lie at high numbers that no program of a method
inherits, standard input and output lead elsewhere, and only this process answers. When
the run is gone, so is the worker and all that it started: on Linux by the system's
signal, and everywhere by a small process that watches the pipe that cells come through.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import queue
import resource
import select
import signal
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from drmbench.errors import DrmbenchError, InputError, shortened
from drmbench.running.provenance import maker_here

#: ``PR_SET_PDEATHSIG`` of Linux's ``prctl``: the signal to get when the parent dies.
_PARENT_DEATH_SIGNAL = 1
#: Where the pipes lie, if so many descriptors are allowed.
_HIGH_DESCRIPTOR = 4000
#: Bytes beside an idle worker without which not even small cells can be run.
_LEAST_ROOM = 128 * 2**20
#: Processor seconds for starting, beyond which a worker does not come to an end:
#: libraries that get no memory may try for ever.
_START_PROCESSOR_SECONDS = 120.0
#: Characters of a reason, at most.
_LONGEST_REASON = 2000


def main() -> None:
    """Be a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the run's to handle
    signal.setitimer(signal.ITIMER_PROF, _START_PROCESSOR_SECONDS)
    tasks, answers = _out_of_reach(0), _out_of_reach(1)
    # Standard input is empty; whatever prints goes to standard error.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    _die_with_the_run(tasks)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    with os.fdopen(answers, "wb") as stream:
        try:
            threading.Thread(target=_read, args=(tasks, lines), daemon=True).start()
            _start()
        except BaseException as error:
            kind = "refusal" if isinstance(error, InputError) else "failure"
            _send(stream, 0, "", {kind: _because(error)})
            os._exit(1)  # the reader would hold up an orderly end
        signal.setitimer(signal.ITIMER_PROF, 0)
        _send(stream, 0, "", {"ready": os.getpid(), "made_by": maker_here()})
        _serve(lines, stream)


def _out_of_reach(descriptor: int) -> int:
    """Return a copy of a descriptor with a high number, which no program inherits."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed != resource.RLIM_INFINITY:
        allowed = min(allowed - 8, _HIGH_DESCRIPTOR)
    else:
        allowed = _HIGH_DESCRIPTOR
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, max(allowed, 3))


def _die_with_the_run(tasks: int) -> None:
    """See to it that nothing of this worker's session outlives the run."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(None)
            library.prctl(_PARENT_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    if os.fork() == 0:
        # Needs nothing of the worker, which may hold Python's lock or be stopped.
        closing = select.poll()
        closing.register(tasks, 0)
        closing.poll()
        os.killpg(0, signal.SIGKILL)


def _read(tasks: int, lines: queue.SimpleQueue[bytes]) -> None:
    """Hand cells over as they come, so that the end of the run is noticed meanwhile."""
    with os.fdopen(tasks, "rb") as stream:
        for line in stream:
            lines.put(line)
    os.killpg(0, signal.SIGKILL)


def _start() -> None:
    """Import what cells need before any cell, limit the memory, and try it out."""
    import numpy as np
    import sklearn.datasets  # noqa: F401

    from drmbench.methods.registry import builtin_names, get_method
    from drmbench.running import execute  # noqa: F401

    for name in builtin_names():
        get_method(name)
    _limit_memory(int(os.environ.get("DRMBENCH_WORKER_BYTES", "0")))
    matrix = np.eye(64) + 1.0
    solved = np.linalg.solve(matrix, matrix @ np.ones(64))
    if not np.allclose(solved, 1.0):
        raise RuntimeError("numpy solves a system of 64 equations wrongly")


def _limit_memory(limit: int) -> None:
    """Let allocations beyond the limit fail here, rather than the whole machine.

    A lower limit of the system stays. One that leaves no room for cells is refused.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limits = [size for size in (limit, soft) if size not in (0, resource.RLIM_INFINITY)]
    if not limits:
        return
    least, pages = min(limits), 0
    with suppress(OSError):  # only Linux says how much there is by now
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    idle = pages * resource.getpagesize()
    if least < idle + _LEAST_ROOM:
        sizes = (least, idle, idle + _LEAST_ROOM)
        raise InputError(
            "it may have {}M of memory, but takes {}M of addresses when idle; allow at"
            " least {}M (--memory, ulimit -v)".format(*(-(-n >> 20) for n in sizes))
        )
    resource.setrlimit(resource.RLIMIT_AS, (least, hard))


def _serve(lines: queue.SimpleQueue[bytes], answers: BinaryIO) -> None:
    """Answer cells, one after the other, for ever."""
    from threadpoolctl import threadpool_limits

    worker = os.getpid()
    with threadpool_limits(limits=1):
        while True:
            number, token, task = lines.get().split(b" ", 2)
            answer = _answer(task)
            if os.getpid() != worker:
                os._exit(0)  # a method forked, and both have returned
            _send(answers, int(number), token.decode(), answer)


def _answer(task: bytes) -> dict[str, Any]:
    """Run a cell; whatever goes wrong is that cell's status, not the run's end."""
    from drmbench.running.execute import execute
    from drmbench.running.task import Task

    try:
        return {"rows": execute(Task.model_validate_json(task))}
    except BaseException as error:
        if not isinstance(error, DrmbenchError | MemoryError):
            traceback.print_exc()
        return {"failure": _because(error)}


def _because(error: BaseException) -> str:
    """Say an error; the text of an expected one is the message."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, DrmbenchError):
        text = str(error)
    if isinstance(error, MemoryError):
        text = f"out of memory: {error}".rstrip(": ")
    return shortened(text, _LONGEST_REASON)


def _send(answers: BinaryIO, number: int, token: str, answer: dict[str, Any]) -> None:
    message = {"number": number, "token": token, **answer}
    text = json.dumps(message, ensure_ascii=False)
    # What is stored is UTF-8, and lone surrogates are not.
    answers.write(text.encode(errors="replace") + b"\n")
    answers.flush()


if __name__ == "__main__":
    main()
