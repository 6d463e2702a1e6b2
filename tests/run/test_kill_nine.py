"""A run that is killed at any moment and started again ends as if nothing had been."""

import random
import time
from pathlib import Path

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

SEED = 20210601


def test_kill_9_at_twenty_random_moments_then_resume_equals_uninterrupted(tmp_path):
    print(f"seed {SEED}")
    dawdlers = [
        {
            "name": "slow",
            "as": f"slow-{number}",
            "params": {"seconds": 0.05 + number / 1000},
        }
        for number in range(12)
    ]
    config = write_config(tmp_path, methods=["nb", "knn-euclidean", *dawdlers])
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    code, _, err = drmbench("run", config, "--out", whole, "--jobs", 2)
    assert code == 0, err
    moments = random.Random(SEED)
    progress = []
    for _ in range(20):
        process = start("run", config, "--out", broken, "--jobs", 2)
        time.sleep(moments.uniform(0.2, 5.0))
        workers = children_of(process.pid)
        kill(process)
        wait_until(lambda w=workers: not any(Path(f"/proc/{p}").exists() for p in w))
        progress.append(len(journal_lines(broken / "trial")))
    assert progress == sorted(progress), "a finished cell was lost"
    code, _, err = drmbench("run", config, "--out", broken, "--jobs", 2)
    assert code == 0, err
    assert rows_of(broken / "trial") == rows_of(whole / "trial")
    assert len(rows_of(broken / "trial")) == 14 * 4
    keys = [line[9:60] for line in journal_lines(broken / "trial")]
    assert len(set(keys)) == len(keys), "a cell was counted twice"
