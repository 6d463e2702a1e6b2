"""``drmbench.run`` and ``drmbench.compare``: what the commands do, from Python."""

import os
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from own_packages import TOY, clean_imports
from run_support import journal_lines, rows_of, wait_until, write_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from support import REPOSITORY

import drmbench as package
from drmbench.api.experiments import experiment_of
from drmbench.api.methods import method_items
from drmbench.config import load_experiments
from drmbench.errors import DataUnavailableError, InputError
from drmbench.running.plan import make_plan

EXAMPLES = REPOSITORY / "examples"


@pytest.fixture(autouse=True)
def one_worker(monkeypatch):
    """Start one worker where a test does not say how many: it costs more than cells."""
    monkeypatch.setattr("drmbench.api.experiments.default_jobs", lambda: 1)


@pytest.fixture(autouse=True)
def as_before(tmp_path):
    with clean_imports(tmp_path):
        yield


@pytest.fixture(scope="module")
def blobs():
    """Two classes that one column tells apart, the other does not."""
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"] * 30)
    return np.c_[rng.normal(size=60) + 4 * (y == "yes"), rng.normal(size=60)], y


@pytest.fixture(scope="module")
def compared(blobs):
    """A comparison in a folder of its own."""
    methods = {
        "<b>best</b>": make_pipeline(StandardScaler(), LogisticRegression()),
        "noise": (SVC(kernel="sigmoid"), {"C": [0.001]}),
        "nb": "nb",
    }
    return package.compare(*blobs, methods=methods, folds=3, name="blobs")


def tiny(**more):
    split = {"kind": "kfold", "k": 3, "repeats": 1}
    protocol = {"split": split, "selection": {"kind": "kfold", "k": 3}}
    config = {"name": "tiny", "datasets": ["iris"], "methods": ["nb"]}
    return {**config, "protocol": {**protocol, "scaling": "none"}, **more}


def script(text, *arguments, **options):
    """Run a script without a main guard as users do, outside of the checkout."""
    command = [sys.executable, *map(str, arguments or ("-c", text))]
    environment = {**os.environ, "DRMBENCH_OFFLINE": "1"}
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, **options
    )


