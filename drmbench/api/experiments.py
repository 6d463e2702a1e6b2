"""``drmbench.run``: an experiment from a file or a mapping to its results."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from drmbench.api.methods import method_items
from drmbench.api.results import RunResults
from drmbench.config import (
    Experiment,
    load_experiments,
    parse_duration,
    parse_experiment,
    parse_size,
)
from drmbench.errors import DrmbenchError, InputError, reason_of, refused
from drmbench.files import replacing
from drmbench.running.progress import in_notebook
from drmbench.running.runner import Run, RunOptions, default_jobs
from drmbench.shipped import find_config

#: What a config that is no file is written to, in the folder of its results.
CONFIG_FILE = "config.yaml"

Patterns = str | Sequence[str] | None


def run(
    config: str | os.PathLike[str] | Mapping[str, Any],
    *,
    out: str | os.PathLike[str] | None = None,
    datasets: Patterns = None,
    methods: Patterns = None,
    jobs: int | None = None,
    timeout: float | str | None = None,
    memory: int | str | None = None,
    retry_failed: bool = False,
    force: Patterns = None,
    substitutes: bool = False,
    strict: bool = False,
    scheduler: str = "",
    progress: bool = True,
) -> RunResults:
    """Run an experiment; what is already there is not run again.

    This is the command ``drmbench run``. Cells run in processes of their own, which
    works in scripts and notebooks alike, without a main guard.

    Parameters
    ----------
    config : path or mapping
        An experiment file, the name of a packaged one (``"quick"``), or the content
        of a file as a mapping with the same keys. In a mapping, ``methods`` may also
        map names to methods as :func:`drmbench.compare` takes them, and paths are
        relative to the working directory.
    out : path, optional
        Folder of the results, by default ``results/runs``; those of the experiment go
        to a folder of its name in it.
    datasets, methods : str or sequence of str, optional
        Only these; shell patterns.
    jobs : int, optional
        Cells side by side; by default as many as there are processors.
    timeout : float or str, optional
        Time limit of a cell instead of the config's: seconds, or a text like ``"10m"``.
    memory : int or str, optional
        For all cells together: bytes, or a text like ``"8G"``; by default a share of
        the machine's.
    retry_failed : bool, default=False
        Whether cells that failed run again.
    force : str or sequence of str, optional
        Patterns of methods whose cells run again.
    substitutes : bool, default=False
        Whether real relatives may stand in for data sets that cannot be obtained.
    strict : bool, default=False
        Whether missing and substituted data sets are refused.
    scheduler : str, default=""
        Address of a dask scheduler, or ``"local"``; by default worker processes here.
    progress : bool, default=True
        Whether a terminal or notebook shows a bar. What goes wrong is always said.

    Returns
    -------
    RunResults
        The stored results; a notebook shows them as a table.

    Raises
    ------
    InputError
        If the config or an argument is wrong; it lists all that is wrong.
    DataUnavailableError
        If a data set cannot be obtained, and ``strict`` says so.
    KeyboardInterrupt
        If it was interrupted. What is done is stored, and the same call goes on.

    Examples
    --------
    >>> import drmbench
    >>> results = drmbench.run("configs/quick.yaml")  # doctest: +SKIP
    >>> results.table()  # doctest: +SKIP
    """
    folder = Path(out) if out is not None else RunOptions.out
    if isinstance(config, Mapping):
        experiment = experiment_of(_as_text(config), folder)
    elif isinstance(config, str | os.PathLike):
        (experiment,) = load_experiments([find_config(Path(config))])
    else:
        kind = type(config).__name__
        raise InputError(f"config must be a path or a mapping, not {kind}")
    if substitutes or strict:
        experiment = experiment.model_copy(update={"substitutes": not strict})
    options = dataclasses.replace(
        run_options(folder, jobs, timeout, memory, scheduler, progress),
        datasets=_patterns(datasets),
        methods=_patterns(methods),
        force=_patterns(force),
        retry_failed=retry_failed,
        strict=strict,
    )
    return RunResults(run_experiment(experiment, options))


def experiment_of(text: str, out: Path) -> Experiment:
    """Return the experiment of a config's text, which is kept beside its results."""
    experiment = parse_experiment(text, source=Path("config"), lines=False)
    path = (out / experiment.name / CONFIG_FILE).resolve()
    try:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        why = f"cannot write to {out}: {reason_of(error)}"
        raise refused(error, why) from error
    return experiment.model_copy(update={"source": path})


def run_options(
    out: Path,
    jobs: int | None,
    timeout: float | str | None,
    memory: int | str | None,
    scheduler: str,
    progress: bool,
) -> RunOptions:
    """Return the options of a run, with a time and a size that may be texts."""
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs must be 1 or more, not {jobs!r}")
    size = 0
    try:
        if memory is not None:
            size = parse_size(str(memory))
    except InputError as error:
        raise InputError(f"memory must be {error}, not {memory!r}") from error
    return RunOptions(
        out=out,
        jobs=jobs or default_jobs(),
        timeout=None if timeout is None else time_of("timeout", timeout),
        memory=size,
        scheduler=scheduler,
        bar=progress and (sys.stderr.isatty() or in_notebook()),
    )


def time_of(name: str, said: float | str) -> float:
    """Return the seconds that an argument stands for."""
    try:
        return parse_duration(str(said))
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def run_experiment(experiment: Experiment, options: RunOptions) -> Path:
    """Run an experiment and return the folder of its results."""
    planned = Run([experiment], options)
    planned.refuse_if_strict()
    outcome = planned.start()
    folder = planned.experiments[0].store.folder.resolve()
    goes_on = (
        f"what is done is in {folder}, and the same call with"
        f" out={str(folder.parent)!r} goes on"
    )
    if outcome.interrupted:
        raise KeyboardInterrupt(f"{outcome.left} cells left; {goes_on}")
    if outcome.cut:
        cut = f"{outcome.cut} cells were ended from outside"
        raise DrmbenchError(f"{cut}; {goes_on}")
    return folder


def _patterns(said: Patterns) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else tuple(said or ())


def _as_text(config: Mapping[str, Any]) -> str:
    """Return a mapping as YAML, with its paths made absolute."""
    said = dict(config)
    if isinstance(said.get("methods"), Mapping):
        said["methods"] = method_items(said["methods"])
    if isinstance(said.get("datasets"), list | tuple):
        said["datasets"] = [_located(item) for item in said["datasets"]]
    try:
        plain = json.loads(json.dumps(said, default=_plain))
    except (TypeError, ValueError) as error:
        raise InputError(f"config: {error}") from error
    text: str = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
    return text


def _located(item: Any) -> Any:
    """Return an item of ``datasets`` with its path from the working directory."""
    if isinstance(item, Mapping) and isinstance(item.get("path"), str | os.PathLike):
        return {**item, "path": str(Path(item["path"]).expanduser().absolute())}
    return item


def _plain(value: Any) -> Any:
    """Return a value that JSON does not know as one that it does."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    kind = type(value).__name__
    raise TypeError(f"{value!r:.60} is of the type {kind}, which it cannot hold")
