"""The check compares structures: words may change, what decides numbers may not."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from result_edits import edit_manifest
from support import REPOSITORY, Run

from drmbench.config.loading import load_experiments
from drmbench.config.model import experiment_identity
from drmbench.errors import InputError
from drmbench.report.check import compare_folders, differences
from drmbench.report.reference import update_reference

REFERENCE = REPOSITORY / "results" / "reference"
OTHER = "Said in other words"

Edit = Callable[[dict[str, Any]], Any]


def copies(folder: Path, name: str) -> tuple[Path, Path]:
    """Return two folders with the committed results of an experiment."""
    for part in ("reference", "runs"):
        (folder / part / name).mkdir(parents=True)
        for file in ("results.csv", "manifest.json"):
            shutil.copyfile(REFERENCE / name / file, folder / part / name / file)
    return folder / "reference", folder / "runs"


def put(path: str, value: Any) -> Edit:
    """Set a key of the manifest's experiment, given by its dotted path."""

    def edit(manifest: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        place = manifest["experiment"]
        for key in parents:
            place = place[key]
        assert place.get(last) != value
        place[last] = value

    return edit


def reword_notes(manifest: dict[str, Any]) -> None:
    plans = manifest["experiment"]["selection_overrides"]
    assert any(plan["note"] for plan in plans.values())
    for plan in plans.values():
        plan["note"] = OTHER


# ------------------------------------------------------------------------------ words


@pytest.mark.parametrize(
    "edit",
    [
        put("title", OTHER),
        put("deviations", [OTHER]),
        reword_notes,
        put("selection.note", OTHER),
        lambda m: [entry.update(title=OTHER, note=OTHER) for entry in m["datasets"]],
        lambda m: [entry.update(title=OTHER) for entry in m["methods"]],
        lambda m: [entry.update(column=OTHER) for entry in m["methods"]],
        lambda m: m.update(config=f"# {OTHER}\n", command=OTHER),
    ],
    ids=[
        "title",
        "deviations",
        "footnotes",
        "note",
        "data-set",
        "method-title",
        "method-column",
        "config",
    ],
)
def test_other_words_move_nothing(tmp_path: Path, edit: Edit) -> None:
    folders = copies(tmp_path, "imbalanced")
    edit_manifest(folders[1] / "imbalanced", edit)
    (found,) = compare_folders(*folders)
    assert found.obstacles == []
    assert not found.failed
    assert (found.exact, found.covered) == (3150, 3150)


def test_other_words_for_the_quick_experiment(tmp_path: Path, run: Run) -> None:
    folders = copies(tmp_path, "quick")
    for path, value in (("title", OTHER), ("deviations", [OTHER])):
        edit_manifest(folders[1] / "quick", put(path, value))
    done = run("check", "--reference", str(folders[0]), "--results", str(folders[1]))
    assert (done.code, done.err) == (0, "")
    assert "180 of 180 reference cells compared: 180 exact" in done.out


def test_a_selection_that_is_known_in_words_only_is_not_compared(
    tmp_path: Path,
) -> None:
    """That is so in an early manifest whose config is not valid any more."""
    folders = copies(tmp_path, "quick")
    words = {"selection": OTHER, "selection_overrides": {"nb": OTHER}}
    edit_manifest(folders[0] / "quick", put("selection", {"kind": "loo"}))
    edit_manifest(folders[0] / "quick", lambda m: m.update(selection_words=words))
    (found,) = compare_folders(*folders)
    assert not found.failed
    assert found.exact == 180


def test_other_words_in_a_config_are_the_same_experiment(tmp_path: Path) -> None:
    text = (REPOSITORY / "configs" / "imbalanced.yaml").read_text(encoding="utf-8")
    reworded = re.sub(r'note: ".*?"', f'note: "{OTHER}"', text)
    reworded = re.sub("^title: .*$", f"title: {OTHER}", reworded, flags=re.M)
    reworded = re.sub('^  - "', f'  - "{OTHER}: ', reworded, flags=re.M)
    assert reworded.count(OTHER) == 8
    refined = text.replace("{kind: kfold, k: 5,", "{kind: kfold, k: 6,")
    identities = []
    for number, written in enumerate((text, reworded, refined)):
        path = tmp_path / f"{number}.yaml"
        path.write_text(written, encoding="utf-8")
        (experiment,) = load_experiments([path])
        identities.append(experiment_identity(experiment))
    assert list(differences(identities[0], identities[1])) == []
    assert list(differences(identities[0], identities[2])) == [
        "selection_modes.honest.k 5 -> 6"
    ]


# ------------------------------------------------------------------------- structures


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("seed", 1, "seed 0 -> 1"),
        ("split.kind", "kfold", "split.kind 'random' -> 'kfold'"),
        ("split.train", 0.5, "split.train 0.6 -> 0.5"),
        ("split.repeats", 3, "split.repeats 2 -> 3"),
        ("selection.kind", "loo", "selection.kind 'kfold' -> 'loo'"),
        ("selection.k", 10, "selection.k 3 -> 10"),
        ("selection.metric", "f1", "selection.metric 'balanced_accuracy' -> 'f1'"),
        ("selection.subset", None, "selection.subset 100 -> None"),
        ("selection.repeats", 2, "selection.repeats 1 -> 2"),
        ("tie", "first", "tie None -> 'first'"),
        ("scaling", ["none"], "scaling ['honest'] -> ['none']"),
        (
            "metrics",
            ["f1"],
            "metrics ['balanced_accuracy', 'accuracy', 'gmean'] -> ['f1']",
        ),
        ("measure.tol", 0.5, "measure.tol 1e-05 -> 0.5"),
        ("measure.betas", [1.0], "measure.betas [10000.0] -> [1.0]"),
    ],
)
def test_a_key_that_decides_numbers_is_named(
    tmp_path: Path, path: str, value: Any, says: str
) -> None:
    folders = copies(tmp_path, "quick")
    edit_manifest(folders[1] / "quick", put(path, value))
    (found,) = compare_folders(*folders)
    assert found.obstacles == [says]
    assert found.covered == 180


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (
            lambda m: m["datasets"][0].update(fingerprint="other"),
            "data set golub-1999-v1: fingerprint '",
        ),
        (
            lambda m: m["datasets"][1].update(substitute="jaffe"),
            "data set orl: substitute None -> 'jaffe'",
        ),
        (
            lambda m: m["methods"][0]["grid"].update(alpha=[1.0]),
            "method drm-rbf: grid.alpha [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]"
            " -> [1.0]",
        ),
        (
            lambda m: m["methods"][0]["params"].update(width="gamma"),
            "method drm-rbf: params.width 'sigma' -> 'gamma'",
        ),
        (
            lambda m: m["methods"][1].update(name="drm-rbf"),
            "method drm-poly: name 'drm-poly' -> 'drm-rbf'",
        ),
    ],
)
def test_other_data_and_other_methods_are_named(
    tmp_path: Path, edit: Edit, says: str
) -> None:
    folders = copies(tmp_path, "quick")
    edit_manifest(folders[1] / "quick", edit)
    (found,) = compare_folders(*folders)
    (obstacle,) = found.obstacles
    assert obstacle.startswith(says)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("selection_overrides.rf.k", "method rf: selection.k 10 -> 3"),
        ("selection_modes.honest.k", "selection_modes.honest.k 5 -> 3"),
    ],
)
def test_a_selection_of_a_method_or_mode_is_named(
    tmp_path: Path, path: str, says: str
) -> None:
    folders = copies(tmp_path, "imbalanced")
    edit_manifest(folders[1] / "imbalanced", put(path, 3))
    (found,) = compare_folders(*folders)
    assert found.obstacles == [says]


