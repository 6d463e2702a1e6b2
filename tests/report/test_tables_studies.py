"""Tables over several experiments or draws: curves, fixed α and β, draws, searches."""

from __future__ import annotations

import statistics

import pytest
from result_files import default_value, make_results
from scipy.stats import rankdata
from table_cells import cells, records, tables_of

from drmbench.report.analyses.sensitivity import fixed_pairs
from drmbench.report.tables import write_tables
from drmbench.running.results import load_results

KEEL = ("haberman", "ecoli1", "glass4", "new-thyroid2")


def random_split(share: float) -> dict[str, object]:
    return {"kind": "random", "train": share, "repeats": 5}


def kfold(repeats: int) -> dict[str, object]:
    return {"kind": "kfold", "k": 5, "repeats": repeats}


# -------------------------------------------------------------------- learning curves


def make_curves(folder, *, shares=(0.4, 0.05, 0.1), **more):
    for place, share in enumerate(shares):
        make_results(
            *(folder, f"part{place}"),
            split=random_split(share),
            values={("iris", "drm-rbf"): share, ("wine", "nb"): [0.5, None]},
            **more,
        )


def test_experiments_that_differ_in_the_share_are_one_table(tmp_path):
    make_curves(tmp_path)
    found = tables_of(tmp_path)
    names = [name for name in found if name.endswith("accuracy-honest-mode-curves")]
    assert names == [
        "part1-accuracy-honest-mode-curves",
        "part1-balanced-accuracy-honest-mode-curves",
    ]
    assert {table.kind for table in found.values()} == {"curves"}
    table = found[names[0]]
    assert [c.text for c in table.columns[2:]] == ["5 %", "10 %", "40 %"]
    row = cells(table)["iris", "drm-rbf"]
    assert [row[f"{share} %"].value for share in (5, 10, 40)] == [0.05, 0.1, 0.4]
    assert row["5 %"].text == "0.0500 ± 0.0000"
    assert cells(table)["wine", "nb"]["5 %"].text == "–"
    assert {r["experiment"] for r in records(table)} == {"part0", "part1", "part2"}


def test_experiments_that_differ_in_more_are_no_curve(tmp_path):
    make_results(tmp_path, "a", split=random_split(0.1))
    make_results(tmp_path, "b", split=random_split(0.2), seed=1)
    make_results(tmp_path, "c", split=random_split(0.3), methods=("nb",))
    make_results(tmp_path, "d", split={"kind": "random", "train": "paper"})
    assert not [t for t in tables_of(tmp_path).values() if t.kind == "curves"]


def test_curves_are_one_document_and_can_be_asked_for_a_metric(tmp_path):
    make_curves(tmp_path / "results")
    written = write_tables(tmp_path / "results", [], tmp_path)
    assert [path.name for path in written] == ["learning-curves.md", "README.md"]
    (table,) = tables_of(tmp_path / "results", metric="gmean").values()
    assert table.metric == "gmean"


# -------------------------------------------------------------------------- α and β


def at(alpha: float, beta: float) -> dict[str, object]:
    """Return a method at fixed α and β; kernel ridge regression where α is 0."""
    if not alpha:
        grid = {"beta": [beta], "sigma": [1, 10]}
        return {"label": f"ridge {beta}", "name": "krr-rbf", "grid": grid}
    grid = {"alpha": [alpha], "sigma": [1, 10]}
    fixed = {"params": {"beta": beta}, "grid": grid}  # either place will do
    return {"label": f"{alpha} and {beta}", "name": "drm-rbf", **fixed}


PAIRS = [(0, 1), (0, 10), (0.1, 1), (0.1, 10), (100, 10)]


def test_fixed_alpha_and_beta_become_one_table_of_means(tmp_path):
    methods = [at(*pair) for pair in PAIRS]
    values = {
        (name, methods[i]["label"]): 0.1 * (i + 1) + 0.01 * place
        for i in range(len(PAIRS))
        for place, name in enumerate(KEEL)
    }
    more = {"datasets": KEEL, "metrics": ("gmean",), "values": values}
    make_results(tmp_path, "fixed", methods=methods, **more)
    (table,) = tables_of(tmp_path).values()
    assert table.id == "fixed-gmean-honest-mode"
    assert [column.text for column in table.columns] == ["α", "β = 1", "β = 10"]
    shown = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert shown == {
        "0": ["0.1150", "0.2150"],
        "0.1": ["0.3150", "0.4150"],
        "100": ["–", "0.5150"],
    }
    assert any("α = 100, β = 10 (0.5150)" in note for note in table.notes)


@pytest.mark.parametrize(
    "other",
    [
        "svm-rbf",
        {"label": "searched", "name": "drm-rbf", "grid": {"alpha": [1, 2]}},
        {**at(0.1, 10), "label": "twice"},
    ],
)
def test_methods_that_are_not_at_one_pair_each_are_no_such_table(tmp_path, other):
    make_results(tmp_path, "mine", methods=[*(at(*pair) for pair in PAIRS), other])
    assert fixed_pairs(load_results(tmp_path)["mine"]) == {}
    assert "scores" in {table.kind for table in tables_of(tmp_path).values()}


# ------------------------------------------------------------------------------ draws


