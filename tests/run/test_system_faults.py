"""What the system does to a run: one message, the right exit code, nothing lost.

Cells are answered in this process, so that a fault can be put in any one place.
"""

import errno
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field

import pytest
from run_support import environment, journal_lines, rows_of, write_config

from drmbench.config import load_experiments
from drmbench.errors import DrmbenchError
from drmbench.running import child, runner
from drmbench.running.execute import failed_rows
from drmbench.running.pool import Job
from drmbench.running.runner import Run, RunOptions
from drmbench.running.store import DiskFullError, Store, StoreError, encode
from drmbench.running.worker import Answer

CELLS = 4


@dataclass
class Answering:
    """A pool that answers each cell at once."""

    running: list[Job] = field(default_factory=list)

    def has_room(self, job):
        return not self.running

    def submit(self, job):
        self.running.append(job)

    def wait(self, seconds):
        ended, self.running = self.running, []
        scores = {"accuracy": 0.5, "gmean": 0.5, "n_train": 100, "n_test": 50}
        return [
            (
                job,
                Answer(
                    "ok", [row | scores for row in failed_rows(job.task, "ok", "", "")]
                ),
            )
            for job in ended
        ]

    def close(self):
        self.running.clear()


@pytest.fixture
def answered(monkeypatch):
    monkeypatch.setattr(runner, "make_pool", lambda *given: Answering())


def failing_at(monkeypatch, name, place, number):
    """Let the call of a function of ``os`` with a certain number fail; count all."""
    real, calls = getattr(os, name), []

    def call(*given, **more):
        calls.append(given)
        if len(calls) == place:
            raise OSError(number, os.strerror(number))
        return real(*given, **more)

    monkeypatch.setattr(os, name, call)
    return calls


def message(err):
    assert "Traceback" not in err
    (line,) = [line for line in err.splitlines() if line.startswith("drmbench: ")]
    return line


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("function", ["fsync", "replace", "ftruncate"])
def test_wherever_a_disk_fails_finished_cells_are_safe_and_the_run_goes_on(
    drmbench, tmp_path, monkeypatch, answered, function, number
):
    """Every file that a run writes goes through one of these calls: all are tried."""
    config = write_config(tmp_path)
    arguments = ("run", config, "--out")
    with monkeypatch.context() as patch:
        calls = failing_at(patch, function, 0, number)
        assert drmbench(*arguments, tmp_path / "whole")[0] == 0
    complete = rows_of(tmp_path / "whole" / "trial")
    assert len(complete) == CELLS
    for place in range(1, len(calls) + 1):
        out = tmp_path / f"out{place}"
        with monkeypatch.context() as patch:
            failing_at(patch, function, place, number)
            code, _, err = drmbench(*arguments, out)
        assert (code, os.strerror(number) in message(err)) == (1, True), err
        assert "What was finished is safe" in message(err)
        assert ("make room" in message(err)) == (number != errno.EIO)
        safe = journal_lines(out / "trial")
        assert [str(path) for path in out.rglob(".*.part")] == []
        assert not (out / "trial" / ".reserve").exists()
        code, _, err = drmbench(*arguments, out)
        assert code == 0, err
        assert journal_lines(out / "trial")[: len(safe)] == safe
        assert len(journal_lines(out / "trial")) == CELLS
        assert rows_of(out / "trial") == complete


def test_the_first_error_is_told_though_the_rows_cannot_be_written_either(
    tmp_path, monkeypatch, answered
):
    experiments = load_experiments([write_config(tmp_path)])
    run = Run(experiments, RunOptions(out=tmp_path / "out", bar=False))
    real, written = runner.write_view, []

    def write_view(*given, **more):
        written.append(given)
        if len(written) > 1:
            raise OSError(errno.ENOSPC, "the second")
        real(*given, **more)

    def wait(self, seconds):
        raise DrmbenchError("the first")

    monkeypatch.setattr(runner, "write_view", write_view)
    monkeypatch.setattr(Answering, "wait", wait)
    with pytest.raises(DrmbenchError, match="the first"):
        run.start()
    assert len(written) == 2


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.EIO, StoreError), (errno.ENOSPC, DiskFullError)]
)
def test_a_cell_that_was_not_flushed_is_not_in_the_journal(
    tmp_path, monkeypatch, number, kind
):
    store = Store(tmp_path)
    store.append({"schema": 1, "key": "a" * 64})
    before = store.journal.read_bytes()
    with monkeypatch.context() as patch:
        failing_at(patch, "fsync", 1, number)
        with pytest.raises(kind, match="What was finished is safe"):
            store.append({"schema": 1, "key": "b" * 64})
    assert store.journal.read_bytes() == before
    assert list(Store(tmp_path).records) == ["a" * 64]


OWN = ["cells.jsonl", ".claims"]
OWN += [f".locks/{name}.lock" for name in ("config", "journal", "results")]


@pytest.mark.parametrize("kind", ["link", "lost link", "pipe", "folder"])
@pytest.mark.parametrize("name", OWN)
def test_own_files_are_never_written_through_something_else(
    drmbench, tmp_path, answered, name, kind
):
    config, out = write_config(tmp_path), tmp_path / "out"
    other = tmp_path / "other"
    place = out / "trial" / name
    place.parent.mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to(other)
    content = b"" if name == "cells.jsonl" else b"another's"  # else it is damaged
    if kind == "link":
        other.write_bytes(content)
    code, _, err = drmbench("run", config, "--out", out)
    assert code in (1, 2)
    assert f"trial/{name}: " in message(err)
    assert other.exists() == (kind == "link")
    assert kind != "link" or other.read_bytes() == content


@pytest.mark.parametrize("name", ["results.csv", "manifest.json", ".reserve"])
def test_links_in_place_of_written_files_are_replaced(
    drmbench, tmp_path, answered, name
):
    config, other = write_config(tmp_path), tmp_path / "other"
    other.write_bytes(b"another's")
    place = tmp_path / "out" / "trial" / name
    place.parent.mkdir(parents=True)
    place.symlink_to(other)
    code, _, err = drmbench("run", config, "--out", tmp_path / "out")
    assert code == 0, err
    assert other.read_bytes() == b"another's"
    assert not place.is_symlink()


def test_a_reason_that_is_not_unicode_can_be_stored():
    stream = io.BytesIO()
    error = ValueError("bad \udcff" + "A" * 70_000)
    child._send(stream, 1, "token", {"failure": child._because(error)})
    answer = json.loads(stream.getvalue())
    assert answer["failure"].startswith("ValueError: bad ?AAA")
    assert len(answer["failure"]) <= 2000
    encode(answer)


def test_too_few_descriptors_are_said(tmp_path):
    config = write_config(tmp_path)
    script = 'ulimit -n "$1"; exec "$0" -m drmbench run "$2" --out "$3"'
    done = subprocess.run(
        ["bash", "-c", script, sys.executable, "10", config, tmp_path],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=100,
    )
    assert done.returncode == 1
    assert "Too many open files; allow more of them" in message(done.stderr)
