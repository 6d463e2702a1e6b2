"""Every broken file is refused with its line and the words it says itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support import REPOSITORY, Run

FOLDER = REPOSITORY / "tests" / "bad_configs"
FILES = sorted(FOLDER.glob("*.yaml"))

_MARKER = re.compile(r"# <- (.+)$")


def expectation(path: Path) -> tuple[int, str]:
    """Return the line that is wrong and the words that the message must have."""
    lines = path.read_text(encoding="utf-8").splitlines()
    marked = [
        (n, m[1]) for n, line in enumerate(lines, 1) if (m := _MARKER.search(line))
    ]
    assert len(marked) == 1, f"{path.name} needs exactly one marked line"
    return marked[0]


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 100


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_broken_file_is_refused_at_its_line(path: Path, run: Run) -> None:
    line, words = expectation(path)
    result = run("config", "check", str(path))
    assert result.code == 2
    assert result.out == ""
    (message,) = result.err.splitlines()  # one defect, one problem: nothing follows on
    assert message.startswith(f"drmbench: {path}:{line}: ")
    assert words in message
