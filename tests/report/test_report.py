"""Tables, figures and the page that can be made without results."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest

from drmbench import load
from drmbench.drm.linear_classifier import LinearDRMClassifier
from drmbench.report.convergence import ALPHA, BETA, traces
from drmbench.report.dataset_tables import dataset_tables
from drmbench.report.page import page
from drmbench.report.table import TextTable


def cells(stem):
    (table,) = (t for t in dataset_tables() if t.name == stem)
    return {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_every_published_row_is_there_once():
    sizes = {table.name: len(table.rows) for table in dataset_tables()}
    assert sizes == {
        "table2_small_datasets": 18,
        "table4_large_datasets": 5,
        "table7_imbalanced_datasets": 15,
    }


def test_known_differences_are_shown():
    small, large = cells("table2_small_datasets"), cells("table4_large_datasets")
    assert small["nakayama"]["n"] == "105"
    assert small["nakayama"]["n (paper)"] == "112"
    assert small["nakayama"]["train + test"] == "84 + 21"
    assert "105" in small["nakayama"]["what differs"]
    assert small["pendigits"]["train + test"] == "1,575 + 9,417"  # not its own split
    assert large["poker"]["train + test"] == "25,010 + 100,000"
    assert large["poker"]["train + test (paper)"] == "25,010 + 1,000,000"
    glass4 = cells("table7_imbalanced_datasets")["glass4"]
    assert (glass4["IR"], glass4["IR (paper)"]) == ("15.46", "3.98")


def test_formats_carry_the_same_cells():
    table = TextTable(
        "t", "A <title>", ("a|b", "c"), (("1 | 2", "<3>"),), ("note & so",)
    )
    assert list(csv.reader(io.StringIO(table.csv()))) == [
        ["a|b", "c"],
        ["1 | 2", "<3>"],
    ]
    assert r"| 1 \| 2 | <3> |" in table.markdown()
    assert "<td>&lt;3&gt;</td>" in table.html()
    assert "<p>note &amp; so</p>" in table.html()


def test_the_page_needs_nothing_else():
    text = page(dataset_tables(), [(b"png", "a caption")])
    assert not re.search(r'(src|href)="(?!data:)', text)
    assert text.count("<table>") == 3


def test_traces_end_at_the_exact_minimum():
    """After 50 iterations with β = 1e4 all three have the exact solver's objective."""
    data = load("iris")
    X = data.X / np.abs(data.X).max(axis=0)
    model = LinearDRMClassifier(alpha=ALPHA, beta=BETA).fit(X[:-1], data.y[:-1])
    U = model._fitted_model().U.sum(axis=0)
    minimum = -0.5 * X[-1] @ U @ X[-1]  # ½wᵀ(Q + β)w - kᵀw = -½kᵀw = -½xᵀu
    for trace in traces(data).values():
        assert np.isclose(trace.objective[-1], minimum, rtol=1e-10)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (
            "tables",
            ["tables/table2_small_datasets.md", "tables/table4_large_datasets.csv"],
        ),
        ("figures", ["figures/convergence.svg", "figures/convergence.png"]),
        ("report", ["report.html"]),
    ],
)
def test_commands_write_the_same_bytes_twice(run, tmp_path, command, files):
    for folder in ("one", "two"):
        assert run(command, "--out", str(tmp_path / folder)).code == 0
    for name in files:
        first, second = (tmp_path / f / name for f in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()


def test_a_folder_that_is_a_file(run, tmp_path):
    (tmp_path / "taken").write_text("")
    answer = run("tables", "--out", str(tmp_path / "taken"))
    assert answer.code == 2
    assert "cannot write to" in answer.err