class Parsed(HTMLParser):
    """The elements and texts of a piece of HTML."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))


# ------------------------------------------------------------------------------ run


def test_a_file_runs_as_by_the_command(drmbench, tmp_path):
    config = write_config(tmp_path, methods=["nb", "knn-euclidean"])
    code, text, err = drmbench("run", config, "--out", tmp_path / "command")
    assert code == 0, err
    results = package.run(config, out=tmp_path / "python", jobs=2)
    assert rows_of(results.folder) == rows_of(tmp_path / "command" / "trial")
    shown, _, place = repr(results).rpartition("\n\n")
    assert shown in text
    assert place == f"results: {tmp_path / 'python' / 'trial'}"
    assert results.complete
    assert results.failures.empty
    means = results.frame.groupby("method")["accuracy"].agg(["mean", "std"])
    summary = results.summary().set_index("method")
    np.testing.assert_allclose(summary[["mean", "sd"]], means.loc[summary.index])
    expected = [f"{m:.4f} ± {s:.4f}" for m, s in means.loc[summary.index].to_numpy()]
    assert results.table().loc["iris"].tolist() == expected
    assert not results.table("gmean").equals(results.table())


def test_a_packaged_config_runs_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # no configs folder here
    results = package.run(
        "quick", out="out", datasets=["iris"], methods=["nb"], progress=False
    )
    assert set(results.frame["method"]) == {"nb"}
    assert results.folder == tmp_path / "out" / "quick"


def test_a_mapping_runs_and_goes_on(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    np.savez("mine.npz", X=np.random.default_rng(0).normal(size=(30, 2)), y=[0, 1] * 15)
    datasets = ("iris", {"path": Path("mine.npz")})
    grid = {"C": np.array([0.1, 1.0])}
    methods = {"nb": "nb", "mine": (SVC(gamma=np.float64(0.5)), grid)}
    config = tiny(datasets=datasets, methods=methods, seed=np.int64(3))
    first = package.run(config, datasets="iris")
    assert first.folder == tmp_path / "results" / "runs" / "tiny"
    assert set(first.frame["dataset"]) == {"iris"}
    assert not first.complete
    second = package.run(config)
    assert second.complete
    kept = second.frame[second.frame["dataset"] == "iris"]
    timed = [name for name in kept if name.startswith("seconds")]
    assert (kept[timed].to_numpy() == first.frame[timed].to_numpy()).all()
    stored = second.folder / "config.yaml"
    monkeypatch.chdir("/")
    again = package.run(stored, out=tmp_path / "results" / "runs")
    assert again.frame.equals(second.frame)
    assert capfd.readouterr() == ("", "")


def test_options_reach_the_run(tmp_path, capfd):
    (tmp_path / "toys.py").write_text(TOY)
    sluggish = {"estimator": "toys:Toy", "as": "sluggish", "params": {"seconds": 9.0}}
    config = write_config(tmp_path, methods=["nb", sluggish])
    options = {"out": tmp_path, "timeout": "1s", "memory": "8G", "progress": False}
    results = package.run(config, methods="slug*", **options)
    assert set(results.failures["status"]) == {"timeout"}
    assert not results.complete
    assert "sluggish" in capfd.readouterr().err
    summary = results.summary().set_index("method")
    assert summary.loc["nb", "reason"] == "not run"
    assert np.isnan(summary.loc["sluggish", "mean"])
    assert "timeout" in repr(results)
    results = package.run(config, methods=["nb"], **options)
    assert set(results.frame["method"]) == {"nb", "sluggish"}


def test_data_that_cannot_be_had_is_missing_or_refused(tmp_path):
    config = tiny(datasets=["iris", "sun"])
    results = package.run(config, out=tmp_path)
    assert "sun is missing" in repr(results)
    assert "missing" in results._repr_html_()
    with pytest.raises(DataUnavailableError, match="sun"):
        package.run(config, out=tmp_path, strict=True)


def test_measurements_have_rows_but_no_scores(tmp_path):
    measure = {"sizes": [20], "examples": 3, "iterations": 5}
    config = tiny(kind="timing", methods=["drm-gd"], measure=measure)
    del config["protocol"]
    results = package.run(config, out=tmp_path)
    assert results.complete
    assert "2 of 2 cells done" in repr(results)
    assert "<table" in results._repr_html_()
    with pytest.raises(InputError, match="its rows are in frame"):
        results.table()


@pytest.mark.parametrize(
    ("config", "options", "words"),
    [
        (5, {}, "config must be a path or a mapping, not int"),
        ("nowhere.yaml", {}, "nowhere.yaml: no such file"),
        (tiny(methods=["nbb"]), {}, "config: item 1 of methods must be"),
        (tiny(methods=["nb", "nb"]), {}, "config: the label 'nb' is there twice; give"),
        (tiny(names="x"), {}, "config: unknown key 'names'. Did you mean 'name'?"),
        (tiny(name="../x"), {}, "config: name must be"),
        (tiny(methods={"a": {1}}), {}, "methods: 'a': must be the name of a method"),
        (tiny(seed={1, 2}), {}, "config: {1, 2} is of the type set"),
        (
            tiny(methods={"a": SVC}),
            {},
            "'a': is a class; give an object, such as SVC",
        ),
        (tiny(), {"jobs": 0}, "jobs must be 1 or more"),
        (tiny(), {"timeout": "soon"}, "timeout: 'soon' is not a time"),
        (tiny(), {"memory": 5}, "memory must be a size of 256M or more"),
        (tiny(), {"methods": "drm*"}, "no method matches 'drm*'"),
        (tiny(), {"datasets": ["wine"]}, "no data set matches 'wine'"),
        (tiny(), {"out": "/proc/nowhere"}, "cannot write to /proc/nowhere"),
    ],
)
def test_wrong_input_is_one_error(config, options, words, tmp_path):
    with pytest.raises(InputError) as caught:
        package.run(config, **{"out": tmp_path, **options})
    assert words in str(caught.value)
    assert "line" not in str(caught.value)


# ------------------------------------------------------------------------- methods


def test_objects_are_the_cells_of_the_file_that_says_the_same(tmp_path):
    """The pipelines of the example, written in Python, have the keys of the file."""
    example = EXAMPLES / "own_methods.yaml"
    few = {"alpha": [0.001], "beta": [0.01, 1, 100]}
    boosting = HistGradientBoostingClassifier(max_iter=20, early_stopping=False)
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    steps = [("s", StandardScaler()), ("p", PCA()), ("k", KNeighborsClassifier())]
    near = {"p__n_components": [2, 4], "k__n_neighbors": [1, 5]}
    methods = {
        "drm-linear": ("drm-linear", few),
        "boosting": (boosting, {"max_leaf_nodes": [4, 15]}),
        "scaled-logistic": (logistic, {"logisticregression__C": [0.01, 1, 100]}),
        "pca-knn": (Pipeline(steps), near),
    }
    config = yaml.safe_load(example.read_text()) | {"methods": method_items(methods)}
    ours = experiment_of(yaml.safe_dump(config, sort_keys=False), tmp_path)
    (theirs,) = load_experiments([example])
    assert [t.key for t in make_plan(ours).cells] == [
        t.key for t in make_plan(theirs).cells
    ]


class Homemade(ClassifierMixin, BaseEstimator):
    """A class of the test module, which stands for one of a notebook."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        ({}, "must not be empty"),
        (["svn-rbf"], "svm-rbf"),
        ({"a": "svn-rbf"}, "svm-rbf"),
        ([SVC()], "give SVC a name, such as {'mine': SVC()}"),
        ({"a": (SVC(), {"D": [1]})}, "'a': sklearn.svm:SVC has no parameter 'D'"),
        ({"a": (SVC(), {"C": []})}, "the grid of C must be a list"),
        ({"a": SVC(C=-1.0)}, "'a': sklearn.svm:SVC with C=-1.0"),
        ({"a": SVC(kernel=max)}, "kernel of SVC must be a number"),
        ({"a": StandardScaler()}, "must be the name of a method"),
        ({"nb": SVC()}, "'nb' is the name of a method of drmbench's own"),
        ({"a": "nowhere:Thing"}, "there is no module 'nowhere'"),
    ],
)
def test_methods_that_cannot_be_used_get_one_message(blobs, methods, words):
    with pytest.raises(InputError) as caught:
        package.compare(*blobs, methods=methods)
    assert words in str(caught.value)


