"""Tables as files: the same bytes twice, an index, and the command that writes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from claim_results import names_of
from result_files import make_results
from typer.testing import CliRunner

from drmbench.cli.publish import tables as tables_command
from drmbench.errors import InputError
from drmbench.report.tables import rendered_tables, write_tables
from drmbench.running.results import load_results


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted((folder / "tables").iterdir())}


def test_written_twice_gives_the_same_bytes_and_an_index(tmp_path):
    make_results(tmp_path / "results", "mine", modes=("paper", "honest"))
    for out in ("one", "two"):
        written = write_tables(
            tmp_path / "results", [], tmp_path / out, formats=["all"]
        )
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert {path.suffix for path in written} == {".md", ".csv", ".tex", ".html"}
    index = (tmp_path / "two" / "tables" / "README.md").read_text("utf-8")
    listed = [path for path in written[:-1] if path.suffix == ".md"]
    assert {path.stem for path in listed} == {"mine"}
    for path in listed:
        assert f"({path.name})" in index
    for path in written:
        if path.suffix == ".csv":
            assert f"#{path.stem})" in index
    page = (tmp_path / "two/tables/mine-accuracy-paper-mode.html").read_text("utf-8")
    assert '<meta charset="utf-8">' in page


def test_a_part_written_later_keeps_the_rest_in_the_index(tmp_path):
    make_results(tmp_path / "results", "first", metrics=("accuracy",))
    make_results(tmp_path / "results", "second", metrics=("accuracy",))
    for name in ("first", "second"):
        written = write_tables(tmp_path / "results", [name], tmp_path)
        assert not any(path.name.startswith("table2") for path in written)
    index = written[-1].read_text("utf-8")
    assert "(first.md#first-accuracy-honest-mode)" in index
    assert "(second.md#second-accuracy-honest-mode)" in index


def test_documents_are_in_the_papers_order_then_beyond(tmp_path):
    common = {"modes": ("paper", "honest"), "metrics": ("gmean", "accuracy")}
    for name, more in {
        "beyond": {},
        "ablation": {"reproduces": "figure4"},
        "imbalanced": {"reproduces": "table8", "datasets": names_of("keel")},
        "sampling": {"reproduces": "table9", "methods": ["smote-svm"]},
    }.items():
        make_results(tmp_path / "results", name, **common, **more)
    written = write_tables(tmp_path / "results", [], tmp_path)
    assert [path.name for path in written] == [
        *("table2.md", "table4.md", "table7.md", "table8.md", "table8-protocol.md"),
        *("sampling.md", "ablation.md", "beyond.md", "leaderboard_rare.md"),
        "README.md",
    ]
    text = (tmp_path / "tables" / "table8-protocol.md").read_text("utf-8")
    assert text.startswith("# Table 8. Imbalanced data sets: agreement with the paper")
    ids = re.findall('<a id="(.*)"></a>\n\n### ', text)
    assert ids == [
        *("table8-gmean-paper-minus-honest", "table8-gmean-protocol-worth"),
        "table8-gmean-paper-mode-agreement",
        "table8-gmean-paper-mode-agreement-cells",
        *("table8-seconds-honest-mode", "table8-seconds-paper-mode"),
    ]
    index = written[-1].read_text("utf-8")
    places = [index.index(f"({path.name})") for path in written[:-1]]
    assert places == sorted(places)


def test_what_is_rendered_is_what_is_written(tmp_path):
    make_results(tmp_path / "results", "mine")
    write_tables(tmp_path / "results", [], tmp_path, formats=["csv", "md"])
    results = load_results(tmp_path / "results")
    rendered = dict(rendered_tables(results, ["csv", "md"]))
    assert {k: v.encode() for k, v in rendered.items()} == files(tmp_path)


@pytest.fixture
def call():
    app = typer.Typer()
    app.command()(tables_command)
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


def test_the_command_writes_tables_of_one_metric(call, tmp_path):
    make_results(tmp_path / "results", "mine")
    answer = call(
        *("mine", "--results", tmp_path / "results", "--out", tmp_path),
        *("--metric", "gmean", "--view", "ours", "--format", "md,csv"),
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
        (("--format", "md,pdf"), "no format 'pdf'; there are md, csv, tex, html, and"),
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
    Path("results/reference").mkdir(parents=True)
    answer = call("--out", "out", "--format", "tex")
    assert answer.exit_code == 0
    assert "has no results" in answer.output
    assert (tmp_path / "out/tables/table4-large-datasets.tex").is_file()


def test_without_committed_results_here_the_packaged_ones_are_used(
    call, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    answer = call("quick", "--out", "out")
    assert answer.exit_code == 0
    assert "no results/reference here: using the packaged rows" in answer.output
    assert (tmp_path / "out/tables/quick.md").is_file()


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda rows: "a,b\n1,2\n", "results.csv lacks dataset, method"),
        (lambda rows: rows + 'x,"y"\n', "row 16: status cannot be ''"),
        (lambda rows: rows.replace(",ok,", ",fine,", 1), "status cannot be 'fine'"),
        (lambda rows: rows.replace("iris", "irs", 1), "dataset cannot be 'irs'"),
        (lambda rows: rows.replace("nb", "bn", 1), "method cannot be 'bn'"),
        (lambda rows: "", "No columns to parse"),
    ],
)
def test_damaged_rows_are_named(call, tmp_path, edit, words):
    make_results(tmp_path / "results", "mine", datasets=["iris"])
    path = tmp_path / "results/mine/results.csv"
    path.write_text(edit(path.read_text()))
    answer = call("--results", tmp_path / "results", "--out", tmp_path)
    assert isinstance(answer.exception, InputError)
    assert str(path) in str(answer.exception)
    assert words in str(answer.exception)


def test_a_folder_that_is_a_file(call, tmp_path):
    (tmp_path / "taken").write_text("")
    (tmp_path / "results").mkdir()
    answer = call("--results", tmp_path / "results", "--out", tmp_path / "taken")
    assert "cannot write to" in str(answer.exception)
