"""The committed tables, figures and report are what the commands write, byte for byte.

From the committed rows, that is. Tables and texts are the same with all versions of the
packages; drawings with the version of matplotlib that the index of the figures names.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from matplotlib import image
from support import REPOSITORY, files_below

from drmbench.report.figures import FORMATS, drawn_with, write_figures
from drmbench.report.page import write_report
from drmbench.report.tables import write_tables
from drmbench.run.results import read_rows

RESULTS = REPOSITORY / "results"
REFERENCE = RESULTS / "reference"

_VERSIONS = re.compile(r"matplotlib \S+, FreeType \d[\d.]*\d")
_STREAM = re.compile(rb"\bstream\n(.*?)\nendstream", re.DOTALL)
_DRAWING = re.compile(r"<svg\b.*?</svg>", re.DOTALL)


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def differing(folder: Path, written: Path) -> list[str]:
    """Return the names of files that differ, are missing, or that nothing writes."""
    names = {*files_below(folder), *files_below(written)}
    return sorted(name for name in names if not same(folder / name, written / name))


def same(one: Path, other: Path) -> bool:
    if not (one.is_file() and other.is_file()):
        return False
    return np.array_equal(content(one), content(other))


def content(path: Path) -> object:
    """Return the bytes of a file, or what a version of zlib has packed into them."""
    if path.suffix == ".png":
        return image.imread(path)
    if path.suffix == ".pdf":
        return [unpacked(body) for body in _STREAM.findall(path.read_bytes())]
    return path.read_bytes()


def unpacked(body: bytes) -> bytes:
    try:
        return zlib.decompress(body)
    except zlib.error:
        return body


def skip_if_drawn_otherwise(text: str, target: str) -> None:
    """Skip where drawings cannot be the same; not saying how they were made fails."""
    versions = set(_VERSIONS.findall(text))
    assert versions, f"no version of matplotlib is named; `make {target}` writes it"
    if versions != {drawn_with()}:
        pytest.skip(
            f"drawn with {' and '.join(sorted(versions))}; here: {drawn_with()}"
        )


def without_drawings(text: str) -> str:
    return _VERSIONS.sub("", _DRAWING.sub("", text))


def test_the_tables_are_what_drmbench_tables_writes(tmp_path: Path) -> None:
    write_tables(REFERENCE, [], tmp_path, formats=["csv", "tex", "html"])
    names = differing(RESULTS / "tables", tmp_path / "tables")
    assert [name for name in names if not name.endswith(".md")] == []


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    write_figures(REFERENCE, [], folder, formats=FORMATS)
    return folder / "figures"


def test_the_figures_are_those_of_the_rows(drawn: Path) -> None:
    """Their names and captions, with any version of matplotlib."""
    committed = RESULTS / "figures"
    assert files_below(committed) == files_below(drawn)
    old, new = (without_drawings(read(f / "README.md")) for f in (committed, drawn))
    assert old == new


def test_the_figures_are_what_drmbench_figures_writes(drawn: Path) -> None:
    committed = RESULTS / "figures"
    skip_if_drawn_otherwise(read(committed / "README.md"), "figures")
    assert differing(committed, drawn) == []
    assert len(files_below(drawn)) % len(FORMATS) == 1  # and the index


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> str:
    return read(write_report(REFERENCE, (), tmp_path_factory.mktemp("out") / "r.html"))


def test_the_report_says_what_the_rows_say(reported: str) -> None:
    """All of it but the drawings, with any version of matplotlib."""
    committed = read(RESULTS / "report.html")
    assert without_drawings(committed) == without_drawings(reported)


def test_the_report_is_what_drmbench_report_writes(reported: str) -> None:
    committed = read(RESULTS / "report.html")
    skip_if_drawn_otherwise(committed, "report")
    assert committed == reported


def test_rows_are_read_to_the_last_digit(tmp_path: Path) -> None:
    """Also by versions of pandas whose own reading is off by one in the last place."""
    values = np.random.default_rng(0).random(200).tolist()
    path = tmp_path / "results.csv"
    path.write_text("accuracy\n" + "\n".join(map(repr, values)) + "\n")
    assert read_rows(path)["accuracy"].tolist() == values
