"""From a comparison to a model: one method, fitted to all rows as it was compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from drmbench.config import Experiment, parse_experiment
from drmbench.config.model import DatasetRef, MethodRef
from drmbench.data.dataset import Dataset
from drmbench.data.new_rows import features_of
from drmbench.data.reading import Reading
from drmbench.data.user import load_user_file
from drmbench.errors import InputError, did_you_mean, quoted
from drmbench.protocol.evaluate import Trained
from drmbench.protocol.protocol import Protocol
from drmbench.protocol.table_model import TableModel, fit_table_model
from drmbench.protocol.table_model_file import versions_here
from drmbench.running.compare import comparison_config, own_name, ranking
from drmbench.running.execute import informed, load_dataset
from drmbench.running.results import Results


@dataclass(frozen=True)
class FitPlan:
    """A method, a table and the rules by which the method is selected on it."""

    table: DatasetRef  #: What to load; it is a file
    method: MethodRef  #: What to fit
    protocol: Protocol  #: Selection, scaling and seed
    #: Fingerprint of the table that was compared, where there was a comparison
    compared: str = ""

    def dataset(self) -> Dataset:
        """Load the table."""
        return load_dataset(self.table, False)


@dataclass(frozen=True, eq=False)
class FittedPlan:
    """A model, and how it came about."""

    model: TableModel  #: The model
    trained: Trained  #: Selection, times and notes
    dataset: Dataset  #: The table


def plan_like_comparison(
    path: Path,
    target: str | None,
    method: str,
    *,
    metric: str,
    seed: int,
    reading: Reading,
) -> FitPlan:
    """Return what `drmbench compare` does with a method, for all rows of a table."""
    dataset = load_user_file(path, target=target, **vars(reading))
    text = comparison_config(
        *(dataset, path.resolve(), target),
        methods=[method],
        metric=metric,
        folds=2,  # of the comparison, so of no meaning here
        repeats=1,
        seed=seed,
        reading=reading,
    )
    experiment = parse_experiment(text, source=Path("fit").resolve(), lines=False)
    return _plan(experiment, experiment.datasets[0], experiment.methods[0])


def plan_of_results(
    results: Results,
    path: Path,
    target: str | None,
    method: str | None,
    reading: Reading,
) -> FitPlan:
    """Return the settings of a comparison's best method, or of the one that is named.

    `path` and `target` are the table to fit to; it need not be the one compared.
    """
    experiment = results.experiment
    if experiment.kind != "classification":
        raise InputError(f"{results.name} is no comparison of methods")
    refs = {ref.label: ref for ref in experiment.methods}
    if method is None:
        method = _winner(results)
    if method not in refs:
        raise InputError(
            f"{results.name} has no method"
            f" {quoted(method)}.{did_you_mean(method, refs)}"
            f" It has: {', '.join(refs)}"
        )
    stored = experiment.datasets[0]
    table = DatasetRef(name=own_name(path.name.partition(".")[0]), path=path.resolve())
    if len(experiment.datasets) == 1 and stored.path is not None:
        table = stored.model_copy(update={"path": path.resolve()})
    if target is not None:
        table = table.model_copy(update={"target": target})
    if reading != Reading():
        table = table.model_copy(update={"reading": reading})
    known = results.datasets.get(table.name, {}).get("fingerprint") or ""
    plan = _plan(experiment, table, refs[method])
    return dataclasses.replace(plan, compared=known)


def _winner(results: Results) -> str:
    if len(results.datasets) > 1:
        raise InputError(
            f"{results.name} has {len(results.datasets)} data sets and so no one best"
            " method; name one with --method"
        )
    best = next(iter(ranking(results)), None)
    if best is None or not best.complete:
        raise InputError(
            f"no method of {results.name} came to a result on every split; name one"
            " with --method"
        )
    return best.method


def _plan(experiment: Experiment, table: DatasetRef, ref: MethodRef) -> FitPlan:
    mode = next((one for one in experiment.scaling if one != "paper"), None)
    return FitPlan(table, ref, experiment.protocol(ref, mode or experiment.scaling[0]))


def fit_plan(plan: FitPlan) -> FittedPlan:
    """Load the table, select and fit the method on all its rows."""
    dataset = plan.dataset()
    method = informed(plan.method.method(), dataset)
    model, trained = fit_table_model(
        dataset,
        method,
        plan.protocol,
        features_of(dataset),
        target=plan.table.target,
    )
    provenance = {
        "data": {
            "name": dataset.name,
            "fingerprint": dataset.fingerprint,
            "files": dict(dataset.provenance.files),
            "rows": dataset.n_samples,
            "class_counts": dataset.class_counts,
        },
        "method": {
            "name": plan.method.name,
            "label": plan.method.label,
            "params": trained.selection.params,
            "grid": {name: list(values) for name, values in method.grid.items()},
        },
        "protocol": dataclasses.asdict(plan.protocol),
        "selection": selection_facts(plan.protocol, trained),
        "notes": list(trained.notes),
        "versions": versions_here(method.origin.get("versions")),
    }
    model = dataclasses.replace(model, provenance=provenance)
    return FittedPlan(model, trained, dataset)


def selection_facts(protocol: Protocol, trained: Trained) -> Mapping[str, Any]:
    """Return what was selected how, and its score; None if there was no choice."""
    score = trained.selection.score
    return {
        "how": protocol.selection.describe(),
        "metric": protocol.selection.metric,
        "score": None if np.isnan(score) else float(score),
        "candidates": len(trained.selection.candidates),
        "scaling": trained.scaling,
    }
