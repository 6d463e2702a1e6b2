"""The regression check: what may move, and what may not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from result_edits import edit_manifest, edit_rows, put_plans, shift
from result_files import default_value, make_results
from support import Run

from drmbench.errors import InputError
from drmbench.protocol.allowance import mean_allowance
from drmbench.report.check import compare_folders, failure_text

ZEROS = dict.fromkeys(("accuracy", "gmean", "balanced_accuracy"), "0.0")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A reference and the same results again: 2 sets x 3 methods x 5 splits."""
    for name in ("reference", "runs"):
        make_results(tmp_path / name, "demo")
    return tmp_path / "reference", tmp_path / "runs"


def moved(folders: tuple[Path, Path], **options: Any) -> list[str]:
    (found,) = compare_folders(*folders, **options)
    return [str(move) for move in found.moves]


# ------------------------------------------------------------------ cells that moved


def test_the_same_results_are_exact(folders: tuple[Path, Path]) -> None:
    (found,) = compare_folders(*folders)
    assert not found.failed
    assert found.summary() == (
        "demo: 30 of 30 reference cells compared: 30 exact, 0 within tolerance,"
        " 0 moved; 0 not in the fresh run, 0 not in the reference"
    )


def test_one_sample_is_within_tolerance_two_are_not(
    folders: tuple[Path, Path],
) -> None:
    demo = folders[1] / "demo"
    edit_rows(demo, shift("accuracy", 1 / 20), dataset="iris", method="nb")
    (found,) = compare_folders(*folders)
    assert (found.exact, found.within, found.moves) == (29, 1, [])
    edit_rows(demo, shift("accuracy", 1 / 20), dataset="iris", method="nb")
    (line,) = moved(folders)
    assert line.startswith("iris / nb / honest / selected / split 0: accuracy ")
    assert "(+0.100000, allowed 0.050000)" in line


def test_a_tampered_digit_of_the_reference_is_caught(
    folders: tuple[Path, Path], run: Run
) -> None:
    def tamper(row: dict[str, str]) -> None:
        if row["split"] == "3":
            digit = row["accuracy"][2]
            row["accuracy"] = f"0.{(int(digit) + 5) % 10}{row['accuracy'][3:]}"

    edit_rows(folders[0] / "demo", tamper, dataset="wine", method="drm-rbf")
    done = run("check", "--reference", str(folders[0]), "--results", str(folders[1]))
    assert done.code == 1
    assert "wine / drm-rbf / honest / selected / split 3: accuracy" in done.err
    assert "29 exact, 0 within tolerance, 1 moved" in done.out


@pytest.mark.parametrize("metric", ["gmean", "balanced_accuracy"])
def test_recalls_cannot_move_while_accuracy_stays(
    folders: tuple[Path, Path], metric: str
) -> None:
    edit_rows(folders[0] / "demo", shift(metric, 1e-4), dataset="iris", method="nb")
    (line,) = moved(folders)
    assert f"{metric} " in line
    assert "allowed 0.000000" in line


def test_times_and_notes_are_never_compared(folders: tuple[Path, Path]) -> None:
    def edit(row: dict[str, str]) -> None:
        row["seconds_fit"] = row["seconds_select"] = "1e6"
        row["notes"], row["cell"] = '["other"]', "other"

    edit_rows(folders[1] / "demo", edit)
    (found,) = compare_folders(*folders)
    assert found.exact == 30


def test_other_parameters_are_said_beside_a_move(folders: tuple[Path, Path]) -> None:
    def edit(row: dict[str, str]) -> None:
        row["accuracy"], row["params"] = "0.1", '{"C": 10}'

    edit_rows(folders[1] / "demo", edit, dataset="iris", method="svm-rbf")
    assert all('selected {}, now {"C": 10}' in line for line in moved(folders))


def test_a_status_that_changed_is_a_move(folders: tuple[Path, Path]) -> None:
    def fail(row: dict[str, str]) -> None:
        if row["split"] == "2":
            row.update(status="failed", reason="singular", accuracy="", gmean="")

    edit_rows(folders[1] / "demo", fail, dataset="iris", method="nb")
    assert moved(folders) == [
        "iris / nb / honest / selected / split 2: status ok -> failed (singular)"
    ]


def test_a_figure_that_vanished_is_a_move(folders: tuple[Path, Path]) -> None:
    edit_rows(
        folders[1] / "demo",
        lambda row: row.update(gmean=""),
        dataset="iris",
        method="nb",
    )
    assert len(moved(folders)) == 5


def test_a_tolerance_replaces_the_allowance(folders: tuple[Path, Path]) -> None:
    edit_rows(folders[1] / "demo", shift("accuracy", 0.15), dataset="iris", method="nb")
    assert moved(folders, tolerance=0.2) == []
    (line,) = moved(folders, tolerance=0.1)
    assert "allowed 0.100000" in line


# ----------------------------------------------------------------- stochastic methods


