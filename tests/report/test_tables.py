"""Tables from stored results: the paper's rows, marks, bold, and what is written."""

from __future__ import annotations

import csv
import io
import json
import math
import tempfile
from pathlib import Path

import pytest
import typer
from hypothesis import example, given, settings
from hypothesis import strategies as st
from result_files import make_results
from typer.testing import CliRunner

from drmbench.cli.tables import tables as tables_command
from drmbench.errors import InputError
from drmbench.protocol.protocol import OPTIMISTIC
from drmbench.protocol.published import published_cells
from drmbench.report.dataset_tables import dataset_tables
from drmbench.report.paper_tables import published_table
from drmbench.report.results import load_results
from drmbench.report.table import ReportTable, to_csv
from drmbench.report.tables import experiment_tables, write_tables
from drmbench.report.tables_scores import score_table
from drmbench.report.tables_source import table_sources

KEEL = ("haberman", "ecoli1", "glass4", "new-thyroid2")


def tables_of(folder: Path, **options) -> dict[str, ReportTable]:
    return {t.id: t for t in experiment_tables(load_results(folder), **options)}


def cells(table: ReportTable) -> dict[tuple[str, ...], dict[str, object]]:
    """Return the cells by the row's texts on the left, then by heading."""
    left = [i for i, c in enumerate(table.columns) if c.align == "left"]
    return {
        tuple(row[i].text for i in left): {
            column.heading: cell
            for column, cell in zip(table.columns, row, strict=True)
        }
        for row in table.rows
    }


def records(table: ReportTable) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(table))))


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


def test_three_experiments_are_one_table_in_the_papers_order(tmp_path):
    parts = {"uci": ("wine", "iris"), "gene": ("nci", "nakayama"), "face": ("pix",)}
    for name, sets in parts.items():
        make_results(tmp_path, name, datasets=sets, reproduces="table3")
    table = tables_of(tmp_path)["table3-accuracy-honest-mode"]
    names = list(dict.fromkeys(row[0].text for row in table.rows))
    assert names == ["Nakayama", "NCI", "PIX", "Iris", "Wine", "wins", "mean rank"]
    headings = [column.heading for column in table.columns]
    assert headings[2:] == list(published_table("table3").columns)
    assert any("Lungcancer" in note for note in table.notes)
    alone = {t.id for t in experiment_tables(load_results(tmp_path, ["gene"]))}
    assert "gene-accuracy-honest-mode" in alone


def test_experiments_with_a_common_set_are_separate_tables(tmp_path):
    for name in ("first", "second"):
        make_results(tmp_path, name, datasets=KEEL, reproduces="table8")
    found = tables_of(tmp_path)
    assert {"first-accuracy-honest-mode", "second-accuracy-honest-mode"} <= set(found)


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
    difference = found["haberman", "difference"]
    assert found["haberman", "ours"]["SVM(R)"].text == f"{far:.4f} ± 0.0071"
    assert found["haberman", "paper"]["SVM(R)"].text == "0.4212 ± 0.1451"
    assert difference["SVM(R)"].text == f"+{far - 0.4212:.4f}"
    assert difference["SVM(R)"].mark == "≠"
    assert (difference["KNN(E)"].text, difference["KNN(E)"].mark) == ("+0.0025", "")
    assert any(note.startswith("≠ ") for note in table.footnotes)
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
        ("both", {("ours",), ("paper",), ("difference",)}),
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
    difference = found["UCI Poker", "difference"]
    assert found["UCI Poker", "ours"]["L1-SVM"].text == "0.320"
    assert (difference["L1-SVM"].text, difference["L1-SVM"].mark) == ("+0.005", "≠")
    assert (difference["DRM-GD"].text, difference["DRM-GD"].mark) == ("+0.003", "")
    assert found["wins", "paper"]["DRM-GD"].text == "2"


def test_methods_beyond_the_paper_do_not_compete(tmp_path):
    make_results(
        tmp_path,
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
        },
    )
    found = tables_of(tmp_path)
    table = found["imbalanced-gmean-honest-mode"]
    assert [c.heading for c in table.columns][-2:] == ["drm-rbf-variance", "drm-linear"]
    row = cells(table)["haberman", "ours"]
    assert (row["DRM(R)"].bold, row["drm-linear"].bold) == (True, False)
    assert cells(table)["wins", "ours"]["DRM(R)"].text == "4"
    assert cells(table)["wins", "ours"]["drm-linear"].text == ""
    ranks = found["imbalanced-gmean-honest-mode-statistics"]
    assert [row[0].text for row in ranks.rows] == ["DRM(R)", "SVM(R)"]


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
    assert [row[0].mark for row in table.rows[:3]] == ["†", "‡", ""]
    assert [c.heading for c in table.columns][1:] == ["drm-rbf", "svm-rbf ‡", "nb ‡"]
    failed, partly = found["a",]["nb ‡"], found["c",]["nb ‡"]
    assert (failed.text, failed.mark, failed.value) == ("–", "[1]", None)
    assert (partly.text, partly.bold) == ("0.6000 ± 0.1000 (3/5)", False)
    assert found["gone",]["nb ‡"].text == "missing"
    for footnote in (
        "† a: b stood in for it: fewer rows.",
        "‡ c: resized.",
        "gone is missing: no address. `ask the authors` would get it.",
        "‡ svm-rbf, nb: 5-fold.",
        "‡ we sample rows.",
        "[1] failed: it is singular.",
    ):
        assert footnote in table.footnotes
    assert found["wins",]["nb ‡"].text == "–"
    assert any("the 2 of 3 data sets" in note for note in table.notes)


