"""A worker process: takes tasks as lines of JSON, gives back rows as lines of JSON.

Started as ``python -m drmbench.run.worker`` by :class:`drmbench.run.process.Worker`.
It ends when its standard input does, so it never outlives the run that started it.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from typing import Any, BinaryIO

#: One thread a worker: more of them slow small problems down by a factor of 50.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def main() -> None:
    """Answer tasks until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the run's to handle
    answers = _take_standard_output()
    _limit_memory(int(os.environ.get("DRMBENCH_WORKER_BYTES", "0")))
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read_tasks, args=(lines,), daemon=True).start()
    from threadpoolctl import threadpool_limits

    _import_all()
    _send(answers, {"ready": os.getpid()})
    with threadpool_limits(limits=1):
        while True:
            _send(answers, _answer(lines.get()))


def _import_all() -> None:
    """Import what cells need before any task, so that no cell is timed with it."""
    import sklearn.datasets  # noqa: F401

    from drmbench.methods.registry import list_methods
    from drmbench.run import execute  # noqa: F401

    list_methods()


def _take_standard_output() -> BinaryIO:
    """Keep standard output for answers; whatever prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _read_tasks(lines: queue.SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)  # whoever asked is gone, so nobody waits for an answer


def _limit_memory(limit: int) -> None:
    """Let an allocation beyond the limit fail here, rather than the whole machine."""
    if limit:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _answer(line: bytes) -> dict[str, Any]:
    from drmbench.errors import DrmbenchError
    from drmbench.run.execute import execute
    from drmbench.run.task import Task

    try:
        return {"rows": execute(Task.from_json(line.decode()))}
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
