"""Refits of a stored experiment: its figures again, incrementally, and the tool."""

import csv
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from run_support import drmbench as drmbench_process
from run_support import rows_of, write_config

from drmbench.data import load
from drmbench.errors import CheckFailedError
from drmbench.methods.registry import get_method
from drmbench.protocol.splits import kfold_splits
from drmbench.report.reference import sign_reference
from drmbench.report.tables import experiment_tables
from drmbench.running.refit import refit_experiment
from drmbench.running.results import load_results, read_results

TOOL = Path(__file__).parents[2] / "tools" / "refit_test_scaling.py"
FIGURES = ("accuracy", "gmean")


def run_in_both_modes(folder, methods, datasets):
    """Run an experiment whose two modes select alike, and return its folder."""
    config = write_config(
        folder,
        methods=methods,
        datasets=datasets,
        protocol={
            "split": {"kind": "kfold", "k": 4, "repeats": 1},
            "selection": {
                "kind": "kfold",
                "k": 3,
                "metric": "accuracy",
                "tie": "first",
            },
            "scaling": ["paper", "honest"],
        },
    )
    code, _, err = drmbench_process("run", config, "--out", folder, "--jobs", 2)
    assert code == 0, err
    return folder / "trial"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run of a method with ties and of one that draws random numbers."""
    methods = ["knn-euclidean", {"name": "rf", "as": "forest"}]
    folder = tmp_path_factory.mktemp("paper")
    return run_in_both_modes(folder, methods, ["iris", "wine"])


@pytest.fixture
def stored(finished, tmp_path):
    """A copy of the run's rows and manifest that a test may change."""
    folder = tmp_path / "trial"
    folder.mkdir()
    for name in ("results.csv", "manifest.json"):
        (folder / name).write_bytes((finished / name).read_bytes())
    return folder


def refit(folder, **options):
    return refit_experiment(read_results(folder), folder, **options)


