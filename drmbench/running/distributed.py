"""A pool on a dask cluster: the same cells, the same store, more machines.

A dask worker hands each cell to a process of its own (:class:`~.worker.Worker`), so a
time limit or a crash ends that cell alone there too. A dask worker that dies has its
cells given to others by dask's scheduler.
"""

from __future__ import annotations

import dataclasses
import logging
import queue
import select
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from drmbench import __version__
from drmbench.errors import DrmbenchError, InputError
from drmbench.running.pool import Job, require_started
from drmbench.running.provenance import maker_here, same_code
from drmbench.running.worker import Answer, Worker, default_memory

#: How long to look for a scheduler, and for its first worker.
CONNECT_SECONDS = 15.0
#: How long a scheduler may be silent, or without any worker, while cells run.
SILENT_SECONDS = 30.0
#: Seconds between two questions to the scheduler whether it has workers.
_ASK_EVERY = 2.0
#: Libraries that log what their connections go through.
_CHATTY = ("distributed", "tornado", "asyncio")
_SAFE = "what was finished is safe, and the same command goes on"

logger = logging.getLogger(__name__)

_at_hand = threading.local()


def run_isolated(task: str, timeout: float | None, memory: int) -> dict[str, Any]:
    """Run a cell in a child process of a dask worker; give an answer's fields."""
    worker: Worker | None = getattr(_at_hand, "worker", None)
    if worker is None:
        worker = Worker(memory or default_memory())
    _at_hand.worker = None
    worker.give(task, timeout)
    while (answer := worker.poll()) is None:
        select.select([worker], [], [], 0.25)
    if answer.process_ended:
        worker.stop()
    else:
        _at_hand.worker = worker
    made_by = worker.made_by or maker_here()
    return dataclasses.asdict(dataclasses.replace(answer, made_by=made_by))


def remote_version() -> str:
    """Return the drmbench version of a dask worker."""
    return __version__


def remote_code() -> str:
    """Return the digest of a dask worker's code."""
    return str(maker_here()["code"])


