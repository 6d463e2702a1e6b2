"""``drmbench init``: what it writes is valid, runs, and overwrites nothing."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from support import Run

from drmbench.config import load_experiments


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_table(name: str, classes: dict[str, int]) -> None:
    with Path(name).open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["a", "b", "the: kind"])
        for number, (label, count) in enumerate(classes.items()):
            for row in range(count):
                writer.writerow([number + row / 10, row % 3, label])


def test_the_example_is_valid_and_runs(run: Run) -> None:
    done = run("init")
    assert done.code == 0
    assert "drmbench run experiment.yaml" in done.out
    assert run("config", "check", "experiment.yaml").code == 0
    done = run("run", "experiment", "--method", "nb", "--jobs", "1")
    assert done.code == 0
    assert "packaged config" not in done.err, "the file that is here is used"
    assert Path("results/runs/experiment/results.csv").is_file()


@pytest.mark.parametrize(
    ("place", "file"),
    [("studies", "studies/experiment.yaml"), ("a/b.yaml", "a/b.yaml")],
)
def test_a_folder_or_a_file_may_be_named(run: Run, place: str, file: str) -> None:
    assert run("init", place).code == 0
    assert Path(file).is_file()


def test_nothing_is_overwritten_unless_forced(run: Run) -> None:
    Path("experiment.yaml").write_text("mine")
    done = run("init")
    assert done.code == 2
    assert "--force" in done.err
    assert Path("experiment.yaml").read_text() == "mine"
    assert run("init", "--force").code == 0
    assert Path("experiment.yaml").read_text() != "mine"


@pytest.mark.parametrize("name", ["mine.csv", "iris.csv", "12.csv"])
def test_a_table_of_ones_own(run: Run, name: str) -> None:
    write_table(name, {"x": 12, "y": 3})
    arguments = ("--data", name, "--target", "the: kind")
    done = run("init", "sub/first.yaml", *arguments)
    assert done.code == 0, done.err
    (experiment,) = load_experiments([Path("sub/first.yaml")])
    assert experiment.split.k == 3, "as many folds as the smallest class has rows"
    done = run("run", "sub/first.yaml", "--method", "nb", "--jobs", "1")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "kind"], "--data"),
        (["--data", "nothere.csv"], "no such file"),
        (["--data", "."], "a directory, not a file"),
        (["--data", "one.csv", "--target", "the: kind"], "a single row"),
        (["one.csv"], "give a folder"),
    ],
)
def test_wrong_input_gets_one_message(
    run: Run, arguments: list[str], words: str
) -> None:
    write_table("one.csv", {"x": 12, "y": 1})
    done = run("init", *arguments)
    assert done.code == 2
    assert words in done.err
    assert not Path("experiment.yaml").exists()
