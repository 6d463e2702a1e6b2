"""How long cells take: as they did here, as the committed ones did, or by their size.

A cell like one that was run here takes what that took. Otherwise the times in the
committed rows are scaled to this machine; a cell that they do not have is placed among
them by its size.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from drmbench.config.model import Experiment, Kind, Measurement, MethodRef
from drmbench.data.paths import find_places
from drmbench.errors import InputError
from drmbench.files import read_regular, replacing
from drmbench.methods.base import Method
from drmbench.protocol.protocol import Protocol
from drmbench.running.execute import sizes_within
from drmbench.running.manifest import read_manifest
from drmbench.running.plan import PlannedDataset
from drmbench.running.provenance import maker_here
from drmbench.running.results import MANIFEST_FILE, ROWS_FILE
from drmbench.running.task import Task
from drmbench.shipped import shipped_reference

#: Processor time that cells of each experiment take per second that the committed rows
#: say, and that :func:`calibration_work` takes on the same machine. The rows were
#: measured on busy machines; ``tools/measure_pace.py`` writes this file.
PACE_FILE = Path(__file__).with_name("pace.json")
#: Seconds that a worker needs to start.
_START = 2.0
#: Finished seconds from which on this run's own pace counts as much as the estimate's.
_TRUSTED = 30.0
#: Training rows may differ by this factor between cells that are taken for alike.
_ALIKE = 1.1
#: Seconds below which times are not told apart.
_SHORTEST = 1e-3
#: How much longer methods of many trees take than their kin among the committed rows
#: suggest: measured, in processor time, on 300 samples of 20 features.
_MORE_TREES = {
    **dict.fromkeys(("hgb", "hgb-balanced"), 12.0),
    **dict.fromkeys(("rf-500", "rf-500-balanced", "extra-trees"), 12.0),
}
_SECONDS = ("seconds_select", "seconds_fit", "seconds_predict")


class Work(NamedTuple):
    """What decides how long a cell takes."""

    dataset: str  #: Its data set
    method: str  #: Registered name of its method, and what is measured if anything is
    family: str  #: The method's family
    how: str  #: Grid, fixed parameters and selection: equal texts are equal work
    n_train: int  #: Training rows
    size: tuple[float, ...]  #: See :func:`_size`
    #: Fits of one candidate times candidates times scalings; 0 if it is skipped
    fits: float


class PlannedCell(NamedTuple):
    """A cell of a plan."""

    task: Task
    dataset: PlannedDataset  #: Its data set
    timeout: float | None  #: Its time limit in seconds


class Estimate(NamedTuple):
    """Seconds of processor time, and whether they are a rough guess."""

    seconds: float
    rough: bool = False  #: Whether the committed rows do not have the method


@dataclass(frozen=True)
class Forecast:
    """How long some cells take together."""

    processor: float  #: Seconds of processor time
    wall: float  #: Seconds until all are done, on an otherwise idle machine
    rough: int  #: Cells that are only roughly known


def describe_work(
    kind: Kind,
    ref: MethodRef,
    protocol: Protocol,
    measure: Measurement,
    facts: dict[str, Any],
    n_train: int,
) -> Work:
    """Return the work of a cell of a data set, of which a manifest says ``facts``."""
    method = protocol.method_as_used(ref.method())
    p = int(facts.get("prepared_p", facts["p"]))
    plan, classes = protocol.selection, int(facts["classes"])
    how: dict[str, Any] = {"grid": method.grid, "fixed": method.defaults}
    if kind != "classification":
        how = {"kind": kind, "measure": measure.model_dump(exclude={"sizes"})}
        size = _size(n_train, n_train, p, classes, False)
        fits = measure.examples * measure.iterations
        name = f"{method.name} {kind}"
    else:
        candidates = math.prod(map(len, method.grid.values()))
        used = min(n_train, plan.rows_used or n_train)
        at_once = plan.kind == "loo" and method.predict_left_out is not None
        rounds = 1 if at_once or candidates == 1 else plan.naive_fits(n_train)
        how |= {"mode": protocol.scaling, "kind": plan.kind, "subset": plan.rows_used}
        how |= {"k": plan.k, "repeats": plan.repeats, "share": plan.train_share}
        if protocol.preparation != "codes":
            how["preparation"] = protocol.preparation
        size = _size(n_train, used, p, classes, at_once)
        skipped = method.most_features is not None and p > method.most_features
        fits = 0 if skipped else rounds * candidates * _scalings(protocol, method)
        name = method.name
    text = json.dumps(how, sort_keys=True, default=str)
    return Work(facts["name"], name, method.family, text, n_train, size, fits)


def _scalings(protocol: Protocol, method: Method) -> int:
    """Return on how many scaled copies of the data a cell selects."""
    return sum(len(protocol.scalings_tried(row, method)) for row in protocol.rows())


def _size(n: int, used: int, p: int, classes: int, at_once: bool) -> tuple[float, ...]:
    """Return what times are powers of, as logarithms; the 1 stands for a constant."""
    rows = math.log(max(used, 1))
    sizes = math.log(max(n, 1)), math.log(max(p, 1)), math.log(max(classes, 1))
    return (1.0, rows, *sizes, rows if at_once else 0.0)


#: Exponents of :func:`_size` and of the fits where rows tell nothing, and how far rows
#: may move them. All leave-one-out fits at once cost more than one, by a power of n.
_PRIOR = np.array([0.0, 1.0, 0.2, 0.5, 0.3, 0.0, 0.8])
_FREEDOM = np.array([10.0, 0.5, 0.3, 0.4, 0.4, 0.5, 0.3])
#: Standard deviation of the logarithm of a time, at a given size.
_NOISE = 0.5


@dataclass(frozen=True)
class SizeModel:
    """Times as a product of powers of sizes, fitted to known times."""

    exponents: NDArray[np.float64]
    spread: float  #: Variance of the logarithms around it

    @classmethod
    def fit(cls, works: Sequence[Work], seconds: Sequence[float]) -> SizeModel:
        """Fit by ridge regression of logarithms, towards the prior exponents."""
        X = np.array([_features(work) for work in works])
        y = np.log(np.maximum(seconds, _SHORTEST))
        left = X.T @ X / _NOISE**2 + np.diag(_FREEDOM**-2)
        right = X.T @ y / _NOISE**2 + _PRIOR / _FREEDOM**2
        exponents = np.linalg.solve(left, right)
        spread = float(np.mean((y - X @ exponents) ** 2))
        return cls(exponents, min(spread, 2 * _NOISE**2))

    def predict(self, work: Work) -> float:
        """Return the expected seconds of a cell, the mean of a log-normal."""
        return math.exp(float(_features(work) @ self.exponents) + self.spread / 2)


def _features(work: Work) -> NDArray[np.float64]:
    return np.array([*work.size, math.log(max(work.fits, 1.0))])


class KnownTimes:
    """Times of cells, by what they are, and estimates of others from them."""

    def __init__(self, known: Iterable[tuple[Work, float]]) -> None:
        self._alike: dict[tuple[str, ...], list[tuple[int, float]]] = defaultdict(list)
        self._works: list[Work] = []
        self._seconds: list[float] = []
        self._models: dict[str, SizeModel] = {}
        for work, seconds in known:
            self._alike[_likeness(work)].append((work.n_train, seconds))
            self._works.append(work)
            self._seconds.append(seconds)

    def __len__(self) -> int:
        return len(self._works)

    def estimate(self, work: Work) -> Estimate:
        """Return the time of the cells most like this one."""
        if not work.fits:
            return Estimate(0.0)
        near = [
            seconds
            for n_train, seconds in self._alike.get(_likeness(work), ())
            if 1 / _ALIKE <= n_train / max(work.n_train, 1) <= _ALIKE
        ]
        if near:
            return Estimate(float(np.mean(near)))
        for field in ("method", "family"):
            model = self._model(field, getattr(work, field))
            if model is not None:
                return Estimate(model.predict(work), rough=field != "method")
        return Estimate(self._everything.predict(work), rough=True)

    def _model(self, field: str, value: str) -> SizeModel | None:
        """Return the model of a method or family, or None if there are no times."""
        chosen = [i for i, w in enumerate(self._works) if getattr(w, field) == value]
        if chosen and value not in self._models:
            works, seconds = self._works, self._seconds
            self._models[value] = SizeModel.fit(
                [works[i] for i in chosen], [seconds[i] for i in chosen]
            )
        return self._models.get(value)

    @cached_property
    def _everything(self) -> SizeModel:
        return SizeModel.fit(self._works, self._seconds)


def _likeness(work: Work) -> tuple[str, ...]:
    return work.dataset, work.method, work.how


@lru_cache(maxsize=1)
def reference_times() -> KnownTimes:
    """Return the times of the committed cells on the machine of the pace file.

    None if the rows cannot be read. It takes a second to make them of the rows, so they
    are kept beside the parsed copies of data, for these rows and this code.
    """
    try:
        path, digest = find_places().parsed / "reference_times.json", _digest()
        known = _kept(path, digest)
        if known is None:
            known = list(_committed_times())
            _keep(known, path, digest)
    except (InputError, OSError, ValueError, KeyError):
        return KnownTimes(())
    return KnownTimes(known)


def _digest() -> str:
    """Return a digest of all that the times of committed cells depend on."""
    files = (PACE_FILE, Path(__file__), *sorted(shipped_reference().glob("*/*")))
    digest = hashlib.sha256(json.dumps(maker_here()).encode())
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _kept(path: Path, digest: str) -> list[tuple[Work, float]] | None:
    """Read times that were kept; None unless they are those of this digest."""
    try:
        found = json.loads(read_regular(path))
        if found["of"] != digest:
            return None
        texts = found["how"]
        return [
            (Work(dataset, method, family, texts[how], n, tuple(size), fits), seconds)
            for dataset, method, family, how, n, size, fits, seconds in found["times"]
        ]
    except (OSError, ValueError, LookupError, TypeError):  # not there, or damaged
        return None


def _keep(known: Iterable[tuple[Work, float]], path: Path, digest: str) -> None:
    """Write times for the next process, if that can be done."""
    texts: dict[str, int] = {}  # the longest field has few values
    times = [
        (*work[:3], texts.setdefault(work.how, len(texts)), *work[4:], seconds)
        for work, seconds in known
    ]
    text = json.dumps({"of": digest, "how": list(texts), "times": times})
    try:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError:
        return


def _committed_times() -> Iterable[tuple[Work, float]]:
    """Give the times of the committed cells, by their rows and manifests."""
    paces: dict[str, float] = json.loads(PACE_FILE.read_text("utf-8"))["paces"]
    for path in sorted(shipped_reference().glob(f"*/{MANIFEST_FILE}")):
        pace = paces.get(path.parent.name, median(paces.values()))
        rows = pd.read_csv(path.with_name(ROWS_FILE))
        for work, seconds in _times_in(read_manifest(path), rows):
            yield work, seconds * pace


def _times_in(
    manifest: dict[str, Any], rows: pd.DataFrame
) -> Iterable[tuple[Work, float]]:
    """Give each kind of cell in the rows of an experiment and its mean seconds."""
    experiment = Experiment.model_validate(manifest["experiment"])
    # Other versions of a method's package take about as long.
    refs = (ref.model_copy(update={"versions": {}}) for ref in experiment.methods)
    methods = {ref.label: ref for ref in refs}
    facts = {entry["name"]: entry for entry in manifest["datasets"]}
    measured = experiment.kind != "classification"
    limit, ended = experiment.timeout or 0.0, rows["status"] != "timeout"
    rows = rows.assign(total=cell_seconds(rows).where(ended, limit))
    kinds = ["dataset", "method", "mode", *(["split"] if measured else [])]
    grouped = rows.groupby(kinds, sort=False).agg(
        total=("total", "sum"), cells=("cell", "nunique"), n_train=("n_train", "max")
    )
    for key, total, cells, n_train in zip(
        *(grouped.index, grouped["total"], grouped["cells"], grouped["n_train"]),
        strict=True,
    ):
        dataset, label, mode = key[:3]
        if n_train > 0 and total > 0:  # else it was skipped at once
            protocol = experiment.protocol(methods[label], mode)
            work = describe_work(
                *(experiment.kind, methods[label], protocol, experiment.measure),
                facts[dataset],
                int(n_train),
            )
            yield work, float(total / cells)


def cell_seconds(rows: pd.DataFrame) -> pd.Series[float]:
    """Return the seconds that each row of an experiment of any kind says."""
    if "seconds_example" in rows:
        return rows["seconds_example"] * rows["examples"]
    return rows[list(_SECONDS)].sum(axis=1)


@lru_cache(maxsize=1)
def machine_pace() -> float:
    """Return how long work takes here, as a multiple of the machine's of the file."""
    return work_seconds() / float(json.loads(PACE_FILE.read_text("utf-8"))["work"])


