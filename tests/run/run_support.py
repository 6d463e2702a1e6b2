"""Running ``drmbench run`` as a user does: a process of its own."""

import csv
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import yaml
from support import with_one_worker

FAULTY = Path(__file__).parent / "faulty"
TIMINGS = ("seconds_select", "seconds_fit", "seconds_predict")


def write_config(folder, *, name="trial", methods=("nb",), datasets=("iris",), **more):
    """Write a small experiment on packaged data and return its path."""
    config = {
        "name": name,
        "datasets": list(datasets),
        "methods": list(methods),
        "protocol": {
            "split": {"kind": "kfold", "k": 4, "repeats": 1},
            "selection": {"kind": "kfold", "k": 3, "metric": "accuracy"},
            "scaling": "none",
        },
        "metrics": ["accuracy", "gmean"],
    }
    if more.get("kind"):
        del config["metrics"]
    config.update(more)
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


def environment():
    """Return the environment of a run: offline, with the misbehaving methods."""
    paths = [str(FAULTY), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "DRMBENCH_OFFLINE": "1",
    }


def start(*arguments, **options):
    """Start ``drmbench`` and return the process."""
    return subprocess.Popen(
        [sys.executable, "-m", "drmbench", *with_one_worker([*map(str, arguments)])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        **options,
    )


def drmbench(*arguments, timeout=240, **options):
    """Run ``drmbench`` to its end; returns exit code, standard output and error."""
    process = start(*arguments, **options)
    out, err = process.communicate(timeout=timeout)
    assert "Traceback" not in err, err
    return process.returncode, out, err


def rows_of(folder):
    """Return the tidy rows without timings, which differ from run to run."""
    with (folder / "results.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        for column in TIMINGS:
            row.pop(column, None)
    return rows


def journal_lines(folder):
    """Return the lines of the journal, or none if there is no journal yet."""
    path = folder / "cells.jsonl"
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def wait_until(condition, seconds=60):
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def children_of(pid):
    """Return the processes that a process has started."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):  # of every thread
        with suppress(OSError):  # the thread has ended
            found += map(int, path.read_text().split())
    return found


def kill(process):
    """End a process as the power switch would, and collect it."""
    process.send_signal(signal.SIGKILL)
    process.communicate()
