"""The command line starts fast: no numerical library before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "pooch", "requests"}


def imported_by(*arguments: str) -> set[str]:
    """Return the top-level modules that a command imports."""
    command = [sys.executable, "-X", "importtime", "-m", "drmbench", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    names = [line.rpartition("|")[2].strip() for line in lines if "|" in line]
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("arguments", [("--help",), ("data", "--help"), ("--version",)])
def test_help_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    imported = imported_by(*arguments)
    assert "drmbench" in imported
    assert imported & HEAVY == set()


def test_listing_the_data_imports_no_numerical_library() -> None:
    imported = imported_by("data", "list")
    assert "yaml" in imported
    assert imported & (HEAVY - {"pooch", "requests"}) == set()
