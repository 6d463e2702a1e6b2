"""The run itself: cells from the plans to a pool, and what comes back to the stores."""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from drmbench.run.execute import failed_rows
from drmbench.run.manifest import make_manifest, write_manifest
from drmbench.run.outputs import write_parquet, write_rows
from drmbench.run.plan import Plan
from drmbench.run.pool import Job, Pool
from drmbench.run.process import Answer
from drmbench.run.results import MANIFEST_FILE
from drmbench.run.store import DiskFullError, Record, Store, open_store
from drmbench.run.task import SCHEMA_VERSION, Task

#: Seconds between two looks at what has come back.
_TICK = 0.25
#: Seconds between two writings of the tidy rows while cells come in.
_WRITE_EVERY = 30.0


class Observer(Protocol):
    """Whoever is told how the run goes."""

    def started(self, task: Task) -> None:
        """Hear that a cell was handed out."""
        ...

    def finished(self, task: Task, record: Record) -> None:
        """Hear that a cell came to an end and is stored."""
        ...

    def say(self, text: str) -> None:
        """Pass on something that a person should know."""
        ...


@dataclass(frozen=True)
class Work:
    """A plan, and which of its cells to run.

    Attributes
    ----------
    plan : Plan
        The whole experiment.
    folder : Path
        Where its results are.
    wanted : tuple of Task
        The cells that the filters leave.
    again : frozenset of str
        Keys of cells to run although they are in the store.
    timeout : float or None
        Time limit of a cell.
    """

    plan: Plan
    folder: Path
    wanted: tuple[Task, ...]
    again: frozenset[str] = frozenset()
    timeout: float | None = None

    def pending(self, store: Store) -> list[Task]:
        """Return the cells to run; labels that stand for the same cell share it."""
        return [
            task
            for task in {task.key: task for task in self.wanted}.values()
            if task.key not in store.records or task.key in self.again
        ]


@dataclass
class Tally:
    """What became of the cells of a run.

    Attributes
    ----------
    done : int
        Cells that were run now.
    bad : list of dict
        Records of cells, run now, that did not end well.
    left : int
        Cells that were not run, because the run was interrupted.
    interrupted : bool
        Whether it was.
    seconds : float
        Wall-clock time.
    """

    done: int = 0
    bad: list[Record] = field(default_factory=list)
    left: int = 0
    interrupted: bool = False
    seconds: float = 0.0


def run(
    works: Sequence[Work], make_pool: Callable[[], Pool], observer: Observer
) -> Tally:
    """Run all cells that are not in their stores yet.

    Parameters
    ----------
    works : sequence of Work
        Experiments and their cells.
    make_pool : callable
        Makes the pool; called only if there is anything to run.
    observer : Observer
        Is told what happens.
    """
    started = time.monotonic()
    with ExitStack() as stack:
        stores = {w.folder: stack.enter_context(open_store(w.folder)) for w in works}
        for work in works:
            manifest = make_manifest(work.plan)
            # Rows first: a folder with a manifest always has rows, if only a heading.
            write_rows(work.plan, stores[work.folder])
            write_manifest(work.folder / MANIFEST_FILE, manifest)
        try:
            tally = _Loop(works, stores, make_pool, observer).run()
        finally:
            for work in works:
                write_parquet(write_rows(work.plan, stores[work.folder]))
    tally.seconds = time.monotonic() - started
    return tally


@dataclass
class _Entry:
    """A cell in the queue of the loop."""

    work: Work
    store: Store
    job: Job
    replaces: Record | None = None


