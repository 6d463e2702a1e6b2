"""What the page carries as data: every row once, at its place, and nothing lost."""

from __future__ import annotations

import pytest
from result_files import KEEL, make_results

from drmbench.report.leaderboard import leaderboard
from drmbench.report.page_appendix import kept_tables, packed, unpacked
from drmbench.report.page_boards import boards_data, own_boards, regime_boards
from drmbench.report.page_cells import UNITS, cells_data
from drmbench.report.page_threats import threats
from drmbench.running.results import load_results


@pytest.fixture(scope="module")
def results(sample_folder):
    return load_results(sample_folder)


def place_of(entry, row):
    """Return where a row's values stand, by counting all that comes before it."""
    place = 0
    for dataset in entry["datasets"]:
        for method in entry["methods"]:
            for mode, scaling in entry["ways"]:
                for split in range(dataset["splits"]):
                    names = (dataset["name"], method, mode, scaling, split)
                    if names == row:
                        return place
                    place += 1
    raise LookupError(row)


def test_every_row_stands_at_its_place(results):
    for entry in cells_data(results):
        rows = results[entry["name"]].rows
        done = 0
        for row in rows.to_dict("records")[::7]:
            keys = ("dataset", "method", "mode", "scaling", "split")
            place = place_of(entry, tuple(row[key] for key in keys))
            if row["status"] != "ok":
                said = f"{row['status']}: {row['reason']}"
                assert entry["failures"][place] == said
                assert entry["columns"]["seconds"][place] is None
                continue
            for metric in entry["metrics"]:
                figure = entry["columns"][metric][place] / UNITS
                assert figure == pytest.approx(row[metric], abs=0.5 / UNITS)
            assert entry["columns"]["seconds"][place] == 2.5
            assert entry["texts"][entry["columns"]["params"][place]] == row["params"]
            done += 1
        assert done
        filled = [x for x in entry["columns"]["seconds"] if x is not None]
        assert len(filled) + len(entry["failures"]) == len(rows)


def test_experiments_that_measure_have_no_cells(results):
    assert [entry["name"] for entry in cells_data(results)] == ["gene", "imbalanced"]


def test_data_comes_back_as_it_was_and_always_in_the_same_bytes():
    data = {"a": [1, None, 0.5], "≫": "<script>"}
    assert unpacked(packed(data)) == data
    assert packed(data) == packed(data)
    assert "<" not in packed(data)


def test_boards_have_the_scores_of_leaderboards(tmp_path):
    common = {"metrics": ("gmean", "accuracy"), "modes": ("honest", "paper")}
    make_results(tmp_path, "imbalanced", datasets=KEEL, reproduces="table8", **common)
    results = load_results(tmp_path)
    data = boards_data(regime_boards(results), results)
    assert {(b["metric"], b["mode"]) for b in data["boards"]} == {
        (metric, mode) for metric in ("gmean", "accuracy") for mode in common["modes"]
    }
    first = data["boards"][0]
    assert (first["group"], first["metric"], first["mode"]) == (
        "rare",
        "gmean",
        "honest",
    )
    means = {
        method: sum(line[column] for line in first["scores"]) / len(KEEL)
        for column, method in enumerate(first["methods"])
    }
    table = leaderboard(results.values(), "rare").set_index("method")["mean_score"]
    assert means == pytest.approx(table.to_dict(), abs=1e-6)
    names = [data["datasets"][index]["name"] for index in first["datasets"]]
    assert names == list(KEEL)


def test_own_experiments_are_boards_of_their_own(tmp_path):
    make_results(
        tmp_path, "mine", datasets=["a", "b"], values={("a", "nb"): "singular"}
    )
    results = load_results(tmp_path)
    boards = own_boards(results)
    assert [board.metric for board in boards] == list(
        results["mine"].experiment.metrics
    )
    assert boards[0].complete == ["drm-rbf", "svm-rbf"]
    assert boards[0].entry == "drm-rbf"
    mean = results["mine"].summary("b", "nb").mean
    assert boards[0].scores.loc["b", "nb"] == mean
    assert boards[0].seconds.loc["b", "nb"] == 2.5


def test_scores_beside_the_paper_s_stay_in_the_appendix(tmp_path):
    make_results(tmp_path, "gene", reproduces="table3")
    make_results(tmp_path, "beyond", methods=["drm-rbf", "svm-rbf"])
    results = load_results(tmp_path)
    tables = kept_tables(results, own=False)
    kept = {(t.experiment, t.metric) for t in tables if t.kind == "scores"}
    assert kept == {("gene", "accuracy")}
    assert "seconds" not in {t.kind for t in tables}
    mine = kept_tables({"beyond": results["beyond"]}, own=True)
    assert {t.experiment for t in mine if t.kind == "scores"} == {"beyond"}


def test_threats_are_those_of_the_results(results):
    found = dict(threats(results))
    assert found["Stand-ins"] == "A relative stood in: wine-red for wine."
    assert found["Missing data"] == "Could not be obtained, and was not run: gcm."
    assert found["Deviations"].startswith("gene says what was done otherwise")
    assert "optimistic" in found["Mode paper"]
    assert "12 in gene" in found["Cells without a figure"]
    assert dict(threats({"timing": results["timing"]})) == {}