def test_a_class_of_a_notebook_is_told_to_move_to_a_module(blobs, monkeypatch):
    monkeypatch.setattr(Homemade, "__module__", "__main__")
    with pytest.raises(InputError, match="'mine': worker processes cannot import") as e:
        package.compare(*blobs, methods={"mine": Homemade()})
    assert "define it at the top level of a module" in str(e.value)


# ------------------------------------------------------------------------- compare


def test_ranks_methods_and_tells_the_best(compared, blobs):
    ranked = compared.ranking
    assert ranked["method"].tolist()[-1] == "noise"
    assert set(ranked["method"]) == {"<b>best</b>", "nb", "noise"}
    assert ranked["mean"].is_monotonic_decreasing
    assert (ranked["seconds"] > 0).all()
    assert compared.verdict.startswith("Best: ")
    assert compared.complete
    assert compared.verdict in repr(compared)
    assert list(compared.table().columns) == ["<b>best</b>", "noise", "nb"]
    with np.load(compared.folder / next(compared.folder.glob("data-*.npz"))) as file:
        assert np.array_equal(file["X"], blobs[0])


def test_a_notebook_shows_a_sound_table(compared):
    page = Parsed(compared._repr_html_())
    assert not page.open
    assert not {"b", "script", "link", "img"} & set(page.tags)
    texts = [text for _, text in page.texts]
    assert "<b>best</b>" in texts
    assert compared.verdict in texts
    assert any(text.startswith("Splits: stratified 3-fold") for text in texts)
    best = [text for tag, text in page.texts if tag == "strong"]
    top = compared.ranking["mean"].iloc[0]
    assert f"{top:.4f}" in best
    assert f"{compared.ranking['mean'].iloc[-1]:.4f}" not in best


