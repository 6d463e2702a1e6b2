"""How results came about: experiment, data, methods, versions, machine, command."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from drmbench import __version__
from drmbench.config.loading import parse_experiment
from drmbench.config.messages import Problems
from drmbench.config.model import DatasetRef, Experiment, MethodRef
from drmbench.config.yaml_lines import read_yaml
from drmbench.errors import InputError, quoted, reason_of
from drmbench.files import read_regular, replacing
from drmbench.methods.base import Method
from drmbench.methods.registry import get_method
from drmbench.running.provenance import PACKAGES
from drmbench.running.signature import AlteredResultsError, require_whole
from drmbench.running.task import SCHEMA_VERSION
from drmbench.running.worker import machine_memory

if TYPE_CHECKING:
    from drmbench.running.plan import Plan

logger = logging.getLogger(__name__)

#: Version of how manifests are laid out.
MANIFEST_VERSION = 3
_PACKAGES = (*PACKAGES, "pandas")


def make_manifest(plan: Plan) -> dict[str, Any]:
    """Return the manifest of a plan on this machine."""
    experiment = plan.experiment
    source = _shown_path(experiment.source) or Path(f"{experiment.name}.yaml")
    config = ""
    if experiment.source is not None:
        with contextlib.suppress(OSError):
            config = read_regular(experiment.source).decode("utf-8")
    return {
        "manifest_version": MANIFEST_VERSION,
        "schema": SCHEMA_VERSION,
        "drmbench": __version__,
        "experiment": stored_experiment(experiment),
        "datasets": [
            {**dataset.facts, "splits": dataset.splits} for dataset in plan.datasets
        ],
        "methods": [_describe_method(ref) for ref in experiment.methods],
        "expected": plan.expected,
        "environment": _environment_of(experiment),
        "command": f"drmbench run {shlex.quote(source.as_posix())}",
        "config": config,
    }


def stored_experiment(experiment: Experiment) -> dict[str, Any]:
    """Return an experiment as plain values, without a path of this machine."""
    shown = {
        "source": _shown_path(experiment.source),
        "datasets": tuple(
            ref.model_copy(update={"path": _shown_path(ref.path)})
            for ref in experiment.datasets
        ),
        "methods": tuple(map(_shown_ref, experiment.methods)),
    }
    return experiment.model_copy(update=shown).model_dump(mode="json")


def _shown_ref(ref: MethodRef) -> MethodRef:
    """Return a method without the path of a user's own modules."""
    if ref.estimator is None:
        return ref
    shown = replace(ref.estimator, folder=_shown_path(ref.estimator.folder))
    return ref.model_copy(update={"estimator": shown})


def _shown_path(path: Path | None) -> Path | None:
    """Return a path from the working directory, or the name if it is elsewhere."""
    if path is None:
        return None
    try:
        return path.resolve().relative_to(Path.cwd())
    except ValueError:
        return Path(path.name)


