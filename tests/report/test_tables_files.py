"""Tables as files: the same bytes twice, an index, and the command that writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from result_files import make_results
from typer.testing import CliRunner

from drmbench.cli.tables import tables as tables_command
from drmbench.errors import InputError
from drmbench.report.tables import write_tables


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted((folder / "tables").iterdir())}


def test_written_twice_gives_the_same_bytes_and_an_index(tmp_path):
    make_results(tmp_path / "results", "mine", modes=("paper", "honest"))
    for out in ("one", "two"):
        written = write_tables(tmp_path / "results", [], tmp_path / out)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert {path.suffix for path in written} == {".md", ".csv", ".tex", ".html"}
    index = (tmp_path / "two" / "tables" / "README.md").read_text("utf-8")
    for path in written[:-1]:
        assert f"({path.name})" in index
    page = (tmp_path / "two/tables/mine-accuracy-paper-mode.html").read_text("utf-8")
    assert '<meta charset="utf-8">' in page


def test_a_part_written_later_keeps_the_rest_in_the_index(tmp_path):
    make_results(tmp_path / "results", "first", metrics=("accuracy",))
    make_results(tmp_path / "results", "second", metrics=("accuracy",))
    for name in ("first", "second"):
        written = write_tables(tmp_path / "results", [name], tmp_path)
        assert not any(path.name.startswith("table2") for path in written)
    index = written[-1].read_text("utf-8")
    assert "first-accuracy-honest-mode.md" in index
    assert "second-accuracy-honest-mode.md" in index


@pytest.fixture
def call():
    app = typer.Typer()
    app.command()(tables_command)
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


def test_the_command_writes_tables_of_one_metric(call, tmp_path):
    make_results(tmp_path / "results", "mine")
    answer = call(
        *("mine", "--results", tmp_path / "results", "--out", tmp_path),
        *("--metric", "gmean", "--view", "ours"),
    )
    assert answer.exit_code == 0
    assert "README.md lists them" in answer.output
    names = {path.stem for path in (tmp_path / "tables").glob("mine-*.csv")}
    assert "mine-gmean-honest-mode" in names
    assert not any("accuracy" in name for name in names)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mino",), "Did you mean 'mine'?"),
        (("--metric", "gmeen"), "'gmeen'; there are: accuracy"),
        (("--results", "nowhere"), "no folder of results nowhere"),
    ],
)
def test_what_a_user_can_get_wrong(call, tmp_path, arguments, message):
    make_results(tmp_path / "results", "mine")
    folders = ("--results", tmp_path / "results", "--out", tmp_path)
    answer = call(*folders, *arguments)
    assert isinstance(answer.exception, InputError)
    assert message in str(answer.exception)


def test_no_results_yet(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = call("--out", "out")
    assert answer.exit_code == 0
    assert "has no results" in answer.output
    assert (tmp_path / "out/tables/table4-large-datasets.tex").is_file()


def test_a_folder_that_is_a_file(call, tmp_path):
    (tmp_path / "taken").write_text("")
    (tmp_path / "results").mkdir()
    answer = call("--results", tmp_path / "results", "--out", tmp_path / "taken")
    assert "cannot write to" in str(answer.exception)