def test_a_selection_of_its_own_is_compared_with_the_general_one(
    tmp_path: Path,
) -> None:
    """The same plan, said for one method or for all, gives the same numbers."""
    folders = copies(tmp_path, "quick")

    def repeat(manifest: dict[str, Any]) -> None:
        general = manifest["experiment"]["selection"]
        manifest["experiment"]["selection_overrides"] = {"nb": {**general}}

    edit_manifest(folders[1] / "quick", repeat)
    assert compare_folders(*folders)[0].obstacles == []
    edit_manifest(folders[1] / "quick", put("selection_overrides.nb.k", 5))
    (found,) = compare_folders(*folders)
    assert found.obstacles == ["method nb: selection.k 3 -> 5"]


def test_what_one_side_lacks_is_no_difference(tmp_path: Path) -> None:
    """Methods, modes and metrics may be added to an experiment."""
    folders = copies(tmp_path, "quick")
    general = {"kind": "kfold", "k": 7}
    for path, value in (
        ("scaling", ["honest", "maxabs"]),
        ("metrics", ["accuracy", "f1"]),
        ("selection_modes", {"maxabs": general}),
        ("selection_overrides", {"not-in-the-rows": general}),
    ):
        edit_manifest(folders[1] / "quick", put(path, value))
    (found,) = compare_folders(*folders)
    assert found.obstacles == []
    assert found.exact == 180


def test_a_part_with_another_selection_is_not_written(tmp_path: Path) -> None:
    folders = copies(tmp_path, "quick")
    rows = folders[1] / "quick" / "results.csv"
    lines = rows.read_text(encoding="utf-8").splitlines(keepends=True)
    rows.write_text("".join(lines[:20]), encoding="utf-8")
    edit_manifest(folders[1] / "quick", put("title", OTHER))
    assert update_reference(*folders)[0].endswith("kept 161")
    edit_manifest(folders[1] / "quick", put("selection.k", 5))
    with pytest.raises(
        InputError, match=r"not the same experiment: selection\.k 3 -> 5"
    ):
        update_reference(*folders)


# ------------------------------------------------------------------ nested differences


def test_differences_are_given_by_their_path() -> None:
    was = {"a": 1, "b": {"c": [1, 2], "d": {"e": None}}, "same": {"f": [1, 2]}}
    now = {"a": 1.0, "b": {"c": [2, 1], "d": {"e": 0}, "new": 3}, "same": {"f": [1, 2]}}
    assert list(differences(was, now)) == [
        "b.c [1, 2] -> [2, 1]",
        "b.d.e None -> 0",
        "b.new None -> 3",
    ]
    assert list(differences(was, was)) == []
