"""Every record says what computed it; results of several codes are named."""

import json
import shutil
from pathlib import Path

import pytest
from run_support import journal_lines, write_config

import drmbench as package
from drmbench.errors import DrmbenchError
from drmbench.report.check import compare
from drmbench.report.reference import check_folder
from drmbench.report.tables import experiment_tables
from drmbench.running.provenance import (
    code_digest,
    counted_makers,
    maker_here,
    maker_words,
    merged_makers,
    same_code,
)
from drmbench.running.results import load_results
from drmbench.running.store import Store, decode, encode

ROOT = Path(package.__file__).parent
OTHER = {"code": "0" * 16, "versions": {"drmbench": "0.0.9", "numpy": "1.0"}}


@pytest.fixture
def finished(drmbench, tmp_path):
    """A run of four cells, and its config."""
    config = write_config(tmp_path, methods=["nb"])
    code, _, err = drmbench("run", config, "--out", tmp_path / "out", "--jobs", 1)
    assert code == 0, err
    return config, tmp_path / "out"


def made_by(folder, maker, count):
    """Let the first records of a journal be computed by something else."""
    journal = folder / "cells.jsonl"
    records = [decode(line) for line in journal_lines(folder)]
    for record in records[:count]:
        record["made_by"] = maker
        if maker is None:
            del record["made_by"]
    journal.write_bytes(b"".join(map(encode, records)))


def test_the_digest_is_of_the_code_that_matters(tmp_path):
    copy = tmp_path / "drmbench"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    digest = code_digest(copy)
    assert digest == maker_here()["code"]
    for name in ("report/table.py", "cli/run.py", "running/progress.py"):
        (copy / name).write_text((copy / name).read_text() + "\n# a remark\n")
        assert code_digest(copy) == digest
    seen = {digest}
    for name in ("metrics.py", "drm/loo.py", "methods/svm.py", "running/execute.py"):
        (copy / name).write_text((copy / name).read_text() + "\n# a remark\n")
        seen.add(code_digest(copy))
    (copy / "data" / "more.py").write_text("")
    assert code_digest(copy) not in seen
    assert len(seen) == 5


def test_other_ends_of_lines_are_the_same_code(tmp_path):
    copy = tmp_path / "drmbench"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    text = (copy / "metrics.py").read_bytes()
    (copy / "metrics.py").write_bytes(text.replace(b"\n", b"\r\n"))
    assert code_digest(copy) == maker_here()["code"]


def test_every_record_has_the_code_and_versions_of_its_worker(finished):
    _, out = finished
    records = [decode(line) for line in journal_lines(out / "trial")]
    assert [record["made_by"] for record in records] == [maker_here()] * 4
    assert {"drmbench", "numpy", "scipy"} <= maker_here()["versions"].keys()
    manifest = json.loads((out / "trial" / "manifest.json").read_bytes())
    assert manifest["made_by"] == [{**maker_here(), "cells": 4}]


@pytest.mark.parametrize("maker", [OTHER, None], ids=["other", "unknown"])
def test_cells_of_other_code_are_kept_and_named(drmbench, finished, tmp_path, maker):
    config, out = finished
    made_by(out / "trial", maker, 1)
    code, shown, err = drmbench("run", config, "--out", out)
    assert code == 0
    assert "4 cells are there already" in err
    name = "unknown code" if maker is None else "drmbench 0.0.9 of code 00000000"
    assert f"warning: cells that are there were computed by {name}" in err
    assert "Not computed by one code" in shown
    assert name in shown
    results = load_results(out)
    for table in experiment_tables(results):
        assert any(name in note and "(3 cells)" in note for note in table.notes)
    (sound,) = check_folder(out)
    assert f"not of one code: {name}" in sound.summary()
    assert "(1 cell)" in sound.summary()
    trial = results["trial"]
    assert any("not of one code" in line for line in compare(trial, trial).context)
    code, shown, err = drmbench("check", "--reference", out, "--results", out)
    assert code == 0, err
    assert name in shown


def test_strict_runs_cells_of_other_code_again(drmbench, finished):
    config, out = finished
    made_by(out / "trial", OTHER, 3)
    _, _, err = drmbench("run", config, "--out", out, "--strict", "--jobs", 1)
    assert "1 cells are there already; 3 to run" in err
    assert "warning: cells that are there" not in err
    manifest = json.loads((out / "trial" / "manifest.json").read_bytes())
    assert manifest["made_by"] == [{**maker_here(), "cells": 4}]
    assert not load_results(out)["trial"].makers


def test_strict_takes_no_cells_of_other_code_from_other_experiments(
    drmbench, finished, tmp_path
):
    _, out = finished
    made_by(out / "trial", OTHER, 4)
    config = write_config(tmp_path, name="second", methods=["nb"])
    arguments = ("run", config, "--out", out, "--dry-run")
    assert drmbench("run", config, "--out", out, "--strict", "--jobs", 1)[0] == 0
    made = counted_makers(Store(out / "second").records.values())
    assert made == [{**maker_here(), "cells": 4}]
    assert drmbench(*arguments)[0] == 0


def test_words_name_only_what_differs():
    here = maker_here()
    newer = {**here, "versions": {**here["versions"], "numpy": "99.0"}}
    first, second = maker_words([here, newer])
    assert first.endswith(f"with numpy {here['versions']['numpy']}")
    assert second.endswith("with numpy 99.0")
    assert "scipy" not in first + second
    assert same_code(newer)  # of other packages, which the record says
    assert not same_code({**here, "code": "0" * 16})
    assert not same_code({})


def test_what_stays_of_a_reference_is_of_its_own_code():
    here = maker_here()
    assert merged_makers([{**here, "cells": 5}], [{**here, "cells": 2}]) == [here]
    assert merged_makers([], [{**here, "cells": 2}]) == [{}, here]


def test_answers_of_another_code_are_not_stored():
    """A dask worker that joined later, under the same version, say."""
    pytest.importorskip("distributed")
    from drmbench.running.distributed import DaskPool
    from drmbench.running.pool import Job

    class Future:
        status = "finished"

        def __init__(self, worker, maker):
            self.worker, self.maker = worker, maker

        def done(self):
            return True

        def result(self):
            answer = {"status": "ok", "rows": [{"from": self.worker}]}
            return answer | ({} if self.maker is None else {"made_by": self.maker})

    class Client:
        """Gives every cell to the first worker that it may."""

        def __init__(self, **makers):
            self.makers, self.asked, self.status = makers, [], "running"

        def scheduler_info(self, n_workers):
            return {"workers": {name: {"nthreads": 1} for name in self.makers}}

        def submit(self, function, *arguments, workers, **options):
            name = next(n for n in self.makers if workers is None or n in workers)
            self.asked.append(name)
            return Future(name, self.makers[name])

        def who_has(self, futures):
            return {number: (f.worker,) for number, f in enumerate(futures)}

    class Task:
        key = "0" * 24

        def model_dump_json(self):
            return "{}"

    def answers(client):
        pool = DaskPool(client)
        pool.submit(Job(Task(), None))
        for _ in range(5):
            if found := pool.wait(0.0):
                return found
        return []

    import distributed

    patch = pytest.MonkeyPatch()
    patch.setattr(distributed, "wait", lambda *a, **k: None)
    try:
        client = Client(old=None, other=OTHER, good=maker_here())
        ((_, answer),) = answers(client)
        assert answer.rows == [{"from": "good"}]
        assert client.asked == ["old", "other", "good"]
        with pytest.raises(DrmbenchError, match="no dask worker is left"):
            answers(Client(old=None, other=OTHER))
    finally:
        patch.undo()