def test_only_paper_mode_is_called_optimistic(tmp_path):
    make_results(tmp_path, "mine", modes=("paper", "honest"))
    found = tables_of(tmp_path)
    for mode in ("paper", "honest"):
        for ending in ("", "-statistics", "-wilcoxon"):
            table = found[f"mine-accuracy-{mode}-mode{ending}"]
            said = any(OPTIMISTIC in note for note in table.notes)
            assert said == (mode == "paper")


def test_paper_mode_minus_honest_mode(tmp_path):
    worth = {"drm-rbf": 0.0, "svm-rbf": 0.1, "nb": 0.02}

    def value(dataset, method, mode, scaling, split):
        if (dataset, method) == ("wine", "nb") and mode == "honest":
            return None
        return 0.7 + (worth[method] if scaling == "separate" else 0.0)

    make_results(tmp_path, "mine", modes=("paper", "honest"), values=value)
    table = tables_of(tmp_path)["mine-accuracy-paper-minus-honest"]
    texts = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert texts == {
        "iris": ["0.0000", "+0.1000", "+0.0200"],
        "wine": ["0.0000", "+0.1000", "–"],
        "mean": ["0.0000", "+0.1000", "+0.0200"],
        "median": ["0.0000", "+0.1000", "+0.0200"],
    }


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
        )
    table = tables_of(tmp_path)["sampling-gmean-honest-mode"]
    found = cells(table)
    assert found["haberman", "ours"]["DRM"].text == "0.7000 ± 0.0000"
    assert found["ecoli1", "ours"]["DRM"].text == "0.9000 ± 0.0000"
    assert found["glass4", "ours"]["DRM"].text == "0.9000 ± 0.0000 (3/5)"
    assert "DRM is the higher of drm-rbf and drm-poly" in " ".join(table.notes)
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
    )
    table = tables_of(tmp_path)["sampling-gmean-honest-mode"]
    found = cells(table)
    assert found["haberman", "ours"]["SMOTE+SVM"].text == "0.7000 ± 0.0000"
    assert found["ecoli1", "ours"]["SMOTE+SVM"].text == "0.9000 ± 0.0000"
    assert "smote-svm-poly" not in [column.heading for column in table.columns]


def splits_with(mean: float, spread: float) -> list[float]:
    """Return five values with exactly that mean and standard deviation."""
    step = spread * math.sqrt(2)
    return [mean - step, mean, mean, mean, mean + step]


def test_agreement_counts_cells(tmp_path):
    published = {(c.dataset, c.method): c for c in published_cells("table8_gmean")}

    def value(dataset, method, mode, scaling, split):
        theirs = published[dataset, {"knn-euclidean": "KNN(E)", "nb": "NB"}[method]]
        exact = splits_with(theirs.mean or 0.5, theirs.spread or 0.1)[split]
        if method == "nb":
            return "it failed" if dataset == "haberman" else exact
        shift = {"haberman": 0.0, "ecoli1": 0.004, "glass4": 0.006}[dataset]
        if scaling == "separate":  # the better one, so that it is what is shown
            return exact + (shift or 0.03)
        return exact if dataset == "haberman" else 0.1

    make_results(
        tmp_path,
        "imbalanced",
        datasets=("haberman", "ecoli1", "glass4"),
        methods=("knn-euclidean", "nb"),
        metrics=("gmean",),
        modes=("paper",),
        reproduces="table8",
        values=value,
    )
    found = tables_of(tmp_path)
    counts = {
        row[0].text: [int(cell.text) for cell in row[1:]]
        for row in found["imbalanced-gmean-paper-mode-agreement"].rows
    }
    # exact, within 0.005, within 1 sd, not, no figure, exact with either, cells
    assert counts["KNN(E)"] == [0, 1, 2, 0, 0, 1, 3]
    assert counts["NB"] == [1, 0, 0, 1, 1, 1, 3]  # NB's ecoli1 is a dash in the paper
    assert counts["all"] == [1, 1, 2, 1, 1, 2, 6]
    listed = cells(found["imbalanced-gmean-paper-mode-agreement-cells"])
    (haberman,) = (v for k, v in listed.items() if k[:2] == ("haberman", "KNN(E)"))
    assert haberman["exact with"].text == "none"
    assert haberman["scaling"].text == "separate"


def test_seconds_and_machine(tmp_path):
    make_results(tmp_path, "mine")
    table = tables_of(tmp_path)["mine-seconds-honest-mode"]
    found = cells(table)
    assert found["iris", "select"]["nb"].text == "2.00"
    assert found["iris", "predict"]["nb"].value == 0.25
    assert any("a processor, 2 cores" in note for note in table.notes)


