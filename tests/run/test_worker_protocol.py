"""Workers that methods, people and the system play tricks on: no wrong rows, no rest.

A cell that something outside ended is not a failed cell: the same command runs it.
"""

import os
import resource
import signal
import sys
import time
from pathlib import Path

import pytest
from run_support import (
    children_of,
    drmbench,
    journal_lines,
    kill,
    rows_of,
    start,
    wait_until,
    write_config,
)

from drmbench.errors import DrmbenchError
from drmbench.running.pool import make_pool

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="looks at processes through /proc"
)


def family_of(pid):
    """Return a process and everything below it."""
    return [pid, *(p for child in children_of(pid) for p in family_of(child))]


def alive(pids):
    """Return which processes still run; zombies do not."""
    return [pid for pid in pids if state_of(pid) not in ("", "Z", "X")]


def state_of(pid):
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return text.rpartition(")")[2].split()[0]


def is_worker(pid):
    try:
        return b"drmbench.running.child" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def workers_of(process):
    return [pid for pid in children_of(process.pid) if is_worker(pid)]


def test_what_a_method_does_to_its_process_never_shifts_an_answer(tmp_path):
    tricks = ["forks", "closer", "intruder", "leaves", "parent"]
    good = ["nb", "knn-euclidean"]
    split = {"kind": "random", "train": 100, "repeats": 2}
    protocol = {"split": split, "scaling": "none"}
    clean = write_config(tmp_path, methods=good, name="clean", protocol=protocol)
    assert drmbench("run", clean, "--out", tmp_path / "clean", "--jobs", 1)[0] == 0
    config = write_config(tmp_path, methods=[*tricks, *good], protocol=protocol)
    process = start("run", config, "--out", tmp_path, "--jobs", 1)
    seen = set()
    while process.poll() is None:
        seen.update(family_of(process.pid))
        time.sleep(0.02)
    _, err = process.communicate()
    assert process.returncode == 1
    assert "Traceback" not in err
    rows = rows_of(tmp_path / "trial")
    trusted = [row for row in rows if row["method"] in good]
    assert trusted == rows_of(tmp_path / "clean" / "clean")
    for row in rows:
        wrong = {"intruder": "pipe for answers", "leaves": "SystemExit: 3"}
        reason = wrong.get(row["method"], "")
        assert row["status"] == ("failed" if reason else "ok"), row
        assert reason in row["reason"]
    assert not alive(seen), "something outlived the run"


@pytest.mark.parametrize("method", ["endless", "stubborn"])
def test_nothing_outlives_a_killed_run(tmp_path, method):
    config = write_config(tmp_path, methods=[method])
    process = start("run", config, "--out", tmp_path, "--jobs", 1)
    least = 4 if method == "stubborn" else 3  # run, worker, watcher, what it started
    wait_until(lambda: len(family_of(process.pid)) >= least)
    time.sleep(2.5 if method == "endless" else 0.5)
    family = family_of(process.pid)
    kill(process)
    wait_until(lambda: not alive(family), seconds=10)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_cell_ended_from_outside_is_not_failed_and_runs_again(tmp_path, number):
    slow = {"name": "slow", "params": {"seconds": 1.5}}
    config = write_config(tmp_path, methods=[slow, "nb"])
    process = start("run", config, "--out", tmp_path, "--jobs", 1)
    wait_until(lambda: len(journal_lines(tmp_path / "trial")) == 2)
    killed = set()
    while len(killed) < 2:  # the second cell of the slow method, twice
        for pid in set(workers_of(process)) - killed:
            if len(family_of(pid)) > 1:  # it watches over the run
                time.sleep(0.3)
                os.kill(pid, number)
                killed.add(pid)
        assert process.poll() is None
        time.sleep(0.02)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    assert "trying again alone" in err
    assert "1 cells were ended from outside; the same command goes on." in err
    assert {row["status"] for row in rows_of(tmp_path / "trial")} == {"ok"}
    assert len(journal_lines(tmp_path / "trial")) == 7
    code, _, err = drmbench("run", config, "--out", tmp_path, "--jobs", 1)
    assert code == 0, err
    assert len(rows_of(tmp_path / "trial")) == 8


def test_time_while_a_run_is_stopped_does_not_count(tmp_path):
    slow = {"name": "slow", "params": {"seconds": 2.0}}
    config = write_config(tmp_path, methods=[slow])
    process = start("run", config, "--out", tmp_path, "--jobs", 1, "--timeout", "5s")
    wait_until(lambda: journal_lines(tmp_path / "trial"))
    (worker,) = workers_of(process)
    process.send_signal(signal.SIGTSTP)  # Ctrl-Z
    wait_until(lambda: state_of(process.pid) == "T")
    wait_until(lambda: state_of(worker) == "T")
    time.sleep(6)
    process.send_signal(signal.SIGCONT)
    wait_until(lambda: len(journal_lines(tmp_path / "trial")) >= 2)
    os.kill(worker, signal.SIGSTOP)
    time.sleep(6)
    os.kill(worker, signal.SIGCONT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert [row["status"] for row in rows_of(tmp_path / "trial")] == ["ok"] * 4


def test_too_little_memory_for_a_worker_is_said_at_the_start(tmp_path):
    config = write_config(tmp_path)
    code, _, err = drmbench("run", config, "--out", tmp_path, "--memory", "256M")
    assert code == 2
    assert "no worker can be started: it may have 256M of memory" in err
    assert journal_lines(tmp_path / "trial") == []


@pytest.mark.parametrize("megabytes", [700, 1000])
def test_a_limit_of_addresses_is_said_at_the_start(tmp_path, megabytes):
    config, size = write_config(tmp_path), megabytes * 2**20

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (size, size))

    code, _, err = drmbench("run", config, "--out", tmp_path, preexec_fn=limit)
    assert code == 2
    assert f"ulimit -v: {megabytes}M of addresses are too few" in err


def test_a_lower_limit_of_the_system_stays_and_cells_run(tmp_path):
    config, size = write_config(tmp_path), 1536 * 2**20

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (size, size))

    code, _, err = drmbench("run", config, "--out", tmp_path, preexec_fn=limit)
    assert code == 0, err


def test_a_worker_that_cannot_start_is_no_failure_of_cells(tmp_path, monkeypatch):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such library >&2\nexit 7\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    message = "no worker can be started: its process ended with exit code 7: no such"
    with pytest.raises(DrmbenchError, match=message):
        make_pool(1, 0, "")
