"""The committed results are what the commands write from the committed rows.

``results/SHA256SUMS`` has the sums of tables, figures and the page in every format.
Tables and texts are the same with all versions of the packages; drawings with the
versions that the sums name.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import numpy as np
import pytest
from support import REPOSITORY

from drmbench.running.results import read_rows

sys.path.insert(0, str(REPOSITORY / "tools"))
import result_sums


@pytest.fixture(scope="module")
def fresh() -> dict[str, str]:
    return result_sums.fresh_sums()


def test_every_file_is_what_the_commands_write(fresh: dict[str, str]) -> None:
    """Byte for byte, in every format; `make tables figures report sums` heals it."""
    assert result_sums.differing(fresh) == []
    assert result_sums.strays() == []
    endings = {name.rpartition(".")[2] for name in fresh}
    assert endings == {"md", "csv", "tex", "html", "svg", "pdf", "png"}


@pytest.mark.parametrize("name", ["tables/table3.md", "tables/table8-protocol.md"])
def test_a_changed_digit_is_noticed(fresh: dict[str, str], name: str) -> None:
    text = (result_sums.RESULTS / name).read_bytes()
    assert hashlib.sha256(text).hexdigest() == fresh[name]
    altered = hashlib.sha256(text.replace(b"1", b"2", 1)).hexdigest()
    assert result_sums.differing(fresh | {name: altered}) == [name]
    assert result_sums.differing(fresh | {"tables/more.md": altered}) == [
        "tables/more.md"
    ]


def test_a_stray_file_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_sums, "RESULTS", tmp_path)
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "old.csv").write_text("a,b\n")
    (tmp_path / "report.html").write_text("an old page")
    found = result_sums.strays()
    assert {"tables/old.csv", "report.html", "tables/table3.md"} <= set(found)


def test_drawings_of_other_versions_are_not_compared() -> None:
    heading, _ = result_sums.recorded()
    assert "drawn with matplotlib" in heading
    assert "packed with Pillow" in heading
    assert result_sums.comparable("tables/table3.csv", "")
    assert not result_sums.comparable("figures/uci_ranks.svg", "matplotlib 0.1")
    here = f"{result_sums.drawn_with()}, {result_sums.packed_with()}"
    assert result_sums.comparable("figures/uci_ranks.png", here)
    assert not result_sums.comparable("figures/a.png", result_sums.drawn_with())


def test_rows_are_read_to_the_last_digit(tmp_path: Path) -> None:
    """Also by versions of pandas whose own reading is off by one in the last place."""
    values = np.random.default_rng(0).random(200).tolist()
    path = tmp_path / "results.csv"
    path.write_text("accuracy\n" + "\n".join(map(repr, values)) + "\n")
    assert read_rows(path)["accuracy"].tolist() == values