def write_manifest(path: Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest so that no reader meets half of it."""
    with replacing(path) as temporary:
        text = json.dumps(manifest, indent=1, ensure_ascii=False, default=str)
        temporary.write_text(text + "\n", encoding="utf-8")


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
        **_facts_of(method),
        **method.origin,
    }


def _facts_of(method: Method) -> dict[str, Any]:
    """Return what a reader must know to tell what selection costs without shortcuts."""
    return {
        "scale_invariant": method.scale_invariant,
        "shortcuts": {
            "loo": method.predict_left_out is not None,
            "grid": method.predict_grid is not None,
        },
    }


def read_manifest(path: Path) -> dict[str, Any]:
    """Read a manifest of any version that there was, as one of today's."""
    try:
        manifest = json.loads(read_regular(path).decode("utf-8"))
        needed = manifest.get("manifest_version", 1) in _SIGNED
        require_whole(manifest, path, needed=needed)
        return upgrade(manifest)
    except AlteredResultsError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = repr(error) if isinstance(error, KeyError) else str(error)
        if isinstance(error, OSError):
            reason = reason_of(error)
        if isinstance(error, ValidationError):
            reason = "; ".join(
                f"{'.'.join(map(str, e['loc']))}: {e['msg']}, not {quoted(e['input'])}"
                for e in error.errors()
            )
        raise InputError(f"{path}: not a manifest of results: {reason}") from error


def known_datasets(path: Path) -> dict[str, dict[str, Any]]:
    """Return what a manifest says of each data set; nothing if it cannot be used."""
    if not path.exists():
        return {}
    try:
        return {entry["name"]: entry for entry in read_manifest(path)["datasets"]}
    except (InputError, KeyError, TypeError) as error:
        text = (
            "%s is rewritten. Rows of data sets that are not run now come back when"
            " they are: run without --dataset. (%s)"
        )
        logger.warning(text, path, error)
        return {}


def upgrade(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest of any earlier version as one of today's."""
    version = manifest.get("manifest_version", 1)
    if not isinstance(version, int) or not 1 <= version <= MANIFEST_VERSION:
        raise InputError(
            f"its version is {quoted(version)}, and this drmbench reads versions up to"
            f" {MANIFEST_VERSION}; a newer one made it"
        )
    for step in range(version, MANIFEST_VERSION):
        manifest = _UPGRADES[step](manifest)
    experiment = Experiment.model_validate(manifest["experiment"])
    return {**manifest, "experiment": experiment.model_dump(mode="json")}


#: What manifests of version 1 said of selection, in sentences.
_SENTENCES = ("selection", "selection_overrides", "selection_modes", "uniform_modes")


def _from_1(manifest: dict[str, Any]) -> dict[str, Any]:
    """Recover the plans of selection, which were kept as sentences.

    They are in the text of the config. Where that is not valid any more, the sentences
    stay, as ``selection_words``.
    """
    said = {k: v for k, v in manifest["experiment"].items() if v is not None}
    words = {key: said.pop(key) for key in _SENTENCES if key in said}
    text = str(manifest.get("config") or "")
    named = _named_in(text)
    names = [entry["name"] for entry in manifest["datasets"]]
    refs = [named.get(name, DatasetRef(name=name)) for name in names]
    try:
        found = parse_experiment(text, source=Path("config"), datasets=refs)
    except InputError:
        found = None
    known = {ref.label: ref for ref in found.methods} if found else {}
    methods = manifest["methods"]
    experiment = {
        **said,
        "kind": said["kind"],
        "datasets": [ref.model_dump(mode="json") for ref in refs],
        "methods": [
            known[entry["label"]].model_dump(mode="json")
            if entry["label"] in known
            else {k: entry.get(k) or {} for k in ("name", "label", "grid", "params")}
            for entry in methods
        ],
    }
    upgraded = {"manifest_version": 1, **manifest} | {
        "manifest_version": 2,
        "experiment": experiment,
        "methods": [{**_registered(entry["name"]), **entry} for entry in methods],
    }
    if found is None:
        return {**upgraded, "selection_words": words}
    plans = found.model_dump(mode="json", include={*_SENTENCES, "tie"})
    for label, sentence in words.get("selection_overrides", {}).items():
        own = {**plans["selection"], "note": sentence}
        plans["selection_overrides"].setdefault(label, own)
    return {**upgraded, "experiment": {**experiment, **plans}}


def _named_in(config: str) -> dict[str, DatasetRef]:
    """Return the data sets of which a config says more than their name, by label."""
    root = read_yaml(config, Problems(Path("config")))
    try:
        items = root.plain()["datasets"] if root else []
        refs = [
            DatasetRef(
                name=item.get("as") or item["name"],
                parameters=item.get("parameters") or {},
                source=item["name"] if "as" in item else "",
            )
            for item in items
            if isinstance(item, dict) and "name" in item and "path" not in item
        ]
        return {ref.name: ref for ref in refs}
    except (KeyError, TypeError, ValueError):
        return {}


def _registered(name: str) -> dict[str, Any]:
    try:
        return _facts_of(get_method(name))
    except InputError:  # it is gone
        return {"scale_invariant": False, "shortcuts": {"loo": False, "grid": False}}


def _from_2(manifest: dict[str, Any]) -> dict[str, Any]:
    """Say that it is not known what computed the cells."""
    return {**manifest, "manifest_version": 3, "made_by": []}


#: By version, what makes a manifest one of the next.
_UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: _from_1,
    2: _from_2,
}
#: Versions of manifests that have digests.
_SIGNED = (3,)


def _environment_of(experiment: Experiment) -> dict[str, Any]:
    """Return the environment, with the packages that provide users' own methods."""
    here = environment()
    for ref in experiment.methods:
        here["packages"] |= ref.versions
    return here


def environment() -> dict[str, Any]:
    """Return what a reader of timings and last digits must know of the machine."""
    import numpy  # noqa: F401  loads the library that is to be described
    from threadpoolctl import threadpool_info

    libraries = {
        f"{info['internal_api']} {info.get('version') or ''}".strip()
        for info in threadpool_info()
        if info["user_api"] == "blas"
    }
    cpu = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line for line in lines if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else platform.machine()
    packages = dict.fromkeys(_PACKAGES, "not installed")
    for name in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            packages[name] = metadata.version(name)
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory": f"{machine_memory() / 2**30:.1f} GiB",
        "blas": ", ".join(sorted(libraries)) or "unknown",
        "threads": 1,
        "packages": packages,
        "commit": _commit(),
    }


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
