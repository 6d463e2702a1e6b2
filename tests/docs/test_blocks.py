"""Every block of the README, the tutorial and the how-to pages runs as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from support import REPOSITORY

DOCUMENTS = [
    "README.md",
    "docs/start.md",
    "docs/tutorial.md",
    *sorted(
        f"docs/howto/{page.name}"
        for page in (REPOSITORY / "docs/howto").glob("*.md")
        if page.stem != "index"
    ),
]
BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n)?```(?P<kind>\w+)[^\n]*\n"
    r"(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
RUNNERS = {"bash": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}


def text_of(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_block_runs(name: str, tmp_path: Path) -> None:
    """In order, in one folder that has the table the README speaks of."""
    if name == "README.md":
        table = load_iris(as_frame=True).frame.rename(columns={"target": "label"})
        table.to_csv(tmp_path / "mine.csv", index=False)
        table.drop(columns="label").to_csv(tmp_path / "new.csv", index=False)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(REPOSITORY),
        "DRMBENCH_OFFLINE": "1",
    }
    blocks = [*BLOCK.finditer(text_of(name))]
    assert any(block["reason"] is None for block in blocks)
    for block in blocks:
        if block["reason"]:
            continue
        done = subprocess.run(
            [*RUNNERS[block["kind"]], block["code"]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode == 0, block["code"] + done.stdout + done.stderr


def test_the_readme_is_short_and_shows_two_commands_to_set_up() -> None:
    readme = text_of("README.md")
    assert len(readme.splitlines()) <= 150
    assert re.findall(r"^make (\w+)", readme, re.MULTILINE) == ["demo", "test"]
