"""Leaderboards: what is comparable, what is ranked, and what the tables say."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from claim_results import names_of
from result_files import make_results
from scipy import stats
from table_cells import cells, records

from drmbench.data import origin_of
from drmbench.errors import InputError
from drmbench.protocol.protocol import SelectionPlan
from drmbench.report.analyses.leaderboards import leaderboard_tables
from drmbench.report.leaderboard import board, comparisons, leaderboard
from drmbench.report.score_pool import pool_of
from drmbench.report.statistics import friedman, holm
from drmbench.running.results import load_results

KEEL = tuple(names_of("keel"))
METHODS = ("drm-rbf", "drm-poly", "svm-balanced", "nb")
FOLDS = {"kind": "kfold", "k": 5}


def results_of(folder: Path):
    return list(load_results(folder).values())


def keel(folder: Path, name="keel", methods=METHODS, datasets=KEEL, **more):
    more = {"metrics": ("gmean",), "split": FOLDS, **more}
    make_results(folder, name, datasets=datasets, methods=methods, **more)


def source(name: str) -> str:
    """Return what a KEEL set was made from, as its name has it."""
    return name.rstrip("0123456789").partition("-")[0]


ORIGINS = {name: source(name) for name in KEEL}


def test_ranks_means_wins_and_time_are_those_of_a_plain_count(tmp_path):
    keel(tmp_path)
    (results,) = results_of(tmp_path)
    means = results.means()
    frame = leaderboard([results], "rare").set_index("method")
    ranks = pd.DataFrame(
        stats.rankdata(-means, axis=1), index=means.index, columns=means.columns
    )
    assert frame["mean_rank"].to_dict() == pytest.approx(ranks.mean().to_dict())
    assert frame["mean_score"].to_dict() == pytest.approx(means.mean().to_dict())
    assert frame["wins"].sum() == pytest.approx(len(KEEL))
    assert frame["wins"].to_dict() == (ranks == 1).sum().to_dict()
    assert set(frame["seconds"]) == {2.5}  # 2 s of selection, 0.5 s of fit
    assert frame["mean_rank"].is_monotonic_increasing
    assert (frame["datasets"] == 15).all()
    assert frame["drm"].to_dict() == {m: m.startswith("drm") for m in METHODS}
    assert frame.index[frame["entry"]].tolist() == ["drm-rbf"]
    for name in ("rank", "score"):
        low, mean, high = (frame[f"mean_{name}{end}"] for end in ("_low", "", "_high"))
        assert (low < mean).all()
        assert (mean < high).all()


def test_ties_share_a_win_and_the_same_place(tmp_path):
    values = {(d, m): 0.9 for d in KEEL for m in ("drm-rbf", "nb")}
    values |= {(d, m): 0.5 for d in KEEL for m in ("drm-poly", "svm-balanced")}
    keel(tmp_path, values=values)
    frame = leaderboard(results_of(tmp_path), "rare").set_index("method")
    assert frame["wins"].to_dict() == {
        **{"drm-rbf": 7.5, "nb": 7.5},
        **{"drm-poly": 0.0, "svm-balanced": 0.0},
    }
    assert frame.loc["nb", "mean_rank"] == 1.5


def test_intervals_are_over_origins(tmp_path):
    """Where the sets of an origin are alike, fewer pieces of evidence: wider ends."""

    def value(dataset, method, mode, scaling, split):
        shift = sum(map(ord, source(dataset))) % 7 / 20
        return 0.5 + shift + (0.05 if method == "drm-rbf" else 0.0)

    keel(tmp_path, values=value)
    results = results_of(tmp_path)
    each = leaderboard(results, "rare").set_index("method")
    shared = leaderboard(results, "rare", origins=ORIGINS).set_index("method")
    assert each["mean_score"].to_dict() == shared["mean_score"].to_dict()
    width = [
        frame.loc["nb", "mean_score_high"] - frame.loc["nb", "mean_score_low"]
        for frame in (each, shared)
    ]
    assert width[1] > 1.2 * width[0]


def test_methods_that_miss_a_data_set_are_listed_and_cost_nothing(tmp_path):
    keel(tmp_path)
    whole = leaderboard(results_of(tmp_path), "rare")
    keel(tmp_path, "more", ("rf", "svm-rbf"), values={("glass4", "rf"): "it failed"})
    keel(tmp_path, "few", ("c45",), KEEL[:2])
    frame = leaderboard(results_of(tmp_path), "rare").set_index("method")
    assert frame["datasets"].to_dict() == {
        **dict.fromkeys((*METHODS, "svm-rbf"), 15),
        **{"rf": 14, "c45": 2},
    }
    assert frame.index[-2:].tolist() == ["rf", "c45"]
    assert (
        frame.loc[["rf", "c45"], ["mean_rank", "mean_score", "wins"]]
        .isna()
        .all(axis=None)
    )
    # Means of the others are what they were; only their ranks have a rival more.
    for row in whole.to_dict("records"):
        assert frame.loc[row["method"], "mean_score"] == row["mean_score"]
    alone = leaderboard(
        [r for r in results_of(tmp_path) if r.name in ("keel", "few")], "rare"
    )
    assert alone["mean_rank"].dropna().tolist() == whole["mean_rank"].tolist()


def test_figures_on_other_splits_are_not_mixed_in(tmp_path):
    """The way of splitting counts that has the most figures."""
    keel(tmp_path, values={(d, m): 0.7 for d in KEEL for m in METHODS})
    other = {(d, m): 0.9 for d in KEEL for m in (*METHODS, "rf")}
    few = {"datasets": KEEL[:4], "values": other}
    keel(tmp_path, "folds", (*METHODS, "rf"), split={"kind": "folds"}, **few)
    keel(tmp_path, "seeded", (*METHODS, "rf"), seed=1, **few)
    pool = pool_of(results_of(tmp_path), "rare")
    assert pool.experiments == ("keel",)
    assert pool.scores.shape == (15, 4)
    assert (pool.scores == 0.7).all(axis=None)


@pytest.mark.parametrize(
    "other",
    [
        {"selection": SelectionPlan("kfold", k=5, subset=200)},
        {"preparation": "table"},
    ],
    ids=["selection", "preparation"],
)
def test_figures_that_were_selected_otherwise_are_not_mixed_in(tmp_path, other):
    """Of two ways that all data sets have, the one with more methods counts."""
    keel(tmp_path, values={(d, m): 0.7 for d in KEEL for m in METHODS})
    better = {(d, m): 0.9 for d in KEEL for m in ("svm-rbf", "rf")}
    keel(tmp_path, "other", ("svm-rbf", "rf"), values=better)
    alike, changed = results_of(tmp_path)
    assert pool_of([alike, changed], "rare").experiments == ("keel", "other")
    said = changed.experiment.model_copy(update=other).model_dump(mode="json")
    manifest = {**changed.manifest, "experiment": said}
    pool = pool_of([alike, replace(changed, manifest=manifest)], "rare")
    assert pool.experiments == ("keel",)
    assert sorted(pool.scores.columns) == sorted(METHODS)
    assert (pool.scores == 0.7).all(axis=None)


def test_selection_on_a_part_that_is_all_rows_is_selection_on_all(tmp_path):
    keel(tmp_path, values={(d, m): 0.7 for d in KEEL for m in METHODS})
    keel(tmp_path, "other", ("rf",), values={(d, "rf"): 0.9 for d in KEEL})
    alike, other = results_of(tmp_path)
    experiments = []
    for subset in (10_000, 10):
        plan = replace(other.experiment.selection, subset=subset, subset_least=5)
        said = other.experiment.model_copy(update={"selection": plan})
        manifest = {
            **other.manifest,
            "experiment": said.model_dump(mode="json"),
            "datasets": [{**x, "n_train": 100} for x in other.manifest["datasets"]],
        }
        pool = pool_of([alike, replace(other, manifest=manifest)], "rare")
        experiments.append(pool.experiments)
    assert experiments == [("keel", "other"), ("keel",)]


def test_data_sets_that_were_selected_otherwise_are_left_out(tmp_path):
    """One more data set in an older way does not change which way counts."""
    keel(
        tmp_path, datasets=KEEL[:6], values={(d, m): 0.7 for d in KEEL for m in METHODS}
    )
    fewer = {(d, "svm-rbf"): 0.9 for d in KEEL}
    keel(tmp_path, "other", ("svm-rbf",), datasets=KEEL[:7], values=fewer)
    alike, changed = results_of(tmp_path)
    plan = {"selection": SelectionPlan("kfold", k=5, subset=200)}
    said = changed.experiment.model_copy(update=plan).model_dump(mode="json")
    manifest = {**changed.manifest, "experiment": said}
    pool = pool_of([alike, replace(changed, manifest=manifest)], "rare")
    assert pool.experiments == ("keel",)
    assert sorted(pool.scores.index) == sorted(KEEL[:6])


def test_experiments_with_the_same_splits_are_one_ranking(tmp_path):
    keel(tmp_path, "first", METHODS[:2])
    keel(tmp_path, "second", METHODS[2:])
    keel(tmp_path / "together", "both")
    parts = leaderboard(results_of(tmp_path), "rare")
    whole = leaderboard(results_of(tmp_path / "together"), "rare")
    pd.testing.assert_frame_equal(parts, whole)


def test_of_more_repeats_the_splits_count_that_all_have(tmp_path):
    """Repetitions are drawn after each other, so the first ones are the same."""
    often = {(d, "drm-rbf"): [0.6] * 5 + [0.9] * 10 for d in KEEL}
    keel(tmp_path, "often", ("drm-rbf",), values=often, splits=15)
    assert leaderboard(results_of(tmp_path), "rare")["mean_score"][0] == 0.8
    keel(tmp_path, "once", ("nb",), split={**FOLDS, "repeats": 1})
    frame = leaderboard(results_of(tmp_path), "rare").set_index("method")
    assert frame.loc["drm-rbf", "mean_score"] == 0.6


def test_the_same_method_twice_is_that_of_the_broader_experiment(tmp_path):
    keel(tmp_path, "broad", values={(d, "nb"): 0.8 for d in KEEL})
    keel(tmp_path, "a-few", ("nb",), values={(d, "nb"): 0.9 for d in KEEL})
    pool = pool_of(results_of(tmp_path), "rare")
    assert (pool.scores["nb"] == 0.8).all()
    assert (pool.experiments, pool.sources) == (("broad", "a-few"), ("broad",))


def test_missing_data_and_stand_ins(tmp_path):
    sets = [
        {"name": "gcm", "substitute": "ramaswamy-2001", "n": 190, "p": 1363},
        {"name": "sun", "missing": "no address"},
        *("golub-1999-v1", "khan-2001", "nci"),
    ]
    failed = {("nci", m): "it failed" for m in ("drm-rbf", "svm-rbf", "nb")}
    make_results(tmp_path, "gene", datasets=sets, values=failed)
    pool = pool_of(results_of(tmp_path), "wide", origins={"khan-2001": "khan"})
    assert list(pool.scores.index) == ["ramaswamy-2001", "golub-1999-v1", "khan-2001"]
    assert pool.origin_list == ["ramaswamy-2001", "golub-1999-v1", "khan"]


def test_modes_metrics_and_other_regimes_are_kept_apart(tmp_path):
    make_results(
        tmp_path, "mine", datasets=("iris", "wine", *KEEL), modes=("paper", "honest")
    )
    results = results_of(tmp_path)
    assert set(pool_of(results, "low").scores.index) == {"iris", "wine"}
    honest, paper = (pool_of(results, "rare", mode=m) for m in ("honest", "paper"))
    assert not np.allclose(paper.scores, honest.scores)
    accuracy = pool_of(results, "rare", metric="accuracy")
    assert np.allclose(accuracy.scores - honest.scores, 0.01)
    assert pool_of(results, "rare", mode="maxabs").scores.empty
    assert leaderboard(results, "large").empty
    with pytest.raises(InputError, match="no regime"):
        leaderboard(results, "faces")


def test_lower_may_be_better(tmp_path):
    values = {(d, m): 0.1 * (i + 1) for d in KEEL for i, m in enumerate(METHODS)}
    keel(tmp_path, metrics=("log_loss",), values=values)
    frame = leaderboard(results_of(tmp_path), "rare", "log_loss")
    assert frame["method"].tolist() == list(METHODS)
    assert frame["mean_score"].tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    found = comparisons(pool_of(results_of(tmp_path), "rare", metric="log_loss"))
    assert set(found["standing"]) == {"ahead"}
    assert (found["difference"] > 0).all()


@pytest.mark.parametrize(
    ("methods", "entry"),
    [
        (("drm-poly", "drm-rbf", "nb"), "drm-rbf"),
        (("drm-rbf", "drm", "nb"), "drm"),
        (("drm-linear", "nb"), "drm-linear"),
        (("krr-rbf", "nb", "smote-drm"), None),
    ],
)
def test_the_entry_is_named_once_for_all(tmp_path, methods, entry):
    keel(tmp_path, methods=methods)
    pool = pool_of(results_of(tmp_path), "rare")
    assert pool.entry == entry
    assert comparisons(pool).empty == (entry is None)


def test_an_entry_that_is_not_complete_is_none(tmp_path):
    keel(tmp_path, values={("glass4", "drm-rbf"): "it failed"})
    assert pool_of(results_of(tmp_path), "rare").entry == "drm-poly"


def test_comparisons_count_sets_and_origins(tmp_path):
    keel(tmp_path)
    (results,) = results_of(tmp_path)
    pool = pool_of([results], "rare", origins=ORIGINS)
    found = comparisons(pool)
    ranked = board(pool)["method"].tolist()
    assert found["method"].tolist() == [name for name in ranked if name != "drm-rbf"]
    assert set(found["n"]) == {15}
    assert set(found["origin_n"]) == {len(set(ORIGINS.values()))}
    means = results.means()
    per_origin = means.groupby(means.index.map(ORIGINS)).mean()
    for row in found.to_dict("records"):
        for prefix, table in (("", means), ("origin_", per_origin)):
            gains = table["drm-rbf"] - table[row["method"]]
            assert row[f"{prefix}wins"] == (gains > 0).sum()
            assert row[f"{prefix}losses"] == (gains < 0).sum()
            expected = stats.wilcoxon(gains, method="exact").pvalue
            assert row[f"{prefix}p"] == pytest.approx(expected)
        assert row["difference"] == pytest.approx(gains.mean())
        assert row["ahead"] + row["equivalent"] + row["behind"] == pytest.approx(1)
    for prefix in ("", "origin_"):
        assert found[f"{prefix}p_holm"].tolist() == holm(found[f"{prefix}p"].tolist())


@pytest.mark.parametrize(
    ("gain", "standing"),
    [(0.1, "ahead"), (-0.1, "behind"), (0.001, "practically equivalent")],
)
def test_what_is_said_of_the_drm(tmp_path, gain, standing):
    values = {(d, "nb"): 0.5 for d in KEEL} | {(d, "drm-rbf"): 0.5 + gain for d in KEEL}
    keel(tmp_path, methods=("drm-rbf", "nb"), values=values)
    pool = pool_of(results_of(tmp_path), "rare", origins=ORIGINS)
    assert comparisons(pool)["standing"].tolist() == [standing]


def test_many_sets_of_few_origins_decide_nothing(tmp_path):
    values = {(d, "nb"): 0.5 for d in KEEL} | {(d, "drm-rbf"): 0.9 for d in KEEL}
    keel(tmp_path, methods=("drm-rbf", "nb"), values=values)
    two = {name: "a" if name < "g" else "b" for name in KEEL}
    (row,) = comparisons(pool_of(results_of(tmp_path), "rare", origins=two)).to_dict(
        "records"
    )
    assert (row["wins"], row["origin_wins"]) == (15, 2)
    assert row["p"] < 0.001
    assert row["origin_p"] == 0.5
    assert row["standing"] == "undecided"


def test_the_tables(tmp_path):
    keel(tmp_path)
    keel(tmp_path, "few", ("c45",), KEEL[:2])
    results = results_of(tmp_path)
    tables = list(leaderboard_tables(results, ORIGINS))
    assert [t.id for t in tables] == [
        "leaderboard_rare",
        "leaderboard_rare-comparisons",
    ]
    first, second = tables
    assert first.title == "Rare class: all methods by G-mean, honest mode"
    assert [row[0].text for row in first.rows] == ["1", "2", "3", "4", ""]
    last = [cell.text for cell in first.rows[-1]]
    assert last == ["", "c45", "", "2 of 15", *["–"] * 6]
    entry = next(row for row in first.rows if row[1].text == "drm-rbf")
    assert entry[2].text == "entry"
    assert {row[2].text for row in first.rows} == {"entry", "variant", ""}
    notes = " ".join(first.notes)
    assert "15 data sets (KEEL's imbalanced" in notes
    assert (
        f"from {len(set(ORIGINS.values()))} origins; experiments: keel, few." in notes
    )
    test = friedman(pool_of(results, "rare", origins=ORIGINS).origin_gains)
    assert (
        f"Friedman's test over origins (Iman and Davenport), 4 methods, n = {test.n}"
        in notes
    )
    assert f"= {test.f:.2f}, p =" in notes
    assert len(records(first)) == 5
    assert {row["method"] for row in records(second)} == set(METHODS[1:])
    assert not any(cell.bold for table in tables for row in table.rows for cell in row)
    shown = cells(second)
    for record in records(second):
        texts = next(v for k, v in shown.items() if k[0] == record["method"])
        counts = "–".join(record[name] for name in ("wins", "ties", "losses"))
        assert texts["over data sets"].text == counts
        assert texts["drm-rbf is"].text == record["standing"]


def test_no_table_of_too_little(tmp_path):
    make_results(tmp_path, "two", datasets=("iris", "wine"))
    keel(tmp_path, "alone", ("drm-rbf",))
    assert list(leaderboard_tables(results_of(tmp_path))) == []


def test_origins_are_those_of_the_catalogue_unless_others_are_given(tmp_path):
    keel(tmp_path)
    results = results_of(tmp_path)
    first, _ = leaderboard_tables(results)
    sets = {name for found in results for name in found.datasets}
    count = len({origin_of(name) for name in sets})
    assert f"from {count} origins" in first.notes[0]
    first, _ = leaderboard_tables(results, {})
    assert "each taken for an origin of its own" in first.notes[0]


def test_a_quick_look_at_few_training_rows_takes_no_part(tmp_path):
    keel(tmp_path)
    quick = {"kind": "random", "train": 0.6, "max_train": 150}
    keel(tmp_path, "quick", datasets=("glass5", "vowel0"), split=quick)
    first, _ = leaderboard_tables(results_of(tmp_path))
    assert math.isclose(first.rows[0][3].value, 15)
