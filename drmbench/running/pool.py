"""Pools: cells on their way, and worker processes on this machine that run them."""

from __future__ import annotations

import select
from dataclasses import dataclass, field, replace
from typing import Protocol

from drmbench.errors import DrmbenchError, InputError
from drmbench.running.store import Record, Store
from drmbench.running.task import Task
from drmbench.running.worker import Answer, Worker, default_memory


@dataclass(eq=False)
class Job:
    """A cell to be run: with which limits, and where its record goes."""

    task: Task  #: What to run
    store: Store  #: Where its record goes
    replaces: Record | None = None  #: The stored record that it is to replace
    substitute: str = ""  #: Name of the data set that stands in for its own, or empty
    timeout: float | None = None  #: Time limit in seconds
    memory: int = 0  #: Bytes it may need
    alone: bool = False  #: Whether nothing else may run beside it


class Pool(Protocol):
    """Anything that runs cells side by side."""

    @property
    def running(self) -> list[Job]:
        """Cells that were submitted and have not ended."""

    def has_room(self, job: Job) -> bool:
        """Say whether a cell can start now."""

    def submit(self, job: Job) -> None:
        """Start a cell."""

    def wait(self, seconds: float) -> list[tuple[Job, Answer]]:
        """Return the cells that ended, after at most so many seconds."""

    def pause(self, stopped: bool) -> None:
        """Stop the running cells while this process is stopped, or let them go on."""

    def close(self) -> None:
        """End everything at once."""


def make_pool(jobs: int, memory: int, scheduler: str) -> Pool:
    """Return a pool of workers here, or on a dask cluster if a scheduler is named.

    ``memory`` is for all cells together; 0 is a share of the machine's.
    """
    if scheduler:
        from drmbench.running.distributed import DaskPool

        return DaskPool.connect(scheduler, jobs, memory)
    pool = LocalPool(jobs, memory or default_memory())
    pool.try_worker()
    return pool


def require_started(answer: Answer | None) -> None:
    """Raise if workers cannot be started, since that is no failure of a cell."""
    if answer is not None and answer.status in ("unstarted", "refused"):
        kind = InputError if answer.status == "refused" else DrmbenchError
        raise kind(
            f"no worker can be started: {answer.reason}. What was finished is safe."
        )


@dataclass
class LocalPool:
    """Worker processes on this machine."""

    jobs: int  #: Number of workers
    #: Bytes that all cells together may use. A cell that alone needs more is run with
    #: nothing beside it, and fails by itself if it is really too large.
    memory: int
    _idle: list[Worker] = field(default_factory=list)
    _busy: list[tuple[Worker, Job]] = field(default_factory=list)

    @property
    def running(self) -> list[Job]:
        """Cells that were submitted and have not ended."""
        return [job for _, job in self._busy]

    def has_room(self, job: Job) -> bool:
        """Say whether a worker is free and the machine's memory suffices."""
        if not self._busy:
            return True
        if len(self._busy) >= self.jobs or job.alone:
            return False
        if any(other.alone for other in self.running):
            return False
        used = sum(other.memory for other in self.running)
        return used + job.memory <= self.memory

    def try_worker(self) -> None:
        """Start the first worker and let it test itself, before any cell."""
        worker = Worker(self.memory)
        self._idle.append(worker)
        try:
            require_started(worker.wait_until_ready())
        except BaseException:
            self.close()
            raise

    def submit(self, job: Job) -> None:
        """Start a cell on a free worker, or on a new one."""
        while self._idle and not self._idle[-1].fit_for_use():
            self._idle.pop().stop()
        worker = self._idle.pop() if self._idle else Worker(self.memory)
        worker.give(job.task.model_dump_json(), job.timeout)
        self._busy.append((worker, job))

    def wait(self, seconds: float) -> list[tuple[Job, Answer]]:
        """Return the cells that ended; a worker that died or is late is ended."""
        select.select([worker for worker, _ in self._busy], [], [], seconds)
        ended = []
        for worker, job in list(self._busy):
            answer = worker.poll()
            if answer is None:
                continue
            self._busy.remove((worker, job))
            if answer.process_ended:
                worker.stop()
            else:
                self._idle.append(worker)
            require_started(answer)
            ended.append((job, replace(answer, made_by=worker.made_by)))
        return ended

    def pause(self, stopped: bool) -> None:
        """Stop or continue all workers, which no terminal reaches."""
        for worker in [*self._idle, *(worker for worker, _ in self._busy)]:
            worker.pause(stopped)

    def close(self) -> None:
        """Kill all workers."""
        for worker in [*self._idle, *(worker for worker, _ in self._busy)]:
            worker.stop()
        self._idle.clear()
        self._busy.clear()