def refits_of(folder):
    with (folder / "test_scaling.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write(folder, name, rows):
    with (folder / name).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    sign_reference(folder)


def scaled_rows(folder):
    rows = (row for row in rows_of(folder) if row["scaling"] == "separate")
    return {(row["dataset"], row["method"], row["split"]): row for row in rows}


def test_every_scaled_row_is_reproduced_to_the_last_digit(stored):
    lines = []
    count = refit(stored, tell=lines.append)
    rows, again = scaled_rows(stored), refits_of(stored)
    assert (count.rows, count.computed, count.inexact) == (16, 16, 0)
    assert (count.differing, count.skipped) == (0, 0)
    assert len(again) == len(rows) == 16
    for refitted in again:
        row = rows[refitted["dataset"], refitted["method"], refitted["split"]]
        assert (refitted["status"], refitted["cell"]) == ("ok", row["cell"])
        for metric in FIGURES:
            assert refitted[f"{metric}_own_maxima"] == row[metric]
    assert [line.partition(" models")[0] for line in lines] == [
        "trial: iris: 8",
        "trial: wine: 8",
    ]


def test_the_order_is_that_of_the_manifest(stored):
    refit(stored)
    keys = [(r["dataset"], r["method"], int(r["split"])) for r in refits_of(stored)]
    assert keys == [
        (dataset, method, split)
        for dataset in ("iris", "wine")
        for method in ("knn-euclidean", "forest")
        for split in range(4)
    ]


def test_a_figure_without_the_leak_is_what_one_gets_by_hand(stored):
    refit(stored)
    rows, dataset = scaled_rows(stored), load("wine")
    refits = {(r["dataset"], r["method"], r["split"]): r for r in refits_of(stored)}
    leaks = []
    for split in kfold_splits(dataset.y, 4, repeats=1, seed=0, name="wine"):
        key = ("wine", "knn-euclidean", str(split.number))
        # Classes by size, as paper mode orders them: 48, 59 and 71 samples.
        order = [r for label in (2, 0, 1) for r in split.train if dataset.y[r] == label]
        X, y = dataset.X[order], dataset.y[order]
        scale = 1 / np.abs(X).max(axis=0)
        k = json.loads(rows[key]["params"])["n_neighbors"]
        model = get_method("knn-euclidean").build({"n_neighbors": k}, 0)
        predicted = model.fit(X * scale, y).predict(dataset.X[split.test] * scale)
        expected = np.mean(predicted == dataset.y[split.test])
        assert float(refits[key]["accuracy_training_maxima"]) == expected
        leaks.append(float(rows[key]["accuracy"]) - expected)
    assert any(leaks)


def test_with_neither_liberty_the_figures_are_those_of_honest_mode(tmp_path):
    """Both modes select alike here, and an SVM does not care for the rows' order."""
    svm = {"name": "svm-rbf", "grid": {"C": [1, 100], "sigma": [0.1, 1, 10]}}
    folder = run_in_both_modes(tmp_path, [svm], ["iris", "wine"])
    refit(folder)
    tables = experiment_tables(load_results(tmp_path))
    (table,) = (t for t in tables if t.id == "trial-accuracy-protocol-worth")
    assert list(table.frame["with_neither"]) == list(table.frame["honest_mode"])
    assert table.frame["both"].any()


def test_only_what_is_missing_is_computed(stored):
    refit(stored)
    path = stored / "test_scaling.csv"
    whole, rows = path.read_bytes(), refits_of(stored)
    assert refit(stored).computed == 0
    assert path.read_bytes() == whole
    rows[0]["accuracy_training_maxima"] = "0.125"  # would not survive a computation
    write(stored, "test_scaling.csv", [rows[0], *rows[3:]])
    assert refit(stored).computed == 2
    kept = refits_of(stored)
    assert kept[0] == rows[0]
    assert kept[1:3] == rows[1:3]
    assert len(kept) == 16


def test_refits_of_rows_that_changed_or_went_are_made_again_or_dropped(stored):
    refit(stored)
    whole = refits_of(stored)
    again = [dict(row) for row in whole]
    again[0]["cell"], again[1]["status"] = "of another grid", "differs"
    again[2]["gmean_own_maxima"] = "0.5"
    write(stored, "test_scaling.csv", again)
    assert refit(stored).computed == 3
    assert refits_of(stored) == whole
    with (stored / "results.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["dataset"] == "wine"]
    write(stored, "results.csv", rows)
    assert refit(stored).computed == 0
    assert refits_of(stored) == whole[8:]


def test_a_row_that_is_not_reproduced_is_counted_and_marked(stored):
    with (stored / "results.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    scaled = [row for row in rows if row["scaling"] == "separate"]
    scaled[0]["accuracy"] = "0.1"
    n_test, figure = int(scaled[1]["n_test"]), float(scaled[1]["accuracy"])
    scaled[1]["accuracy"] = repr(figure - 1 / n_test)
    write(stored, "results.csv", rows)
    count = refit(stored)
    assert (count.differing, count.inexact) == (1, 1)
    (marked,) = (row for row in refits_of(stored) if row["status"] == "differs")
    assert marked["reason"].startswith("accuracy is 0.1 in the stored row and 0.")
    assert "1 further from it" in str(count)


def test_other_data_is_refused(stored):
    path = stored / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["datasets"][1]["fingerprint"] = "0" * 64
    path.write_text(json.dumps(manifest), encoding="utf-8")
    sign_reference(path.parent)
    with pytest.raises(CheckFailedError, match="wine is not the data"):
        refit(stored)
    assert len(refits_of(stored)) == 8  # iris is done and stays


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("refit_test_scaling", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda *arguments: module.main([str(a) for a in arguments])


def test_the_tool_works_on_all_experiments_with_the_mode(tool, stored, capsys):
    assert tool("--reference", stored.parent) == 0
    said = capsys.readouterr()
    assert said.out.startswith("trial: 16 scaled rows, 16 fitted now; 0 within")
    assert "trial: wine: 8 models in" in said.err
    assert tool("trial", "--reference", stored.parent) == 0
    said = capsys.readouterr()
    assert "0 fitted now" in said.out
    assert said.err == ""


def spoil_params(folder):
    text = (folder / "results.csv").read_text("utf-8")
    (folder / "results.csv").write_text(text.replace('"{', '"['), encoding="utf-8")
    sign_reference(folder)


def spoil_refits(folder):
    refit(folder)
    rows = refits_of(folder)
    rows[0]["split"] = "first"
    write(folder, "test_scaling.csv", rows)


def without_paper(folder):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["experiment"]["scaling"] = ["honest"]
    path.write_text(json.dumps(manifest), encoding="utf-8")
    sign_reference(path.parent)


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (None, ("trail",), "Did you mean 'trial'?"),
        (without_paper, ("trial",), "trial was not run in the scaling mode 'paper'"),
        (without_paper, (), "no experiment was run in the scaling mode 'paper'"),
        (spoil_params, (), "are not JSON"),
        (spoil_refits, (), "test_scaling.csv: has splits without number"),
    ],
)
def test_what_a_user_can_get_wrong(tool, stored, capsys, change, arguments, message):
    if change:
        change(stored)
    assert tool(*arguments, "--reference", stored.parent) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert err.startswith("refit_test_scaling: ")
