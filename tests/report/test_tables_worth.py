"""What the leak and the choice on the test set are worth, by numbers worked by hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from result_edits import edit_rows
from result_files import make_results

from drmbench.errors import InputError
from drmbench.report.render import to_csv
from drmbench.report.table import Table
from drmbench.report.tables import experiment_tables, write_tables
from drmbench.running.results import load_results

#: Without the leak, by data set, method and split; None leaves the refit out.
Without = Callable[[str, str, int], float | None]


def write_refits(folder: Path, without: Without) -> Path:
    """Write the refits of all scaled rows that are ok; returns the file."""
    with (folder / "results.csv").open(encoding="utf-8", newline="") as stream:
        rows = [r for r in csv.DictReader(stream) if r["scaling"] == "separate"]
    lines = [
        "dataset,method,split,status,reason,accuracy_own_maxima,"
        "accuracy_training_maxima,cell"
    ]
    for row in rows:
        name, method, split = row["dataset"], row["method"], row["split"]
        figure = without(name, method, int(split))
        if row["status"] == "ok" and figure is not None:
            figures = f"{row['accuracy']},{figure}"
            lines.append(f"{name},{method},{split},ok,,{figures},{row['cell']}")
    path = folder / "test_scaling.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def the_table(folder: Path, name: str = "mine-accuracy-protocol-worth") -> Table:
    return {t.id: t for t in experiment_tables(load_results(folder))}[name]


def texts(table: Table) -> dict[str, list[str]]:
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


def records(table: Table) -> dict[tuple[str, str], dict[str, str]]:
    rows = csv.DictReader(io.StringIO(to_csv(table)))
    return {(row["dataset"], row["method"]): row for row in rows}


def make_two_splits(folder: Path, **options) -> Path:
    """Write two splits of one method: unscaled 0.6 and 0.9, scaled 0.8 and 0.8.

    Selection scores unscaled 0.5 and 0.7, scaled 0.6 and 0.7: by score the scaled data
    is chosen on the first split, and on the second, a tie, the unscaled.
    """
    figures = {"none": (0.6, 0.9), "separate": (0.8, 0.8), "selected": (0.7, 0.7)}
    options.setdefault("datasets", ["iris"])
    target = make_results(
        folder,
        "mine",
        methods=["svm-rbf"],
        modes=options.pop("modes", ("paper", "honest")),
        metrics=("accuracy",),
        splits=2,
        values=lambda dataset, method, mode, scaling, split: figures[scaling][split],
        **options,
    )

    def score(row: dict[str, str]) -> None:
        scores = {"none": ("0.5", "0.7"), "separate": ("0.6", "0.7")}
        row["score"] = scores.get(row["scaling"], ("0.5", "0.5"))[int(row["split"])]

    edit_rows(target, score)
    return target


def test_leak_and_choice_by_hand(tmp_path):
    folder = make_two_splits(tmp_path)
    write_refits(folder, lambda dataset, method, split: (0.75, 0.7)[split])
    table = the_table(tmp_path)
    # leak: (0.8 + 0.8) / 2 - (0.75 + 0.7) / 2 = 0.075
    # choice: max(0.75, 0.8) - (0.8 + 0.9) / 2 = -0.05
    # both: 0.8 - (0.75 + 0.9) / 2 = -0.025; paper minus honest: 0.8 - 0.7
    leak, choice, both = "+0.0750", "−0.0500", "−0.0250"
    assert texts(table) == {
        "svm-rbf": ["1", leak, leak, "1", "0", choice, choice, both, "+0.1000"]
    }
    record = records(table)["iris", "svm-rbf"]
    expected = {
        "scaled_own_maxima": 0.8,
        "scaled_training_maxima": 0.725,
        "leak": 0.075,
        "better_on_test": 0.8,
        "chosen_by_score": 0.85,
        "choice": -0.05,
        "with_neither": 0.825,
        "both": -0.025,
        "paper_minus_honest": 0.1,
    }
    assert {k: float(record[k]) for k in expected} == pytest.approx(expected)
    assert table.title.endswith(
        "what the leak and the choice on the test set are worth"
    )
    assert any("refit_test_scaling.py mine` fitted" in note for note in table.notes)


def test_means_medians_and_signs_over_data_sets(tmp_path):
    folder = make_two_splits(tmp_path, datasets=["iris", "wine", "zoo-3", "seeds"])
    figures = {"iris": 0.5, "wine": 0.9, "zoo-3": 0.9, "seeds": 0.8}
    write_refits(folder, lambda dataset, method, split: figures[dataset])
    (row,) = texts(the_table(tmp_path)).values()
    # leaks 0.3, -0.1, -0.1 and 0
    assert row[:5] == ["4", "+0.0250", "−0.0500", "1", "2"]


def test_without_refits_the_choice_is_there_and_the_leak_a_dash(tmp_path):
    make_two_splits(tmp_path, modes=("paper",))
    table = the_table(tmp_path)
    assert texts(table) == {
        "svm-rbf": ["1", "–", "–", "–", "–", "−0.0500", "−0.0500", "–"]
    }
    assert table.columns[-1].heading == "both, mean"  # there is no honest mode
    assert any("refit_test_scaling.py mine` would do it" in n for n in table.notes)


def test_a_data_set_that_is_not_wholly_fitted_again_is_left_out(tmp_path):
    folder = make_two_splits(tmp_path, datasets=["iris", "wine"])
    path = write_refits(
        folder, lambda dataset, _, split: None if dataset + str(split) == "wine1" else 0
    )
    (row,) = texts(the_table(tmp_path)).values()
    assert row[:5] == ["2", "+0.8000 (1)", "+0.8000 (1)", "1", "0"]
    text = path.read_text("utf-8").replace("svm-rbf,0,ok", "svm-rbf,0,differs")
    path.write_text(text, encoding="utf-8")
    (row,) = texts(the_table(tmp_path)).values()
    assert row[1:5] == ["–"] * 4


def test_refits_of_a_row_that_was_run_again_do_not_count(tmp_path):
    folder = make_two_splits(tmp_path)
    write_refits(folder, lambda dataset, method, split: 0.7)
    edit_rows(folder, lambda row: row.update(cell="another"))
    (row,) = texts(the_table(tmp_path)).values()
    assert row[1] == "–"


def test_a_method_with_nothing_to_select_has_no_choice(tmp_path):
    folder = make_two_splits(tmp_path)
    write_refits(folder, lambda dataset, method, split: 0.7)
    edit_rows(folder, lambda row: row.update(score=""))
    (row,) = texts(the_table(tmp_path)).values()
    assert row[1] == "+0.1000"
    assert row[5:8] == ["–", "–", "–"]


def test_failed_splits_count_as_in_the_scores(tmp_path):
    def value(dataset, method, mode, scaling, split):
        if scaling == "separate" and split == 0:
            return "it is singular"
        return 0.9 if scaling == "separate" else 0.4

    folder = make_results(
        tmp_path,
        "mine",
        datasets=["iris"],
        methods=["svm-rbf"],
        modes=("paper",),
        metrics=("accuracy",),
        splits=2,
        values=value,
    )
    write_refits(folder, lambda dataset, method, split: 0.7)
    # Scaled (0, 0.9), without the leak (0, 0.7); by score unscaled, then scaled.
    record = records(the_table(tmp_path))["iris", "svm-rbf"]
    assert float(record["leak"]) == pytest.approx(0.1)
    assert float(record["choice"]) == pytest.approx(0.45 - (0.4 + 0.9) / 2)
    assert float(record["both"]) == pytest.approx(0.45 - (0.4 + 0.7) / 2)


def test_no_table_without_paper_mode_and_no_leak_without_all_splits(tmp_path):
    make_results(tmp_path, "other", metrics=("accuracy",))
    folder = make_results(
        tmp_path,
        "mine",
        datasets=["iris", {"name": "gone", "missing": "no address"}],
        methods=["nb"],
        modes=("paper",),
        values={("iris", "nb"): [0.5, 0.6]},
    )
    write_refits(folder, lambda dataset, method, split: 0.5)
    found = [t for t in experiment_tables(load_results(tmp_path)) if "worth" in t.id]
    assert [table.id for table in found] == ["mine-accuracy-protocol-worth"]
    assert texts(found[0]) == {"nb": ["0", *["–"] * 7]}


def test_written_twice_gives_the_same_bytes(tmp_path):
    folder = make_two_splits(tmp_path / "results")
    write_refits(folder, lambda dataset, method, split: 0.7)
    for out in ("one", "two"):
        write_tables(tmp_path / "results", [], tmp_path / out, formats=["all"])
    names = [f"mine-accuracy-protocol-worth.{e}" for e in ("csv", "tex", "html")]
    for name in ("tables/mine.md", *(f"tables/{name}" for name in names)):
        one, two = ((tmp_path / out / name).read_bytes() for out in ("one", "two"))
        assert one == two


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dataset,method,split\niris,nb,0\n", "lacks status, reason, cell"),
        ("dataset,method,split,status,reason,cell\na,b,x,ok,,c\n", "without number"),
    ],
)
def test_a_file_of_refits_that_is_none(tmp_path, text, message):
    folder = make_two_splits(tmp_path)
    (folder / "test_scaling.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_results(tmp_path)


def test_a_file_without_any_refit_is_one(tmp_path):
    folder = make_two_splits(tmp_path)
    path = write_refits(folder, lambda dataset, method, split: None)
    assert path.read_text("utf-8").count("\n") == 1
    (row,) = texts(the_table(tmp_path)).values()
    assert row[1] == "–"
