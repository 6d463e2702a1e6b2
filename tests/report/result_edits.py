"""Changing stored results in place, for tests of what notices it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from drmbench.report.reference import sign_reference
from drmbench.running.manifest import read_manifest

Edit = Callable[[dict[str, str]], None]


def edit_rows(folder: Path, edit: Edit, *, dataset: str = "", method: str = "") -> None:
    """Change rows of an experiment's results.csv in place."""
    path = folder / "results.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        if dataset in ("", row["dataset"]) and method in ("", row["method"]):
            edit(row)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    sign_again(folder)


def sign_again(folder: Path) -> None:
    """Write the digests of changed files, so that what is noticed is the change."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    if manifest.get("manifest_version", 1) >= 3:  # earlier ones have none
        sign_reference(folder)


def edit_manifest(folder: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    edit(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")
    sign_again(folder)


def put_plans(folder: Path, **plans: Any) -> None:
    """Say how parameters were selected: ``selection``, ``selection_overrides`` …"""
    manifest = read_manifest(folder / "manifest.json")
    manifest.pop("selection_words", None)
    manifest["experiment"].update(plans)
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    sign_again(folder)


def shift(column: str, by: float, split: str = "0") -> Edit:
    def edit(row: dict[str, str]) -> None:
        if row["split"] == split:
            row[column] = repr(float(row[column]) + float(by))

    return edit
