"""What can go wrong in a run, made to go wrong: nothing finished is ever lost."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from run_support import (
    children_of,
    drmbench,
    journal_lines,
    rows_of,
    start,
    wait_until,
    write_config,
)

from drmbench.config import load_experiments
from drmbench.running import runner
from drmbench.running.runner import Run, RunOptions


def statuses(folder):
    return {(row["method"], row["split"]): row["status"] for row in rows_of(folder)}


def test_time_limit_ends_its_cell_alone(tmp_path):
    config = write_config(
        tmp_path,
        methods=["endless", "nb"],
        protocol={"split": {"kind": "random", "train": 100, "repeats": 2}},
    )
    code, _, err = drmbench(
        "run", config, "--out", tmp_path, "--jobs", 4, "--timeout", "5s"
    )
    found = statuses(tmp_path / "trial")
    assert code == 1
    assert {found["endless", str(i)] for i in range(2)} == {"timeout"}
    assert {found["nb", str(i)] for i in range(2)} == {"ok"}
    assert "time limit of 5 s" in err


def test_a_crash_is_that_cells_status(tmp_path):
    reasons = {
        "segfault": "segmentation fault",
        "raises": "RuntimeError: this method is broken",
        "killed": "killed from outside",
    }
    config = write_config(
        tmp_path,
        methods=[*reasons, "nb", "chatty"],
        protocol={"split": {"kind": "random", "train": 100, "repeats": 2}},
    )
    code, _, err = drmbench("run", config, "--out", tmp_path, "--jobs", 2)
    assert code == 1
    for row in rows_of(tmp_path / "trial"):
        if row["method"] in reasons:
            assert (row["status"], row["accuracy"]) == ("failed", "")
            assert reasons[row["method"]] in row["reason"]
        else:
            assert row["status"] == "ok"
    for reason in reasons.values():
        assert reason in err
    assert "trying again alone" in err, "too little memory for two is no failure"


def test_a_method_that_eats_memory_fails_by_itself(tmp_path):
    config = write_config(tmp_path, methods=["hungry", "nb"])
    code, _, err = drmbench(
        "run", config, "--out", tmp_path, "--jobs", 1, "--memory", "2G"
    )
    assert code == 1, err
    found = rows_of(tmp_path / "trial")
    hungry = [row for row in found if row["method"] == "hungry"]
    assert all("out of memory" in row["reason"] for row in hungry)
    assert all(row["status"] == "ok" for row in found if row["method"] == "nb")


def test_failed_cells_are_kept_told_and_run_again_only_when_asked(tmp_path):
    config = write_config(tmp_path, methods=["raises", "nb"])
    drmbench("run", config, "--out", tmp_path, "--jobs", 2)
    before = len(journal_lines(tmp_path / "trial"))
    code, _, err = drmbench("run", config, "--out", tmp_path)
    assert code == 1
    assert "8 cells are there already, 4 without a result (--retry-failed" in err
    assert len(journal_lines(tmp_path / "trial")) == before
    code, _, err = drmbench("run", config, "--out", tmp_path, "--retry-failed")
    assert code == 1
    assert len(journal_lines(tmp_path / "trial")) == before + 4
    assert len(rows_of(tmp_path / "trial")) == 8


def test_first_interrupt_lets_cells_end_and_the_same_command_goes_on(tmp_path):
    slow = [
        {"name": "slow", "as": f"slow-{n}", "params": {"seconds": 0.6 + n / 1000}}
        for n in range(3)
    ]
    config = write_config(tmp_path, methods=slow)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    drmbench("run", config, "--out", whole, "--jobs", 2)
    process = start("run", config, "--out", broken, "--jobs", 2)
    wait_until(lambda: journal_lines(broken / "trial"))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted: waiting for" in err
    assert "the same command goes on" in err
    assert len(rows_of(broken / "trial")) == len(journal_lines(broken / "trial")) < 12
    code, _, err = drmbench("run", config, "--out", broken, "--jobs", 2)
    assert code == 0, err
    assert rows_of(broken / "trial") == rows_of(whole / "trial")


def test_second_interrupt_ends_running_cells_at_once(tmp_path):
    config = write_config(tmp_path, methods=["nb", "endless"])
    process = start("run", config, "--out", tmp_path, "--jobs", 2)
    wait_until(lambda: len(journal_lines(tmp_path / "trial")) >= 2)
    workers = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    time.sleep(1.0)
    assert process.poll() is None, "it should wait for the running cells"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert all(row["status"] == "ok" for row in rows_of(tmp_path / "trial"))


def test_two_runs_at_once_share_the_work_and_count_nothing_twice(tmp_path):
    slow = [
        {"name": "slow", "as": f"slow-{n}", "params": {"seconds": 0.4 + n / 1000}}
        for n in range(4)
    ]
    config = write_config(tmp_path, methods=[*slow, "nb"])
    out = tmp_path / "out"
    processes = [start("run", config, "--out", out, "--jobs", 1) for _ in range(2)]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert len(journal_lines(out / "trial")) == 5 * 4
    assert len(rows_of(out / "trial")) == 5 * 4
    alone = tmp_path / "alone"
    drmbench("run", config, "--out", alone, "--jobs", 2)
    assert rows_of(out / "trial") == rows_of(alone / "trial")


def test_a_damaged_line_is_reported_set_aside_and_computed_again(tmp_path):
    config = write_config(tmp_path, methods=["nb", "knn-euclidean"])
    drmbench("run", config, "--out", tmp_path, "--jobs", 2)
    before = rows_of(tmp_path / "trial")
    lines = journal_lines(tmp_path / "trial")
    damaged = lines[3].replace(b'"accuracy": 0.', b'"accuracy": 1.')
    assert damaged != lines[3]
    journal = tmp_path / "trial" / "cells.jsonl"
    journal.write_bytes(b"".join([*lines[:3], damaged, *lines[4:]]))
    code, _, err = drmbench("run", config, "--out", tmp_path)
    assert code == 0
    assert "1 damaged line(s) set aside" in err
    assert rows_of(tmp_path / "trial") == before
    assert (tmp_path / "trial" / "cells.rejected").read_bytes() == damaged


def test_pipes_are_no_files_to_read(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    own = [{"path": str(pipe), "name": "own-pipe"}]
    for config in (pipe, write_config(tmp_path, datasets=own)):
        code, _, err = drmbench("run", config, "--out", tmp_path / "out", timeout=30)
        assert code == 2
        assert "pipe.csv" in err
        assert "a pipe or device; give a regular file" in err


def test_a_link_in_place_of_the_reserve_is_not_followed(tmp_path):
    config, precious = write_config(tmp_path), tmp_path / "precious"
    precious.write_text("keep me")
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / ".reserve").symlink_to(precious)
    assert drmbench("run", config, "--out", tmp_path)[0] == 0
    assert precious.read_text() == "keep me"


def fill(folder):
    """Write to a file until the file system is full; returns the file."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as stream, suppress(OSError):
        while True:
            stream.write(bytes(512))
    return path


