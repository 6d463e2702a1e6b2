"""Updating the reference: only when asked, and without losing what was not run."""

from __future__ import annotations

from pathlib import Path

import pytest
from result_edits import edit_manifest, edit_rows, put_plans, shift, sign_again
from result_files import make_results
from support import Run

from drmbench.errors import InputError
from drmbench.protocol.selection import SelectionPlan
from drmbench.report.check import compare
from drmbench.report.reference import update_reference
from drmbench.running.results import read_results

TEN_FOLD = {"kind": "kfold", "k": 10}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A reference and the same results again: 2 sets x 3 methods x 5 splits."""
    for name in ("reference", "runs"):
        make_results(tmp_path / name, "demo")
    return tmp_path / "reference", tmp_path / "runs"


def all_bytes(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_check_writes_nothing(folders: tuple[Path, Path], run: Run) -> None:
    edit_rows(folders[1] / "demo", shift("accuracy", 0.4))
    before = all_bytes(folders[0])
    done = run("check", "--reference", str(folders[0]), "--results", str(folders[1]))
    assert done.code == 1
    assert all_bytes(folders[0]) == before


def test_an_update_takes_a_full_run_as_it_is(
    folders: tuple[Path, Path], run: Run
) -> None:
    edit_rows(folders[1] / "demo", shift("accuracy", 0.4), dataset="iris", method="nb")
    make_results(folders[1], "more", datasets=["iris"], methods=["nb"])
    done = run(
        "check", "--update", "--reference", str(folders[0]), "--results",
        str(folders[1]),
    )  # fmt: skip
    assert done.code == 0
    assert "iris / nb / honest / selected / split 0: accuracy" in done.out
    assert "demo: replaced 30 cells, added 0, kept 0" in done.out
    assert "more: added 5 cells" in done.out
    assert all_bytes(folders[0]) == all_bytes(folders[1])


def test_an_update_by_a_part_keeps_the_rest(folders: tuple[Path, Path]) -> None:
    before = (folders[0] / "demo" / "results.csv").read_text(encoding="utf-8")
    make_results(
        folders[1], "demo", datasets=["wine"], methods=["nb", "rf"],
        values={("wine", "nb"): 0.123},
    )  # fmt: skip
    said = update_reference(*folders, ["demo"])
    assert said == ["demo: replaced 5 cells, added 5, kept 25"]
    after = (folders[0] / "demo" / "results.csv").read_text(encoding="utf-8")
    untouched = [
        line for line in before.splitlines() if not line.startswith("wine,,nb")
    ]
    kept = [line for line in after.splitlines() if "wine,,nb" not in line]
    assert [line for line in kept if ",rf," not in line] == untouched
    results = read_results(folders[0] / "demo")
    assert results.summary("wine", "nb").mean == pytest.approx(0.123)
    assert list(results.methods) == ["drm-rbf", "svm-rbf", "nb", "rf"]
    assert list(results.datasets) == ["iris", "wine"]
    assert results.manifest["updates"][0]["cells"] == 10
    assert not compare(results, read_results(folders[1] / "demo")).failed


def test_a_part_of_another_experiment_is_not_mixed_in(
    folders: tuple[Path, Path], run: Run
) -> None:
    make_results(folders[1], "demo", datasets=["wine"], seed=7)
    before = all_bytes(folders[0])
    done = run(
        "check", "--update", "--reference", str(folders[0]), "--results",
        str(folders[1]),
    )  # fmt: skip
    assert done.code == 2
    assert "seed 0 -> 7" in done.err
    assert all_bytes(folders[0]) == before


def test_a_set_that_is_missing_this_time_keeps_its_entry(
    folders: tuple[Path, Path],
) -> None:
    make_results(
        folders[1], "demo", datasets=["iris", {"name": "wine", "missing": "gone"}]
    )
    update_reference(*folders)
    results = read_results(folders[0] / "demo")
    assert results.datasets["wine"]["missing"] == ""
    assert results.summary("wine", "nb").complete


def test_a_set_that_was_left_out_keeps_its_entry(folders: tuple[Path, Path]) -> None:
    """A run with a filter describes the other data sets without their fingerprint."""
    before = read_results(folders[0] / "demo").datasets["wine"]
    make_results(
        folders[1], "demo", datasets=["iris", {"name": "wine", "fingerprint": ""}]
    )
    rows = folders[1] / "demo" / "results.csv"
    lines = rows.read_text(encoding="utf-8").splitlines(keepends=True)
    rows.write_text("".join(x for x in lines if not x.startswith("wine")), "utf-8")
    update_reference(*folders)
    assert read_results(folders[0] / "demo").datasets["wine"] == before


def test_expected_cells_are_those_of_the_merged_experiment(
    folders: tuple[Path, Path],
) -> None:
    make_results(folders[1], "demo", datasets=["glass"], methods=["rf"])
    update_reference(*folders)
    results = read_results(folders[0] / "demo")
    splits = sum(entry["splits"] for entry in results.datasets.values())
    assert (len(results.datasets), len(results.methods)) == (3, 4)
    assert results.manifest["expected"] == splits * 4


def test_a_method_added_with_a_selection_of_its_own(
    folders: tuple[Path, Path],
) -> None:
    """It is the same experiment, and the newer config describes all of it."""
    before = read_results(folders[0] / "demo")
    make_results(
        folders[1],
        "demo",
        datasets=list(before.datasets),
        methods=[*before.methods, "rf"],
        config="name: newer\n",
    )
    put_plans(folders[0] / "demo")
    put_plans(folders[1] / "demo", selection_overrides={"rf": TEN_FOLD, "nb": TEN_FOLD})
    rows = folders[1] / "demo" / "results.csv"
    header, *lines = rows.read_text(encoding="utf-8").splitlines(keepends=True)
    rows.write_text("".join([header, *(x for x in lines if ",rf," in x)]), "utf-8")
    sign_again(folders[1] / "demo")
    update_reference(*folders)
    after = read_results(folders[0] / "demo")
    assert after.summary("iris", "rf").complete
    assert after.summary("iris", "nb").complete
    assert dict(after.experiment.selection_overrides) == {"rf": SelectionPlan("kfold")}
    assert after.manifest["config"] == "name: newer\n"


def test_selections_known_in_words_only_stay_words(folders: tuple[Path, Path]) -> None:
    """So it is in early manifests whose config is not valid any more."""
    make_results(folders[1], "demo", datasets=["iris"], methods=["rf"])
    for folder, label in zip(folders, ("nb", "rf"), strict=True):
        words = {"selection": "in words", "selection_overrides": {label: "10-fold"}}
        put_plans(folder / "demo")
        edit_manifest(folder / "demo", lambda m, w=words: m.update(selection_words=w))
    update_reference(*folders)
    after = read_results(folders[0] / "demo")
    assert not after.plans_known
    assert after.selection("honest") == "in words"
    assert after.selection_overrides("honest") == {"nb": "10-fold", "rf": "10-fold"}


def test_a_method_run_with_another_selection_is_another_experiment(
    folders: tuple[Path, Path],
) -> None:
    make_results(folders[1], "demo", datasets=["iris"])
    put_plans(folders[0] / "demo")
    put_plans(folders[1] / "demo", selection_overrides={"nb": TEN_FOLD})
    with pytest.raises(InputError, match=r"nb: selection\.kind 'loo' -> 'kfold'"):
        update_reference(*folders)


@pytest.mark.parametrize("part", [False, True])
def test_refits_of_the_reference_stay(folders: tuple[Path, Path], part: bool) -> None:
    """Those of rows that were replaced are told apart by their cell."""
    refits = "dataset,method,split,status,reason,cell\niris,nb,0,ok,,0123\n"
    path = folders[0] / "demo" / "test_scaling.csv"
    path.write_text(refits, encoding="utf-8")
    if part:
        make_results(folders[1], "demo", datasets=["wine"])
    update_reference(*folders, ["demo"])
    assert path.read_text(encoding="utf-8") == refits
    results = read_results(folders[0] / "demo")
    assert results.refits is not None
    assert results.refit_of({**results.refits.iloc[0], "cell": "0123"})
    assert results.refit_of({**results.refits.iloc[0], "cell": "4567"}) is None


def test_nothing_to_update_from(tmp_path: Path, run: Run) -> None:
    done = run("check", "--update", "--results", str(tmp_path))
    assert done.code == 2
    assert "has no results" in done.err
