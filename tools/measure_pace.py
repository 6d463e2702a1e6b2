"""Measure how long cells of the committed rows take today, for estimates of run times.

Usage: python tools/measure_pace.py [EXPERIMENT...]

Runs a random sample of cells of each experiment again (some minutes each), and writes
to drmbench/running/pace.json the processor time that they take per second that the rows
say, beside the time of a fixed work on the same machine. The rows were measured on
machines that did other things as well, and with earlier versions.
"""

from __future__ import annotations

import argparse
import json
import random
import time

import pandas as pd
from threadpoolctl import threadpool_limits

from drmbench.config import load_experiments
from drmbench.files import replacing
from drmbench.running.estimate import PACE_FILE, cell_seconds, work_seconds
from drmbench.running.execute import execute, load_dataset
from drmbench.running.plan import make_plan
from drmbench.running.results import ROWS_FILE
from drmbench.running.task import Task
from drmbench.shipped import shipped_configs, shipped_reference

#: Cells of a method and mode: at least, and as long as the rows' seconds allow.
_FEWEST, _MOST = 3, 8
#: Seconds, by the rows, of all cells of a sample, and of the longest one.
_SECONDS, _LONGEST = 200.0, 60.0


def sample(name: str) -> list[tuple[Task, float]]:
    """Draw cells of an experiment, data set by data set, with the rows' seconds."""
    (experiment,) = load_experiments([shipped_configs()[name]])
    rows = pd.read_csv(shipped_reference() / name / ROWS_FILE)
    rows = rows[rows["status"] == "ok"]
    said = cell_seconds(rows).groupby(rows["cell"]).sum().to_dict()
    plan = make_plan(experiment)
    cells = [t for t in plan.cells if 0 < said.get(t.key, 0.0) < _LONGEST]
    random.Random(1).shuffle(cells)
    counts: dict[tuple[str, str], int] = {}
    drawn, total = [], 0.0
    for task in cells:
        place = task.method.label, task.mode
        count = counts.get(place, 0)
        if count < (_MOST if total <= _SECONDS else _FEWEST):
            counts[place] = count + 1
            total += said[task.key]
            drawn.append((task, said[task.key]))
    order = [planned.ref.name for planned in plan.datasets]
    return sorted(drawn, key=lambda pair: order.index(pair[0].dataset.name))


def measure(name: str) -> float:
    """Return the processor time of a sample, per second that its rows say."""
    took = said = 0.0
    with threadpool_limits(limits=1):
        for task, seconds in sample(name):
            load_dataset(task.dataset, task.substitutes)
            started = time.process_time()
            execute(task)
            took += time.process_time() - started
            said += seconds
    print(f"{name}: {took:.1f} s of processor time; the rows say {said:.1f} s")
    return took / said


def main() -> None:
    """Measure the experiments that are named, or all, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("experiments", nargs="*")
    wanted = parser.parse_args().experiments or sorted(shipped_configs())
    known = json.loads(PACE_FILE.read_text()) if PACE_FILE.exists() else {}
    paces = known.get("paces", {})
    # Earlier figures hold on a machine like the one they were measured on.
    factor = work_seconds() / known["work"] if known else 1.0
    paces = {name: pace * factor for name, pace in paces.items()}
    paces |= {name: measure(name) for name in wanted}
    found = {
        "work": round(work_seconds(), 5),
        "paces": {name: round(paces[name], 3) for name in sorted(paces)},
    }
    with replacing(PACE_FILE) as temporary:
        temporary.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
