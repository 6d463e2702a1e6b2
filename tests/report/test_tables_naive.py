"""What selection would have cost naively, with figures computed by hand.

In every row of the sample results selection took 2 s, the fit 0.5 s and the prediction
of 20 test rows 0.25 s; there are 80 training rows and 5 splits.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from result_edits import edit_rows
from result_files import make_results
from support import REPOSITORY

from drmbench.report.render import to_csv, to_markdown
from drmbench.report.table import Table
from drmbench.report.tables import experiment_tables
from drmbench.running.results import load_results

TWO = {"beta": [1.0, 2.0]}
TABLE = "mine-naive-selection-{}-mode"


def naive_tables_of(folder: Path) -> dict[str, Table]:
    tables = experiment_tables(load_results(folder))
    return {t.id: t for t in tables if "naive-selection" in t.id}


def mine(folder: Path, selection: str, *methods: str, mode: str = "none", **more):
    """Write an experiment whose methods have two candidates, on two data sets."""
    labels = ", ".join(methods)
    return make_results(
        folder,
        more.pop("name", "mine"),
        datasets=more.pop("datasets", ("iris", "wine")),
        methods=[{"label": label, "grid": TWO} for label in methods],
        modes=(mode,),
        config="name: mine\ndatasets: [iris]\n"
        f"methods: [{labels}]\n"
        f"protocol: {{scaling: {mode}, selection: {selection}}}\n",
        **more,
    )


def line(table: Table, method: str) -> list[str]:
    (row,) = (row for row in table.rows if row[0].text == method)
    return [f"{cell.text} {cell.mark}".strip() for cell in row[1:]]


def records(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(table))))


@pytest.mark.parametrize(
    ("selection", "refits", "seconds"),
    [
        # 2 candidates x 80 refits x 0.5 s, and 80 predictions of 0.0125 s each
        ("{kind: loo}", 2 * 80, 2 * (80 * 0.5 + 80 * 0.0125)),
        ("{kind: kfold, k: 4}", 2 * 4, 2 * (4 * 0.5 + 80 * 0.0125)),
        ("{kind: kfold, k: 4, repeats: 3}", 2 * 12, 2 * (12 * 0.5 + 240 * 0.0125)),
        # 3 random splits hold out 20 rows each
        (
            "{kind: random, repeats: 3, train_share: 0.75}",
            2 * 3,
            2 * (3 * 0.5 + 3 * 20 * 0.0125),
        ),
        ("{kind: loo, subset: 80}", 160, 82.0),  # a subset that is all rows
    ],
)
def test_refits_and_seconds(tmp_path, selection, refits, seconds):
    mine(tmp_path, selection, "drm-linear")
    (table,) = naive_tables_of(tmp_path).values()
    assert table.id == TABLE.format("none")
    (row,) = table.rows
    assert [cell.value for cell in row[1:]] == pytest.approx(
        [2, 10, 10 * refits, 10 * 2.0, 10 * seconds, seconds / 2.0]
    )
    iris, wine = records(table)
    assert (iris["dataset"], wine["dataset"]) == ("iris", "wine")
    assert int(iris["refits_naive"]) == 5 * refits
    assert float(iris["seconds_naive"]) == pytest.approx(5 * seconds)
    assert float(iris["factor"]) == pytest.approx(seconds / 2.0)


def test_honest_mode_tries_two_scalings_where_scaling_matters(tmp_path):
    mine(tmp_path, "{kind: kfold, k: 4}", "svm-rbf", "rf", mode="honest")
    (table,) = naive_tables_of(tmp_path).values()
    # 10 runs x 2 candidates x 4 folds; of 6 s each as in the test above
    assert line(table, "rf") == ["2", "10", "80", "20.0 s", "1.00 min", "3.00"]
    assert line(table, "svm-rbf") == ["2", "10", "160", "20.0 s", "2.00 min", "6.00"]


def test_paper_mode_has_two_runs_a_split_and_its_own_plans(tmp_path):
    plan = "{kind: loo, methods: {svm-rbf: {kind: kfold, k: 4}}}"
    mine(tmp_path, plan, "svm-rbf", "knn-euclidean", mode="paper")
    table = naive_tables_of(tmp_path)[TABLE.format("paper")]
    assert line(table, "svm-rbf")[:3] == ["2", "20", f"{20 * 8}"]
    assert line(table, "knn-euclidean")[:3] == ["2", "20", "3,200"]


def test_one_candidate_is_a_selection_only_between_scalings(tmp_path):
    make_results(
        tmp_path,
        "mine",
        methods=("nb", "c45-plain", {"label": "rf", "grid": TWO}),
        modes=("none", "honest"),
        config="{name: mine, datasets: [iris], methods: [nb, c45-plain, rf], protocol:"
        " {scaling: [none, honest], selection: {kind: kfold, k: 4}}}",
    )
    found = naive_tables_of(tmp_path)
    unscaled, honest = (found[TABLE.format(mode)] for mode in ("none", "honest"))
    assert line(unscaled, "nb") == ["1", "10", "–", "–", "–", "–"]
    assert line(honest, "c45-plain") == ["1", "10", "–", "–", "–", "–"]
    # 10 runs x 4 folds x 2 scalings, by a search without shortcuts
    assert line(honest, "nb") == ["1", "10", "80", "20.0 s", "1.00 min", "3.00 a"]
    assert any("has no shortcut" in note.text for note in honest.footnotes)
    assert not unscaled.footnotes
    empty = next(r for r in records(unscaled) if r["method"] == "nb")
    assert (empty["refits_naive"], empty["seconds_naive"], empty["factor"]) == ("",) * 3


def test_runs_that_selected_on_a_subset_are_not_counted(tmp_path):
    folder = mine(tmp_path, "{kind: loo, subset: 50}", "drm-rbf", "drm-poly")
    assert naive_tables_of(tmp_path) == {}
    edit_rows(
        folder, lambda r: r.update(n_train="50"), dataset="iris", method="drm-rbf"
    )
    (table,) = naive_tables_of(tmp_path).values()
    # 5 runs x 2 candidates x 50 rows, each 0.5 s and a prediction of 0.0125 s
    assert line(table, "drm-rbf") == [
        *("2", "5 of 10", "500", "10.0 s", "4.27 min", "25.6")
    ]
    assert line(table, "drm-poly") == ["2", "0 of 10", "–", "–", "–", "–"]
    assert any(note.startswith("15 of 20 runs are not counted") for note in table.notes)


def test_runs_without_a_result_are_not_there(tmp_path):
    values = {("iris", "svm-rbf"): [0.9, "it failed", 0.8], ("wine", "svm-rbf"): None}
    mine(tmp_path, "{kind: loo}", "svm-rbf", values=values)
    (table,) = naive_tables_of(tmp_path).values()
    assert line(table, "svm-rbf")[:3] == ["2", "2", "320"]


@pytest.mark.parametrize(
    "config",
    [
        "name: mine\n",
        "- not\n- an experiment\n",
        "name: [unclosed\n",
        "{name: mine, datasets: [iris], methods: [a-method-that-is-gone]}",
        None,
    ],
)
def test_a_config_that_cannot_be_read_gives_no_table(tmp_path, config):
    folder = mine(tmp_path, "{kind: loo}", "svm-rbf")
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["config"] = config
    if config is None:
        del manifest["config"]
    path.write_text(json.dumps(manifest), encoding="utf-8")
    assert naive_tables_of(tmp_path) == {}
    assert experiment_tables(load_results(tmp_path))


def test_the_readable_part_of_a_table_is_shown_and_the_rest_named(tmp_path):
    plan, more = "{kind: loo}", {"reproduces": "table3"}
    mine(tmp_path, plan, "svm-rbf", name="uci", datasets=["iris"], **more)
    make_results(tmp_path, "gene", datasets=["nci"], methods=["svm-rbf"], **more)
    (table,) = naive_tables_of(tmp_path).values()
    assert [record["experiment"] for record in records(table)] == ["uci"]
    assert any(note.startswith("Without gene:") for note in table.notes)


def test_timing_and_convergence_have_no_such_table(tmp_path):
    for kind in ("timing", "convergence"):
        text = (REPOSITORY / "configs" / f"{kind}.yaml").read_text("utf-8")
        make_results(tmp_path, kind, kind=kind, methods=["drm-gd"], config=text)
    assert naive_tables_of(tmp_path) == {}


def test_the_committed_results_have_the_tables(committed_tables):
    (found,) = (
        table
        for table in committed_tables
        if table.id == "table8-naive-selection-paper-mode"
    )
    text = to_markdown(found)
    assert "| drm-rbf | 343 |" in text
    assert "estimate, not a measurement" in text
