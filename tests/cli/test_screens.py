"""What commands look like at 80 and at 140 columns, held by golden screens.

A command runs in a pseudo-terminal, an emulator draws its screen, and the screen must
be the one in ``screens``. ``DRMBENCH_WRITE_GOLDEN=1`` writes them again; then look at
what changed. Times, versions and the length of the bar are masked.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
from support import REPOSITORY
from terminal_screen import DRIVER, Terminal, environment

SCREENS = Path(__file__).parent / "screens"
#: Set it to 1 to write the golden screens again, then look at what changed.
REGENERATE = os.environ.get("DRMBENCH_WRITE_GOLDEN") == "1"
WIDTHS = (80, 140)

#: What is shown, by the name of its golden screens.
COMMANDS = {
    "run": "run quick.yaml --dataset iris --method drm-linear --method nb --jobs 1",
    "dry-run": "run quick.yaml --dry-run --dataset iris --method nb --method c45*"
    " --jobs 1",
    "claims": "claims --results none",
    "claims-filtered": "claims --results none --kind arithmetic --verdict partly",
    "claims-full": "claims gene-gains own-nakayama-size --results none",
    "data-list": "data list --group gene --group face --group uci",
    "data-list-filtered": "data list glass* page-blocks* --missing --max-n 300",
    "data-info": "data info glass2",
    "methods": "methods --family drm",
    "methods-name": "methods drm-rbf",
    "results": "results",
    "results-experiment": "results --experiment wide",
    "check": "check --results results/runs",
    "config-check": "config check quick.yaml wide.yaml",
    "tables": "tables quick",
    "figures": "figures quick",
    "compare": "compare mine.csv --target label --methods nb,knn-euclidean --repeats 1"
    " --jobs 1 --no-progress",
}
HELP = {
    "help": "--help",
    "help-claims": "claims --help",
    "help-data-list": "data list --help",
}

TIME = r"(?:\d+ h \d\d min|\d+ min \d\d s|\d+(?:\.\d)? s)"
MASKS = (
    (rf"about\s+{TIME}\s+\({TIME}\s+of\s+processor\s+time\)", "about TIME"),
    (r"about TIME;\s+rough,[^.]*", "about TIME; rough"),
    (rf"\s+{TIME}(?= |\.|$)", " TIME"),
    (r" +(estimated|time)$", r" \1"),
    (r"[━╸╺]+", "━━━"),
    (r"(package [\w-]+) [\d.]+", r"\1 VERSION"),
    (r"-[0-9a-f]{8}\b", "-DIGEST"),
    (r"\d+ files", "N files"),
)
WIDE = """\
name: wide
title: Methods that do not all stand side by side
datasets: [iris, wine]
methods: [nb, knn-euclidean, knn-cosine, drm-linear, ridge, drm-exact]
protocol:
  split: {kind: random, repeats: 2, train: 0.6}
  selection: {kind: kfold, k: 2}
  scaling: honest
metrics: [accuracy]
"""
WAITING = """\
import time
from pathlib import Path
from sklearn.dummy import DummyClassifier

class Waiting(DummyClassifier):
    def fit(self, X, y):
        Path("begun").touch()
        while not Path("go").exists():
            time.sleep(0.02)
        return super().fit(X, y)
"""
WAITING_CONFIG = """\
name: waiting
datasets: [iris]
methods:
  - nb
  - {estimator: "waiting:Waiting", as: waiting}
protocol:
  split: {kind: random, repeats: 2, train: 0.6}
  selection: {kind: kfold, k: 2}
  scaling: honest
metrics: [accuracy]
"""


class Place(NamedTuple):
    """Where commands are run."""

    folder: Path  #: with configs, a table and results
    checkout: Path  #: a catalogue without data
    variables: dict[str, str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A folder with configs, results of a run and a reference, and a table."""
    folder, checkout = (tmp_path_factory.mktemp(x) for x in ("screens", "checkout"))
    (checkout / "datasets").mkdir()
    for name in ("registry.yaml", "keel_folds.json"):
        shutil.copy(REPOSITORY / "datasets" / name, checkout / "datasets")
    shutil.copy(REPOSITORY / "configs" / "quick.yaml", folder)
    (folder / "wide.yaml").write_text(WIDE)
    (folder / "none").mkdir()
    rows = (f"{x * 7 % 10},{x * x % 11},{x * 7 % 10 > 6}" for x in range(60))
    (folder / "mine.csv").write_text("\n".join(["size,rest,label", *rows, ""]))
    unset = dict.fromkeys(("DRMBENCH_MIRROR", "DRMBENCH_DATA"), "")
    cache = {"DRMBENCH_CACHE": str(folder / "cache"), "DRMBENCH_OFFLINE": "1"}
    made = Place(folder, checkout, {**unset, **cache})
    piped(COMMANDS["run"], made)
    piped("run wide.yaml --jobs 1", made)
    shutil.copytree(folder / "results" / "runs", folder / "results" / "reference")
    return made