@pytest.fixture
def forests(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("reference", "runs"):
        make_results(tmp_path / name, "demo", methods=["rf"], metrics=["accuracy"])
    return tmp_path / "reference", tmp_path / "runs"


def reference_values(dataset: str) -> list[float]:
    return [default_value(dataset, "rf", "honest", "selected", s) for s in range(5)]


def test_a_seeded_methods_mean_moves_within_its_spread(
    forests: tuple[Path, Path],
) -> None:
    spread = float(np.std(reference_values("iris"), ddof=1))
    allowed = 2 * np.sqrt(2 / 5) * spread
    assert mean_allowance(spread, 5) == pytest.approx(allowed)
    assert allowed > 1 / 20
    for factor, moves in ((0.99, 0), (1.01, 1)):
        make_results(forests[1], "demo", methods=["rf"], metrics=["accuracy"])
        for split in range(5):
            edit = shift("accuracy", factor * allowed, str(split))
            edit_rows(forests[1] / "demo", edit, dataset="iris")
        (found,) = compare_folders(*forests)
        assert len(found.moves) == moves
        assert found.exact == 5
        assert found.within == 5 * (1 - moves)
    assert "iris / rf / honest / selected / mean of 5 splits" in str(found.moves[0])


def test_one_split_of_a_seeded_method_may_move_far(forests: tuple[Path, Path]) -> None:
    edit_rows(forests[1] / "demo", shift("accuracy", -0.15), dataset="iris")
    (found,) = compare_folders(*forests)
    assert (found.exact, found.within, found.moves) == (9, 1, [])


@pytest.mark.parametrize(("by", "moves"), [(0.2, 0), (0.4, 1)])
def test_a_single_split_of_a_seeded_method_has_the_binomial_spread(
    tmp_path: Path, by: float, moves: int
) -> None:
    for name, value in (("reference", 0.5), ("runs", 0.5 + by)):
        make_results(
            tmp_path / name, "demo", datasets=["iris"], methods=["rf"], splits=1,
            metrics=["accuracy"], values={("iris", "rf"): value},
        )  # fmt: skip
    assert 0.2 < 2 * np.sqrt(2 * 0.25 / 20) < 0.4
    (found,) = compare_folders(tmp_path / "reference", tmp_path / "runs")
    assert len(found.moves) == moves


# ------------------------------------------------------------ timing and convergence


@pytest.fixture
def solvers(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("reference", "runs"):
        for kind in ("timing", "convergence"):
            make_results(
                tmp_path / name, kind, kind=kind, datasets=["shuttle"],
                methods=["drm-gd", "drm-ppa"],
            )  # fmt: skip
    return tmp_path / "reference", tmp_path / "runs"


def test_seconds_are_not_compared_iterations_are(solvers: tuple[Path, Path]) -> None:
    for kind in ("timing", "convergence"):
        edit_rows(solvers[1] / kind, lambda row: row.update(seconds_example="9"))
    assert not any(found.failed for found in compare_folders(*solvers))
    edit_rows(solvers[1] / "convergence", shift("iterations", 0.1), method="drm-gd")
    convergence, timing = compare_folders(*solvers)
    assert (convergence.within, convergence.moves) == (1, [])
    edit_rows(solvers[1] / "convergence", shift("iterations", 0.1), method="drm-gd")
    edit_rows(solvers[1] / "timing", shift("n_train", 1.0), method="drm-gd")
    convergence, timing = compare_folders(*solvers)
    assert "split 0: iterations" in str(convergence.moves[0])
    assert "split 0: n_train" in str(timing.moves[0])


@pytest.mark.parametrize("trace", ["[0.0, -0.5]", "nonsense"])
def test_another_objective_is_a_move(solvers: tuple[Path, Path], trace: str) -> None:
    edit_rows(solvers[1] / "convergence", lambda row: row.update(trace=trace))
    convergence, _ = compare_folders(*solvers)
    assert len(convergence.moves) == 6
    assert "last objective -0.992188 -> " in str(convergence.moves[0])


# ------------------------------------------------------------------ not the same thing


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda m: m["experiment"].update(seed=1), "seed 0 -> 1"),
        (lambda m: m["experiment"]["selection"].update(k=7), "selection.k 5 -> 7"),
        (lambda m: m["datasets"][0].update(fingerprint="1"), "data set iris: fingerpr"),
        (
            lambda m: m["methods"][1].update(grid={"C": [1]}),
            "svm-rbf: grid.C None -> [1",
        ),
        (lambda m: m.update(schema=2), "schema 1 -> 2"),
    ],
)
def test_another_experiment_is_said_first(
    folders: tuple[Path, Path], edit: Callable[[dict[str, Any]], None], says: str
) -> None:
    for folder in folders:
        put_plans(folder / "demo", selection={"kind": "kfold", "k": 5})
    edit_rows(folders[1] / "demo", shift("accuracy", 0.4), method="nb")
    edit_manifest(folders[1] / "demo", edit)
    text = failure_text(compare_folders(*folders))
    assert text.startswith("demo: not the same experiment: ")
    assert says in text.splitlines()[0]


