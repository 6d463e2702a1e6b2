"""``drmbench compare``: a table of one's own, a ranking, a verdict, a config."""

import csv
import signal

import numpy as np
import pytest
from run_support import journal_lines, start, wait_until

from drmbench.config import parse_experiment
from drmbench.data.synthetic import make_synthetic
from drmbench.report.fold_statistics import resampled_difference
from drmbench.running.budget import fitting
from drmbench.running.compare import (
    comparison_config,
    label_of,
    sensible_methods,
    slug,
)
from drmbench.running.runner import RunOptions


@pytest.fixture
def table(tmp_path):
    """Two classes that one column tells apart."""
    rng = np.random.default_rng(0)
    path = tmp_path / "mine.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["a", "b", "kind"])
        for number in range(60):
            kind = "yes" if number % 3 == 0 else "no"
            shift = 4.0 if kind == "yes" else 0.0
            writer.writerow([rng.normal() + shift, rng.normal(), kind])
    return path


def test_ranks_methods_and_writes_the_config_to_build_on(drmbench, table, tmp_path):
    out = tmp_path / "out"
    arguments = ["--target", "kind", "--methods", "nb,knn-euclidean", "--out", out]
    arguments += ["--repeats", 1]
    config = tmp_path / "next.yaml"
    code, text, err = drmbench("compare", table, *arguments, "--config", config)
    assert code == 0, err
    assert "gmean" in text
    assert "Best: " in text
    assert "number" not in text, "no DRM was run, so nothing is said of one"
    again, _table_again, err = drmbench("run", config, "--out", out)
    assert again == 0
    assert "10 cells are there already; 0 to run" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "sort"], "sort"),
        (["--target", "kind", "--methods", "nb,svn-rbf"], "svm-rbf"),
        (["--target", "kind", "--metric", "auc"], "auc"),
        (["--target", "kind", "--folds", "30"], "--folds 20"),
        ([], "target"),
    ],
)
def test_wrong_input_gets_one_message(drmbench, table, tmp_path, arguments, words):
    code, _, err = drmbench("compare", table, *arguments, "--out", tmp_path)
    assert code == 2
    assert words in err


def test_a_class_of_one_row_is_named(drmbench, table, tmp_path):
    with table.open("a") as stream:
        stream.write("1,2,lone\n")
    code, _, err = drmbench("compare", table, "--target", "kind", "--out", tmp_path)
    assert code == 2
    assert "the class 'lone' has a single row" in err
    assert "--folds" not in err


def test_a_config_that_is_a_folder_is_refused(drmbench, table, tmp_path):
    arguments = ["--target", "kind", "--methods", "nb", "--out", tmp_path / "out"]
    code, _, err = drmbench("compare", table, *arguments, "--config", tmp_path)
    assert code == 2
    assert f"{tmp_path}: cannot be written (it is a folder)" in err


def test_a_table_may_share_its_name_with_the_catalogue(drmbench, table, tmp_path):
    mine = table.rename(tmp_path / "iris.csv")
    config = tmp_path / "next.yaml"
    arguments = ["--target", "kind", "--methods", "nb", "--out", tmp_path / "out"]
    code, _, err = drmbench("compare", mine, *arguments, "--config", config)
    assert code == 0, err
    assert "name: my-iris" in config.read_text()


def test_an_interrupt_says_how_to_go_on_and_judges_nothing(table, tmp_path):
    methods = ["--methods", "svm-rbf,drm-rbf,rf", "--folds", 10, "--jobs", 1]
    arguments = [table, "--target", "kind", *methods, "--out", tmp_path / "out"]
    arguments += ["--repeats", 1]
    process = start("compare", *arguments, "--config", tmp_path / "next.yaml")
    out = tmp_path / "out"
    wait_until(lambda: any(map(journal_lines, out.glob("compare-mine-*"))))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on" in err
    assert "Traceback" not in err
    assert "reasons above" not in out
    assert "Best" not in out


def test_a_lead_within_the_noise_is_not_clear():
    def better(first, second):
        return resampled_difference(first, second, 0.2).better() > 0.95

    best = (0.9, 0.8, 0.9, 0.8, 0.9)
    assert better(best, (0.7, 0.6, 0.7, 0.6, 0.7))
    assert not better(best, (0.95, 0.7, 0.9, 0.75, 0.9))
    assert not better(best, best)


def test_methods_suit_size_and_balance():
    assert "smote-rf" in sensible_methods(make_synthetic(200, 3, imbalance=9.0))
    assert "smote-rf" not in sensible_methods(make_synthetic(200, 3))
    assert "drm-rbf" not in sensible_methods(make_synthetic(9000, 3))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            make_synthetic(200, 3),
            "svm-balanced logistic logistic-balanced rf-100 hgb drm knn-euclidean nb",
        ),
        (
            make_synthetic(200, 3, imbalance=9.0),
            "svm-balanced logistic logistic-balanced rf-100 rf-100-balanced hgb"
            " hgb-balanced drm drm-balanced drm-threshold knn-euclidean nb",
        ),
        (make_synthetic(9000, 3), "drm-nystroem hgb logistic l2-svm-balanced"),
    ],
    ids=["balanced", "imbalanced", "large"],
)
def test_every_method_gets_the_same_chance(data, expected, tmp_path):
    """The promised methods, one plan of selection, and grids of comparable size."""
    methods = sensible_methods(data)
    assert set(expected.split()) <= {label_of(method) for method in methods}
    path = tmp_path / "d.npz"
    np.savez(path, X=data.X, y=data.y)
    text = comparison_config(
        *(data, path, None),
        methods=methods,
        metric="gmean",
        folds=5,
        seed=0,
        repeats=3,
    )
    experiment = parse_experiment(text, source=tmp_path / "d.yaml")
    assert not experiment.selection_overrides
    assert experiment.selection.kind == "kfold"
    assert experiment.selection.subset_least == 20
    sizes = {ref.label: len(ref.method().candidates()) for ref in experiment.methods}
    assert max(sizes.values()) <= 60


