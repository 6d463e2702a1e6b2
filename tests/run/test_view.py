"""Rows and manifest are a view of the journal; whatever disagrees is refused."""

import json
import random
import shutil

import pytest
from run_support import drmbench as drmbench_process
from run_support import journal_lines, start, wait_until, write_config

from drmbench.config import load_experiments
from drmbench.errors import InputError
from drmbench.files import locked
from drmbench.report.reference import sign_reference, update_reference
from drmbench.running.execute import failed_rows
from drmbench.running.plan import make_plan
from drmbench.running.provenance import maker_here
from drmbench.running.results import load_results, read_results
from drmbench.running.runner import adopt
from drmbench.running.signature import AlteredResultsError
from drmbench.running.store import Store
from drmbench.running.view import in_use, write_view

SETS = ("iris", "wine")


def experiment_of(folder, **more):
    (experiment,) = load_experiments([write_config(folder, **more)])
    return experiment


def finish(task, store, value=0.5):
    """Write a record of a cell as a run would."""
    (row,) = failed_rows(task, "ok", "", "")
    row |= {"accuracy": value, "gmean": value, "n_train": 100, "n_test": 50}
    store.append(
        {
            **{"schema": 1, "key": task.key, "dataset": task.dataset.name},
            **{"method": task.method.label, "mode": task.mode, "split": task.number},
            **{"status": "ok", "reason": "", "seconds": 0.1},
            **{"made_by": maker_here(), "rows": [row]},
        }
    )


