"""Tables of scores: ours beside the paper's, views, marks, footnotes and bold."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from result_files import KEEL, make_results
from table_cells import cells, records, tables_of

from drmbench.paper import published_cells, published_table
from drmbench.report.analyses.comparison import score_table
from drmbench.report.scores import table_sources
from drmbench.report.statistics import holm
from drmbench.running.results import load_results
from drmbench.words import OPTIMISTIC


def test_published_tables_are_whole():
    sizes = {
        name: (len(table.rows), len(table.columns), len(table.cells))
        for name in ("table3", "table5", "table8", "table9")
        if (table := published_table(name))
    }
    assert sizes == {
        "table3": (19, 9, 171),
        "table5": (5, 5, 25),
        "table8": (15, 10, 150),
        "table9": (15, 10, 150),
    }
    poker = published_table("table5").cells["UCI Poker", "L1-SVM"]
    assert (poker.mean, poker.spread, poker.bold) == (0.315, None, False)
    assert published_table("figure4") is None


def test_ours_the_papers_and_the_difference(tmp_path):
    published = {(c.dataset, c.method): c for c in published_cells("table8_gmean")}
    theirs = published["haberman", "SVM(R)"]  # 0.4212 ± 0.1451
    far = theirs.mean + theirs.spread + 0.02
    make_results(
        tmp_path,
        "imbalanced",
        datasets=KEEL,
        methods=("svm-rbf", "knn-euclidean", "drm-rbf"),
        metrics=("gmean",),
        reproduces="table8",
        values={
            ("haberman", "svm-rbf"): [far - 0.01, far, far, far, far + 0.01],
            ("haberman", "knn-euclidean"): [0.53, 0.54, 0.53, 0.54, 0.53],
        },
    )
    table = tables_of(tmp_path)["imbalanced-gmean-honest-mode"]
    found = cells(table)
    paper = found["haberman", "paper"]
    assert found["haberman", "ours"]["SVM(R)"].text == f"{far:.4f} ± 0.0071"
    assert paper["SVM(R)"].text == "0.4212 ± 0.1451"
    assert (paper["SVM(R)"].mark, paper["KNN(E)"].mark) == ("≠", "")
    assert any(note.mark == "≠" for note in table.footnotes)
    apart = tables_of(tmp_path, view="difference")["imbalanced-gmean-honest-mode"]
    difference = cells(apart)[("haberman",)]
    assert difference["SVM(R)"].text == f"+{far - 0.4212:.4f}"
    assert difference["SVM(R)"].mark == "≠"
    assert (difference["KNN(E)"].text, difference["KNN(E)"].mark) == ("+0.0025", "")
    (record,) = (
        r
        for r in records(table)
        if (r["dataset"], r["column"]) == ("haberman", "SVM(R)")
    )
    assert math.isclose(float(record["ours_mean"]), far)
    assert (record["paper_mean"], record["paper_sd"]) == ("0.4212", "0.1451")
    assert math.isclose(float(record["difference"]), far - 0.4212)
    assert (record["mark"], record["done"], record["expected"]) == ("≠", "5", "5")


@pytest.mark.parametrize(
    ("view", "lines"),
    [
        ("ours", {()}),
        ("paper", {()}),
        ("difference", {()}),
        ("both", {("ours",), ("paper",)}),
    ],
)
def test_views(tmp_path, view, lines):
    make_results(
        tmp_path, "imbalanced", datasets=KEEL, metrics=("gmean",), reproduces="table8"
    )
    make_results(tmp_path, "mine", datasets=("a", "b"))
    found = tables_of(tmp_path, view=view)
    table = found["imbalanced-gmean-honest-mode"]
    rows = {key[1:] for key in cells(table) if key[0] == "haberman"}
    assert rows == lines
    shown = cells(table)[("haberman", *sorted(lines)[-1])]["SVM(R)"].text
    published = "0.4212 ± 0.1451"
    assert (shown == published) == (view in ("paper", "both"))
    assert len(found["mine-accuracy-honest-mode"].rows) == 4  # two sets, wins, ranks


def test_one_split_has_no_spread_and_disagrees_by_half_a_percent(tmp_path):
    make_results(
        tmp_path,
        "large",
        datasets=("poker", "shuttle"),
        methods=("l1-svm", "drm-gd", "drm-exact"),
        modes=("maxabs",),
        splits=1,
        reproduces="table5",
        values={("poker", "l1-svm"): 0.3204, ("poker", "drm-gd"): 0.5041},
    )
    found = cells(tables_of(tmp_path)["large-accuracy-maxabs-mode"])
    paper = found["UCI Poker", "paper"]
    assert found["UCI Poker", "ours"]["L1-SVM"].text == "0.320"
    assert (paper["L1-SVM"].mark, paper["DRM-GD"].mark) == ("≠", "")
    apart = tables_of(tmp_path, view="difference")["large-accuracy-maxabs-mode"]
    difference = cells(apart)[("UCI Poker",)]
    assert (difference["L1-SVM"].text, difference["DRM-GD"].text) == (
        "+0.005",
        "+0.003",
    )
    assert found["wins", "paper"]["DRM-GD"].text == "2"


def with_added_methods(folder, values=None):
    """Write Table 8 with two methods of the paper and two that it does not have."""
    make_results(
        folder,
        "imbalanced",
        datasets=KEEL,
        methods=(
            "svm-rbf",
            "drm-rbf",
            {"label": "drm-rbf-variance", "name": "drm-rbf"},
            "drm-linear",
        ),
        metrics=("gmean",),
        reproduces="table8",
        values={
            **{(name, "drm-linear"): 0.99 for name in KEEL},
            **{(name, "drm-rbf"): 0.9 for name in KEEL},
            **(values or {}),
        },
    )
    return tables_of(folder)


def test_methods_beyond_the_paper_are_ranked_with_the_others(tmp_path):
    """Whoever is best is bold, wins and comes first, be it the paper's or not."""
    found = with_added_methods(tmp_path)
    table = found["imbalanced-gmean-honest-mode"]
    headings = [c.heading for c in table.columns]
    assert {"drm-rbf-variance", "drm-linear"} <= set(headings[2:6])
    row = cells(table)["haberman", "ours"]
    assert (row["DRM(R)"].bold, row["drm-linear"].bold) == (False, True)
    assert cells(table)["wins", "ours"]["DRM(R)"].text == "0"
    assert cells(table)["wins", "ours"]["drm-linear"].text == "4"
    assert cells(table)["mean rank", "ours"]["drm-linear"].text == "1.00"
    assert cells(table)["wins", "paper"]["drm-linear"].text == ""
    ranks = found["imbalanced-gmean-honest-mode-statistics"]
    assert [row[0].text for row in ranks.rows][:2] == ["drm-linear", "DRM(R)"]
    assert len(ranks.rows) == 4
    tests = found["imbalanced-gmean-honest-mode-wilcoxon"]
    assert {row[1].text for row in tests.rows} == {
        *("SVM(R)", "drm-rbf-variance", "drm-linear")
    }