def piped(command: str, place: Place) -> str:
    """Return what a command writes where no terminal is."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(place.checkout), *command.split()],
        cwd=place.folder,
        env=environment(**place.variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def terminal(command: str, width: int, place: Place, **variables: str) -> Terminal:
    """Return a terminal in which a command is being run."""
    return Terminal(
        command.split(),
        width,
        cwd=place.folder,
        checkout=place.checkout,
        variables={**place.variables, **variables},
    )


def masked(text: str) -> str:
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return text


def require_golden(name: str, width: int, text: str) -> None:
    """Require that a screen is the golden one."""
    path = SCREENS / f"{name}-{width}.txt"
    if REGENERATE:
        path.write_text(masked(text), encoding="utf-8", newline="\n")
    assert masked(text) == path.read_text(encoding="utf-8")


def locked(package: str) -> str:
    lock = (REPOSITORY / "requirements" / "dev.txt").read_text()
    (version,) = re.findall(rf"^{package}==(\S+)", lock, re.MULTILINE)
    return str(version)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_screens(name: str, width: int, place: Place) -> None:
    with terminal(COMMANDS[name], width, place) as shown:
        text = shown.finish()
        lines = shown.written_lines
    assert max(map(len, lines)) <= width
    require_golden(name, width, text)


@pytest.mark.skipif(typer.__version__ != locked("typer"), reason="help of other typer")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", HELP)
def test_help_screens(name: str, width: int, place: Place) -> None:
    with terminal(HELP[name], width, place) as shown:
        text = shown.finish()
    require_golden(name, width, text)


#: Listings of all there is, whatever that is, and tables in parts.
WHOLE = ("claims --results none", "data list", "methods", "results --experiment wide")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", WHOLE)
def test_no_word_is_broken_and_no_line_too_wide(
    command: str, width: int, place: Place
) -> None:
    whole = set(piped(command, place).split())
    with terminal(command, width, place) as shown:
        text = shown.finish()
        assert max(map(len, shown.written_lines)) <= width
    note = re.compile(r"^Hidden at .*$", re.MULTILINE)
    for word in note.sub("", text).split():
        # What was cut at its end is the beginning of a word, or a whole one.
        start = word.removesuffix("…")
        assert word in whole or (
            word != start and any(x.startswith(start) for x in whole)
        )


@pytest.mark.parametrize("command", WHOLE)
def test_a_pipe_gets_everything_and_no_colour(command: str, place: Place) -> None:
    text = piped(command, place)
    assert "\x1b" not in text
    assert "Hidden at" not in text
    assert "…" not in text.replace(", …", "")


def test_colours_are_shown_unless_they_are_not_wanted(place: Place) -> None:
    command = "claims --results none --section face"
    texts = []
    for unwanted in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
        with terminal(command, 80, place, **unwanted) as shown:
            texts.append(shown.finish())
        assert (b"\x1b[3" in shown.raw) == (not unwanted)
    assert len(set(texts)) == 1


def test_the_best_figure_of_a_run_is_in_colour(place: Place) -> None:
    with terminal(COMMANDS["run"], 80, place) as shown:
        shown.finish()
    # The bar of the run may be green for a moment too; it has no such figures.
    assert re.findall(rb"\x1b\[32m *(\d\.\d{4})", shown.raw) == [b"0.9583"]


@pytest.mark.wheels
@pytest.mark.parametrize("width", WIDTHS)
def test_cells_of_the_papers_table(width: int, place: Place, tmp_path: Path) -> None:
    command = "keel-cells --dataset glass6 --dataset page-blocks-1-3_vs_4"
    command += " --method nb --method knn-euclidean"
    with Terminal(
        command.split(), width, cwd=tmp_path, variables=place.variables
    ) as shown:
        text = shown.finish()
    require_golden("keel-cells", width, re.sub(r" 0\.\d$", " 0.0", text, flags=re.M))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_bar_of_a_run(width: int, place: Place, tmp_path: Path) -> None:
    (tmp_path / "waiting.py").write_text(WAITING)
    (tmp_path / "waiting.yaml").write_text(WAITING_CONFIG)
    here = place._replace(folder=tmp_path)
    with terminal("run waiting.yaml --jobs 1", width, here) as shown:
        bar = re.compile(r"cells [━╸╺]+ 1/4.*\n1 running: iris, waiting")
        text = shown.read_until(lambda seen: bool(bar.search(seen)))
        (length,) = map(len, re.findall(r"[━╸╺]+", text))
        assert length >= width - 50
        require_golden("progress", width, text)
        (tmp_path / "go").touch()
        require_golden("progress-end", width, shown.finish())
