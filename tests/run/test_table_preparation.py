"""Runs on tables that are prepared: identity, what is stored, and what is told."""

import dataclasses
import json

import numpy as np
import pytest
from run_support import drmbench, rows_of, write_config

from drmbench.config import load_experiments
from drmbench.data.dataset import Dataset, Provenance
from drmbench.errors import InputError
from drmbench.report.facts import overviews, protocol_table
from drmbench.report.protocol_words import scaling_words
from drmbench.running import plan as planning
from drmbench.running.execute import execute
from drmbench.running.manifest import upgrade
from drmbench.running.plan import make_plan
from drmbench.running.results import read_results

PROTOCOL = {
    "split": {"kind": "kfold", "k": 3},
    "selection": {"kind": "kfold", "k": 3, "metric": "accuracy"},
}


@pytest.fixture
def cities(tmp_path):
    """A csv file in which five of ten cities, alternating, are of one class."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(10, size=200)
    lines = [
        f"{x:.3f},city {c},{'yes' if c % 2 else 'no'}"
        for x, c in zip(rng.normal(size=200), numbers, strict=True)
    ]
    path = tmp_path / "cities.csv"
    path.write_text("\n".join(["income,city,buys", *lines]) + "\n")
    return {"path": str(path), "target": "buys"}


def config(folder, cities, methods=("nb", "c45-plain", "svm-linear"), **protocol):
    return write_config(
        folder,
        datasets=[cities],
        methods=methods,
        protocol={**PROTOCOL, **protocol},
    )


def test_a_run_prepares_and_tells(tmp_path, cities):
    path = config(tmp_path, cities, preparation="table")
    code, out, err = drmbench("run", path, "--out", tmp_path / "out", "--jobs", 1)
    assert code == 0, err
    assert "Nominal columns became zeros and ones" in out + err
    folder = tmp_path / "out" / "trial"
    rows = rows_of(folder)
    assert len(rows) == 9
    assert all(float(row["accuracy"]) == 1 for row in rows)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["experiment"]["preparation"] == "table"
    results = read_results(folder)
    assert results.experiment.preparation == "table"
    assert "from none, standard, robust, maxabs. Nominal" in scaling_words(
        results, "honest"
    )
    (row,) = protocol_table({"trial": results}).rows
    assert "honest (preparation: table)" in [cell.text for cell in row]
    ((_, _, remarks),) = overviews(results)
    assert any(remark.startswith("Nominal columns") for remark in remarks)


def cells_of(path):
    (experiment,) = load_experiments([path])
    return make_plan(experiment).cells


def test_the_preparation_is_part_of_a_cell_unless_it_is_the_usual_one(tmp_path, cities):
    unsaid, codes, table = (
        [cell.key for cell in cells_of(config(tmp_path, cities, **said))]
        for said in ({}, {"preparation": "codes"}, {"preparation": "table"})
    )
    assert unsaid == codes
    assert not set(codes) & set(table)


def test_manifests_of_the_usual_preparation_do_not_mention_it(tmp_path, cities):
    (experiment,) = load_experiments([config(tmp_path, cities)])
    stored = experiment.model_dump(mode="json")
    assert "preparation" not in stored
    found = upgrade({"manifest_version": 2, "experiment": stored})["experiment"]
    assert found == stored


def with_gaps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(2, size=60)
    return Dataset("gaps", X, y, ("a", "b"), Provenance("test"))


def test_missing_values_are_refused_before_a_run_unless_filled_in(
    tmp_path, cities, monkeypatch
):
    monkeypatch.setattr(planning, "load_dataset", lambda *_: with_gaps())
    with pytest.raises(InputError, match=r"gaps: 38 missing .*preparation: table"):
        cells_of(config(tmp_path, cities))
    cells = cells_of(config(tmp_path, cities, preparation="table"))
    assert len(cells) == 9


def test_methods_with_a_limit_count_prepared_features(tmp_path, cities, monkeypatch):
    path = config(tmp_path, cities, methods=("nb",), preparation="table")
    task, *_ = cells_of(path)
    method = dataclasses.replace(task.method.method(), most_features=10)
    monkeypatch.setattr(type(task.method), "method", lambda self: method)
    (row,) = execute(task)
    assert row["status"] == "skipped"
    assert "there are 11" in row["reason"]
