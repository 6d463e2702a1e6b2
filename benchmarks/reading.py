"""Speed of reading a user's csv file: pandas against cell by cell, in one run.

Run by ``make bench``. Ours is what `fit`, `predict` and `compare` do; against it stands
the slow way that remains for naming bad lines. Both must give the same bits.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path

import numpy as np

from drmbench.data.chunks import FeatureRequest
from drmbench.data.user import rows_per_chunk
from drmbench.data.user_tables import UserTable

sys.path.insert(0, str(Path(__file__).parent))
from timing import report, seconds

ROWS, FEATURES = 100_000, 20
CLASSES = ("bird", "cat", "dog")


def write_table(path, quote="", colours=()):
    """Write a table of full-length floats and a text class; return its megabytes."""
    values = np.random.default_rng(0).normal(size=(ROWS, FEATURES)).tolist()
    names = [f"f{number}" for number in range(FEATURES)]
    lines = [",".join([*names, *(["colour"] if colours else []), "kind"])]
    for number, row in enumerate(values):
        cells = [*map(repr, row), *colours[number % 7 : number % 7 + 1]]
        cells.append(f"{quote}{CLASSES[number % 3]}{quote}")
        lines.append(",".join(cells))
    text = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(text, 1) if path.suffix == ".gz" else text)
    return len(text) / 1e6


def chunked(path, title, wanted):
    """Compare the two ways of reading a file in chunks."""
    table = UserTable(path, "kind", FeatureRequest())
    rows = rows_per_chunk(table)
    for fast, slow in zip(table.chunks(rows), table.slow_chunks(rows), strict=True):
        assert fast.X.tobytes() == slow.X.tobytes()
        assert fast.labels.tolist() == slow.labels.tolist()
    ours = seconds(lambda: sum(len(X) for X, _ in table.chunks(rows)))
    other = seconds(lambda: sum(len(X) for X, _ in table.slow_chunks(rows)))
    report(f"{title}, in chunks", ours, other, wanted)


def at_once(path, title, wanted):
    """Compare the two ways of reading a whole file."""
    table = UserTable(path, "kind", FeatureRequest())
    fast, slow = table.whole().table, table.slow_table().table
    assert fast.X.tobytes() == slow.X.tobytes()
    assert fast.labels.tolist() == slow.labels.tolist()
    assert fast.nominal == slow.nominal
    ours, other = seconds(table.whole), seconds(table.slow_table)
    report(f"{title}, at once", ours, other, wanted)


def main():
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder, "plain.csv"), Path(folder, "packed.csv.gz")
        quoted, mixed = Path(folder, "quoted.csv"), Path(folder, "mixed.csv")
        size = write_table(plain)
        chunked(plain, f"{size:.0f} MB of csv", "> 5")
        at_once(plain, f"{size:.0f} MB of csv", "> 5")
        write_table(packed)
        chunked(packed, "the same, gzip", "> 2")
        write_table(quoted, quote='"')
        chunked(quoted, "the same, classes quoted", "> 5")
        write_table(mixed, colours=("red", "blue", "teal", "pink", "gold", "x", "y"))
        at_once(mixed, "the same with a column of categories", "> 5")


if __name__ == "__main__":
    main()
