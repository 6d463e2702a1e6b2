"""Estimates of run times: from cells done here, the committed rows, and sizes."""

import csv
import json
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import REPOSITORY

from drmbench.config import load_experiments, parse_experiment
from drmbench.running import estimate
from drmbench.running.estimate import (
    Estimator,
    KnownTimes,
    PlannedCell,
    SizeModel,
    Work,
    reference_times,
)
from drmbench.running.manifest import read_manifest
from drmbench.running.plan import make_plan

REFERENCE = REPOSITORY / "results" / "reference"
PACES = json.loads(estimate.PACE_FILE.read_text())["paces"]
SECONDS = ("seconds_select", "seconds_fit", "seconds_predict")


@pytest.fixture(autouse=True)
def _machine_of_the_file(monkeypatch):
    """Take this machine for the one of the pace file, however busy it is."""
    monkeypatch.setattr(estimate, "machine_pace", lambda: 1.0)


def work(n, p, fits, *, method="m", family="f", dataset="d"):
    size = estimate._size(n, n, p, 2, False)
    return Work(dataset, method, family, "", n, size, fits)


@given(
    st.floats(0.5, 2.5),
    st.floats(0.0, 1.5),
    st.floats(0.6, 1.0),
    st.floats(1e-6, 1e-4),
)
def test_a_power_law_is_recovered(rows, features, fits, unit):
    def seconds(n, p, k):
        return unit * n**rows * p**features * k**fits

    sizes = [(n, p, k) for n in (50, 200, 800) for p in (3, 30, 300) for k in (5, 50)]
    times = [max(seconds(*size), 0.0) for size in sizes]
    model = SizeModel.fit([work(*size) for size in sizes], times)
    for between in [(100, 10, 10), (400, 100, 20)]:
        if seconds(*between) > 0.1 and min(times) > 2e-3:
            assert model.predict(work(*between)) == pytest.approx(
                seconds(*between), rel=0.25
            )


def rows_of(name):
    with (REFERENCE / name / "results.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def committed_seconds(name, chosen):
    """Add up the seconds of some committed rows, read as anybody would."""
    return sum(
        float(row[column] or 0)
        for row in rows_of(name)
        if chosen(row)
        for column in SECONDS
    )


def planned(name, *datasets, **options):
    (experiment,) = load_experiments([REPOSITORY / "configs" / f"{name}.yaml"])
    wanted = set(datasets)
    plan = make_plan(experiment, wanted=lambda one: one in wanted, **options)
    tasks = [task for task in plan.cells if task.dataset.name in wanted]
    cells = [PlannedCell(task, plan.dataset_of(task), None) for task in tasks]
    return tasks, Estimator(cells)


def test_committed_cells_take_what_their_rows_say():
    tasks, estimator = planned("quick", "iris")
    found = estimator.forecast(tasks, 1)
    said = committed_seconds("quick", lambda row: row["dataset"] == "iris")
    started = estimate._START
    assert found.rough == 0
    assert found.processor - started == pytest.approx(said * PACES["quick"], rel=0.02)
    assert found.wall == pytest.approx(found.processor)


def test_data_that_is_to_be_fetched_is_planned_and_timed(checkout, monkeypatch):
    monkeypatch.setenv("DRMBENCH_OFFLINE", "0")
    tasks, estimator = planned("imbalanced", "haberman", "ecoli1", fetch=False)
    assert len(tasks) == 280
    sets = ("haberman", "ecoli1")
    said = committed_seconds("imbalanced", lambda row: row["dataset"] in sets)
    expected = said * PACES["imbalanced"]
    assert estimator.forecast(tasks, 1).processor == pytest.approx(expected, rel=0.05)


def test_sizes_tell_the_times_of_data_sets_they_were_not_fitted_to():
    known = reference_times()
    pairs = list(zip(known._works, known._seconds, strict=True))
    by_set = defaultdict(list)
    for one, seconds in pairs:
        if seconds > 0.01:
            by_set[one.dataset].append((one, seconds))
    factors = []
    for name in sorted(by_set)[::15]:
        others = KnownTimes(pair for pair in pairs if pair[0].dataset != name)
        for one, seconds in by_set[name]:
            guess = others.estimate(one)
            if not guess.rough:
                factors.append(math.exp(abs(math.log(guess.seconds / seconds))))
    assert len(factors) > 100
    assert np.median(factors) < 1.7
    assert np.quantile(factors, 0.9) < 3.5


def test_a_method_without_committed_times_is_rough():
    known = KnownTimes([(work(100, 5, 10), 1.0), (work(1000, 5, 10), 20.0)])
    assert not known.estimate(work(300, 5, 10, dataset="e")).rough
    relative = known.estimate(work(300, 5, 10, method="new"))
    stranger = known.estimate(work(300, 5, 10, method="new", family="other"))
    assert relative.rough
    assert stranger.rough
    assert 1.0 < relative.seconds < 20.0


def test_what_is_skipped_takes_no_time():
    known = KnownTimes([(work(100, 5, 10), 1.0)])
    assert known.estimate(work(100, 5, 0)).seconds == 0.0


def test_cells_that_were_run_here_are_believed_first():
    tasks, estimator = planned("quick", "iris")
    nb = [task for task in tasks if task.method.label == "nb"]
    rf = next(task for task in tasks if task.method.label == "rf")
    before = estimator.estimate(rf).seconds
    estimator.add(nb[0], 300.0)
    assert estimator.estimate(nb[1]).seconds == 300.0
    assert estimator.estimate(rf).seconds > 5 * before, "this machine is slower"


def test_a_time_limit_bounds_an_estimate():
    tasks, _ = planned("quick", "iris")
    (experiment,) = load_experiments([REPOSITORY / "configs" / "quick.yaml"])
    plan = make_plan(experiment, wanted=lambda name: name == "iris")
    cells = [PlannedCell(task, plan.dataset_of(task), 1e-3) for task in tasks]
    estimator = Estimator(cells)
    assert max(estimator.estimate(task).seconds for task in tasks) == 1e-3


def test_one_long_cell_bounds_the_wall_time():
    tasks, estimator = planned("quick", "iris")
    first = tasks[0]
    estimator.add(first, 1000.0)
    found = estimator.forecast(tasks, 4)
    assert found.wall >= 1000.0
    assert found.processor < 4 * found.wall


def test_measured_solves_are_estimated_like_cells():
    text = (
        "{name: t, kind: timing, datasets: [{name: synthetic, as: made, parameters:"
        " {n: 3000, p: 20}}], methods: [drm-gd, drm-ppa], protocol: {split: {kind:"
        " random, train: 0.8, repeats: 1}}, measure: {sizes: [500, 1000]}}"
    )
    experiment = parse_experiment(text, source=Path("t.yaml"))
    plan = make_plan(experiment)
    cells = [PlannedCell(task, plan.dataset_of(task), None) for task in plan.cells]
    estimator = Estimator(cells)
    times = {
        (task.method.name, task.number): estimator.estimate(task) for task in plan.cells
    }
    assert len(times) == 6
    assert not any(found.rough for found in times.values())
    assert times["drm-gd", 0].seconds < times["drm-gd", 2].seconds


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """The file of kept times in an empty cache, and what a new process finds."""
    monkeypatch.setenv("DRMBENCH_CACHE", str(tmp_path))

    def times():
        reference_times.cache_clear()
        found = reference_times()
        return list(zip(found._works, found._seconds, strict=True))

    yield tmp_path / "parsed" / "reference_times.json", times
    reference_times.cache_clear()


def test_times_of_committed_cells_are_kept_and_read_again(kept, monkeypatch):
    path, times = kept
    made = times()
    assert len(made) > 5000
    assert path.is_file()
    monkeypatch.setattr(estimate, "_committed_times", None)  # not called
    assert times() == made


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"of": "', '"of": "0'),
        lambda text: json.dumps({**json.loads(text), "how": []}),
        lambda text: json.dumps({**json.loads(text), "times": [[1, 2]]}),
        lambda text: "[]",
        lambda text: "",
    ],
    ids=["cut", "of-other-rows", "no-texts", "no-times", "a-list", "empty"],
)
def test_kept_times_that_are_damaged_or_old_are_made_again(kept, monkeypatch, spoil):
    path, times = kept
    few = [(work(100, 5, 10), 1.5), (work(200, 5, 20, family="other"), 2.5)]
    monkeypatch.setattr(estimate, "_committed_times", lambda: iter(few))
    assert times() == few
    sound = path.read_text()
    path.write_text(spoil(sound))
    assert times() == few
    assert path.read_text() == sound