def test_a_temporary_folder_goes_with_its_results(blobs):
    found = package.compare(*blobs, methods="nb", folds=2)
    folder = found.folder
    assert (folder / "config.yaml").exists()
    del found
    assert not folder.parent.exists()


def test_nothing_is_left_behind_by_what_was_wrong(blobs, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(InputError, match="repeats"):
        package.compare(*blobs, methods="nb", repeats=0)
    assert list(tmp_path.iterdir()) == []


def test_with_a_folder_it_goes_on_and_the_command_agrees(drmbench, blobs, tmp_path):
    X, y = blobs
    frame = pd.DataFrame(X, columns=["a", "b"])
    options = {"folds": 2, "repeats": 2, "seed": 4, "name": "My data"}
    first = package.compare(frame, y, methods=["nb"], out=tmp_path, **options)
    methods = ["nb", "knn-euclidean"]
    second = package.compare(frame, y, methods=methods, out=tmp_path, **options)
    assert first.folder == second.folder
    assert first.folder.parent == tmp_path
    assert first.folder.name.startswith("compare-my-data-")
    assert len(second.frame) == 8
    timed = ["seconds_select", "seconds_fit"]
    kept = second.frame[second.frame["method"] == "nb"][timed]
    assert (kept.to_numpy() == first.frame[timed].to_numpy()).all()
    code, _, err = drmbench("run", second.folder / "config.yaml", "--out", tmp_path)
    assert code == 0, err
    assert "8 cells are there already; 0 to run" in err


def test_a_method_that_fails_comes_last_with_its_reason(blobs, tmp_path, monkeypatch):
    (tmp_path / "toys.py").write_text(TOY.replace("cannot fit", "cannot <fit>"))
    monkeypatch.syspath_prepend(str(tmp_path))
    from toys import Toy

    methods = {"broken": Toy(fails="always"), "fine": Toy()}
    options = {"folds": 2, "repeats": 1, "scaling": "none"}
    found = package.compare(*blobs, methods=methods, **options)
    assert found.ranking["method"].tolist() == ["fine", "broken"]
    assert found.ranking["failed"].tolist() == [0, 2]
    reason = "failed: TypeError: cannot <fit> 30 rows"
    assert found.ranking["reason"].tolist() == ["", reason]
    assert set(found.failures["reason"]) == {"TypeError: cannot <fit> 30 rows"}
    assert reason in repr(found)
    assert reason in [text for _, text in Parsed(found._repr_html_()).texts]
    assert not found.complete


def test_the_papers_scaling_is_called_optimistic(blobs, compared):
    found = package.compare(*blobs, methods="nb", folds=2, scaling="paper")
    for shown in (repr(found), found._repr_html_()):
        assert "optimistic: the test part was scaled by its own maxima" in shown
    assert "optimistic" not in repr(compared) + compared._repr_html_()


def test_dask_gives_the_same_rows(blobs, tmp_path):
    pytest.importorskip("distributed")
    options = {"methods": {"mine": SVC(), "nb": "nb"}, "folds": 2, "jobs": 1}
    here = package.compare(*blobs, out=tmp_path / "here", **options)
    there = package.compare(
        *blobs, out=tmp_path / "there", scheduler="local", **options
    )
    assert rows_of(there.folder) == rows_of(here.folder)


def test_a_budget_cuts_repeats_then_methods_and_says_so(blobs):
    """Workers alone need two seconds to start."""
    options = {"methods": ["nb", "svm-rbf"], "folds": 2, "jobs": 1}
    found = package.compare(*blobs, **options, budget="2.1s")
    assert found.stored.experiment.split.repeats == 1
    assert "once, not 3 times; left out: svm-rbf." in found.remarks
    assert found.remarks in repr(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": "soon"}, "budget: 'soon' is not a time"),
        ({"folds": 31}, "use folds=30"),
        ({"folds": 1}, "folds must be 2 or more"),
        ({"metric": "auc"}, "auc"),
        ({"metric": "confusion"}, "confusion"),
        ({"scaling": "best"}, "protocol.scaling must be"),
        ({"categorical": [9]}, "a column from 0 to 1"),
        ({"out": "/proc/nowhere"}, "cannot write to /proc/nowhere"),
    ],
)
def test_arguments_that_cannot_be_used_get_one_message(blobs, options, words):
    with pytest.raises(InputError) as caught:
        package.compare(*blobs, methods="nb", **options)
    assert words in str(caught.value)


