"""The check of the committed results themselves, also where nothing has been run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from result_edits import edit_manifest, edit_rows
from result_files import make_results
from support import REPOSITORY, Run

from drmbench.errors import InputError
from drmbench.report.reference import check_folder


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh clone: committed results of 2 sets x 3 methods x 5 splits, no others."""
    make_results(tmp_path / "results" / "reference", "demo")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "results" / "reference" / "demo"


def edited(row_number: int, **values: str) -> Callable[[dict[str, str]], None]:
    """Change one row, the first being number 1."""
    rows: list[dict[str, str]] = []

    def edit(row: dict[str, str]) -> None:
        rows.append(row)
        if len(rows) == row_number:
            row.update(values)

    return edit


def faults(folder: Path) -> list[str]:
    (found,) = check_folder(folder.parent)
    return [fault.replace(str(folder.parent), "reference") for fault in found.faults]


def test_a_fresh_clone_passes(clone: Path, run: Run) -> None:
    done = run("check")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "results/reference: 1 experiment, 30 of 30 cells, all rows sound.",
        "",
        "experiment  cells  rows",
        "demo        30/30  sound",
        "",
        "Nothing fresh in results/runs to compare with it: `drmbench run"
        " configs/quick.yaml` would make results.",
    ]
    assert "configs/demo.yaml" in run("check", "--experiment", "demo").out


def test_the_committed_results_are_sound() -> None:
    found = check_folder(REPOSITORY / "results" / "reference")
    assert {one.name for one in found} >= {"quick", "uci", "gene", "imbalanced"}
    assert [fault for one in found for fault in one.faults] == []
    assert all(0 < one.done <= one.expected for one in found)


def test_fresh_results_in_the_usual_place_are_compared(clone: Path, run: Run) -> None:
    make_results(Path("results/runs"), "demo")
    done = run("check")
    assert done.code == 0
    assert "30 of 30 reference cells compared: 30 exact" in done.out
    assert "Nothing fresh" not in done.out


def test_a_folder_that_is_named_must_have_results(clone: Path, run: Run) -> None:
    done = run("check", "--results", "results/runs")
    assert done.code == 2
    assert "nothing to compare" in done.err
    named = run("check", "--results", "results/runs", "--experiment", "demo")
    assert named.code == 2
    assert "results/runs has no results of 'demo'" in named.err


def test_without_any_results_there_is_nothing_to_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("results/reference").mkdir(parents=True)
    done = run("check")
    assert done.code == 2
    assert done.err == (
        "drmbench: nothing to check: results/reference and results/runs have no"
        " results\n"
    )


def test_missing_data_and_cells_are_counted_not_faults(clone: Path, run: Run) -> None:
    make_results(
        clone.parent,
        "demo",
        datasets=["iris", {"name": "gcm", "missing": "no source"}],
        values={("iris", "nb"): [0.5, "it failed", "timeout: 600 s"]},
    )
    done = run("check")
    assert done.code == 0
    assert done.out.splitlines()[2:4] == [
        "experiment  cells  rows   without the data of",
        "demo        13/30  sound  gcm",
    ]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"dataset": "sonar"}, "manifest.json has no data set 'sonar'"),
        ({"method": "nbb"}, "manifest.json has no method 'nbb'"),
        ({"mode": "paper"}, "manifest.json has no mode 'paper'"),
        ({"scaling": "none"}, "the mode honest has no scaling 'none'"),
        ({"split": "5"}, "the split is 5, not one of 0 to 4"),
        ({"split": "-1"}, "the split is -1, not one of 0 to 4"),
        ({"split": "1.5"}, "the split is 1.5, not one of 0 to 4"),
        ({"split": "one"}, "the split is 'one', not one of 0 to 4"),
        ({"status": "OK"}, "the status is 'OK', not one of ok, failed, timeout,"),
        ({"accuracy": "1.5"}, "accuracy is 1.5, not between 0 and 1"),
        ({"gmean": "-0.5"}, "gmean is -0.5, not between 0 and 1"),
        ({"gmean": "inf"}, "gmean is inf, not between 0 and 1"),
        ({"gmean": ""}, "no gmean, although the status is ok"),
    ],
)
def test_what_cannot_be_is_named_by_file_and_row(
    clone: Path, values: dict[str, str], says: str
) -> None:
    edit_rows(clone, edited(7, **values))
    (fault,) = faults(clone)
    assert fault.startswith("reference/demo/results.csv, row 7: ")
    assert says in fault


def test_damage_fails_the_check_before_anything_is_compared(
    clone: Path, run: Run
) -> None:
    make_results(Path("results/runs"), "demo")
    edit_rows(clone, edited(2, accuracy="1.5"))
    done = run("check")
    assert done.code == 1
    assert done.err.splitlines() == [
        "drmbench: the committed results are damaged:",
        "results/reference/demo/results.csv, row 2: iris / drm-rbf / honest / selected"
        " / split 1: accuracy is 1.5, not between 0 and 1",
    ]
    assert "demo        30/30  faults: 1" in done.out
    assert "compared" not in done.out


def test_a_cell_twice_is_named_with_both_rows(clone: Path) -> None:
    path = clone / "results.csv"
    text = path.read_text("utf-8")
    path.write_text(text + text.splitlines()[-1] + "\n", encoding="utf-8")
    assert faults(clone) == [
        "reference/demo/results.csv, row 31: wine / nb / honest / selected / split 4"
        " is row 30 again"
    ]


def test_a_cell_without_a_figure_need_not_have_metrics(clone: Path) -> None:
    edit_rows(clone, edited(3, status="failed", reason="singular", accuracy=""))
    assert faults(clone) == []


def test_rows_of_several_runs_need_not_have_the_same_metrics(clone: Path) -> None:
    edit_rows(clone, edited(3, gmean=""))
    edit_manifest(clone, lambda manifest: manifest.update(updates=[{"cells": 5}]))
    assert faults(clone) == []


def test_measurements_are_checked_too(clone: Path) -> None:
    make_results(clone.parent, "demo", kind="convergence", methods=["drm-gd"])
    assert faults(clone) == []
    edit_rows(clone, edited(1, converged="1.5"))
    edit_rows(clone, edited(2, split="9"))
    first, second = faults(clone)
    assert "row 1: " in first
    assert "converged is 1.5" in first
    assert "not one of 0 to 2" in second


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda m: m.pop("datasets"), "'datasets'"),
        (lambda m: m.pop("expected"), "'expected'"),
        (lambda m: m["experiment"].pop("kind"), "'kind'"),
        (lambda m: m["experiment"].update(scaling=["honestly"]), "'honestly'"),
        (lambda m: m["datasets"][0].update(splits="some"), "'some'"),
    ],
)
def test_a_manifest_that_is_none_is_an_input_error(
    clone: Path, edit: Callable[[dict[str, Any]], Any], says: str
) -> None:
    edit_manifest(clone, edit)
    with pytest.raises(InputError, match=f"not a manifest of results: .*{says}"):
        check_folder(clone.parent)


def test_files_that_cannot_be_read_are_input_errors(clone: Path, run: Run) -> None:
    edit_rows(clone, lambda row: row.update(gmean="much"))
    assert "text in the column gmean" in run("check").err
    (clone / "results.csv").unlink()
    done = run("check")
    assert done.code == 2
    assert "results/reference/demo/results.csv: cannot be read" in done.err
