"""``drmbench.compare``: methods on data in memory, under an honest protocol."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from drmbench.api.experiments import (
    experiment_of,
    run_experiment,
    run_options,
    time_of,
)
from drmbench.api.methods import method_items
from drmbench.api.results import Comparison
from drmbench.data.dataset import Dataset
from drmbench.data.in_memory import dataset_in_memory, write_npz
from drmbench.errors import InputError, reason_of, refused
from drmbench.methods.registry import get_method
from drmbench.metrics import get_metric
from drmbench.running.budget import fitting
from drmbench.running.compare import (
    comparison_config,
    comparison_name,
    label_of,
    sensible_methods,
)


def compare(
    X: Any,
    y: Any,
    *,
    methods: Sequence[str] | Mapping[str, Any] | None = None,
    metric: str = "gmean",
    folds: int = 5,
    repeats: int = 3,
    seed: int = 0,
    scaling: str = "honest",
    categorical: Sequence[str | int] = (),
    name: str = "data",
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    timeout: float | str | None = None,
    memory: int | str | None = None,
    scheduler: str = "",
    progress: bool = True,
    budget: float | str | None = None,
) -> Comparison:
    """Compare methods on your own data under an honest protocol.

    Outer stratified folds; scaling and parameters are selected inside each training
    part. This is the command ``drmbench compare`` for data in memory. A method on a
    fold runs in a process of its own, with a time limit of ten minutes unless
    ``timeout`` says otherwise.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
        The samples, without missing values. Columns of text or categories become codes.
    y : array-like of shape (n_samples,)
        Labels of any kind.
    methods : sequence of str or mapping, optional
        Names of methods (``drmbench methods`` lists them) or classes as
        ``module:Class``; or a mapping from names to these, to scikit-learn classifiers
        or pipelines (objects), or to pairs of one of them and a grid to search. By
        default the methods that suit the size and balance of the data. The class of an
        object must be defined in a module, not in a notebook, since worker processes
        import it.
    metric : str, default="gmean"
        What selects parameters and is reported first.
    folds : int, default=5
        Outer stratified folds.
    repeats : int, default=3
        How often the folds are drawn.
    seed : int, default=0
        Seed of the folds and the methods.
    scaling : {"honest", "none", "maxabs", "paper"}, default="honest"
        Scaling mode. honest: none or max-abs, selected with the parameters.
    categorical : sequence of str or int, default=()
        Names or numbers of further columns that hold codes of categories.
    name : str, default="data"
        What results call the data. The folds depend on its content, not on the name.
    out : path, optional
        Folder of the results, in which a later call finds what is done. By default a
        temporary one, which is removed with the returned object.
    jobs, timeout, memory, scheduler, progress
        As :func:`drmbench.run` has them.
    budget : float or str, optional
        Time to spend: seconds, or a text like ``"2m"``. To fit, repeats are cut first,
        then methods that are expected to take longest; ``remarks`` of what is returned
        say so. What is not done when the time is up is left out.

    Returns
    -------
    Comparison
        Ranking, verdict, tables and rows; a notebook shows the ranking. In its folder
        are the data and the config of an equivalent ``drmbench run``.

    Raises
    ------
    InputError
        If the data, a method or an argument cannot be used.
    KeyboardInterrupt
        If it was interrupted. What is done is stored, and the message says where.

    Examples
    --------
    >>> import drmbench
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> found = drmbench.compare(
    ...     X, y, folds=2, methods={"mine": LogisticRegression(), "bayes": "nb"})
    >>> sorted(found.ranking["method"]), found.complete
    (['bayes', 'mine'], True)
    """
    get_metric(metric, scalar=True)
    dataset = dataset_in_memory(X, y, name=name, categorical=categorical)
    _check_folds(dataset, folds)
    chosen = _chosen(methods, dataset)
    folder = Path(out if out is not None else tempfile.mkdtemp(prefix="drmbench-"))
    try:
        options = run_options(folder, jobs, timeout, memory, scheduler, progress)
        text_of = partial(
            comparison_config,
            *(dataset, _written(dataset, folder / comparison_name(dataset)), None),
            metric=metric,
            folds=folds,
            seed=seed,
            scaling=scaling,
        )
        experiment = experiment_of(text_of(methods=chosen, repeats=repeats), folder)
        remarks = ""
        if budget is not None:
            seconds = time_of("budget", budget)
            cut = fitting(experiment, options, seconds)
            kept = [one for one in chosen if label_of(one) not in cut.dropped]
            experiment = experiment_of(
                text_of(methods=kept, repeats=cut.repeats), folder
            )
            options = dataclasses.replace(options, stop_after=seconds)
            remarks = cut.describe()
        found = Comparison(run_experiment(experiment, options), remarks)
    except Exception:  # what an interrupted run has done is kept
        if out is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if out is None:
        weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)
    return found


def _check_folds(dataset: Dataset, folds: int) -> None:
    smallest = min(dataset.class_counts.values())
    if folds < 2:
        raise InputError(f"folds must be 2 or more, not {folds}")
    if smallest < folds:
        raise InputError(
            f"y: the smallest class has {smallest} rows, fewer than {folds} folds; use"
            f" folds={max(2, smallest)} or merge classes"
        )


def _chosen(
    methods: Sequence[str] | Mapping[str, Any] | None, dataset: Dataset
) -> Sequence[str | Mapping[str, Any]]:
    """Return the methods as names and items of a config; unknown names are refused."""
    if methods is None:
        return sensible_methods(dataset)
    if not methods:
        raise InputError("methods must not be empty")
    if not isinstance(methods, Mapping):
        listed = [methods] if isinstance(methods, str) else methods
        for one in listed:
            if not isinstance(one, str):
                made = type(one).__name__
                raise InputError(
                    f"methods: give {made} a name, such as {{'mine': {made}()}}"
                )
        methods = {one: one for one in listed}
    items = method_items(methods)
    for item in items:
        if "name" in item:
            get_method(item["name"])
    return items


def _written(dataset: Dataset, folder: Path) -> Path:
    """Write the data where workers read it."""
    try:
        return write_npz(dataset, folder).resolve()
    except OSError as error:
        why = f"cannot write to {folder}: {reason_of(error)}"
        raise refused(error, why) from error