def can_mount():
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs"]
    folder = Path("/tmp") / f"drmbench-probe-{os.getpid()}"
    folder.mkdir()
    done = subprocess.run([*command, str(folder)], capture_output=True)
    if done.returncode == 0:
        subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()
    return done.returncode == 0


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0 or not can_mount(),
    reason="only root can mount a small file system to fill",
)
def test_full_disk_ends_the_run_with_one_message_and_loses_nothing(tmp_path):
    config = write_config(tmp_path, methods=["nb", "knn-euclidean", "slow"])
    out = tmp_path / "small"
    out.mkdir()
    size = 256 * 1024 + 64 * 1024
    options = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(out)]
    subprocess.run(options, check=True)
    try:
        process = start("run", config, "--out", out, "--jobs", 1)
        wait_until(lambda: journal_lines(out / "trial"))
        filler = fill(out)
        _, err = process.communicate(timeout=120)
        assert process.returncode == 1
        assert "No space left" in err
        assert "Traceback" not in err
        safe = journal_lines(out / "trial")
        filler.unlink()
        code, _, err = drmbench("run", config, "--out", out, "--jobs", 1)
        assert code == 0, err
        assert journal_lines(out / "trial")[: len(safe)] == safe
        assert len(rows_of(out / "trial")) == 3 * 4
    finally:
        subprocess.run(["umount", str(out)], check=True)


def test_a_run_whose_time_is_up_keeps_what_is_done_and_goes_on(tmp_path, monkeypatch):
    config = write_config(tmp_path)
    options = RunOptions(out=tmp_path / "out", stop_after=100.0, bar=False)
    experiments = load_experiments([config])

    def clock():  # jumps to the end when the second cell is stored
        late = len(journal_lines(tmp_path / "out" / "trial")) >= 2
        return time.monotonic() + (1000.0 if late else 0.0)

    with monkeypatch.context() as patch:
        patch.setattr(runner, "time", SimpleNamespace(monotonic=clock))
        outcome = Run(experiments, options).start()
    assert not outcome.interrupted
    assert outcome.left == 4 - outcome.done
    stored = rows_of(tmp_path / "out" / "trial")
    assert 2 <= len(stored) == outcome.done < 4
    code, _, err = drmbench("run", config, "--out", tmp_path / "out")
    assert code == 0, err
    assert f"{outcome.done} cells are there already; {outcome.left} to run" in err
    assert rows_of(tmp_path / "out" / "trial")[: len(stored)] == stored
