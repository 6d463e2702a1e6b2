"""A pool on a dask cluster: the same cells, the same store, more machines.

A dask worker hands each cell to a process of its own (:class:`~.worker.Worker`), so a
time limit or a crash ends that cell alone there too. A dask worker that dies has its
cells given to others by dask's scheduler.
"""

from __future__ import annotations

import dataclasses
import logging
import select
import threading
import uuid
from dataclasses import dataclass, field
from typing import Any

from drmbench import __version__
from drmbench.errors import DrmbenchError, InputError
from drmbench.running.pool import Job
from drmbench.running.provenance import maker_here, same_code
from drmbench.running.worker import Answer, Worker, default_memory

#: How long to look for a scheduler, and for its first worker.
CONNECT_SECONDS = 15.0

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
                dashboard_address=None,
                host="127.0.0.1",
                silence_logs=logging.ERROR,
            )
        try:
            client = Client(cluster or address, timeout=CONNECT_SECONDS)
        except (OSError, ValueError, TimeoutError) as error:
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

    def _workers(self) -> dict[str, Any]:
        """Return the workers that have this run's code, as far as is known."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        known = {
            address: worker
            for address, worker in workers.items()
            if address not in self._refused
        }
        if self._refused and not known:
            raise DrmbenchError(
                "no dask worker is left that has the code of this run; the others have"
                " another drmbench, and none of their answers was kept. What was"
                " finished is safe; start workers with this drmbench and run the same"
                " command again."
            )
        return known

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

        try:
            distributed.wait(
                list(self._futures), timeout=seconds, return_when="FIRST_COMPLETED"
            )
        except TimeoutError:
            return []
        ended = []
        for future in [future for future in self._futures if future.done()]:
            if future.status == "finished":
                result = future.result()
                if not same_code(result.get("made_by") or {}):
                    self._refuse(future)
                    continue
                answer = Answer(**result)
            elif future.status == "cancelled":
                text = "the dask scheduler has gone; what was finished is safe"
                raise DrmbenchError(text)
            else:
                answer = Answer("failed", reason=f"dask: {future.exception()}")
            ended.append((self._futures.pop(future), answer))
        return ended

    def _refuse(self, future: Any) -> None:
        """Run a cell again elsewhere that a worker with other code has answered."""
        there = [a for held in self.client.who_has([future]).values() for a in held]
        for address in set(there) - self._refused:
            text = "the dask worker %s has another drmbench; it gets no more cells"
            logger.warning(text, address)
        self._refused.update(there)
        self.submit(self._futures.pop(future))

    def close(self) -> None:
        """Cancel what runs and leave the cluster."""
        self.client.cancel(list(self._futures), force=True)
        self._futures.clear()
        self.client.close()
        if self.cluster is not None:
            self.cluster.close()
