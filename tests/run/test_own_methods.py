"""Methods of one's own in a run: resumed, failing, timed out, upgraded, reported."""

import json
import os
import re
import shutil
import socket
from contextlib import suppress

import numpy as np
import pytest
import yaml
from own_packages import TOY, clean_imports, write_distribution
from run_support import (
    journal_lines,
    kill,
    rows_of,
    start,
    wait_until,
    write_config,
)
from sklearn.ensemble import RandomForestClassifier
from support import REPOSITORY

from drmbench.config import load_experiments
from drmbench.protocol.evaluate import evaluate
from drmbench.protocol.selection import fit_seed
from drmbench.report.page_appendix import unpacked
from drmbench.report.reference import sign_reference
from drmbench.running.execute import load_planned
from drmbench.running.plan import make_plan
from drmbench.running.refit import refit_experiment
from drmbench.running.results import read_results

EXAMPLE = REPOSITORY / "examples" / "own_methods.yaml"


@pytest.fixture(autouse=True)
def as_before(tmp_path):
    with clean_imports(tmp_path):
        yield


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A folder that is on the search path, here and in workers."""
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))
    paths = [str(site), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    return site


@pytest.fixture
def toys(tmp_path):
    """A folder with a module of classifiers, for configs beside it."""
    (tmp_path / "toys.py").write_text(TOY)
    return tmp_path


def toy(label, **params):
    return {"estimator": "toys:Toy", "as": label, "params": params}


def keys_of(path):
    """Return the keys of all cells by label, in split order."""
    (experiment,) = load_experiments([path])
    keys = {}
    for task in make_plan(experiment).cells:
        keys.setdefault(task.method.label, []).append(task.key)
    return keys


def by_method(folder):
    rows = {}
    for row in rows_of(folder):
        rows.setdefault(row["method"], []).append(row)
    return rows


# ----------------------------------------------------------------------------- runs


def test_the_example_runs_and_is_reported(drmbench, tmp_path):
    out, pages = tmp_path / "out", tmp_path / "report"
    code, text, err = drmbench("run", EXAMPLE, "--out", out, "--jobs", 2)
    assert code == 0, err
    assert "pca-knn" in text
    rows = by_method(out / "own-methods")
    assert all(row["status"] == "ok" for own in rows.values() for row in own)
    assert {len(own) for own in rows.values()} == {4}
    chosen = [json.loads(row["params"]) for row in rows["pca-knn"]]
    assert {frozenset(params) for params in chosen} == {
        frozenset({"pca__n_components", "n_neighbors"})
    }
    code, _, err = drmbench("tables", "--results", out, "--out", pages)
    assert code == 0, err
    assert any("pca-knn" in file.read_text() for file in pages.rglob("*.md"))


def test_failures_and_time_limits_are_those_of_their_cells(drmbench, toys):
    methods = [
        toy("fine"),
        toy("sluggish", seconds=60.0),
        toy("breaks", fails="always"),
        toy("mute", fails="predict"),
        {"estimator": "toys:Toy", "as": "picks", "grid": {"fails": ["always", ""]}},
        {"estimator": "toys:Toy", "as": "lost", "grid": {"fails": ["always", "odd"]}},
        "nb",
    ]
    selection = {"kind": "random", "repeats": 2, "train_share": 0.751}
    split = {"kind": "random", "train": 100, "repeats": 2}
    protocol = {"split": split, "selection": selection, "scaling": "none"}
    config = write_config(toys, methods=methods, protocol=protocol)
    code, _, err = drmbench(
        "run", config, "--out", toys, "--jobs", 2, "--timeout", "6s"
    )
    assert code == 1, err
    rows = by_method(toys / "trial")
    statuses = {label: {row["status"] for row in own} for label, own in rows.items()}
    assert statuses == {
        **{"fine": {"ok"}, "nb": {"ok"}, "picks": {"ok"}},
        **{"sluggish": {"timeout"}, "breaks": {"failed"}, "mute": {"failed"}},
        "lost": {"failed"},
    }
    assert rows["breaks"][0]["reason"] == "TypeError: cannot fit 100 rows"
    assert rows["mute"][0]["reason"] == "RuntimeError: cannot predict"
    assert json.loads(rows["picks"][0]["params"]) == {"fails": ""}
    (note,) = json.loads(rows["picks"][0]["notes"])
    assert note.startswith("1 of 2 candidates could not be fitted, such as: TypeError")
    assert "none of 2 candidates could be fitted" in rows["lost"][0]["reason"]
    assert "failed: iris, breaks, none, split 0, 1: TypeError: cannot fit" in err


def test_an_estimator_that_asks_joblib_gets_one_processor(drmbench, tmp_path):
    asks = "class Asks(Toy):\n    def fit(self, X, y):\n"
    says = "        import joblib\n        raise OSError(joblib.cpu_count())\n"
    (tmp_path / "toys.py").write_text(TOY + asks + says)
    config = write_config(tmp_path, methods=[{"estimator": "toys:Asks"}])
    code, _, _ = drmbench("run", config, "--out", tmp_path, "--jobs", 1)
    assert code == 1
    assert {row["reason"] for row in rows_of(tmp_path / "trial")} == {"OSError: 1"}


def test_a_killed_run_goes_on_where_it_stopped(drmbench, toys):
    methods = [toy(f"toy-{n}", seconds=0.3 + n / 1000) for n in range(3)]
    config = write_config(toys, methods=methods)
    code, _, err = drmbench("run", config, "--out", toys / "whole", "--jobs", 2)
    assert code == 0, err
    out = toys / "killed"
    process = start("run", config, "--out", out, "--jobs", 2)
    wait_until(lambda: len(journal_lines(out / "trial")) >= 3)
    kill(process)
    before = len(journal_lines(out / "trial"))
    assert before < 12
    code, _, err = drmbench("run", config, "--out", out, "--jobs", 2)
    assert code == 0, err
    assert f"{before} cells are there already" in err
    assert rows_of(out / "trial") == rows_of(toys / "whole" / "trial")


def test_cells_on_dask_find_the_module(drmbench, toys, monkeypatch):
    pytest.importorskip("distributed")
    config = write_config(toys, methods=[toy("one"), toy("other", power=1.0)])
    code, _, err = drmbench("run", config, "--out", toys / "here", "--jobs", 1)
    assert code == 0, err
    arguments = ("--out", toys / "there", "--scheduler", "local", "--jobs", 1)
    monkeypatch.chdir("/")
    with socket.socket() as other:
        with suppress(OSError):  # a cluster of another test may have dask's port
            other.bind(("127.0.0.1", 8787))
            other.listen()
        code, _, err = drmbench("run", config, *arguments)
    assert code == 0, err
    assert rows_of(toys / "there" / "trial") == rows_of(toys / "here" / "trial")


def test_the_seed_of_a_cell_is_that_of_its_fits(tmp_path):
    forest = "sklearn.ensemble:RandomForestClassifier"
    params = {"n_estimators": 3, "max_depth": 2}
    item = {"estimator": forest, "as": "forest", "params": params}
    config = write_config(tmp_path, methods=[item], seed=8)
    (experiment,) = load_experiments([config])
    task = make_plan(experiment).cells[1]
    dataset, method = load_planned(task), task.method.method()
    assert method.stochastic
    split = task.split.splits(dataset, seed=8)[1]
    (outcome,) = evaluate(dataset, method, split, task.protocol)
    from drmbench.protocol.splits import stable_seed

    seed = stable_seed(stable_seed(8, "iris", 1), forest)
    assert seed == fit_seed(stable_seed(8, "iris", 1), method)
    X, y = dataset.X, dataset.y
    model = RandomForestClassifier(**params, random_state=seed)
    expected = model.fit(X[split.train], y[split.train]).predict(X[split.test])
    np.testing.assert_array_equal(outcome.predictions, expected)


# ----------------------------------------------------------------------------- keys


def test_keys_have_classes_steps_parameters_and_source(toys):
    def keys(**changed):
        item = {"estimator": "toys:Toy", "as": "toy", "params": {"power": 1.0}}
        return keys_of(write_config(toys, methods=[{**item, **changed}]))

    first = keys()
    assert keys() == first
    assert list(keys(**{"as": "renamed"}).values()) == list(first.values())
    others = [
        keys(estimator="sklearn.svm:SVC", params={}),
        keys(params={"power": 2.0}),
        keys(params={}, grid={"power": [1.0]}),
        keys(steps=["standard"]),
        keys(steps=["robust"]),
    ]
    (toys / "toys.py").write_text(f"{TOY}\n# another version\n")
    others.append(keys())
    everything = [first, *others]
    assert len({found["toy"][0] for found in everything}) == len(everything)


def test_another_version_of_the_package_is_another_cell(tmp_path, installed):
    config = write_config(tmp_path, methods=["nb", {"estimator": "gadget:Toy"}])
    found = []
    for version in ("1.0", "1.0", "1.1"):
        with clean_imports(tmp_path):
            write_distribution(
                installed, "gadget", version=version, modules={"gadget": TOY}
            )
            found.append(keys_of(config))
    assert found[0] == found[1]
    assert found[0]["nb"] == found[2]["nb"]
    assert not set(found[0]["toy"]) & set(found[2]["toy"])


PLUGIN = """
from drmbench.methods.base import Method
from drmbench.methods.foreign import method_from_estimator
from sklearn.naive_bayes import GaussianNB
METHOD = Method("gadget", "Gadget", "gadgets", "A. Uthor (2026)",
                build=lambda params, seed: GaussianNB(**params))