def test_times_are_found_where_none_can_be_kept(kept, monkeypatch):
    path, times = kept
    path.parent.write_text("a file in place of the folder")
    few = [(work(100, 5, 10), 1.5)]
    monkeypatch.setattr(estimate, "_committed_times", lambda: iter(few))
    assert times() == few


def test_other_rows_or_code_are_another_digest(monkeypatch, tmp_path):
    monkeypatch.setattr(estimate, "shipped_reference", lambda: tmp_path)
    digests = [estimate._digest()]
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "results.csv").write_text("dataset\n")
    digests.append(estimate._digest())
    monkeypatch.setattr(estimate, "maker_here", lambda: {"code": "another"})
    digests.append(estimate._digest())
    assert len(set(digests)) == 3


def test_other_versions_than_the_committed_rows_were_made_with_are_no_obstacle():
    """An estimator of another package is known by what it takes, not by a version."""
    manifest = read_manifest(REFERENCE / "study-large" / "manifest.json")
    foreign = [x for x in manifest["experiment"]["methods"] if x.get("versions")]
    assert foreign
    for one in foreign:
        one["versions"] = {"scikit-learn": "0.1"}
    rows = pd.read_csv(REFERENCE / "study-large" / "results.csv")
    named = {work.method for work, _ in estimate._times_in(manifest, rows)}
    assert {one["name"] for one in foreign} <= named


def test_a_run_with_nothing_left_to_do_reads_no_rows(monkeypatch):
    tasks, estimator = planned("quick", "iris")
    monkeypatch.setattr(estimate, "reference_times", None)  # not called
    for task in tasks:
        estimator.add(task, 1.0)
    assert estimator.forecast([], 1).processor == 0.0
    assert estimator.estimate(tasks[0]).seconds == 1.0


def test_every_committed_experiment_has_a_pace():
    assert set(PACES) == {path.name for path in REFERENCE.iterdir()}
    assert all(0.02 < pace < 5 for pace in PACES.values())


def test_calibration_is_short():
    assert 0 < estimate.work_seconds() < 0.3
