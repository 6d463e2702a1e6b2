"""How results came about: experiment, data, methods, versions, machine, command."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from drmbench import __version__
from drmbench.config.model import Experiment, MethodRef
from drmbench.files import replacing
from drmbench.run.plan import Plan
from drmbench.run.task import SCHEMA_VERSION
from drmbench.run.worker import machine_memory

_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "imbalanced-learn",
    "liblinear-official",
    "pandas",
)


def make_manifest(plan: Plan) -> dict[str, Any]:
    """Return the manifest of a plan on this machine."""
    experiment = plan.experiment
    return {
        "schema": SCHEMA_VERSION,
        "drmbench": __version__,
        "experiment": _describe_experiment(experiment),
        "datasets": [
            {**dataset.facts, "splits": dataset.splits} for dataset in plan.datasets
        ],
        "methods": [_describe_method(ref) for ref in experiment.methods],
        "expected": plan.expected,
        "environment": environment(),
        "command": command_of(experiment),
        "config": _config_text(experiment),
    }


def write_manifest(path: Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest so that no reader meets half of it."""
    with replacing(path) as temporary:
        text = json.dumps(manifest, indent=1, ensure_ascii=False, default=str)
        temporary.write_text(text + "\n", encoding="utf-8")


def command_of(experiment: Experiment) -> str:
    """Return the command that runs an experiment."""
    source = experiment.source
    if source is None:
        return f"drmbench run {experiment.name}.yaml"
    try:
        shown = source.resolve().relative_to(Path.cwd())
    except ValueError:
        shown = Path(source.name)  # no path of this machine goes into results
    return f"drmbench run {shlex.quote(shown.as_posix())}"


def _describe_experiment(experiment: Experiment) -> dict[str, Any]:
    overrides = {
        label: plan.note or plan.describe()
        for label, plan in experiment.selection_overrides.items()
    }
    return {
        "name": experiment.name,
        "title": experiment.title,
        "reproduces": experiment.reproduces,
        "kind": experiment.kind,
        "seed": experiment.seed,
        "scaling": list(experiment.scaling),
        "metrics": list(experiment.metrics),
        "split": dataclasses.asdict(experiment.split),
        "selection": experiment.selection.describe(),
        "selection_overrides": overrides,
        "selection_modes": {
            mode: experiment.plan_of(mode).describe() for mode in experiment.scaling
        },
        "uniform_modes": list(experiment.selection_modes),
        "deviations": list(experiment.deviations),
        "timeout": experiment.timeout,
        "substitutes": experiment.substitutes,
        "measure": dataclasses.asdict(experiment.measure),
    }


def _describe_method(ref: MethodRef) -> dict[str, Any]:
    method = ref.method()
    return {
        "label": ref.label,
        "name": ref.name,
        "title": method.title,
        "column": method.column,
        "family": method.family,
        "stochastic": method.stochastic,
        "grid": {name: list(values) for name, values in method.grid.items()},
        "params": dict(method.defaults),
    }


def environment() -> dict[str, Any]:
    """Return what a reader of timings and last digits must know of the machine."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "memory": f"{machine_memory() / 2**30:.1f} GiB",
        "blas": _blas(),
        "threads": 1,
        "packages": {name: _version(name) for name in _PACKAGES},
        "commit": _commit(),
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _cpu_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line for line in text.splitlines() if line.startswith("model name")]
    return names[0].partition(":")[2].strip() if names else platform.machine()


def _blas() -> str:
    import numpy  # noqa: F401  loads the library that is to be described
    from threadpoolctl import threadpool_info

    libraries = {
        f"{info['internal_api']} {info.get('version') or ''}".strip()
        for info in threadpool_info()
        if info["user_api"] == "blas"
    }
    return ", ".join(sorted(libraries)) or "unknown"


def _commit() -> str:
    """Return the commit of the checkout that drmbench runs from, or empty."""
    folder = Path(sys.modules["drmbench"].__file__ or ".").resolve().parent.parent
    if not (folder / ".git").exists():
        return ""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def _config_text(experiment: Experiment) -> str:
    if experiment.source is None:
        return ""
    try:
        return experiment.source.read_text(encoding="utf-8")
    except OSError:
        return ""