def figures(folder):
    (rows,) = folder.glob("*/results.csv")
    with rows.open() as stream:
        return [(r["method"], r["split"], r["gmean"]) for r in csv.DictReader(stream)]


def test_names_and_folders_decide_no_figure(drmbench, table, tmp_path):
    """The same bytes elsewhere, under another name, have the same folds and figures."""
    other = tmp_path / "elsewhere" / "renamed table.csv"
    other.parent.mkdir()
    other.write_bytes(table.read_bytes())
    found = []
    for number, path in enumerate((table, other)):
        out = tmp_path / f"out{number}"
        arguments = ["--methods", "rf,knn-euclidean", "--repeats", 1, "--out", out]
        config = ["--config", tmp_path / f"{number}.yaml"]
        code, _, err = drmbench(
            "compare", path, "--target", "kind", *arguments, *config
        )
        assert code == 0, err
        found.append(figures(out))
    assert found[0] == found[1]
    assert len(found[0]) == 10


def test_more_repeats_go_on_from_those_that_are_done(drmbench, table, tmp_path):
    arguments = ["compare", table, "--target", "kind", "--methods", "nb"]
    arguments += ["--out", tmp_path / "out", "--config", tmp_path / "c.yaml"]
    drmbench(*arguments, "--repeats", 1)
    before = figures(tmp_path / "out")
    code, _, err = drmbench(*arguments, "--repeats", 2)
    assert code == 0
    assert "5 cells to run" in err
    assert figures(tmp_path / "out")[:5] == before


def test_a_config_that_someone_edited_is_kept(drmbench, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["compare", table, "--target", "kind", "--methods", "nb"]
    arguments += ["--repeats", 1, "--folds", 2]
    assert drmbench(*arguments)[0] == 0
    assert drmbench(*arguments)[0] == 0, "the same again is no conflict"
    (config,) = tmp_path.glob("compare-mine-*.yaml")
    edited = config.read_text() + "# mine\n"
    config.write_text(edited)
    code, _, err = drmbench(*arguments)
    assert code == 2
    assert "--force" in err
    assert "--config" in err
    assert config.read_text() == edited
    assert drmbench(*arguments, "--force")[0] == 0
    assert config.read_text() != edited


def test_two_tables_of_one_name_share_nothing(drmbench, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "b" / "mine.csv"
    other.parent.mkdir()
    other.write_text(table.read_text() + "9.0,1.0,yes\n")
    for path in (table, other):
        arguments = ["--target", "kind", "--methods", "nb", "--folds", 2]
        code, _, err = drmbench("compare", path, *arguments, "--repeats", 1)
        assert code == 0, err
    assert len(list(tmp_path.glob("compare-mine-*.yaml"))) == 2
    assert len(list(tmp_path.glob("results/runs/compare-mine-*"))) == 2


def test_a_budget_cuts_repeats_first_then_slow_methods(table, tmp_path):
    from drmbench.data.user import load_user_file

    data = load_user_file(table, target="kind")
    text = comparison_config(
        *(data, table, "kind"),
        methods=["nb", "svm-rbf", "rf-500"],
        metric="gmean",
        folds=5,
        seed=0,
        repeats=3,
    )
    experiment = parse_experiment(text, source=tmp_path / "c.yaml")
    options = RunOptions(out=tmp_path / "out", jobs=1)
    plenty = fitting(experiment, options, 10_000.0)
    assert (plenty.repeats, plenty.dropped, plenty.describe()) == (3, (), "")
    assert fitting(experiment, options, 0.1).dropped == ("svm-rbf", "rf-500")
    cuts = [fitting(experiment, options, seconds) for seconds in range(3, 200, 4)]
    sizes = [(cut.repeats, -len(cut.dropped)) for cut in cuts]
    assert sizes == sorted(sizes)
    assert {cut.repeats for cut in cuts if cut.dropped} <= {1}


def test_what_a_budget_leaves_out_is_said(drmbench, table, tmp_path):
    arguments = ["--methods", "rf-500,nb", "--jobs", 1, "--out", tmp_path / "out"]
    config = ["--config", tmp_path / "c.yaml", "--target", "kind"]
    code, text, _ = drmbench("compare", table, *arguments, *config, "--budget", "1s")
    assert code == 0
    assert "To fit into 1.0 s: the folds are drawn once, not 3 times" in text
    assert "left out: rf-500" in text


def test_names_become_experiment_names():
    assert slug("Ünï 1_2") == "n-1-2"
    assert slug("***") == "data"