@dataclass
class DaskPool:
    """Cells on the workers of a dask cluster."""

    client: Any  #: Connection to the scheduler
    cluster: Any = None  #: A cluster that belongs to this run and ends with it
    memory: int = 0  #: Bytes that a cell may use; 0 is a share of its machine's
    _futures: dict[Any, Job] = field(default_factory=dict)
    #: When the scheduler was last asked for workers, and last had some
    _asked: float = field(default_factory=time.monotonic)
    _workers_seen: float = field(default_factory=time.monotonic)
    #: Addresses of workers whose code is not this run's
    _refused: set[str] = field(default_factory=set)

    @classmethod
    def connect(cls, address: str, jobs: int, memory: int) -> DaskPool:
        """Connect to a scheduler, or start a cluster on this machine for ``local``."""
        try:
            from distributed import Client, LocalCluster
        except ImportError as error:
            raise InputError(
                "--scheduler needs dask: pip install 'drmbench[dask]'"
            ) from error
        cluster = None
        if address == "local":
            cluster = LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                # Some free port: without an address the scheduler takes 8787 and
                # warns when another cluster has it.
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                host="127.0.0.1",
                silence_logs=logging.ERROR,
            )
        # What goes wrong is said once, here.
        for name in [*_CHATTY, *logging.root.manager.loggerDict]:
            if name.partition(".")[0] in _CHATTY:
                logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            client = _within(
                CONNECT_SECONDS + 5,
                lambda: Client(cluster or address, timeout=CONNECT_SECONDS),
            )
        except Exception as error:  # whatever something that is no scheduler causes
            raise InputError(
                f"--scheduler {address}: no dask scheduler answers there ({error});"
                " give tcp://HOST:PORT, or local"
            ) from error
        pool = cls(client, cluster, memory)
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            versions = set(client.run(remote_version).values())
            there = ", ".join(sorted(versions))
            problem = f"workers have drmbench {there}, this is {__version__}"
            problem = "" if versions == {__version__} else problem
            if not problem and set(client.run(remote_code).values()) != {remote_code()}:
                problem = (
                    f"workers have other code under the same version {__version__};"
                    " install the same drmbench there"
                )
        except TimeoutError:
            problem = (
                "the scheduler has no workers; start some with `dask worker ADDRESS`"
            )
        except Exception as error:  # whatever a worker without drmbench raises
            problem = f"a worker cannot run drmbench: {error}"
        if problem:
            pool.close()
            raise InputError(f"--scheduler {address}: {problem}")
        return pool

    @property
    def running(self) -> list[Job]:
        """Cells that were submitted and have not ended."""
        return list(self._futures.values())

    def has_room(self, job: Job) -> bool:
        """Say whether the cluster has a thread for another cell."""
        threads = sum(int(worker["nthreads"]) for worker in self._workers().values())
        return len(self._futures) < threads

    def _require_scheduler(self) -> None:
        if self.client.status != "running":
            raise DrmbenchError(f"the dask scheduler has gone; {_SAFE}")

    def _workers(self) -> dict[str, Any]:
        """Return the workers that have this run's code; raise if none have for long."""
        self._require_scheduler()
        try:
            found = _within(
                SILENT_SECONDS, lambda: self.client.scheduler_info(n_workers=-1)
            )
        except Exception as error:
            raise DrmbenchError(f"the dask scheduler has gone; {_SAFE}") from error
        workers = {a: w for a, w in found["workers"].items() if a not in self._refused}
        self._asked = time.monotonic()
        if workers:
            self._workers_seen = self._asked
        elif self._refused:
            raise DrmbenchError(
                "no dask worker is left that has the code of this run; the others have"
                " another drmbench, and none of their answers was kept. What was"
                " finished is safe; start workers with this drmbench and run the same"
                " command again."
            )
        elif self._asked - self._workers_seen > SILENT_SECONDS:
            gone = f"the dask scheduler has had no workers for {SILENT_SECONDS:g} s"
            raise DrmbenchError(f"{gone}; {_SAFE}")
        return workers

    def submit(self, job: Job) -> None:
        """Start a cell."""
        future = self.client.submit(
            run_isolated,
            job.task.model_dump_json(),
            job.timeout,
            self.memory,
            key=f"drmbench-{job.task.key}-{uuid.uuid4().hex[:8]}",
            pure=False,
            workers=list(self._workers()) if self._refused else None,
            allow_other_workers=bool(self._refused),
        )
        self._futures[future] = job

    def wait(self, seconds: float) -> list[tuple[Job, Answer]]:
        """Return the cells that ended."""
        import distributed

        if time.monotonic() - self._asked > _ASK_EVERY:
            self._workers()
        try:
            distributed.wait(
                list(self._futures), timeout=seconds, return_when="FIRST_COMPLETED"
            )
        except TimeoutError:
            return []
        except Exception:  # cancelled since the scheduler has gone: looked at below
            self._require_scheduler()
        ended = []
        for future in [future for future in self._futures if future.done()]:
            if not self._refuse(future):
                ended.append((self._futures[future], _answer_of(future)))
                del self._futures[future]
        return ended

    def _refuse(self, future: Any) -> bool:
        """Run a cell again elsewhere if a worker with other code has answered it."""
        if future.status != "finished" or same_code(
            future.result().get("made_by") or {}
        ):
            return False
        there = [a for held in self.client.who_has([future]).values() for a in held]
        for address in set(there) - self._refused:
            text = "the dask worker %s has another drmbench; it gets no more cells"
            logger.warning(text, address)
        self._refused.update(there)
        self.submit(self._futures.pop(future))
        return True

    def pause(self, stopped: bool) -> None:
        """Let cells run on: they are other machines' while this process is stopped."""

    def close(self) -> None:
        """Cancel what runs and leave the cluster; a scheduler may be gone by now."""
        with suppress(Exception):
            _within(SILENT_SECONDS, self._leave)
        if self.cluster is not None:
            self.cluster.close()

    def _leave(self) -> None:
        if self.client.status == "running":
            self.client.cancel(list(self._futures), force=True)
        self._futures.clear()
        self.client.close(timeout=_ASK_EVERY)


def _answer_of(future: Any) -> Answer:
    """Return what became of a cell that dask has done with."""
    if future.status == "finished":
        answer = Answer(**future.result())
        require_started(answer)
        return answer
    if future.status == "cancelled":
        raise DrmbenchError(f"the dask scheduler has gone; {_SAFE}")
    # Cells fail in processes of their own, so this is the cluster's failure.
    reason = f"dask: {future.exception()}"
    return Answer("failed", reason=reason, again=True, outside=True)


def _within(seconds: float, work: Callable[[], Any]) -> Any:
    """Do something that may hang; `TimeoutError` if it takes longer than that."""
    outcome: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def attempt() -> None:
        try:
            outcome.put((work(), None))
        except BaseException as error:
            outcome.put((None, error))

    threading.Thread(target=attempt, daemon=True).start()
    try:
        result, error = outcome.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"no answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return result