def test_an_added_method_that_misses_a_data_set_costs_the_ranks_none(tmp_path):
    """It is named with what it has; its bold and wins stay its own."""
    found = with_added_methods(tmp_path, {("ecoli1", "drm-linear"): "it failed"})
    table = found["imbalanced-gmean-honest-mode"]
    shown = cells(table)
    assert shown["mean rank", "ours"]["drm-linear"].text == "–"
    assert shown["wins", "ours"]["drm-linear"].text == "3"
    assert shown["wins", "ours"]["DRM(R)"].text == "1"  # on ecoli1
    note = next(note for note in table.notes if note.startswith("Bold is"))
    assert "over the 4 of 4 data sets" in note
    assert note.endswith(", drm-linear (3).")
    tests = found["imbalanced-gmean-honest-mode-wilcoxon"]
    assert "drm-linear" not in {row[1].text for row in tests.rows}
    (beyond,) = found["imbalanced-gmean-honest-mode-wilcoxon-beyond"].rows
    assert [cell.text for cell in beyond[:5]] == ["DRM(R)", "drm-linear", "0", "0", "3"]


def test_bold_of_the_papers_line_is_the_best_of_its_figures(tmp_path):
    """The paper prints 0.9852 in bold beside 0.9859: that is marked, not repeated."""
    found = with_added_methods(tmp_path)["imbalanced-gmean-honest-mode"]
    row = cells(found)["new thyroid 2", "paper"]
    assert (row["NB"].text, row["NB"].bold) == ("0.9859 ± 0.0142", True)
    assert (row["DRM(P)"].bold, row["DRM(P)"].mark) == (False, "§")
    assert any(note.mark == "§" for note in found.footnotes)
    assert cells(found)["haberman", "paper"]["DRM(R)"].bold


def test_holm_is_over_each_pair_of_the_table_once(tmp_path):
    make_results(
        tmp_path, "mine", datasets=KEEL, methods=("drm-rbf", "drm-poly", "nb", "rf")
    )
    rows = tables_of(tmp_path)["mine-accuracy-honest-mode-wilcoxon"].rows
    pairs = [frozenset((row[0].text, row[1].text)) for row in rows]
    assert len(pairs) == len(set(pairs)) == 5
    assert [row[8].value for row in rows] == holm([row[7].value for row in rows])
    assert not any(cell.bold for row in rows for cell in row)


