"""Cells on a dask cluster: the same numbers, and a killed worker loses nothing."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from run_support import (
    children_of,
    drmbench,
    environment,
    journal_lines,
    rows_of,
    start,
    wait_until,
    write_config,
)

import drmbench as drmbench_package
from drmbench.running.provenance import maker_here
from drmbench.running.store import decode

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    slow = [
        {"name": "slow", "as": f"slow-{n}", "params": {"seconds": 0.5 + n / 1000}}
        for n in range(4)
    ]
    folder = tmp_path_factory.mktemp("config")
    return write_config(folder, methods=["nb", "knn-euclidean", *slow])


@pytest.fixture(scope="module")
def local(config, tmp_path_factory):
    """The rows of the run on this machine, which every cluster is held to."""
    out = tmp_path_factory.mktemp("local")
    code, _, err = drmbench("run", config, "--out", out, "--jobs", 2)
    assert code == 0, err
    return rows_of(out / "trial")


def spawn(*command, first=None):
    """Start a module of Python, with packages of a folder before all others."""
    here = environment()
    if first is not None:
        here["PYTHONPATH"] = os.pathsep.join([str(first), here["PYTHONPATH"]])
    return subprocess.Popen(
        [sys.executable, "-m", *map(str, command)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=here,
        cwd=first,
    )


def worker_of(folder):
    """Return the command of a worker of the scheduler of a folder."""
    return (
        "distributed.cli.dask_worker",
        f"--scheduler-file={folder / 'scheduler.json'}",
        "--nthreads=1",
        "--no-nanny",
        "--no-dashboard",
        "--host=127.0.0.1",
        f"--local-directory={folder}",
    )


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, each a process of its own, on loopback."""
    address_file = tmp_path / "scheduler.json"
    scheduler = spawn(
        "distributed.cli.dask_scheduler",
        "--host=127.0.0.1",
        "--port=0",
        "--no-dashboard",
        f"--scheduler-file={address_file}",
    )
    wait_until(address_file.exists)
    workers = [spawn(*worker_of(tmp_path)) for _ in range(2)]
    yield json.loads(address_file.read_text())["address"], workers, scheduler
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def test_a_cluster_gives_the_same_rows_also_when_a_worker_is_killed(
    config, local, cluster, tmp_path
):
    address, workers, _ = cluster
    out = tmp_path / "cluster"
    process = start("run", config, "--out", out, "--scheduler", address)
    wait_until(lambda: len(journal_lines(out / "trial")) >= 3, seconds=120)
    children = children_of(workers[0].pid)
    os.kill(workers[0].pid, signal.SIGKILL)
    _, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    assert rows_of(out / "trial") == local
    assert len(journal_lines(out / "trial")) == 24
    wait_until(lambda: not any(Path(f"/proc/{p}").exists() for p in children))


WRONG = """
_true = _number


def _number(value):
    return 0.125 if isinstance(_true(value), float) else _true(value)
"""


def test_a_worker_of_other_code_that_joins_later_is_found_out(
    config, local, cluster, tmp_path
):
    """Under the same version: all its figures are wrong, and none is stored."""
    address, workers, _ = cluster
    copy = tmp_path / "other" / "drmbench"
    package = Path(drmbench_package.__file__).parent
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    datasets = package.parent / "datasets"
    if datasets.is_dir():  # the catalogue of a checkout
        shutil.copytree(datasets, copy.parent / "datasets")
    execute = copy / "running" / "execute.py"
    execute.write_text(execute.read_text(encoding="utf-8") + WRONG, encoding="utf-8")
    out = tmp_path / "cluster"
    process = start("run", config, "--out", out, "--scheduler", address)
    wait_until(lambda: len(journal_lines(out / "trial")) >= 2, seconds=120)
    good = workers[:]
    for worker in good:  # so that the new one is sure to get a cell
        worker.send_signal(signal.SIGSTOP)
    workers.append(spawn(*worker_of(tmp_path), first=copy.parent))
    wait_until(lambda: children_of(workers[-1].pid), seconds=120)
    for worker in good:
        worker.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    assert err.count("has another drmbench; it gets no more cells") == 1
    assert rows_of(out / "trial") == local
    made = [decode(line)["made_by"] for line in journal_lines(out / "trial")]
    assert made == [maker_here()] * 24
    for worker in good:
        worker.kill()
    code, _, err = drmbench(
        *("run", config, "--out", tmp_path / "second", "--scheduler", address)
    )
    assert code == 2
    assert "workers have other code under the same version" in err


def test_scheduler_local_starts_a_cluster_of_its_own(config, local, tmp_path):
    out = tmp_path / "own"
    arguments = ["--out", out, "--scheduler", "local", "--jobs", 2, "--method", "[nk]*"]
    code, _, err = drmbench("run", config, *arguments)
    assert code == 0, err
    expected = [row for row in local if not row["method"].startswith("slow")]
    assert rows_of(out / "trial") == expected


@pytest.mark.parametrize("gone", ["workers", "scheduler"])
def test_a_cluster_that_goes_ends_the_run_with_one_message(
    config, cluster, tmp_path, gone
):
    address, workers, scheduler = cluster
    out = tmp_path / "cluster"
    process = start("run", config, "--out", out, "--scheduler", address)
    wait_until(lambda: len(journal_lines(out / "trial")) >= 2, seconds=120)
    for member in workers if gone == "workers" else [scheduler]:
        os.kill(member.pid, signal.SIGKILL)
    started = time.monotonic()
    _, err = process.communicate(timeout=120)
    assert time.monotonic() - started < 90
    assert process.returncode == 1
    said = {
        "workers": "the dask scheduler has had no workers for 30 s",
        "scheduler": "the dask scheduler has gone",
    }
    assert f"drmbench: {said[gone]}; what was finished is safe" in err
    assert "Traceback" not in err
    assert all(row["status"] == "ok" for row in rows_of(out / "trial"))


@pytest.fixture(params=["silent", "banner", "http"])
def stranger(request):
    """Something that listens and is no scheduler."""
    words = {
        "silent": b"",
        "banner": b"SSH-2.0-OpenSSH_9.6\r\n",
        "http": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    }
    listener, guests = socket.create_server(("127.0.0.1", 0)), []

    def receive():
        with suppress(OSError):  # until it is closed
            while True:
                guest, _ = listener.accept()
                guests.append(guest)
                guest.sendall(words[request.param])

    threading.Thread(target=receive, daemon=True).start()
    yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    for opened in (listener, *guests):
        opened.close()


def test_what_is_no_scheduler_is_told_within_a_minute(config, stranger, tmp_path):
    """It is given 15 s; on a busy machine, starting and ending take as long again."""
    arguments = ["--out", tmp_path / "out", "--scheduler", stranger]
    code, _, err = drmbench("run", config, *arguments, timeout=60)
    assert code == 2
    assert f"--scheduler {stranger}: no dask scheduler answers there" in err


def test_an_encrypted_address_without_keys_is_told(config, tmp_path):
    arguments = ["--out", tmp_path / "out", "--scheduler", "tls://127.0.0.1:1"]
    code, _, err = drmbench("run", config, *arguments, timeout=40)
    assert code == 2
    assert "--scheduler tls://127.0.0.1:1: no dask scheduler answers there" in err
    assert "TLS" in err
