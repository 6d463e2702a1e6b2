"""A whole run as the command line asks for it: plans, filters, warnings, pool, end."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drmbench.config.model import Experiment
from drmbench.errors import DataUnavailableError
from drmbench.run.history import History
from drmbench.run.memory import SHARE, machine_memory
from drmbench.run.plan import Plan, PlannedDataset, make_plan, matcher
from drmbench.run.pool import LocalPool, Pool
from drmbench.run.progress import Estimate, make_progress
from drmbench.run.results import MANIFEST_FILE
from drmbench.run.runner import Tally, Work, adopt, run
from drmbench.run.store import Record, Store, all_records
from drmbench.run.task import Task


@dataclass(frozen=True)
class Options:
    """What the command line says besides the configs.

    Attributes
    ----------
    out : Path
        Folder of the results.
    datasets, methods : tuple of str
        Shell patterns; empty means all.
    jobs : int
        Cells side by side.
    memory : int
        Bytes for all of them together; 0 is a share of the machine's.
    timeout : float or None
        Time limit of a cell instead of the configs'.
    retry_failed : bool
        Whether cells that did not end well run again.
    force : tuple of str
        Patterns of methods whose cells run again.
    strict : bool
        Whether missing and substituted data sets are refused.
    scheduler : str
        Address of a dask scheduler, ``local``, or empty.
    bar, verbose : bool
        How progress is shown.
    """

    out: Path = Path("results/runs")
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    jobs: int = 1
    memory: int = 0
    timeout: float | None = None
    retry_failed: bool = False
    force: tuple[str, ...] = ()
    strict: bool = False
    scheduler: str = ""
    bar: bool = True
    verbose: bool = False


@dataclass(frozen=True)
class Outlook:
    """What a run would do with one experiment.

    Attributes
    ----------
    work : Work
        Its plan and the cells that the filters leave.
    cached : int
        Cells with a result, to be kept.
    unwell : dict of str to dict
        Records to be kept that did not end well, by key.
    new : tuple of Task
        Cells to be run.
    unfetched : int
        Cells of data sets that would be fetched first.
    blocked : int
        Cells of data sets that cannot be had.
    """

    work: Work
    cached: int
    unwell: dict[str, Record]
    new: tuple[Task, ...]
    unfetched: int
    blocked: int

    @property
    def plan(self) -> Plan:
        """The plan of the whole experiment."""
        return self.work.plan


@dataclass
class Session:
    """Experiments and options, planned, ready to be shown or run.

    Attributes
    ----------
    options : Options
        What the command line says.
    outlooks : list of Outlook
        One an experiment.
    history : History
        How long earlier cells took.
    adopted : int
        Cells taken over from other experiments of the same folder.
    """

    options: Options
    outlooks: list[Outlook]
    history: History
    adopted: int = 0

    @property
    def new(self) -> list[Task]:
        """All cells to be run."""
        return [task for outlook in self.outlooks for task in outlook.new]

    def missing(self) -> list[PlannedDataset]:
        """Return the data sets that cannot be had."""
        return [d for o in self.outlooks for d in _considered(o) if d.missing]

    def substituted(self) -> list[PlannedDataset]:
        """Return the data sets that a relative stands in for."""
        return [d for o in self.outlooks for d in _considered(o) if d.substitute]

    def refuse_if_strict(self) -> None:
        """Raise if a data set is missing or substituted although that is refused."""
        wrong = [*self.missing(), *self.substituted()]
        if self.options.strict and wrong:
            names = ", ".join(dict.fromkeys(dataset.ref.name for dataset in wrong))
            raise DataUnavailableError(
                f"--strict: not the paper's data: {names}. Get them with:"
                + "".join(f"\n  {line}" for line in _commands(wrong))
            )

    def run(self) -> Tally:
        """Run all new cells and show how it goes."""
        options = self.options
        metrics = {
            task.key: outlook.plan.experiment.metrics[0]
            for outlook in self.outlooks
            for task in outlook.new
        }
        estimate = Estimate(self.new, self.history, options.jobs)
        progress = make_progress(
            estimate,
            lambda task: metrics[task.key],
            bar=options.bar,
            verbose=options.verbose,
        )
        with progress:
            return run([o.work for o in self.outlooks], self._make_pool, progress)

    def _make_pool(self) -> Pool:
        options = self.options
        if options.scheduler:
            from drmbench.run.distributed import DaskPool

            return DaskPool.connect(options.scheduler, options.jobs, options.memory)
        memory = options.memory or int(SHARE * machine_memory())
        return LocalPool(options.jobs, memory)


def open_session(
    experiments: Sequence[Experiment],
    options: Options,
    *,
    dry: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> Session:
    """Plan experiments under the options.

    Parameters
    ----------
    experiments : sequence of Experiment
        What to run.
    options : Options
        Filters and limits.
    dry : bool
        Whether nothing may be fetched or written.
    say : callable
        Is told about damaged results.

    Raises
    ------
    InputError
        If a filter matches nothing.
    """
    names = [ref.name for e in experiments for ref in e.datasets]
    labels = [ref.label for e in experiments for ref in e.methods]
    wanted = matcher(options.datasets, list(dict.fromkeys(names)), "data set")
    chosen = matcher(options.methods, list(dict.fromkeys(labels)), "method")
    forced = matcher(options.force, list(dict.fromkeys(labels)), "method")
    finished = {record["key"]: record for _, record in all_records(options.out)}
    session = Session(options, [], History(finished.values()))
    for experiment in experiments:
        folder = options.out / experiment.name
        known = _known_datasets(folder)
        plan = make_plan(experiment, wanted=wanted, known=known, fetch=not dry)
        cells = tuple(
            task
            for task in plan.cells
            if wanted(task.dataset.name) and chosen(task.method.label)
        )
        timeout = options.timeout or experiment.timeout
        store = Store(folder)
        if store.rejected:
            say(f"{store.journal}: {store.rejected} damaged line(s) set aside")
        work = Work(plan, folder, cells, timeout=timeout)
        if not dry:
            session.adopted += adopt(work, store, finished)
        again = _again(work, store, options, forced)
        work = Work(plan, folder, cells, again, timeout)
        session.outlooks.append(_outlook(work, store, wanted))
    return session


def _again(
    work: Work, store: Store, options: Options, forced: Callable[[str], bool]
) -> frozenset[str]:
    """Return the keys of stored cells that are to be run again."""
    keys = set()
    for task in work.wanted:
        record = store.records.get(task.key)
        if record is None:
            continue
        failed = options.retry_failed and record["status"] != "ok"
        if failed or (options.force and forced(task.method.label)):
            keys.add(task.key)
    return frozenset(keys)


def _outlook(work: Work, store: Store, wanted: Callable[[str], bool]) -> Outlook:
    kept = [
        store.records[task.key]
        for task in work.wanted
        if task.key in store.records and task.key not in work.again
    ]
    experiment = work.plan.experiment
    each = len(experiment.methods) * len(experiment.scaling)
    looked_at = [d for d in work.plan.datasets if wanted(d.ref.name)]
    return Outlook(
        work,
        cached=len(kept),
        unwell={r["key"]: r for r in kept if r["status"] != "ok"},
        new=tuple(work.pending(store)),
        unfetched=each * sum(d.splits for d in looked_at if d.unfetched),
        blocked=each * sum(d.splits for d in looked_at if d.missing),
    )


def _considered(outlook: Outlook) -> list[PlannedDataset]:
    """Return the data sets that were looked at in this run."""
    return [d for d in outlook.plan.datasets if d.missing or d.n_train or d.unfetched]


def _commands(datasets: Sequence[PlannedDataset]) -> list[str]:
    return list(dict.fromkeys(d.facts["get"] for d in datasets if d.facts.get("get")))


def _known_datasets(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return what an earlier manifest says of data sets, by name."""
    try:
        text = (folder / MANIFEST_FILE).read_text(encoding="utf-8")
        return {entry["name"]: entry for entry in json.loads(text)["datasets"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def default_jobs() -> int:
    """Return the number of processors that this process may use."""
    return (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else (os.cpu_count() or 1)
    )