class _Loop:
    """Hands cells out, takes results in, until there is nothing left to do."""

    def __init__(
        self,
        works: Sequence[Work],
        stores: dict[Path, Store],
        make_pool: Callable[[], Pool],
        observer: Observer,
    ) -> None:
        self._works, self._stores = works, stores
        self._make_pool, self._observer = make_pool, observer
        self._queue = deque(self._entries())
        self._elsewhere: list[_Entry] = []
        self._at_work: dict[int, _Entry] = {}
        self._tally = Tally()
        self._interrupts = 0
        self._written = time.monotonic()

    def _entries(self) -> Iterator[_Entry]:
        for work in self._works:
            store = self._stores[work.folder]
            for task in work.pending(store):
                job = Job(task, work.timeout, work.plan.memory_of(task))
                yield _Entry(work, store, job, store.records.get(task.key))

    def run(self) -> Tally:
        """Run everything; Ctrl-C lets running cells end, a second one ends them."""
        if not self._queue:
            return self._tally
        pool = self._make_pool()
        try:
            with self._counting_interrupts():
                while self._going_on():
                    self._hand_out(pool)
                    self._take_in(pool)
        finally:
            pool.close()
            for entry in self._at_work.values():
                entry.store.unclaim(entry.job.task.key)
        self._tally.interrupted = self._interrupts > 0
        self._tally.left = len(self._queue) + len(self._elsewhere) + len(self._at_work)
        return self._tally

    def _going_on(self) -> bool:
        if self._interrupts > 1:
            return False
        if self._at_work:
            return True
        return not self._interrupts and bool(self._queue or self._elsewhere)

    def _hand_out(self, pool: Pool) -> None:
        if not self._queue and self._elsewhere:
            # All that is left is being run by another process: look again, since it
            # finishes them or dies.
            self._queue.extend(self._elsewhere)
            self._elsewhere.clear()
        while self._queue and not self._interrupts:
            if not pool.has_room(self._queue[0].job):
                return
            self._hand_out_one(pool, self._queue.popleft())

    def _hand_out_one(self, pool: Pool, entry: _Entry) -> None:
        task = entry.job.task
        if not entry.store.claim(task.key):
            self._elsewhere.append(entry)
            return
        entry.store.refresh()
        found = entry.store.records.get(task.key)
        if found is not None and found is not entry.replaces:
            # Another process was faster.
            entry.store.unclaim(task.key)
            self._observer.finished(task, found)
            return
        self._at_work[id(entry.job)] = entry
        self._observer.started(task)
        pool.submit(entry.job)

    def _take_in(self, pool: Pool) -> None:
        if not pool.running:
            if self._elsewhere:
                time.sleep(_TICK)
            return
        full: DiskFullError | None = None
        for job, answer in pool.wait(_TICK):
            entry = self._at_work.pop(id(job))
            if answer.killed and not job.alone:
                # Perhaps there was too little memory for two: try it by itself.
                job.alone = True
                entry.store.unclaim(job.task.key)
                self._queue.appendleft(entry)
                self._observer.say(
                    f"{describe(job.task)}: {answer.reason}; trying again alone"
                )
                continue
            try:
                self._keep(entry, answer)
            except DiskFullError as error:  # first keep what else has come back
                full = error
        if full is not None:
            raise full
        self._write_rows_now_and_then()

    def _keep(self, entry: _Entry, answer: Answer) -> None:
        task = entry.job.task
        record = make_record(task, answer, entry.work.plan)
        try:
            entry.store.append(record)
        finally:
            entry.store.unclaim(task.key)
        self._tally.done += 1
        if record["status"] != "ok":
            self._tally.bad.append(record)
        self._observer.finished(task, record)

    def _write_rows_now_and_then(self) -> None:
        if time.monotonic() - self._written > _WRITE_EVERY:
            for work in self._works:
                write_rows(work.plan, self._stores[work.folder])
            self._written = time.monotonic()

    @contextmanager
    def _counting_interrupts(self) -> Iterator[None]:
        def count(number: int, frame: Any) -> None:
            self._interrupts += 1
            if self._interrupts == 1:
                self._observer.say(
                    f"interrupted: waiting for {len(self._at_work)} running cells;"
                    " Ctrl-C again ends them"
                )

        try:
            before = signal.signal(signal.SIGINT, count)
        except ValueError:  # not in the main thread: whoever is there handles signals
            yield
            return
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def make_record(task: Task, answer: Answer, plan: Plan) -> Record:
    """Return what the store keeps of a cell."""
    rows = answer.rows
    if answer.status != "ok":
        substitute = plan.dataset_of(task).substitute
        rows = failed_rows(task, answer.status, answer.reason, substitute)
    bad = [row for row in rows if row["status"] != "ok"]
    return {
        "schema": SCHEMA_VERSION,
        "key": task.key,
        "dataset": task.dataset.name,
        "method": task.method.label,
        "mode": task.mode,
        "split": task.number,
        "status": bad[0]["status"] if bad else "ok",
        "reason": bad[0]["reason"] if bad else "",
        "seconds": answer.seconds,
        "rows": rows,
    }


def describe(task: Task) -> str:
    """Name a cell for people."""
    mode = "" if task.kind != "classification" else f", {task.mode}"
    return f"{task.dataset.name}, {task.method.label}{mode}, split {task.number}"


def adopt(work: Work, store: Store, elsewhere: dict[str, Record]) -> int:
    """Copy finished cells of other experiments that are the same cells.

    Cells are the same if their keys are, whatever an experiment calls them. Only cells
    that ended well are copied. Returns how many were.
    """
    adopted = 0
    for task in work.wanted:
        if task.key in store.records or task.key not in elsewhere:
            continue
        record = elsewhere[task.key]
        if record["status"] == "ok":
            label = task.method.label
            rows = [{**row, "method": label} for row in record["rows"]]
            store.append({**record, "method": label, "rows": rows})
            adopted += 1
    return adopted
