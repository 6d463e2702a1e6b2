"""The documents say what the committed rows say, and nothing that they do not."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import REPOSITORY

from drmbench.errors import CheckFailedError
from drmbench.report.findings import OutdatedTextError
from drmbench.report.text import TextRenderer, reflow
from drmbench.running.results import Results, load_results

sys.path.insert(0, str(REPOSITORY / "tools"))
import write_text

TEMPLATES = REPOSITORY / "docs" / "templates"


@pytest.fixture(scope="module")
def reference() -> dict[str, Results]:
    return load_results(REPOSITORY / "results" / "reference")


@pytest.fixture(scope="module")
def fresh() -> dict[str, str]:
    return dict(write_text.fresh_texts())


# ------------------------------------------------------------- the committed documents


@pytest.mark.parametrize(
    "name", ["REPRODUCTION.md", "README.md", "docs/changed_numbers.md"]
)
def test_the_documents_are_what_the_rows_give(fresh: dict[str, str], name: str) -> None:
    """Byte for byte; `make text` heals it."""
    assert (REPOSITORY / name).read_text(encoding="utf-8") == fresh[name]


def test_a_changed_digit_in_a_marked_part_is_put_right(
    reference: dict[str, Results], fresh: dict[str, str]
) -> None:
    readme = fresh["README.md"]
    block = re.search(r"<!-- text readme_findings -->\n(.*?)<!-- end -->", readme, re.S)
    assert block
    number = re.search(r"\d+ of \d+ comparisons", block[1])
    assert number
    wrong = readme.replace(number[0], "99 of 99 comparisons")
    assert wrong != readme
    assert TextRenderer(TEMPLATES, reference).fill(wrong) == readme


def test_a_table_that_is_not_there_is_named(reference: dict[str, Results]) -> None:
    marked = "<!-- table table3-accuracy-none-mode -->\n<!-- end -->\n"
    with pytest.raises(CheckFailedError, match="table3-accuracy-none-mode"):
        TextRenderer(TEMPLATES, reference).fill(marked)


def without_expressions(template: str) -> str:
    """Return what is typed in a template besides code, quotations, links and names."""
    text = re.sub(r"(?s)\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", " ", template)
    text = re.sub(r"(?m)^    .*$", " ", text)  # commands
    text = re.sub(r"`[^`]*`|\([^()\s]*/[^()\s]*\)|\"[^\"]*\"", " ", text)
    return re.sub(r"\b(?:Tables?|Figures?) \d(?:(?: to | and )\d)*", " ", text)


def without_quotations(text: str) -> str:
    """Return a template without its column of what the old text said."""
    rows = re.compile(r"(?m)^(\|[^|]*\|)[^|]*(\|[^|]*\|[^|]*\|)$")
    return rows.sub(r"\1 \2", text)


def test_no_number_is_typed_in_a_template() -> None:
    """What is left are years, names of methods, formulas and how things were run."""
    allowed = {
        "reproduction.md.j2": [
            *("32(6), 2021", "(2008)", "95 %"),
            *("0.005", "n ≤ 600", "k = 8", "C = 1 always", "C4.5", "C = 1;", "C = 1,"),
            *("γ from {0.001, 0.01, 0.1, 1, 100, 1000}, without 10", "γ = 10"),
            *("exp(−d²/(2s))", "exp(−d²/(2σ²))", "α = 0", "cost was 1 throughout"),
            *("L1-, L2-SVM", "ecoli1", "ecoli2", "ecoli3", "new-thyroid2", "yeast3"),
            *("3- to 10-fold", "5-fold", "3-fold", "G-mean 0", "counts as 0"),
            *("ijcnn1", "G-means of 0"),
            *("fewer than 5 of", "fewer than 10 on", "fewer than 3,", "where 20 or"),
        ],
        "readme_findings.md.j2": [],
        "changed_numbers.md.j2": [
            *("version 0.1.0", "| 35 gene sets", "| 100 imbalanced sets"),
            *(
                "of the 17 are",
                "C4.5 was rounded up",
                "| Cell by cell, C4.5 |",
                "C4.5",
                "yeast3",
            ),
        ],
    }
    for path in sorted(TEMPLATES.iterdir()):
        text = without_expressions(path.read_text(encoding="utf-8"))
        if path.name == "changed_numbers.md.j2":
            text = without_quotations(text)
        text = " ".join(text.split())
        for phrase in allowed[path.name]:
            assert phrase in text, f"{phrase!r} is not in {path.name} any more"
            text = text.replace(phrase, " ")
        left = re.findall(r".{0,30}\d.{0,20}", text)
        assert left == [], path.name


def test_what_changed_is_one_table_of_four_columns(fresh: dict[str, str]) -> None:
    lines = fresh["docs/changed_numbers.md"].splitlines()
    rows = [line.strip("|").split(" | ") for line in lines if line.startswith("|")]
    assert [cell.strip() for cell in rows[0]] == ["where", "then", "now", "why"]
    assert len(rows) > 50
    assert {len(row) for row in rows[2:]} == {4}
    assert all(cell.strip() for row in rows[2:] for cell in row)
    then = " ".join(row[1] for row in rows[2:])
    for number in ("7.5, DRM(P) 6.5", "8 and 12 s", "a quarter", "64 sentences 37"):
        assert number in then
    assert "yeast3 had been left out" in fresh["docs/changed_numbers.md"]


# ---------------------------------------------------------------- rows that come later


def with_rows(results: Results, rows: pd.DataFrame, **lists: list[Any]) -> Results:
    """Return results with other rows and entries of the manifest."""
    manifest = copy.deepcopy(results.manifest) | lists
    return replace(results, rows=rows, manifest=manifest)


def with_method(results: Results, label: str, like: str) -> Results:
    """Add a method whose honest rows are those of another."""
    rows = results.rows
    own = rows[(rows["method"] == like) & (rows["mode"] == "honest")]
    entry = {**results.methods[like], "label": label, "name": label, "column": None}
    methods = [*results.manifest["methods"], entry]
    more = pd.concat([rows, own.assign(method=label)], ignore_index=True)
    return with_rows(results, more, methods=methods)


def with_dataset(results: Results, name: str, like: str) -> Results:
    """Add a data set whose rows are those of another."""
    rows = results.rows
    entry = {**results.datasets[like], "name": name, "paper_names": []}
    datasets = [*results.manifest["datasets"], entry]
    more = rows[rows["dataset"] == like].assign(dataset=name)
    more = pd.concat([rows, more], ignore_index=True)
    return with_rows(results, more, datasets=datasets)


def rendered(results: Mapping[str, Results]) -> str:
    return TextRenderer(TEMPLATES, results).render("reproduction.md.j2")


def test_the_text_survives_new_methods_and_data_sets(
    reference: dict[str, Results],
) -> None:
    more = dict(reference)
    for name, like in (
        *(("imbalanced", "svm-balanced"), ("keel100", "svm-balanced")),
        *(("compcancer", "svm-linear"), ("gene", "rf"), ("face", "rf"), ("uci", "rf")),
    ):
        more[name] = with_method(more[name], "new-method", like)
    more["keel100"] = with_dataset(more["keel100"], "new-set", "abalone9-18")
    text = " ".join(rendered(more).split())
    twice = r"the first five of 15 are svm-balanced ([\d.]+), new-method \1,"
    assert re.search(twice, text)
    assert "On 86 further data sets, none of them the paper's" in text
    assert re.search(r"new-method \d+–\d+–\d+ \(\d+–", text)
    assert "beat almost every method the paper compared it with" in text


def test_origins_are_told_where_they_are_known(reference: dict[str, Results]) -> None:
    names = reference["keel100"].datasets
    origins = {name: name.rstrip("0123456789").partition("-")[0] for name in names}
    texts = TextRenderer(TEMPLATES, reference, origins)
    said = " ".join(texts.render("reproduction.md.j2").split())
    number = len(set(origins.values()))
    assert f"Averaged within each of {number} origins the balanced SVM against" in said
    assert "Averaged within" not in rendered(reference)


def test_a_sentence_that_is_no_longer_true_is_refused(
    reference: dict[str, Results],
) -> None:
    """An SVM that gained nothing by its class weights would not overtake the DRM."""
    found = reference["imbalanced"]
    rows = found.rows
    worse = rows["gmean"].where(rows["method"] != "svm-balanced", rows["gmean"] / 2)
    changed = {**reference, "imbalanced": with_rows(found, rows.assign(gmean=worse))}
    with pytest.raises(OutdatedTextError, match="Telling an SVM, with one option"):
        rendered(changed)


def test_a_method_that_is_gone_is_named(reference: dict[str, Results]) -> None:
    found = reference["imbalanced"]
    rows = found.rows[found.rows["method"] != "svm-balanced"]
    methods = [
        entry for entry in found.manifest["methods"] if entry["label"] != "svm-balanced"
    ]
    changed = {**reference, "imbalanced": with_rows(found, rows, methods=methods)}
    with pytest.raises(OutdatedTextError, match=r"do not have: 'svm-balanced'"):
        rendered(changed)


def test_words_follow_the_rows_where_both_can_be_said(
    reference: dict[str, Results],
) -> None:
    assert "neither it nor a plain linear SVM comes out ahead" in " ".join(
        rendered(reference).split()
    )
    found = reference["compcancer"]
    rows = found.rows
    better = (rows["accuracy"] + 0.3).clip(upper=1.0)
    better = rows["accuracy"].where(rows["method"] != "svm-linear", better)
    changed = {
        **reference,
        "compcancer": with_rows(found, rows.assign(accuracy=better)),
    }
    said = " ".join(rendered(changed).split())
    assert "it is behind a plain linear SVM (" in said


def test_a_subset_that_is_gone_is_said(reference: dict[str, Results]) -> None:
    found = reference["keel100"]
    manifest = copy.deepcopy(found.manifest)
    manifest["experiment"]["selection"]["subset"] = None
    changed = {**reference, "keel100": replace(found, manifest=manifest)}
    with pytest.raises(OutdatedTextError, match="keel100 selects on all training rows"):
        rendered(changed)


# -------------------------------------------------------------------------- line breaks

WORDS = st.lists(
    st.text(st.sampled_from("ab1.-*"), min_size=1, max_size=9), min_size=1, max_size=40
)


@given(WORDS, st.integers(5, 40))
def test_breaking_lines_keeps_every_word(words: list[str], width: int) -> None:
    text = "a " + " ".join(words) + "\n"
    broken = reflow(text, width)
    assert broken.split() == text.split()
    assert reflow(broken, width) == broken
    first, *others = broken.splitlines()
    assert all(
        len(line) <= width or len(line.split()) == 1 or marks_only(line, width)
        for line in (first, *others)
    )
    assert not any(re.match(r"(1[.)]|[-+*>]|#+)( |$)", line) for line in others)


def marks_only(line: str, width: int) -> bool:
    """Tell whether a line is too long by words that may not begin one."""
    words = line.split()
    while words and re.fullmatch(r"1[.)]|[-+*>]|#+", words[-1]):
        words.pop()
    return len(" ".join(words)) <= width or len(words) <= 1


def test_tables_headings_and_commands_keep_their_lines() -> None:
    kept = (
        "# A heading of some words\n\n| a | b |\n|---|---|\n\n    make this and that\n"
    )
    assert reflow(kept, 10) == kept


def test_the_tool_names_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(write_text, "ROOT", tmp_path)
    monkeypatch.setattr(
        write_text, "fresh_texts", lambda: iter([("a.md", "1\n"), ("b.md", "2\n")])
    )
    (tmp_path / "a.md").write_text("1\n")
    (tmp_path / "b.md").write_text("3\n")
    monkeypatch.setattr(sys, "argv", ["write_text.py"])
    assert write_text.main() == 1
    assert capsys.readouterr().out == "b.md: differs from what the rows give\n"
    monkeypatch.setattr(sys, "argv", ["write_text.py", "--write"])
    assert write_text.main() == 0
    assert (tmp_path / "b.md").read_text() == "2\n"