# ------------------------------------------------------- scripts, modules, interrupts


def test_the_example_is_a_script_of_ten_lines(tmp_path):
    path = EXAMPLES / "own_methods.py"
    lines = path.read_text().split('"""')[2].splitlines()
    assert len([line for line in lines if line]) == 10
    ended = script("", path, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "Best: " in ended.stdout
    assert ended.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_workers_find_a_module_beside_the_script(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "toys.py").write_text(TOY)
    (tmp_path / "code" / "main.py").write_text(
        "import drmbench, toys\n"
        "data = drmbench.load('iris')\n"
        "methods = {'toy': toys.Toy(power=1.0)}\n"
        "found = drmbench.compare(data.X, data.y, methods=methods, folds=2)\n"
        "config = {'name': 'c', 'datasets': ['iris'], 'methods': "
        "[{'estimator': 'toys:Toy'}]}\n"
        "print(found.complete, drmbench.run(config, out='out').complete)\n"
    )
    ended = script("", tmp_path / "code" / "main.py", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "True True\n"


def test_an_interrupted_call_keeps_what_is_done(tmp_path):
    (tmp_path / "toys.py").write_text(TOY)
    text = (
        "import drmbench\n"
        "item = {'estimator': 'toys:Toy', 'params': {'seconds': 0.3}}\n"
        "split = {'kind': 'kfold', 'k': 10}\n"
        "config = {'name': 'c', 'datasets': ['iris'], 'methods': [item],\n"
        "          'protocol': {'split': split, 'scaling': 'none',\n"
        "                       'selection': {'kind': 'kfold', 'k': 2}}}\n"
        "print(len(drmbench.run(config, out='out', jobs=1).frame))\n"
    )
    command = [sys.executable, "-c", text]
    environment = {**os.environ, "DRMBENCH_OFFLINE": "1"}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: journal_lines(tmp_path / "out" / "c"))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in err
    assert "the same call with out=" in err
    before = len(journal_lines(tmp_path / "out" / "c"))
    assert 1 <= before < 10
    ended = script(text, cwd=tmp_path)
    assert ended.stdout == "10\n", ended.stderr
    assert len(journal_lines(tmp_path / "out" / "c")) == 10


def test_a_notebook_gets_one_bar(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    (tmp_path / "toys.py").write_text(TOY)
    broken = {"estimator": "toys:Toy", "as": "broken", "params": {"fails": "always"}}
    config = write_config(tmp_path, methods=["nb", broken])
    package.run(config, out=tmp_path)
    err = capsys.readouterr().err
    assert "8/8" in err or "7/8" in err
    assert "iris, broken, none, split 0: failed: TypeError" in err
    assert "[1/8]" not in err