def test_versions_are_context_not_a_failure(
    folders: tuple[Path, Path], run: Run
) -> None:
    def edit(manifest: dict[str, Any]) -> None:
        manifest["environment"]["packages"]["numpy"] = "2.1.0"

    edit_manifest(folders[1] / "demo", edit)
    done = run("check", "--reference", str(folders[0]), "--results", str(folders[1]))
    assert done.code == 0
    assert "numpy '2.0.0' -> '2.1.0'" in done.out


# ------------------------------------------------------------------------ parts, limits


def test_a_part_is_compared_and_the_rest_counted(folders: tuple[Path, Path]) -> None:
    make_results(folders[1], "demo", datasets=["wine"], methods=["nb", "rf"])
    (found,) = compare_folders(*folders)
    assert (found.covered, found.reference, found.exact) == (5, 30, 5)
    assert not found.failed
    assert found.new[0] == "wine / rf / honest / selected / split 0"
    assert "25 not in the fresh run, 5 not in the reference" in found.summary()


def test_a_run_without_any_row_covers_nothing(
    folders: tuple[Path, Path], run: Run
) -> None:
    """That is what a run leaves whose data is missing; other runs still count."""
    make_results(folders[0], "more", datasets=["yale"], methods=["nb"])
    path = make_results(folders[1], "more", datasets=["yale"], methods=["nb"])
    header, *_ = (path / "results.csv").read_text(encoding="utf-8").splitlines()
    (path / "results.csv").write_text(f"{header}\n", encoding="utf-8")
    options = ("--reference", str(folders[0]), "--results", str(folders[1]))
    done = run("check", *options)
    assert done.code == 0
    assert "more: 0 of 5 reference cells compared" in done.out
    before = (folders[0] / "more" / "manifest.json").read_bytes()
    assert "more: no cells" in run("check", *options, "--update").out
    assert (folders[0] / "more" / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("part", ["datasets", "methods"])
def test_rows_that_the_manifest_does_not_list_are_an_input_error(
    folders: tuple[Path, Path], part: str
) -> None:
    edit_manifest(folders[1] / "demo", lambda manifest: manifest[part].pop(0))
    with pytest.raises(InputError, match=r"which manifest\.json does not list"):
        compare_folders(*folders)


def test_experiments_on_one_side_are_counted(
    folders: tuple[Path, Path], run: Run
) -> None:
    make_results(folders[0], "old", datasets=["iris"], methods=["nb"])
    make_results(folders[1], "fresh", datasets=["iris"], methods=["nb"])
    done = run("check", "--reference", str(folders[0]), "--results", str(folders[1]))
    assert done.code == 0
    assert "old: 0 of 5 reference cells compared" in done.out
    assert "not in the reference: iris / nb / honest" in done.out
    only = compare_folders(*folders, ["demo"])
    assert [found.name for found in only] == ["demo"]


def test_nothing_comparable_is_an_input_error(
    folders: tuple[Path, Path], run: Run
) -> None:
    make_results(folders[1], "demo", datasets=["sonar"])
    done = run("check", "--reference", str(folders[0]), "--results", str(folders[1]))
    assert done.code == 2
    assert "nothing to compare" in done.err
    empty = folders[0] / "nothing"
    done = run("check", "--reference", str(empty), "--results", str(folders[1]))
    assert done.code == 2
    assert "has results of no experiment" in done.err


def test_an_unknown_experiment_is_named(folders: tuple[Path, Path]) -> None:
    with pytest.raises(InputError, match=r"no results of 'demi'.*Did you mean 'demo'"):
        compare_folders(*folders, ["demi"])


def test_a_long_list_is_cut(folders: tuple[Path, Path]) -> None:
    edit_rows(folders[1] / "demo", lambda row: row.update(ZEROS))
    lines = failure_text(compare_folders(*folders)).splitlines()
    total = len(moved(folders))
    assert total > 40
    assert len(lines) == 41
    assert lines[-1] == f"and {total - 40} more"


def test_damaged_rows_are_input_errors(folders: tuple[Path, Path]) -> None:
    demo = folders[1] / "demo"
    whole = (demo / "results.csv").read_text(encoding="utf-8")
    last = whole.splitlines()[-1]
    (demo / "results.csv").write_text(f"{whole}{last}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"wine / nb .* twice"):
        compare_folders(*folders)
    stranger = whole.replace("wine,", "sonar,")
    (demo / "results.csv").write_text(stranger, encoding="utf-8")
    with pytest.raises(InputError, match=r"on sonar, which manifest.json does not"):
        compare_folders(*folders)
    edit_rows(folders[0] / "demo", lambda row: row.update(gmean="much"))
    (demo / "results.csv").write_text(whole, encoding="utf-8")
    with pytest.raises(InputError, match="text in the column gmean"):
        compare_folders(*folders)
    edit_rows(folders[0] / "demo", lambda row: row.update(gmean="0.5"))
    headless = whole.replace("n_test", "other", 1)
    (demo / "results.csv").write_text(headless, encoding="utf-8")
    with pytest.raises(InputError, match="lacks n_test"):
        compare_folders(*folders)