def work_seconds() -> float:
    """Return the processor time of :func:`calibration_work` here."""
    from threadpoolctl import threadpool_limits

    taken = []
    with threadpool_limits(limits=1):  # as in a worker
        for _ in range(3):
            started = time.process_time()
            calibration_work()
            taken.append(time.process_time() - started)
    return min(taken)


def calibration_work() -> float:
    """Do some of what cells do: factorise, work on small arrays, and plain Python."""
    X = np.random.default_rng(0).normal(size=(240, 240))
    total = 0.0
    for shift in range(6):
        factor = np.linalg.cholesky(X @ X.T + (shift + 1) * np.eye(len(X)))
        total += float(np.linalg.inv(factor)[-1, -1])
    for row in np.tile(X, (8, 1)):
        total += float(np.exp(-np.square(row)).sum()) + float(np.argsort(row)[0])
    return total + sum(number % 7 for number in range(120_000))


class Estimator:
    """Estimates of the cells of a run, which learn from those that are done."""

    def __init__(self, cells: Iterable[PlannedCell]) -> None:
        self._cells = {cell.task.key: cell for cell in cells}
        self._works: dict[tuple[object, ...], Work] = {}
        self._own: dict[tuple[object, ...], list[float]] = defaultdict(list)
        #: Finished cells that the pace of this run does not count yet.
        self._new: list[tuple[Work, float]] = []
        # Seconds that the cells done here took, and that they were expected to take.
        self._observed = self._expected = _TRUSTED

    def add(self, task: Task, seconds: float) -> None:
        """Learn from a finished cell."""
        work = self._work(task)
        self._new.append((work, seconds))
        self._own[_likeness(work), work.n_train].append(seconds)

    def estimate(self, task: Task) -> Estimate | None:
        """Return how long a cell takes; None if there is nothing to tell it by."""
        work = self._work(task)
        own = self._own.get((_likeness(work), work.n_train))
        if own:
            return Estimate(sum(own) / len(own))
        base = _from_reference(work)
        if base is None:
            return None
        seconds = base.seconds * self._pace()
        limit = self._cells[task.key].timeout
        return base._replace(seconds=min(seconds, limit or math.inf))

    def _pace(self) -> float:
        """Return how long cells take here, as a multiple of what was expected.

        It is worked out when it is needed: a run with nothing left to do reads no rows.
        """
        for work, seconds in self._new:
            base = _from_reference(work)
            if base is not None:
                self._observed += seconds
                self._expected += base.seconds
        self._new.clear()
        return self._observed / self._expected

    def forecast(self, tasks: Iterable[Task], jobs: int) -> Forecast | None:
        """Return how long cells take together; None if that of one is not known."""
        found = [self.estimate(task) for task in tasks]
        known = [estimate for estimate in found if estimate is not None]
        if len(known) < len(found):
            return None
        if not known:
            return Forecast(0.0, 0.0, 0)
        seconds = [estimate.seconds for estimate in known]
        total = sum(seconds) + _START * min(jobs, len(known))
        wall = max(total / jobs, max(seconds) + _START)
        return Forecast(total, wall, sum(estimate.rough for estimate in known))

    def _work(self, task: Task) -> Work:
        """Describe a cell; splits of one data set share what is said of them."""
        planned = self._cells[task.key].dataset
        n_train, number = planned.n_train, task.number
        if task.kind == "timing":
            n_train = sizes_within(task.measure.sizes, n_train)[number]
        key = task.dataset.name, n_train, task.method.label, task.protocol
        if key not in self._works:
            self._works[key] = describe_work(
                *(task.kind, task.method, task.protocol, task.measure),
                {**planned.facts, "name": task.dataset.name},
                n_train,
            )
        return self._works[key]


def _from_reference(work: Work) -> Estimate | None:
    """Scale what the committed rows tell of a cell to this machine."""
    times = reference_times()
    if not times:
        return None
    estimate = times.estimate(work)
    trees = _MORE_TREES.get(work.method, 1.0) if estimate.rough else 1.0
    return estimate._replace(seconds=estimate.seconds * trees * machine_pace())
