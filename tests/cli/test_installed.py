"""The wheel alone, in an empty folder: configs and committed rows come with it.

`make dist` installs wheel and sdist with what they need into an empty environment.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from support import REPOSITORY

import drmbench
from drmbench.shipped import find_config, shipped_configs

#: Runs commands one after the other in one process, and prints how each ended.
DRIVER = """
import contextlib, io, json, sys
import drmbench
from drmbench.cli import main

ended = {"from": drmbench.__file__}
for command in json.loads(sys.argv[1]):
    sys.argv = ["drmbench", *command.split()]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    ended[command] = [code, out.getvalue(), err.getvalue()]
print(json.dumps(ended))
"""


def build(source: Path, target: str) -> Path:
    """Build a wheel or an sdist in a folder and return it."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = (source / "dist").glob("*.whl" if target == "wheel" else "*.tar.gz")
    return built


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what wheel and sdist are built from."""
    pytest.importorskip("hatchling", reason="`pip install -e .[dev]` brings hatchling")
    source = tmp_path_factory.mktemp("source")
    for name in ("drmbench", "configs", "datasets", "examples", "results/reference"):
        ignored = shutil.ignore_patterns("__pycache__", "raw")
        shutil.copytree(REPOSITORY / name, source / name, ignore=ignored)
    for name in ("pyproject.toml", *(path.name for path in REPOSITORY.glob("[A-Z]*"))):
        if (REPOSITORY / name).is_file():
            shutil.copy(REPOSITORY / name, source)
    return source


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    return build(source, "wheel")


def in_empty_folder(wheel: Path, folder: Path, *commands: str) -> dict[str, list[str]]:
    """Unpack the wheel and run commands with it, from a folder of their own."""
    package, empty = folder / "unpacked", folder / "empty"
    empty.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(package)
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps(commands)],
        cwd=empty,
        env={**os.environ, "PYTHONPATH": str(package), "DRMBENCH_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    ended: dict[str, list[str]] = json.loads(done.stdout)
    assert Path(str(ended.pop("from"))).is_relative_to(package)
    return ended


def test_the_wheel_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size < 6e6


def test_the_sdist_builds_the_same_wheel(
    source: Path, wheel: Path, tmp_path: Path
) -> None:
    with tarfile.open(build(source, "sdist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    assert unpacked.name == f"drmbench-{drmbench.__version__}"
    assert {"LICENSE", "CHANGELOG.md", "CITATION.cff"} <= {
        path.name for path in unpacked.iterdir()
    }
    assert contents(build(unpacked, "wheel")) == contents(wheel)


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_commands_work_without_a_checkout(wheel: Path, tmp_path: Path) -> None:
    ended = in_empty_folder(
        *(wheel, tmp_path),
        "check",
        "results",
        "tables quick",
        "figures timing",
        "report quick",
        "claims --json",
        "run gene --dry-run",
        "run quik",
        "run configs/quick.yaml --dataset iris --method nb --jobs 1",
        "init first.yaml",
        "config check first.yaml quick",
    )
    codes = {command: found[0] for command, found in ended.items()}
    assert codes.pop("run quik") == 2
    assert "Did you mean 'quick'?" in ended["run quik"][2]
    assert set(codes.values()) == {0}, ended
    for command in ("check", "results", "tables quick", "claims --json"):
        assert "using the packaged rows" in ended[command][2]
        assert ended[command][2].count("\n") == 1
    verdicts = json.loads(ended["claims --json"][1])
    assert any(verdict["status"] == "reproduced" for verdict in verdicts)
    checked = [line.split() for line in ended["check"][1].splitlines()]
    assert ["imbalanced", "2100/2100", "sound"] in checked
    assert "using the packaged config gene" in ended["run gene --dry-run"][2]
    assert (
        "using the packaged config quick" in ended["config check first.yaml quick"][2]
    )
    written = {
        str(path.relative_to(tmp_path / "empty"))
        for path in (tmp_path / "empty").rglob("*")
    }
    assert written >= {
        "first.yaml",
        "results/tables/quick.md",
        "results/figures/timing_time.svg",
        "results/report.html",
        "results/runs/quick/results.csv",
    }


def test_a_file_that_is_here_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for given in ("gene", "gene.yaml", "configs/gene.yaml"):
        assert find_config(Path(given)) == shipped_configs()["gene"]
    Path("configs").mkdir()
    Path("configs/gene.yaml").touch()
    for given in ("gene", "configs/gene.yaml"):
        assert find_config(Path(given)) == Path("configs/gene.yaml")
    Path("gene.yaml").touch()
    for given in ("gene", "gene.yaml"):
        assert find_config(Path(given)) == Path("gene.yaml")
    Path("gene").touch()
    assert find_config(Path("gene")) == Path("gene")
    for given in ("other/face.yaml", "face.csv", "nothing"):
        assert find_config(Path(given)) == Path(given)
