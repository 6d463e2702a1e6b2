"""Manifests of every version are read alike; what is stored is what was run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import REPOSITORY

from drmbench.config import (
    Experiment,
    experiment_identity,
    load_experiments,
    parse_experiment,
)
from drmbench.errors import InputError
from drmbench.running.manifest import (
    MANIFEST_VERSION,
    read_manifest,
    stored_experiment,
    upgrade,
)
from drmbench.running.results import read_results

REFERENCE = REPOSITORY / "results" / "reference"
CONFIGS = sorted((REPOSITORY / "configs").glob("*.yaml"))

CONFIG = """
name: mine
datasets:
- iris
- {name: synthetic, as: drawn, parameters: {n: 50}}
methods:
- nb
- {name: svm-rbf, as: svm, grid: {C: [1, 10]}, params: {sigma: 1}}
protocol:
  split: {kind: kfold}
  scaling: [paper, honest]
  selection:
    kind: kfold
    methods: {svm: {k: 4, note: it is slow}}
    modes: {honest: {k: 3}}
"""


def version_1(**changed: Any) -> dict[str, Any]:
    """Return a manifest as the first version wrote it."""
    svm = {"label": "svm", "name": "svm-rbf", "grid": {"C": [1]}, "params": {}}
    experiment = {
        "name": "mine",
        "title": "A title",
        "kind": "classification",
        "seed": 3,
        "scaling": ["paper", "honest"],
        "metrics": ["accuracy"],
        "split": {"kind": "kfold", "train": "paper", "test": None, "k": 5},
        "selection": "10-fold",
        "selection_overrides": {"svm": "it is slow"},
        "selection_modes": {"paper": "10-fold, first", "honest": "3-fold"},
        "uniform_modes": ["honest"],
        "timeout": None,
    }
    return {
        "schema": 1,
        "experiment": experiment,
        "datasets": [{"name": "iris", "splits": 5}, {"name": "drawn", "splits": 5}],
        "methods": [{"label": "nb", "name": "nb", "grid": {}, "params": {}}, svm],
        "config": CONFIG,
        **changed,
    }


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_committed_manifests_have_the_experiments_of_the_configs(
    path: Path,
) -> None:
    (experiment,) = load_experiments([path])
    stored = read_results(REFERENCE / experiment.name).experiment
    assert experiment_identity(stored) == experiment_identity(experiment)
    assert (stored.title, stored.deviations) == (
        experiment.title,
        experiment.deviations,
    )
    raw = json.loads((REFERENCE / experiment.name / "manifest.json").read_text())
    assert raw["manifest_version"] == MANIFEST_VERSION
    assert stored_experiment(stored) == raw["experiment"]


def test_an_early_manifest_gets_its_plans_from_its_config() -> None:
    upgraded = upgrade(version_1())
    experiment = Experiment.model_validate(upgraded["experiment"])
    assert upgraded["manifest_version"] == MANIFEST_VERSION
    assert "selection_words" not in upgraded
    said = parse_experiment(CONFIG, source=Path("mine.yaml"))
    assert experiment == said.model_copy(
        update={
            **{"title": "A title", "seed": 3, "metrics": ("accuracy",)},
            **{"source": None, "split": experiment.split},
        }
    )
    assert experiment.split.kind == "kfold"
    nb, svm = upgraded["methods"]
    assert svm["grid"] == {"C": [1]}
    assert (nb["scale_invariant"], svm["shortcuts"]) == (
        False,
        {"loo": True, "grid": True},
    )


def test_without_a_valid_config_sentences_stay_sentences(tmp_path: Path) -> None:
    for config in ("", "name: [", "{name: mine, methods: [gone]}", None):
        manifest = version_1(config=config)
        (tmp_path / "manifest.json").write_text(json.dumps(manifest))
        (tmp_path / "results.csv").write_text("dataset,method\n")
        results = read_results(tmp_path)
        assert not results.plans_known
        assert results.selection("paper") == "10-fold, first"
        assert results.selection_overrides("paper") == {"svm": "it is slow"}
        assert results.selection_overrides("honest") == {}
        assert [ref.name for ref in results.experiment.datasets] == ["iris", "drawn"]
        assert results.experiment.methods[1].grid == {"C": [1]}


def test_upgrading_is_done_once() -> None:
    once = upgrade(version_1())
    assert upgrade(once) == once


@pytest.mark.parametrize("version", [MANIFEST_VERSION + 1, 0, "two"])
def test_a_manifest_of_another_version_is_refused(
    tmp_path: Path, version: object
) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(version_1(manifest_version=version)))
    with pytest.raises(InputError, match=rf"{path}: .*version is {version!r}"):
        read_manifest(path)


def test_no_path_of_the_machine_is_stored(tmp_path: Path) -> None:
    (tmp_path / "pets.csv").write_text("weight,kind\n" + "1,cat\n2,dog\n" * 5)
    text = (
        "{name: mine, datasets: [{path: pets.csv, target: kind}], methods: [nb],"
        " protocol: {split: {train: 0.5}}}"
    )
    experiment = parse_experiment(text, source=tmp_path / "mine.yaml")
    stored = stored_experiment(experiment)
    assert stored["source"] == "mine.yaml"
    assert stored["datasets"][0]["path"] == "pets.csv"
    assert str(tmp_path) not in json.dumps(stored)