def test_ranks_and_means_of_each_draw(tmp_path):
    methods = ("drm-rbf", "svm-rbf", "nb")
    more = {"datasets": KEEL, "methods": methods, "metrics": ("accuracy",)}
    make_results(tmp_path, "again", splits=15, split=kfold(3), **more)
    table = tables_of(tmp_path)["again-accuracy-honest-mode-draws"]
    assert len(table.columns) == 9
    found = cells(table)
    for draw, splits in {1: range(5), 2: range(5, 10), 3: range(10, 15)}.items():
        means = {
            name: [
                statistics.fmean(
                    default_value(name, label, "honest", "selected", split)
                    for split in splits
                )
                for label in methods
            ]
            for name in KEEL
        }
        for place, label in enumerate(methods):
            ranks = [rankdata([-x for x in line])[place] for line in means.values()]
            cell = found[(label,)][f"rank, draw {draw}"]
            assert cell.value == pytest.approx(statistics.fmean(ranks))
            mean = statistics.fmean(line[place] for line in means.values())
            cell = found[(label,)][f"mean, draw {draw}"]
            assert cell.value == pytest.approx(mean)
    overall = [row[1].value for row in table.rows]
    assert overall == sorted(overall)


def test_folds_drawn_once_and_few_data_sets_have_no_such_table(tmp_path):
    make_results(tmp_path, "once", datasets=KEEL, split=kfold(1))
    make_results(tmp_path, "few", splits=15, split=kfold(3))
    make_results(tmp_path, "random", datasets=KEEL, split=random_split(0.5))
    assert not [t for t in tables_of(tmp_path).values() if t.kind == "draws"]


# ---------------------------------------------------------------------- other searches


def searched(label: str, number: int) -> dict[str, object]:
    return {"label": label, "grid": {"C": list(range(number)), "sigma": [1, 2]}}


def make_searches(folder, **more):
    names = ("drm-rbf", "svm-rbf")
    for name, sets, methods, value in (
        ("narrow", KEEL[:3], [searched(x, 6) for x in names], 0.5),
        ("broad", KEEL, [*(searched(x, 12) for x in names), "nb"], 0.7),
    ):
        values = {(one, "drm-rbf"): value for one in KEEL}
        values |= {(one, "svm-rbf"): 0.6 for one in KEEL}
        make_results(
            *(folder, name),
            datasets=sets,
            methods=methods,
            values=values,
            **(more if name == "narrow" else {}),
        )


def test_the_same_methods_with_other_candidates_stand_side_by_side(tmp_path):
    make_searches(tmp_path)
    (table,) = (t for t in tables_of(tmp_path).values() if t.kind == "searches")
    assert table.id == "narrow-accuracy-honest-mode-searches"
    rows = [[cell.text for cell in row] for row in table.rows]
    assert rows == [
        ["svm-rbf", "12", "24", "1.00", "2.00", "0.6000", "0.6000", "0.0000"],
        ["drm-rbf", "12", "24", "2.00", "1.00", "0.5000", "0.7000", "−0.2000"],
    ]
    assert "over the 3 of 3 data sets" in table.notes[0]


@pytest.mark.parametrize("more", [{"seed": 1}, {"split": kfold(2)}])
def test_another_protocol_is_no_other_search(tmp_path, more):
    make_searches(tmp_path, **more)
    assert not [t for t in tables_of(tmp_path).values() if t.kind == "searches"]


# -------------------------------------------------------------------------- documents


def test_a_regime_has_one_document_with_the_experiments_behind_its_ranking(tmp_path):
    folder = tmp_path / "results"
    common = {"datasets": KEEL, "metrics": ("gmean",)}
    make_results(folder, "study", split=kfold(1), **common)
    make_results(folder, "study-2", split=kfold(3), splits=15, **common)
    make_results(folder, "other", split=random_split(0.2), **common)
    make_results(folder, "ours", reproduces="table8", split=kfold(1), **common)
    fixed = [at(*pair) for pair in PAIRS]
    make_results(folder, "fixed", methods=fixed, split=kfold(1), **common)
    write_tables(folder, [], tmp_path)
    names = {path.name for path in (tmp_path / "tables").glob("*.md")}
    assert {"other.md", "ours.md", "fixed.md", "leaderboard_rare.md"} <= names
    assert not {"study.md", "study-2.md"} & names
    text = (tmp_path / "tables" / "leaderboard_rare.md").read_text("utf-8")
    assert text.startswith("# Every method ranked: rare class\n")
    ids = [line.split('"')[1] for line in text.splitlines() if "<a id" in line]
    assert ids[:3] == [
        *("leaderboard_rare", "leaderboard_rare-comparisons"),
        "study-2-gmean-honest-mode-draws",
    ]
    assert {"study-gmean-honest-mode", "study-2-gmean-honest-mode"} <= set(ids)
    assert "0.1 and 10" not in text  # what is fixed for a purpose is not ranked


def test_where_nothing_is_of_the_paper_every_experiment_has_a_document(tmp_path):
    folder = tmp_path / "results"
    make_results(folder, "mine", datasets=KEEL, metrics=("gmean",), split=kfold(1))
    write_tables(folder, [], tmp_path)
    names = {path.name for path in (tmp_path / "tables").glob("*.md")}
    assert {"mine.md", "leaderboard_rare.md"} <= names
