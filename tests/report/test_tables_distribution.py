"""Agreement in distribution: Welch's test of every cell, counted by method."""

from __future__ import annotations

import math

import numpy as np
import pytest
from result_files import KEEL, make_results, splits_with
from scipy import stats
from table_cells import cells, records, tables_of

from drmbench.report.statistics import welch

#: Two means of five differ by t times this, if both have the deviation 1.
STEP = math.sqrt(2 / 5)


def p_of(t: float, df: int) -> float:
    """Return the two-sided p value by the textbook's sum for 4 or 8 degrees."""
    sine, cosine = abs(t) / math.sqrt(df + t * t), df / (df + t * t)
    terms = [1, cosine / 2, 3 / 8 * cosine**2, 5 / 16 * cosine**3]
    return 1 - sine * sum(terms[: df // 2])


#: Splits of ours, chosen by the paper's figure in the comment.
VALUES = {
    ("iris", "svm-rbf"): splits_with(0.9778 - 3 * STEP * 0.0232, 0.0232),  # t = -3
    ("iris", "svm-poly"): splits_with(0.9778, 0.0232),  # 0.9778 ± 0.0232, t = 0
    ("iris", "nb"): [0.9, 0.9, 0.9, 0.9],  # one split is not there
    ("leukemia", "svm-rbf"): [1, 1, 1, 1, 0.875],  # 0.7500 ± 0.0000, t = 9
    ("leukemia", "svm-poly"): 1.0,  # 1.0000 ± 0.0000, the same without any deviation
    ("leukemia", "nb"): 0.875,  # 1.0000 ± 0.0000, another without any deviation
    ("nakayama", "svm-rbf"): splits_with(0.6286 + 2 * STEP * 0.0621, 0.0621),  # t = 2
    ("nakayama", "svm-poly"): "it failed",
    ("nakayama", "nb"): 0.6,  # a dash in the paper
}
SETS = ("iris", "leukemia", "nakayama", {"name": "gcm", "substitute": "a relative"})


@pytest.fixture
def table(tmp_path):
    make_results(
        tmp_path,
        "gene",
        datasets=SETS,
        methods=("svm-rbf", "svm-poly", "nb", "drm-linear"),
        modes=("paper", "honest"),
        reproduces="table3",
        values=VALUES,
    )
    return tables_of(tmp_path)["gene-accuracy-paper-mode-distribution"]


def test_cells_are_counted_by_method(table):
    counts = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    # cells, not rejected, higher, lower, by chance, median difference, after Holm
    assert counts["SVM(R)"] == ["3", "1", "1", "1", "0.15", "+0.0786", "1"]
    assert counts["SVM(P)"] == ["2", "2", "0", "0", "0.10", "0.0000", "0"]
    assert counts["NB"] == ["1", "0", "0", "1", "0.05", "−0.1250", "1"]
    assert counts["RF"] == ["0", "–", "–", "–", "–", "–", "–"]
    assert counts["all"] == ["6", "3", "1", "2", "0.30", "0.0000", "2"]
    assert len(counts) == 10  # the paper's nine methods and all; drm-linear is ours
    assert table.title.endswith("agreement with the paper in distribution")


def test_records_have_the_test_of_every_cell(table):
    found = {(r["dataset"], r["column"]): r for r in records(table)}
    expected = {  # t, p, p times the tests that Holm's method still has to do
        ("iris", "SVM(R)"): (-3, p_of(3, 8), 4 * p_of(3, 8)),
        ("iris", "SVM(P)"): (0, 1, 1),
        ("leukemia", "SVM(R)"): (9, p_of(9, 4), 5 * p_of(9, 4)),
        ("leukemia", "SVM(P)"): (0, 1, 1),
        ("leukemia", "NB"): (-math.inf, 0, 0),
        ("nakayama", "SVM(R)"): (2, p_of(2, 8), 3 * p_of(2, 8)),
    }
    assert found.keys() == expected.keys()
    for place, numbers in expected.items():
        shown = [float(found[place][name]) for name in ("t", "p", "p_holm")]
        assert shown == pytest.approx(numbers, abs=1e-8)
    record = found["leukemia", "SVM(R)"]
    assert (record["method"], record["paper_dataset"]) == ("svm-rbf", "Leukemia")
    assert (record["ours_mean"], record["paper_mean"]) == ("0.975", "0.75")
    assert float(record["ours_sd"]) == pytest.approx(math.sqrt(0.0125 / 4))
    assert (record["paper_sd"], float(record["difference"])) == ("0.0", 0.975 - 0.75)


def test_notes_say_what_is_left_out_and_rejected(table):
    notes = " ".join(table.notes)
    assert "not published" in notes
    assert "optimistic" in notes
    assert "corrected for all 6 tests" in notes
    assert "Rejected by data set: Leukemia 2, Iris 1." in notes
    assert "Rejected after Holm: SVM(R) on Leukemia, NB on Leukemia." in notes
    assert (
        "Compared are 6 of the paper's 171 cells. Left out: 9 without a figure in the"
        " paper; 9 on data for which a relative stood in (GCM); 147 not run" in notes
    )


def test_experiments_of_one_table_are_corrected_together(tmp_path):
    sets = {"gene": ("leukemia",), "uci": ("iris",)}
    for name, there in sets.items():
        make_results(
            tmp_path, name, datasets=there, modes=("paper",), reproduces="table3"
        )
    table = tables_of(tmp_path)["table3-accuracy-paper-mode-distribution"]
    assert cells(table)["all",]["cells"].value == 6
    assert {r["dataset"] for r in records(table)} == {"leukemia", "iris"}


@pytest.mark.parametrize(
    "options",
    [
        {"reproduces": "table3", "modes": ("honest",)},
        {"reproduces": "table3", "modes": ("paper",), "splits": 1},  # no deviation
        {"reproduces": "table8", "modes": ("paper",), "datasets": KEEL},
        {"modes": ("paper",)},
    ],
)
def test_no_table_without_random_splits_to_compare(tmp_path, options):
    make_results(tmp_path, "mine", **options)
    assert not [name for name in tables_of(tmp_path) if "distribution" in name]


def test_welch_is_that_of_the_values_themselves():
    values = np.random.default_rng(0).normal(size=(20, 2, 5)) * [[1], [3]]
    for a, b in values:
        t, p = welch((a.mean(), a.std(ddof=1), 5), (b.mean(), b.std(ddof=1), 5), 4)
        expected = stats.ttest_ind(a, b, equal_var=False)
        assert (t, p) == pytest.approx((expected.statistic, expected.pvalue))


def test_deviations_that_are_rounding_are_none():
    assert welch((0.98125, 1e-16, 5), (0.9813, 0.0, 5), 4) == (0.0, 1.0)
    assert welch((0.98135, 1e-16, 5), (0.9812, 0.0, 5), 4) == (math.inf, 0.0)


def test_random_splits_of_the_same_rows_are_rejected_as_often_as_said():
    """They share rows, and are independent draws all the same."""
    right = np.arange(200) < 150  # a rule is right on three quarters of the rows
    rows = np.tile(right, (1000, 2, 5, 1))
    shares = np.random.default_rng(0).permuted(rows, axis=-1)[..., :50].mean(axis=-1)
    means, spreads = shares.mean(axis=-1), shares.std(axis=-1, ddof=1)
    p_values = [
        welch((m[0], s[0], 5), (m[1], s[1], 5), 4)[1]
        for m, s in zip(means, spreads, strict=True)
    ]
    assert 0.03 < np.mean(np.array(p_values) < 0.05) < 0.07
