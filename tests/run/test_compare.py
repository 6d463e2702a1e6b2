"""``drmbench compare``: a table of one's own, a ranking, a verdict, a config."""

import csv
import signal

import numpy as np
import pytest
from run_support import journal_lines, start, wait_until

from drmbench.running.compare import clearly_better, sensible_methods, slug
from drmbench.running.results import Summary


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
    process = start("compare", *arguments, "--config", tmp_path / "next.yaml")
    wait_until(lambda: journal_lines(tmp_path / "out" / "compare-mine"))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on" in err
    assert "Traceback" not in err
    assert "reasons above" not in out
    assert "Best" not in out


def test_a_lead_within_the_noise_is_not_clear():
    def summary(*values):
        return Summary("d", "m", float(np.mean(values)), 0.0, 5, 5, values=values)

    best = summary(0.9, 0.8, 0.9, 0.8, 0.9)
    assert clearly_better(best, summary(0.7, 0.6, 0.7, 0.6, 0.7))
    assert not clearly_better(best, summary(0.95, 0.7, 0.9, 0.75, 0.9))
    assert not clearly_better(best, best)


def test_methods_suit_size_and_balance():
    from drmbench.data.synthetic import make_synthetic

    assert "smote-rf" in sensible_methods(make_synthetic(200, 3, imbalance=9.0))
    assert "smote-rf" not in sensible_methods(make_synthetic(200, 3))
    assert "drm-rbf" not in sensible_methods(make_synthetic(9000, 3))


def test_names_become_experiment_names():
    assert slug("Ünï 1_2") == "n-1-2"
    assert slug("***") == "data"