def finished(folder, experiment, wanted=lambda name: True):
    """Write results of the wanted data sets into a folder of the experiment's name."""
    store = Store(folder / experiment.name)
    plan = make_plan(experiment, wanted=wanted)
    for number, task in enumerate(plan.cells):
        finish(task, store, 0.5 + number / 1000)
    write_view(plan, store)
    return store.folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Finished results of two data sets."""
    folder = tmp_path_factory.mktemp("whole")
    return finished(folder, experiment_of(folder, datasets=SETS))


@pytest.fixture
def folder(whole, tmp_path):
    """A copy of them that a test may change."""
    return shutil.copytree(whole, tmp_path / "out" / whole.name)


def test_what_was_written_is_read(folder):
    results = read_results(folder)
    assert len(results.rows) == 8
    digests = results.manifest["digests"]
    assert digests["journal"] == {"generation": 0, "cells": 8}


# ----------------------------------------------------------------------------- damage


@pytest.mark.parametrize("name", ["results.csv", "manifest.json"])
def test_no_flipped_bit_changes_what_is_read_in_silence(whole, tmp_path, name):
    """A journal would only make the test wait for a run to end its writing."""
    folder = tmp_path / "trial"
    folder.mkdir()
    for file in ("results.csv", "manifest.json"):
        shutil.copy(whole / file, folder)
    before, content = read_results(folder), (folder / name).read_bytes()
    rng, refused = random.Random(7), 0
    for _ in range(300):
        changed = bytearray(content)
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        (folder / name).write_bytes(changed)
        try:
            after = read_results(folder)
        except InputError:
            refused += 1
        else:  # only in what JSON does not care about
            assert after.manifest == before.manifest
            assert after.rows.equals(before.rows)
    assert refused == 300 if name == "results.csv" else refused > 200


def test_flipped_bits_of_the_journal_lose_one_cell_at_most_two(whole, tmp_path):
    """The rows are refused if they have a cell more than the journal."""
    folder = shutil.copytree(whole, tmp_path / "trial")
    journal, rng = folder / "cells.jsonl", random.Random(11)
    content, true = journal.read_bytes(), Store(whole, read_only=True).records
    for _ in range(200):
        changed = bytearray(content)
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        journal.write_bytes(changed)
        found = Store(folder, read_only=True).records
        assert len(found) >= len(true) - 2
        assert all(true[key] == record for key, record in found.items())
    assert len(found) < len(true)
    with pytest.raises(AlteredResultsError, match=r"lacks \d of its cells"):
        read_results(folder)


@pytest.mark.parametrize("command", ["tables", "report", "check"])
def test_commands_refuse_altered_rows_and_a_run_heals_them(
    drmbench, folder, tmp_path, command
):
    out, good = folder.parent, (folder / "results.csv").read_bytes()
    (folder / "results.csv").write_bytes(good.replace(b"0.507", b"0.907"))
    reference = ["--reference", out] if command == "check" else []
    place = [] if command == "check" else ["--out", tmp_path / "written"]
    code, _, err = drmbench(command, "--results", out, *reference, *place)
    assert code == 2
    assert "results.csv is not what its manifest.json was written for" in err
    assert "Run the experiment again" in err
    config = write_config(tmp_path, datasets=SETS)
    code, _, err = drmbench("run", config, "--out", out)
    assert (code, (folder / "results.csv").read_bytes()) == (0, good), err
    assert "0 cells run" in err
    assert drmbench(command, "--results", out, *reference, *place)[0] == 0


def test_a_manifest_without_digests_is_refused_unless_it_is_an_early_one(folder):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_bytes())
    del manifest["digests"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(AlteredResultsError, match="was altered"):
        read_results(folder)
    del manifest["made_by"]
    path.write_text(json.dumps({**manifest, "manifest_version": 2}))
    assert read_results(folder).manifest["made_by"] == []


def test_an_altered_reference_is_replaced_by_a_whole_run_only(drmbench, folder):
    fresh, reference = folder.parent, folder.parent.parent / "reference"
    shutil.copytree(fresh, reference)
    (reference / "trial" / "cells.jsonl").unlink()
    path = reference / "trial" / "results.csv"
    good = path.read_bytes()
    path.write_bytes(good.replace(b"0.507", b"0.907"))
    code, _, err = drmbench("check", "--reference", reference, "--results", fresh)
    assert code == 2
    assert "check --update" in err
    code, shown, err = drmbench(
        *("check", "--reference", reference, "--results", fresh, "--update")
    )
    assert code == 0, err
    assert "replaced without a comparison" in shown
    assert path.read_bytes() == good
    read_results(reference / "trial")


def test_a_part_of_a_run_leaves_a_reference_signed(folder):
    fresh, reference = folder.parent, folder.parent.parent / "reference"
    shutil.copytree(fresh, reference)
    for name in (folder, reference / "trial"):
        (name / "cells.jsonl").unlink()
    rows = (folder / "results.csv").read_text().splitlines(keepends=True)
    (folder / "results.csv").write_text("".join(rows[:4]))
    sign_reference(folder)
    assert update_reference(reference, fresh) == [
        "trial: replaced 3 cells, added 0, kept 5"
    ]
    assert len(read_results(reference / "trial").rows) == 8


# ----------------------------------------------------------------- several runs at once


def test_runs_of_different_data_sets_write_all_rows(tmp_path):
    """Each planned before the others wrote anything, and ends in any order."""
    experiment = experiment_of(
        tmp_path, datasets=[*SETS, {"name": "synthetic", "as": "drawn"}]
    )
    names = [ref.name for ref in experiment.datasets]
    runs = []
    for name in names:
        plan = make_plan(experiment, wanted=name.__eq__)
        runs.append((plan, Store(tmp_path / "trial")))
    for plan, store in runs:
        write_view(plan, store)
    for plan, store in runs:
        for task in plan.cells:
            finish(task, store)
    for plan, store in reversed(runs):
        write_view(plan, store)
        assert len(read_results(tmp_path / "trial").rows) == 12
    assert set(load_results(tmp_path)["trial"].rows["dataset"]) == set(names)


def test_rows_are_always_those_of_their_manifest(tmp_path):
    """Two configs of one name, one after the other: the last one is shown, whole."""
    for number, methods in enumerate((["nb"], ["knn-euclidean"], ["nb"])):
        place = tmp_path / str(number)
        place.mkdir()
        experiment = experiment_of(place, methods=methods)
        results = read_results(finished(tmp_path, experiment))
        assert set(results.rows["method"]) == set(results.methods) == set(methods)


def test_two_configs_of_one_name_at_once_are_refused(tmp_path):
    one = experiment_of(tmp_path)
    other = one.model_copy(update={"seed": 5})
    titled = one.model_copy(update={"title": "Another title"})
    with in_use(tmp_path / "trial", one), in_use(tmp_path / "trial", titled):
        with (
            pytest.raises(InputError, match="another config of the name trial"),
            in_use(tmp_path / "trial", other),
        ):
            pass
        with in_use(tmp_path / "elsewhere", other):
            pass
    with in_use(tmp_path / "trial", other):
        pass


def test_a_second_config_of_the_name_is_told_so(tmp_path):
    slow = [{"name": "slow", "params": {"seconds": 30.0}}]
    config = write_config(tmp_path, methods=slow)
    process = start("run", config, "--out", tmp_path / "out")
    try:
        wait_until((tmp_path / "out" / "trial" / "manifest.json").exists)
        (tmp_path / "second").mkdir()
        second = write_config(tmp_path / "second", methods=["nb"])
        code, _, err = drmbench_process("run", second, "--out", tmp_path / "out")
        assert code == 2
        assert "another config of the name trial is being run" in err
    finally:
        process.kill()
        process.communicate()
    code, _, err = drmbench_process("run", second, "--out", tmp_path / "out")
    assert code == 0, err


# ------------------------------------------------------------------ only reading


def test_a_dry_run_writes_nothing(drmbench, folder, tmp_path):
    """Not even where the journal of this or another experiment is damaged."""
    journal = folder / "cells.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:3], b"garbage\n", *lines[4:]]))
    shutil.rmtree(folder / ".locks")
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    config = write_config(tmp_path, datasets=SETS)
    second = write_config(tmp_path, name="second", datasets=SETS)
    code, shown, err = drmbench("run", config, second, "--dry-run", "--out", tmp_path)
    assert code == 0, err
    code, shown, err = drmbench("run", config, "--dry-run", "--out", folder.parent)
    assert code == 0, err
    assert "7 cells cached, 1 new" in shown
    there = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert there == files
    assert not (folder / ".locks").exists()


def test_writing_waits_for_another_that_writes(folder, tmp_path):
    """Rows and manifest are replaced under one lock."""
    experiment = experiment_of(tmp_path, datasets=SETS)
    plan, store = make_plan(experiment), Store(folder)
    with locked(folder, "results"):
        process = start(
            "run", tmp_path / "trial.yaml", "--out", folder.parent, "--jobs", 1
        )
        with pytest.raises(Exception, match="timed out"):
            process.communicate(timeout=6)
    process.communicate(timeout=120)
    assert process.returncode == 0
    write_view(plan, store)
    read_results(folder)


def test_a_cell_is_taken_over_from_another_experiment_once(whole, tmp_path):
    plan = make_plan(experiment_of(tmp_path, name="other", datasets=SETS))
    donor, late = Store(whole).records, Store(tmp_path / "other")
    assert adopt(plan.cells, Store(tmp_path / "other"), donor) == len(donor)
    assert adopt(plan.cells, late, donor) == 0, "another run did it meanwhile"
    assert len(journal_lines(tmp_path / "other")) == len(donor)


def test_what_a_killed_run_left_half_written_is_removed(whole, tmp_path):
    folder = shutil.copytree(whole, tmp_path / whole.name)
    left = [
        folder / f".{name}.0.part"
        for name in ("results.csv", "manifest.json", "results.parquet")
    ]
    for path in left:
        path.write_bytes(b"half")
    store = Store(folder)
    write_view(make_plan(experiment_of(tmp_path, datasets=SETS)), store)
    assert not any(path.exists() for path in left)