def test_marks_and_footnotes(tmp_path):
    make_results(
        tmp_path,
        "mine",
        datasets=(
            {"name": "a", "substitute": "b", "note": "fewer rows"},
            {"name": "c", "note": "resized"},
            {"name": "gone", "missing": "no address", "get": "ask the authors"},
        ),
        values={("a", "nb"): "it is singular", ("c", "nb"): [0.5, 0.6, 0.7]},
        deviations=["we sample rows."],
        selection_overrides={"nb": "5-fold", "svm-rbf": "5-fold"},
    )
    table = tables_of(tmp_path)["mine-accuracy-honest-mode"]
    found = cells(table)
    assert [row[0].mark for row in table.rows[:3]] == ["b", "d", "e"]
    marks = {column.heading: column.mark for column in table.columns[1:]}
    assert marks == {"drm-rbf": "", "svm-rbf": "a", "nb": "a"}
    failed, partly = found["a",]["nb"], found["c",]["nb"]
    assert (failed.text, failed.mark, failed.value) == ("–", "c", None)
    assert (partly.text, partly.bold) == ("0.6000 ± 0.1000 (3/5)", False)
    assert found["gone",]["nb"].text == "missing"
    for footnote in (
        "b a: b stood in for it: fewer rows.",
        "d c: resized.",
        "e gone is missing: no address. `ask the authors` would get it.",
        "a 5-fold.",
        "c failed: it is singular.",
    ):
        assert footnote in map(str, table.footnotes)
    assert "we sample rows." in table.notes
    assert found["wins",]["nb"].text == "–"
    assert any("the 2 of 3 data sets" in note for note in table.notes)


def test_only_paper_mode_is_called_optimistic(tmp_path):
    make_results(tmp_path, "mine", modes=("paper", "honest"))
    found = tables_of(tmp_path)
    for mode in ("paper", "honest"):
        for ending in ("", "-statistics", "-wilcoxon"):
            table = found[f"mine-accuracy-{mode}-mode{ending}"]
            said = any(OPTIMISTIC in note for note in table.notes)
            assert said == (mode == "paper")


def test_a_manifest_with_only_what_the_contract_asks_for(tmp_path):
    """Optional texts that are empty or null make no footnotes."""
    folder = make_results(tmp_path, "mine")
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["experiment"].update(deviations=None, selection_overrides=None, title="")
    for entry in manifest["datasets"]:
        entry.update(note=None, missing=None, substitute=None)
    path.write_text(json.dumps(manifest), encoding="utf-8")
    table = tables_of(tmp_path)["mine-accuracy-honest-mode"]
    assert table.footnotes == ()
    assert table.title.startswith("mine: accuracy")


figures = st.sampled_from([0.5, 0.50001, 0.50004, 0.50006, 0.6, 0.0])


cell_values = st.one_of(
    figures,
    figures.map(lambda v: [v, v]),  # two of three splits
    st.just("it failed"),
    st.none(),
)


DATASETS, METHODS = ("a", "b", "c"), ("x", "y", "z")


@example([0.5, 0.50004, 0.50006, 0.50001, 0.50004, 0.5, 0.6, [0.9, 0.9], 0.60001])
@settings(max_examples=25, deadline=None)
@given(st.lists(cell_values, min_size=9, max_size=9))
def test_bold_ties_wins_and_incomplete(drawn):
    """Bold is exactly what prints the row's best among complete figures."""
    places = [(d, m) for d in DATASETS for m in METHODS]
    values = dict(zip(places, drawn, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        make_results(
            Path(folder),
            "mine",
            datasets=DATASETS,
            methods=METHODS,
            values=values,
            metrics=("accuracy",),
            splits=3,
        )
        (source,) = table_sources(load_results(Path(folder)))
        table = score_table(source, "honest", "accuracy")
    shown = cells(table)
    complete = {p: f"{v:.4f}" for p, v in values.items() if isinstance(v, float)}
    best = {
        d: max((t for (s, _), t in complete.items() if s == d), default="")
        for d in DATASETS
    }
    for (dataset, method), value in values.items():
        cell = shown[dataset,][method]
        assert cell.bold == (complete.get((dataset, method), "no") == best[dataset])
        assert cell.text.endswith("(2/3)") == isinstance(value, list)
        assert (cell.text == "–") == (value is None or isinstance(value, str))
    check_wins(shown["wins",], complete)


def check_wins(row, complete):
    """Compare with bold figures on the data sets on which all ranked are complete."""
    there = [d for d in DATASETS if any(s == d for s, _ in complete)]
    kept = [
        m for m in METHODS if 2 * sum((d, m) in complete for d in there) >= len(there)
    ]
    whole = [d for d in there if kept and all((d, m) in complete for m in kept)]
    for method in METHODS:
        if not whole or not any((d, method) in complete for d in DATASETS):
            assert row[method].text == "–"
        else:
            bests = {
                d: max(t for (s, _), t in complete.items() if s == d) for d in whole
            }
            wins = sum(complete.get((d, method), "no") == bests[d] for d in whole)
            assert row[method].text == str(wins)
