"""A run: experiments planned, their cells sent to a pool, their records stored."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drmbench.config.model import Experiment
from drmbench.errors import (
    DataUnavailableError,
    InputError,
    reason_of,
    refused,
)
from drmbench.running.estimate import Estimator, PlannedCell
from drmbench.running.execute import failed_rows
from drmbench.running.manifest import known_datasets
from drmbench.running.plan import Plan, PlannedDataset, make_plan, matcher
from drmbench.running.pool import Job, Pool, make_pool
from drmbench.running.progress import PlainProgress, describe, progress_kind
from drmbench.running.provenance import Maker, counted_makers, maker_here, maker_of
from drmbench.running.results import MANIFEST_FILE
from drmbench.running.store import (
    Record,
    Store,
    StoreError,
    all_records,
    names_of,
    storing,
)
from drmbench.running.task import SCHEMA_VERSION, Task
from drmbench.running.view import in_use, write_view
from drmbench.running.worker import Answer

#: Where Linux says what a container may use.
_CGROUP = Path("/sys/fs/cgroup")
#: Seconds between two looks at which cells have ended.
_TICK = 0.25
#: Seconds between two writings of the tidy rows while cells end.
_WRITE_EVERY = 30.0


def default_jobs() -> int:
    """Return the number of processors that this process, or its container, may use."""
    count = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    quotas = ["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]
    for names in quotas:  # of a container: version 2 and version 1
        with suppress(OSError, ValueError):  # "max" is no number, and no limit
            texts = [(_CGROUP / name).read_text() for name in names]
            quota, period = map(int, " ".join(texts).split())
            if quota > 0:
                count = min(count, math.ceil(quota / period))
    return count


@dataclass(frozen=True)
class RunOptions:
    """What the command line says besides the configs."""

    out: Path = Path("results/runs")  #: Folder of the results
    #: Shell patterns; empty means all
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    jobs: int = 1  #: Cells side by side
    memory: int = 0  #: Bytes for all of them together; 0 is a share of the machine's
    timeout: float | None = None  #: Time limit of a cell instead of the configs'
    retry_failed: bool = False  #: Whether cells without a result run again
    force: tuple[str, ...] = ()  #: Patterns of methods whose cells run again
    #: Whether missing and substituted data sets are refused, and cells of other code
    #: run again
    strict: bool = False
    scheduler: str = ""  #: Address of a dask scheduler, ``local``, or empty
    stop_after: float | None = None  #: Seconds after which running cells are ended
    #: How progress is shown
    bar: bool = True
    verbose: bool = False


@dataclass(frozen=True)
class ExperimentRun:
    """One experiment of a run: what is there and what is to be run."""

    plan: Plan  #: The whole experiment
    store: Store  #: Its finished cells
    #: The data sets, methods and cells that the filters leave
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    cells: tuple[Task, ...]
    #: Those of them to be run; labels that stand for the same cell share it
    new: tuple[Task, ...]
    cached: int  #: How many of them are kept as they are
    failed: list[Record]  #: Records that are kept and have no result
    foreign: list[Record]  #: Records that are kept and were computed by other code
    replaced: dict[str, Record]  #: Records of cells that run again, by key
    timeout: float | None = None  #: Time limit of a cell


@dataclass
class RunOutcome:
    """What became of the cells of a run."""

    done: int = 0  #: Cells that were run now
    #: Records of those that have no result
    failed: list[Record] = field(default_factory=list)
    #: Cells that were not run, because the run was interrupted or its time was up
    left: int = 0
    cut: int = 0  #: Cells without a record, since something outside ended them
    interrupted: bool = False  #: Whether it was
    seconds: float = 0.0  #: Wall-clock time


class Run:
    """Experiments and options, planned, ready to be shown or started.

    A filter that matches nothing is refused. If ``dry``, nothing is fetched or written.
    """

    def __init__(
        self, experiments: Sequence[Experiment], options: RunOptions, dry: bool = False
    ) -> None:
        names = list(dict.fromkeys(d.name for e in experiments for d in e.datasets))
        labels = list(dict.fromkeys(m.label for e in experiments for m in e.methods))
        wanted = matcher(options.datasets, names, "data set")
        chosen = matcher(options.methods, labels, "method")
        self.options = options
        self._forced = matcher(options.force, labels, "method")
        _require_folder(options.out, make=not dry)
        finished = {
            record["key"]: record
            for _, record in all_records(options.out)
            if not (options.strict and made_elsewhere(record))
        }
        self.adopted = 0  #: Cells taken over from other experiments in the folder
        self.experiments: list[ExperimentRun] = []
        for experiment in experiments:
            store = Store(options.out / experiment.name, read_only=dry)
            known = known_datasets(store.folder / MANIFEST_FILE)
            plan = make_plan(experiment, wanted=wanted, known=known, fetch=not dry)
            sets = tuple(d.name for d in experiment.datasets if wanted(d.name))
            methods = tuple(m.label for m in experiment.methods if chosen(m.label))
            cells = tuple(
                task
                for task in plan.cells
                if wanted(task.dataset.name) and chosen(task.method.label)
            )
            if not dry:
                self.adopted += adopt(cells, store, finished)
            self.experiments.append(self._choose(plan, store, sets, methods, cells))
        #: How long cells will take
        self.estimator = Estimator(
            PlannedCell(task, planned.plan.dataset_of(task), planned.timeout)
            for planned in self.experiments
            for task in planned.cells
        )
        for planned in self.experiments:
            for task in planned.cells:
                if record := planned.store.records.get(task.key):
                    self.estimator.add(task, float(record["seconds"]))

    def _choose(
        self,
        plan: Plan,
        store: Store,
        datasets: tuple[str, ...],
        methods: tuple[str, ...],
        cells: tuple[Task, ...],
    ) -> ExperimentRun:
        """Decide which stored cells are kept and which cells are run."""
        options = self.options
        stored = [(t, store.records[t.key]) for t in cells if t.key in store.records]
        replaced = {
            task.key: record
            for task, record in stored
            if (options.retry_failed and record["status"] != "ok")
            or (options.force and self._forced(task.method.label))
            or (options.strict and made_elsewhere(record))
        }
        kept = [record for task, record in stored if task.key not in replaced]
        left = store.records.keys() - replaced.keys()
        return ExperimentRun(
            *(plan, store, datasets, methods, cells),
            new=tuple({t.key: t for t in cells if t.key not in left}.values()),
            cached=len(kept),
            failed=list({r["key"]: r for r in kept if r["status"] != "ok"}.values()),
            foreign=list({r["key"]: r for r in kept if made_elsewhere(r)}.values()),
            replaced=replaced,
            timeout=options.timeout or plan.experiment.timeout,
        )

    @property
    def new(self) -> list[Task]:
        """All cells to be run."""
        return [task for experiment in self.experiments for task in experiment.new]

    @property
    def cached(self) -> int:
        """How many wanted cells are kept as they are."""
        return sum(experiment.cached for experiment in self.experiments)

    def foreign(self) -> list[Maker]:
        """Return what computed the cells that are kept, where it was not this code."""
        return counted_makers(r for e in self.experiments for r in e.foreign)

    def missing(self) -> list[PlannedDataset]:
        """Return the data sets that cannot be obtained."""
        return [d for e in self.experiments for d in e.plan.datasets if d.missing]

    def substituted(self) -> list[PlannedDataset]:
        """Return the loaded data sets that a relative stands in for."""
        datasets = [d for e in self.experiments for d in e.plan.datasets]
        return [d for d in datasets if d.substitute and d.n_train]

    def refuse_if_strict(self) -> None:
        """Raise if a data set is missing or substituted although that is refused."""
        wrong = [*self.missing(), *self.substituted()]
        if self.options.strict and wrong:
            names = ", ".join(dict.fromkeys(dataset.ref.name for dataset in wrong))
            commands = dict.fromkeys(d.facts["get"] for d in wrong if d.facts["get"])
            raise DataUnavailableError(
                f"--strict: not the paper's data: {names}. Get them with:"
                + "".join(f"\n  {line}" for line in commands)
            )

    def start(self) -> RunOutcome:
        """Run all new cells and show how it goes."""
        options, started = self.options, time.monotonic()
        kind = progress_kind(options.bar and not options.verbose)
        quiet = not (options.bar or options.verbose)
        progress = kind(self.new, self.estimator, options.jobs, quiet=quiet)
        with storing(), progress, ExitStack() as stack:
            for experiment in self.experiments:
                store, plan = experiment.store, experiment.plan
                stack.enter_context(in_use(store.folder, plan.experiment))
                store.reserve()
                stack.callback(store.release)
                write_view(plan, store)
            try:
                outcome = RunOutcome()
                if self.new:
                    pool = make_pool(options.jobs, options.memory, options.scheduler)
                    with closing(pool):
                        outcome = _Dispatcher(
                            self.experiments, pool, progress, options.stop_after
                        ).run()
            except BaseException:  # which matters more than what it may do to the rows
                with suppress(Exception):
                    self._write_views()
                raise
            self._write_views()
        outcome.seconds = time.monotonic() - started
        return outcome

    def _write_views(self) -> None:
        for experiment in self.experiments:
            write_view(experiment.plan, experiment.store, parquet=True)


def _require_folder(out: Path, *, make: bool) -> None:
    """Refuse what is not a folder, or cannot become one."""
    text = f"{out}: results cannot be kept there"
    if os.path.lexists(out) and not out.is_dir():
        lost = out.is_symlink() and not out.exists()
        what = "a link that leads nowhere" if lost else "not a folder"
        raise InputError(f"{text} (it is {what})")
    if make:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refused(error, f"{text} ({reason_of(error)})") from error


def adopt(cells: Sequence[Task], store: Store, finished: Mapping[str, Record]) -> int:
    """Copy finished cells of other experiments that are the same cells.

    Cells are the same if their keys are, whatever an experiment calls them. Only cells
    with a result are copied. Returns how many were.
    """
    adopted = 0
    for task in cells:
        record = finished.get(task.key)
        if not record or record["status"] != "ok" or task.key in store.records:
            continue
        if not store.claim(task.key):  # another run is at it
            continue
        store.refresh()
        if task.key not in store.records:
            names = names_of(task)
            rows = [{**row, **names} for row in record["rows"]]
            store.append({**record, **names, "rows": rows})
            adopted += 1
        store.unclaim(task.key)
    return adopted


class _Dispatcher:
    """Sends cells to a pool and stores their records, until nothing is left to do."""

    def __init__(
        self,
        experiments: Sequence[ExperimentRun],
        pool: Pool,
        progress: PlainProgress,
        stop_after: float | None,
    ) -> None:
        self._experiments, self._pool, self._progress = experiments, pool, progress
        self._end = math.inf if stop_after is None else time.monotonic() + stop_after
        self._queue = deque(
            Job(
                task,
                experiment.store,
                experiment.replaced.get(task.key),
                experiment.plan.dataset_of(task).substitute,
                experiment.timeout,
                experiment.plan.memory_of(task),
            )
            for experiment in experiments
            for task in experiment.new
        )
        self._elsewhere: list[Job] = []  # cells that another process is running
        self._outcome = RunOutcome()
        self._interrupts = 0
        self._written = time.monotonic()

    def run(self) -> RunOutcome:
        """Run everything; Ctrl-C lets running cells end, a second one ends them."""
        with self._counting_interrupts(), self._passing_stops_on():
            while left := [*self._pool.running, *self._queue, *self._elsewhere]:
                if self._interrupts > (1 if self._pool.running else 0):
                    break
                if time.monotonic() > self._end:
                    break
                self._submit_cells()
                self._store_answers()
        self._outcome.left = len(left)
        self._outcome.interrupted = self._interrupts > 0
        return self._outcome

    def _submit_cells(self) -> None:
        if not self._queue and self._elsewhere:
            # All that is left is being run by another process: look again, since it
            # finishes them or dies.
            self._queue.extend(self._elsewhere)
            self._elsewhere.clear()
        while self._queue and not self._interrupts:
            if not self._pool.has_room(self._queue[0]):
                return
            job = self._queue.popleft()
            task, store = job.task, job.store
            if not store.claim(task.key):
                self._elsewhere.append(job)
                continue
            store.refresh()
            found = store.records.get(task.key)
            if found is not None and found != job.replaces:
                # Another process was faster.
                store.unclaim(task.key)
                self._progress.finished(task, found)
                continue
            self._progress.started(task)
            self._pool.submit(job)

    def _store_answers(self) -> None:
        if not self._pool.running:
            if self._elsewhere:
                time.sleep(_TICK)
            return
        lost: StoreError | None = None
        for job, answer in self._pool.wait(_TICK):
            try:
                with storing():
                    self._store_answer(job, answer)
            except StoreError as error:  # first store what else has ended
                lost = error
            finally:
                job.store.unclaim(job.task.key)
        if lost is not None:
            raise lost
        if time.monotonic() - self._written > _WRITE_EVERY:
            for experiment in self._experiments:
                write_view(experiment.plan, experiment.store)
            self._written = time.monotonic()

    def _store_answer(self, job: Job, answer: Answer) -> None:
        cell = f"{describe(job.task)}: {answer.reason}"
        if answer.again and not job.alone:
            # Perhaps there was too little memory for two: try it by itself.
            job.alone = True
            self._queue.appendleft(job)
            self._progress.say(f"{cell}; trying again alone")
            return
        if answer.outside:  # that says nothing about the cell, so nothing is stored
            self._outcome.cut += 1
            self._progress.dropped(job.task)
            self._progress.say(f"{cell}; the same command runs it again")
            return
        record = make_record(job.task, answer, job.substitute)
        job.store.append(record)
        self._outcome.done += 1
        if record["status"] != "ok":
            self._outcome.failed.append(record)
        self._progress.finished(job.task, record)

    @contextmanager
    def _counting_interrupts(self) -> Iterator[None]:
        def count(number: int, frame: Any) -> None:
            self._interrupts += 1
            if self._interrupts == 1:
                running = len(self._pool.running)
                self._progress.say(
                    f"interrupted: waiting for {running} running cells;"
                    " Ctrl-C again ends them"
                )

        try:
            before = signal.signal(signal.SIGINT, count)
        except ValueError:  # not in the main thread, which handles signals
            yield
            return
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def _passing_stops_on(self) -> Iterator[None]:
        """Let Ctrl-Z stop the workers too: no terminal reaches their sessions."""

        def stop(number: int, frame: Any) -> None:
            self._pool.pause(True)
            os.kill(os.getpid(), signal.SIGSTOP)  # returns when this process goes on
            self._pool.pause(False)

        before = signal.getsignal(signal.SIGTSTP)
        main = threading.current_thread() is threading.main_thread()
        if not main or before != signal.SIG_DFL:
            yield
            return
        signal.signal(signal.SIGTSTP, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGTSTP, before)


def make_record(task: Task, answer: Answer, substitute: str) -> Record:
    """Return what the store keeps of a cell."""
    rows = answer.rows
    if answer.status != "ok":
        rows = failed_rows(task, answer.status, answer.reason, substitute)
    failed = [row for row in rows if row["status"] != "ok"]
    return {
        "schema": SCHEMA_VERSION,
        "key": task.key,
        "dataset": task.dataset.name,
        "method": task.method.label,
        "mode": task.mode,
        "split": task.number,
        "status": failed[0]["status"] if failed else "ok",
        "reason": failed[0]["reason"] if failed else "",
        "seconds": answer.seconds,
        "made_by": answer.made_by or maker_here(),
        "rows": rows,
    }


def made_elsewhere(record: Record) -> bool:
    """Whether other code, or other versions of packages, computed a record."""
    return maker_of(record) != maker_here()
