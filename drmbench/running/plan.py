"""What a run would do: the data sets as they are here, and every cell with its key."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drmbench.config.model import DatasetRef, Experiment
from drmbench.data.catalogue import Artifact, DatasetEntry, load_catalogue
from drmbench.data.paths import find_places
from drmbench.data.sources import availability, files_to_fetch
from drmbench.errors import DataUnavailableError, InputError, did_you_mean, quoted
from drmbench.protocol.evaluate import check_filled
from drmbench.protocol.preparation import prepared_width
from drmbench.protocol.splits import SplitPlan
from drmbench.running.execute import load_dataset, sizes_within
from drmbench.running.task import Task, make_task
from drmbench.running.worker import cell_memory

#: Folds that the catalogue's fold files have.
_FOLDS = 5


@dataclass(frozen=True)
class PlannedDataset:
    """A data set of an experiment, as it is available here."""

    ref: DatasetRef  #: What the config asks for
    splits: int  #: Cells of each method and scaling mode
    facts: dict[str, Any] = field(default_factory=dict)  #: What the manifest says of it
    #: How it is split; None if it is missing or not looked at
    split: SplitPlan | None = None
    n_train: int = 0  #: Training rows of a split; 0 if not known
    missing: str = ""  #: Why it cannot be obtained, or empty
    #: Whether it would have to be fetched first; only in a dry run
    unfetched: bool = False
    files: tuple[Artifact, ...] = ()  #: What would be fetched

    @property
    def looked_at(self) -> bool:
        """Whether it was loaded, or looked for; else an earlier manifest is all."""
        return bool(self.n_train or self.missing)

    @property
    def substitute(self) -> str:
        """Name of the relative that stands in, or empty."""
        return str(self.facts.get("substitute") or "")


@dataclass(frozen=True)
class Plan:
    """An experiment with its data sets as they are here, and its cells."""

    experiment: Experiment  #: What was asked for
    datasets: tuple[PlannedDataset, ...]  #: In the config's order
    #: All cells that can be run, data set by data set, split by split
    cells: tuple[Task, ...]

    @property
    def expected(self) -> int:
        """Cells there should be, those of missing data sets included."""
        return sum(map(self.expected_of, self.datasets))

    def expected_of(self, dataset: PlannedDataset) -> int:
        """Return how many cells a data set should have, also if it is missing."""
        each = len(self.experiment.methods) * len(self.experiment.scaling)
        return each * dataset.splits

    def dataset_of(self, task: Task) -> PlannedDataset:
        """Return the data set of a cell."""
        return next(d for d in self.datasets if d.ref.name == task.dataset.name)

    def memory_of(self, task: Task) -> int:
        """Estimate the bytes that a cell needs."""
        planned = self.dataset_of(task)
        facts = planned.facts
        n, p = int(facts["n"]), int(facts.get("prepared_p", facts["p"]))
        return cell_memory(task.method.method(), planned.n_train, n, p)


def make_plan(
    experiment: Experiment,
    *,
    wanted: Callable[[str], bool] = lambda name: True,
    known: Mapping[str, Mapping[str, Any]] | None = None,
    fetch: bool = True,
) -> Plan:
    """Look at the data sets of an experiment and list its cells.

    ``wanted`` says by name which data sets to look at; of the others ``known`` has what
    an earlier manifest says. A dry run does not ``fetch`` what is not here.
    """
    earlier = known or {}
    datasets = [
        _look_at(experiment, ref, earlier.get(ref.name) or {}, fetch)
        if wanted(ref.name)
        else _recall(experiment, ref, earlier.get(ref.name))
        for ref in experiment.datasets
    ]
    return Plan(experiment, tuple(datasets), _cells_of(experiment, datasets))


def completed(plan: Plan, known: Mapping[str, Mapping[str, Any]]) -> Plan:
    """Return a plan with what is known of data sets that it did not look at."""
    experiment = plan.experiment
    datasets = tuple(
        dataset
        if dataset.looked_at or not (facts := known.get(dataset.ref.name))
        else _recall(experiment, dataset.ref, facts)
        for dataset in plan.datasets
    )
    if datasets == plan.datasets:
        return plan
    return Plan(experiment, datasets, _cells_of(experiment, datasets))


def _cells_of(
    experiment: Experiment, datasets: Sequence[PlannedDataset]
) -> tuple[Task, ...]:
    return tuple(
        make_task(
            experiment, dataset.ref, fingerprint, ref, mode, dataset.split, number
        )
        for dataset in datasets
        if dataset.split
        and ((fingerprint := dataset.facts["fingerprint"]) or dataset.unfetched)
        for number in range(dataset.splits)
        for mode in experiment.scaling
        for ref in experiment.methods
    )


def _entry(ref: DatasetRef) -> DatasetEntry | None:
    return None if ref.path is not None else load_catalogue().entry(ref.catalogue_name)


def _look_at(
    experiment: Experiment, ref: DatasetRef, known: Mapping[str, Any], fetch: bool
) -> PlannedDataset:
    """Describe a data set by what loading it, or looking for it, shows."""
    entry = _entry(ref)
    unfetched = None if fetch else _unfetched(experiment, ref, known)
    if unfetched is not None:
        return unfetched
    try:
        data = load_dataset(ref, experiment.substitutes)
    except DataUnavailableError as error:
        assert entry is not None
        # The other lines name folders of this machine, which a manifest must not.
        reason = str(error).partition(" Tried")[0]
        facts = _catalogue_facts(ref, entry) | {"missing": reason}
        splits = _expected_splits(experiment, entry.n)
        return PlannedDataset(ref, splits, facts, missing=str(error))
    check_filled(data, experiment.preparation)
    stand_in = data.name if data.provenance.substitute_for else None
    split = _split_plan(experiment, entry, data.n_samples, stand_in)
    parts = split.splits(data, seed=experiment.seed)
    n_train = max(len(part.train) for part in parts)
    count = _measured_splits(experiment, n_train) or len(parts)
    facts = {
        "name": ref.name,
        "title": entry.title if entry else data.name,
        "paper_names": list(entry.paper.names) if entry and entry.paper else [],
        "n": data.n_samples,
        "p": data.n_features,
        "classes": data.n_classes,
        "class_counts": data.class_counts,
        "n_train": n_train,
        "n_test": max(len(part.test) for part in parts),
        "substitute": stand_in,
        "note": data.provenance.note,
        "missing": "",
        "get": _command_to_get(ref),
        "fingerprint": data.fingerprint,
        "source": data.provenance.source,
        "files": dict(data.provenance.files),
        "splits": count,
    }
    if experiment.preparation == "table":
        facts["prepared_p"] = prepared_width(data.X, data.nominal)
    return PlannedDataset(ref, count, facts, split, n_train)


def to_be_fetched(
    experiment: Experiment, wanted: Callable[[str], bool]
) -> list[PlannedDataset]:
    """Return the data sets that are not here and can be fetched."""
    refs = [ref for ref in experiment.datasets if wanted(ref.name)]
    found = (_unfetched(experiment, ref, {}) for ref in refs)
    return [dataset for dataset in found if dataset is not None]


def _unfetched(
    experiment: Experiment, ref: DatasetRef, known: Mapping[str, Any]
) -> PlannedDataset | None:
    """Describe a data set by the catalogue, and what an earlier run knew of it.

    None if it is here, or cannot be obtained.
    """
    entry, places = _entry(ref), find_places(None)
    if entry is None:
        return None
    found = availability(entry, places)
    if found.ready or found.where == "nowhere":
        return None
    facts = {**_catalogue_facts(ref, entry), "where": found.where}
    facts["fingerprint"] = known.get("fingerprint") or ""
    split = _split_plan(experiment, entry, entry.n, None)
    n_train = _expected_train(entry, split)
    return PlannedDataset(
        *(ref, _expected_splits(experiment, n_train), facts, split, n_train),
        unfetched=True,
        files=files_to_fetch(entry, places),
    )


def _recall(
    experiment: Experiment, ref: DatasetRef, known: Mapping[str, Any] | None
) -> PlannedDataset:
    """Describe a data set without looking at it."""
    entry = _entry(ref)
    if known and known.get("fingerprint"):
        split = _split_plan(experiment, entry, int(known["n"]), known["substitute"])
        return PlannedDataset(ref, int(known["splits"]), dict(known), split)
    facts = _catalogue_facts(ref, entry) if entry else {"name": ref.name}
    n = entry.n if entry else 0
    return PlannedDataset(ref, _expected_splits(experiment, n), facts)


def _catalogue_facts(ref: DatasetRef, entry: DatasetEntry) -> dict[str, Any]:
    return {
        "name": ref.name,
        "title": entry.title,
        "paper_names": list(entry.paper.names) if entry.paper else [],
        "n": entry.n,
        "p": entry.p,
        "classes": entry.classes,
        "class_counts": dict(entry.class_counts or {}),
        "substitute": None,
        "note": entry.note,
        "missing": "",
        "get": _command_to_get(ref),
        "fingerprint": "",
        "source": "",
        "files": {},
    }


def _command_to_get(ref: DatasetRef) -> str:
    if ref.path is not None:
        return ""
    return f"DRMBENCH_MIRROR=FOLDER drmbench data fetch {ref.catalogue_name}"


def _split_plan(
    experiment: Experiment, entry: DatasetEntry | None, n: int, stand_in: str | None
) -> SplitPlan:
    spec = experiment.split
    if spec.kind != "random":
        return spec.plan(None, None)
    if spec.train != "paper":
        return spec.plan(spec.train_rows(n), spec.test)
    paper = entry.paper if entry else None
    if paper is None or paper.train is None or paper.test is None:
        raise InputError(
            f"{experiment.name}: the paper has no training size for"
            f" {entry.name if entry else 'a file'}; give the split a `train` size"
        )
    if stand_in or paper.train + paper.test > n:
        # Another set, or fewer rows than the paper says: keep the paper's proportion.
        return spec.plan(round(n * paper.train / (paper.train + paper.test)), None)
    return spec.plan(paper.train, paper.test)


def _measured_splits(experiment: Experiment, n_train: int) -> int | None:
    """Return how many sizes or penalties are measured; None for classification."""
    if experiment.kind == "timing":
        return len(sizes_within(experiment.measure.sizes, n_train))
    if experiment.kind == "convergence":
        return len(experiment.measure.betas)
    return None


def _expected_splits(experiment: Experiment, n: int) -> int:
    """Return how many splits a data set has that was not looked at."""
    split = experiment.split
    counts = {"given": 1, "folds": _FOLDS, "random": split.repeats}
    counts["kfold"] = split.k * split.repeats
    return _measured_splits(experiment, max(n, 1)) or counts[split.kind]


def _expected_train(entry: DatasetEntry, split: SplitPlan) -> int:
    """Return how many rows train a model of a data set that was not looked at."""
    n, folds = entry.n, _FOLDS
    if split.kind == "given":
        return entry.given_split or n
    if split.kind == "random":
        return int(split.train or n)
    if split.kind == "kfold":
        folds = split.k
    return math.ceil(n * (folds - 1) / folds)


def matcher(
    patterns: Sequence[str], names: Sequence[str], what: str
) -> Callable[[str], bool]:
    """Return a test of names against shell patterns; no pattern means all.

    A pattern that matches none of the names is refused.

    Examples
    --------
    >>> matcher(["drm-*"], ["drm-rbf", "nb"], "method")("drm-rbf")
    True
    """
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            raise InputError(
                f"no {what} matches {quoted(pattern)}.{did_you_mean(pattern, names)}"
                f" There are: {', '.join(names)}"
            )
    if not patterns:
        return lambda name: True
    return lambda name: any(fnmatch.fnmatchcase(name, p) for p in patterns)