def test_timing_and_convergence(tmp_path):
    for kind in ("timing", "convergence"):
        make_results(
            tmp_path,
            kind,
            kind=kind,
            datasets=("shuttle", {"name": "poker", "missing": "no file"}),
            methods=("drm-gd", "drm-ppa"),
            values={("shuttle", "drm-gd"): 0.5, ("shuttle", "drm-ppa"): "it failed"},
        )
    found = tables_of(tmp_path)
    seconds = found["timing-seconds"]
    assert [[c.text for c in row] for row in seconds.rows] == [
        ["shuttle", "100", "0.000500 ± 0.000100", "–"],
        ["shuttle", "200", "0.00100 ± 0.000100", "–"],
        ["shuttle", "400", "0.00200 ± 0.000100", "–"],
    ]
    assert "– shuttle, drm-ppa: failed: it failed." in seconds.footnotes
    assert "poker is missing: no file." in seconds.footnotes
    iterations = found["convergence-iterations"]
    assert [row[1].text for row in iterations.rows] == ["0.001", "1", "10000"]
    assert iterations.rows[0][2].text == "50.0 ± 1.50"


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
    """Compare with wins over the data sets on which all that count are complete."""
    there = [d for d in DATASETS if any(s == d for s, _ in complete)]
    kept = [
        m for m in METHODS if 2 * sum((d, m) in complete for d in there) >= len(there)
    ]
    whole = [d for d in there if all((d, m) in complete for m in kept)]
    for method in METHODS:
        if method not in kept or not whole:
            assert row[method].text == "–"
        else:
            bests = {d: max(complete[d, m] for m in kept) for d in whole}
            wins = sum(complete[d, method] == bests[d] for d in whole)
            assert row[method].text == str(wins)


def test_dataset_tables_keep_the_papers_rows():
    sizes = {table.id: len(table.rows) for table in dataset_tables()}
    assert sizes == {
        "table2-small-datasets": 18,
        "table4-large-datasets": 5,
        "table7-imbalanced-datasets": 15,
    }


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted((folder / "tables").iterdir())}


def test_written_twice_gives_the_same_bytes_and_an_index(tmp_path):
    make_results(tmp_path / "results", "mine", modes=("paper", "honest"))
    for out in ("one", "two"):
        written = write_tables(tmp_path / "results", [], tmp_path / out)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert {path.suffix for path in written} == {".md", ".csv", ".tex", ".html"}
    index = (tmp_path / "two" / "tables" / "README.md").read_text("utf-8")
    for path in written[:-1]:
        assert f"({path.name})" in index
    page = (tmp_path / "two/tables/mine-accuracy-paper-mode.html").read_text("utf-8")
    assert '<meta charset="utf-8">' in page


def test_a_part_written_later_keeps_the_rest_in_the_index(tmp_path):
    make_results(tmp_path / "results", "first", metrics=("accuracy",))
    make_results(tmp_path / "results", "second", metrics=("accuracy",))
    for name in ("first", "second"):
        written = write_tables(tmp_path / "results", [name], tmp_path)
        assert not any(path.name.startswith("table2") for path in written)
    index = written[-1].read_text("utf-8")
    assert "first-accuracy-honest-mode.md" in index
    assert "second-accuracy-honest-mode.md" in index


@pytest.fixture
def call():
    app = typer.Typer()
    app.command()(tables_command)
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


def test_the_command_writes_tables_of_one_metric(call, tmp_path):
    make_results(tmp_path / "results", "mine")
    answer = call(
        *("mine", "--results", tmp_path / "results", "--out", tmp_path),
        *("--metric", "gmean", "--view", "ours"),
    )
    assert answer.exit_code == 0
    assert "README.md lists them" in answer.output
    names = {path.stem for path in (tmp_path / "tables").glob("mine-*.csv")}
    assert "mine-gmean-honest-mode" in names
    assert not any("accuracy" in name for name in names)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mino",), "Did you mean 'mine'?"),
        (("--metric", "gmeen"), "'gmeen'; there are: accuracy"),
        (("--results", "nowhere"), "no folder of results nowhere"),
    ],
)
def test_what_a_user_can_get_wrong(call, tmp_path, arguments, message):
    make_results(tmp_path / "results", "mine")
    folders = ("--results", tmp_path / "results", "--out", tmp_path)
    answer = call(*folders, *arguments)
    assert isinstance(answer.exception, InputError)
    assert message in str(answer.exception)


def test_no_results_yet(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = call("--out", "out")
    assert answer.exit_code == 0
    assert "has no results" in answer.output
    assert (tmp_path / "out/tables/table4-large-datasets.tex").is_file()


def test_a_folder_that_is_a_file(call, tmp_path):
    (tmp_path / "taken").write_text("")
    (tmp_path / "results").mkdir()
    answer = call("--results", tmp_path / "results", "--out", tmp_path / "taken")
    assert "cannot write to" in str(answer.exception)


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
