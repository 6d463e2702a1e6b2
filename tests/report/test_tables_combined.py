"""Tables that combine experiments or methods as the paper's do, and its data sets."""

from __future__ import annotations

from result_files import KEEL, make_results
from table_cells import cells, records, tables_of

from drmbench.paper import published_table
from drmbench.report.facts import dataset_tables
from drmbench.report.tables import experiment_tables
from drmbench.running.results import load_results


def test_three_experiments_are_one_table_in_the_papers_order(tmp_path):
    parts = {"uci": ("wine", "iris"), "gene": ("nci", "nakayama"), "face": ("pix",)}
    for name, sets in parts.items():
        make_results(tmp_path, name, datasets=sets, reproduces="table3")
    table = tables_of(tmp_path)["table3-accuracy-honest-mode"]
    names = list(dict.fromkeys(row[0].text for row in table.rows))
    assert names == ["Nakayama", "NCI", "PIX", "Iris", "Wine", "wins", "mean rank"]
    headings = [column.heading for column in table.columns]
    assert headings[2] == "DRM(R)"  # the DRM first, then the best of the others
    assert sorted(headings[2:]) == sorted(published_table("table3").columns)
    assert any("Lungcancer" in note for note in table.notes)
    alone = {t.id for t in experiment_tables(load_results(tmp_path, ["gene"]))}
    assert "gene-accuracy-honest-mode" in alone


def test_experiments_with_a_common_set_are_separate_tables(tmp_path):
    for name in ("first", "second"):
        make_results(tmp_path, name, datasets=KEEL, reproduces="table8")
    found = tables_of(tmp_path)
    assert {"first-accuracy-honest-mode", "second-accuracy-honest-mode"} <= set(found)


def test_sampling_shows_the_higher_drm_also_from_the_imbalanced_experiment(tmp_path):
    drm = {
        ("haberman", "drm-rbf"): 0.6,
        ("haberman", "drm-poly"): 0.7,
        ("ecoli1", "drm-rbf"): 0.9,
        ("ecoli1", "drm-poly"): 0.8,
        ("glass4", "drm-poly"): [0.9, 0.9, 0.9],
    }
    for name, methods, reproduces in (
        ("imbalanced", ("drm-rbf", "drm-poly"), "table8"),
        ("sampling", ("smote-svm", "smote-knn"), "table9"),
    ):
        make_results(
            tmp_path,
            name,
            datasets=("haberman", "ecoli1", "glass4"),
            methods=methods,
            metrics=("gmean",),
            values=drm,
            reproduces=reproduces,
            modes=("paper",),
        )
    table = tables_of(tmp_path)["sampling-gmean-paper-mode"]
    found = cells(table)
    assert found["haberman", "ours"]["DRM"].text == "0.7000 ± 0.0000"
    assert found["ecoli1", "ours"]["DRM"].text == "0.9000 ± 0.0000"
    assert found["glass4", "ours"]["DRM"].text == "0.9000 ± 0.0000 (3/5)"
    notes = " ".join(table.notes)
    assert "DRM is the higher of drm-rbf and drm-poly" in notes
    assert "drm-rbf and drm-poly are those of imbalanced; selection: leave-" in notes
    methods = {
        r["dataset"]: r["method"] for r in records(table) if r["column"] == "DRM"
    }
    assert methods["haberman"] == "drm-poly"


def test_sampling_shows_the_higher_of_two_kernels_in_the_paper_s_column(tmp_path):
    values = {
        ("haberman", "smote-svm"): 0.6,
        ("haberman", "smote-svm-poly"): 0.7,
        ("ecoli1", "smote-svm"): 0.9,
        ("ecoli1", "smote-svm-poly"): 0.8,
    }
    make_results(
        tmp_path,
        "sampling",
        datasets=("haberman", "ecoli1"),
        methods=("smote-svm", "smote-svm-poly"),
        metrics=("gmean",),
        values=values,
        reproduces="table9",
        modes=("paper", "honest"),
    )
    tables = tables_of(tmp_path)
    table = tables["sampling-gmean-paper-mode"]
    found = cells(table)
    assert found["haberman", "ours"]["SMOTE+SVM"].text == "0.7000 ± 0.0000"
    assert found["ecoli1", "ours"]["SMOTE+SVM"].text == "0.9000 ± 0.0000"
    assert "smote-svm-poly" not in [column.heading for column in table.columns]

    # Which of the two is higher is known on the test part only.
    table = tables["sampling-gmean-honest-mode"]
    honest = cells(table)
    assert honest[("haberman",)]["smote-svm"].text == "0.6000 ± 0.0000"
    assert honest[("haberman",)]["smote-svm-poly"].text == "0.7000 ± 0.0000"
    assert honest[("mean rank",)]["smote-svm-poly"].text == "1.50"
    # The paper has no figures for one of them, so none stand beside.
    assert "figure" not in [column.heading for column in table.columns]
    assert "the higher of two kernels" in " ".join(table.notes)
    difference = cells(tables["sampling-gmean-paper-minus-honest"])
    assert difference[("ecoli1",)]["smote-svm-poly"].text == "0.0000"


def test_dataset_tables_keep_the_papers_rows():
    sizes = {table.id: len(table.rows) for table in dataset_tables()}
    assert sizes == {
        "table2-small-datasets": 18,
        "table4-large-datasets": 5,
        "table7-imbalanced-datasets": 15,
    }