"""


def test_methods_of_entry_points_run_and_have_their_version_in_the_key(
    drmbench, tmp_path, installed
):
    protocol = {"split": {"kind": "random", "train": 100, "repeats": 1}}
    config = write_config(tmp_path, methods=["nb", "gadget"], protocol=protocol)
    to_run = {"1.0": "2 to run", "2.0": "1 cells are there already; 1 to run"}
    for version in to_run:
        write_distribution(
            installed,
            "gadget",
            version=version,
            modules={"gadget": PLUGIN},
            entry_points="gadget = gadget:METHOD\nbroken = gadget:MISSING\n",
        )
        with clean_imports(tmp_path):
            code, _, err = drmbench("run", config, "--out", tmp_path, "--jobs", 1)
        assert code == 0, err
        assert to_run[version] in err
        # The broken one is nobody's business who does not ask for it.
        assert "broken" not in err
        assert by_method(tmp_path / "trial")["gadget"][0]["status"] == "ok"
        manifest = json.loads((tmp_path / "trial" / "manifest.json").read_text())
        own = manifest["experiment"]["methods"][1]
        assert own["versions"] == {"gadget": version}
        assert manifest["environment"]["packages"]["gadget"] == version


# ------------------------------------------------------------------ manifest, reports


def test_results_are_reported_when_the_module_is_gone(drmbench, toys):
    methods = [toy("one"), toy("broken", fails="always"), "nb"]
    config = write_config(toys, methods=methods, datasets=["iris", "wine"])
    out = toys / "out"
    code, _, err = drmbench("run", config, "--out", out, "--jobs", 2)
    assert code == 1, err
    manifest = (out / "trial" / "manifest.json").read_text()
    assert str(toys) not in manifest, "no path of the machine"
    stored = json.loads(manifest)
    one = next(entry for entry in stored["methods"] if entry["label"] == "one")
    assert (one["estimator"], one["steps"]) == ("toys:Toy", [])
    assert one["versions"] == stored["experiment"]["methods"][0]["versions"]
    (toys / "toys.py").unlink()
    shutil.rmtree(toys / "__pycache__", ignore_errors=True)
    results = read_results(out / "trial")
    assert results.experiment.methods[0].estimator.estimator == "toys:Toy"
    for command in ("tables", "figures"):
        code, _, err = drmbench(command, "--results", out, "--out", toys / command)
        assert code == 0, err
    page = toys / "page.html"
    code, _, err = drmbench("report", "--results", out, "--out", page)
    assert code == 0, err
    packed = re.findall(r'id="data-\w+">([^<]+)</script>', page.read_text())
    assert any("toys.py" in json.dumps(unpacked(block)) for block in packed)
    reference = toys / "reference"
    shutil.copytree(out, reference)
    compared = ("check", "--results", out, "--reference", reference)
    code, text, err = drmbench(*compared)
    assert code == 0, (text, err)
    stored["methods"][0]["steps"] = [
        ["standard", "sklearn.preprocessing:StandardScaler"]
    ]
    (reference / "trial" / "manifest.json").write_text(json.dumps(stored))
    sign_reference(reference / "trial")
    code, text, err = drmbench(*compared)
    assert code == 1
    assert "method one: steps" in text + err
    code, _, err = drmbench("run", config, "--out", out)
    assert code == 2
    assert "there is no module 'toys'" in err


def test_scaled_rows_are_fitted_again(drmbench, toys):
    protocol = {
        "split": {"kind": "random", "train": 100, "repeats": 2},
        "selection": {"kind": "kfold", "k": 3},
        "scaling": "paper",
    }
    item = {"estimator": "toys:Toy", "as": "toy", "steps": ["pca"]}
    item |= {"grid": {"power": [1.0, 2.0]}, "params": {"pca__n_components": 2}}
    config = write_config(toys, methods=[item, "nb"], protocol=protocol)
    code, _, err = drmbench("run", config, "--out", toys, "--jobs", 1)
    assert code == 0, err
    folder = toys / "trial"
    found = refit_experiment(read_results(folder), folder)
    assert (found.rows, found.computed) == (4, 4)
    assert (found.inexact, found.differing, found.skipped) == (0, 0, 0)


# ---------------------------------------------------------------------------- compare


def test_compare_takes_classes_and_entry_points(drmbench, tmp_path, installed):
    rng = np.random.default_rng(0)
    lines = ["a,b,kind"]
    for number in range(40):
        shift = 3.0 * (number % 2)
        lines.append(f"{rng.normal() + shift},{rng.normal()},{'xy'[number % 2]}")
    table = tmp_path / "mine.csv"
    table.write_text("\n".join(lines) + "\n")
    write_distribution(
        *(installed, "gadget"),
        modules={"gadget": PLUGIN},
        entry_points="gadget = gadget:METHOD\n",
    )
    config = tmp_path / "next.yaml"
    arguments = ["--target", "kind", "--out", tmp_path / "out", "--config", config]
    arguments += ["--folds", 2, "--jobs", 1]
    methods = "nb,gadget,sklearn.tree:DecisionTreeClassifier"
    code, text, err = drmbench("compare", table, *arguments, "--methods", methods)
    assert code == 0, err
    assert "decisiontree" in text
    assert "gadget" in text
    said = yaml.safe_load(config.read_text())
    assert said["methods"][2] == {"estimator": "sklearn.tree:DecisionTreeClassifier"}
    assert "methods" not in said["protocol"]["selection"]  # one plan for all
    wrong = "sklearn.tree:DecisionTreClassifier"
    code, _, err = drmbench("compare", table, *arguments, "--methods", wrong)
    assert code == 2
    assert "Did you mean 'DecisionTreeClassifier'" in err
