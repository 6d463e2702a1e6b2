"""Names, titles and notes of people: text in every format, whatever they look like."""

from __future__ import annotations

import csv
import io
import logging
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from figure_results import KEEL, draw, texts
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from matplotlib.text import Text
from result_files import make_results

from drmbench.cli.listing import show
from drmbench.errors import InputError
from drmbench.report.figures import FORMATS, draw_all, rendered, write_figures
from drmbench.report.page import write_report
from drmbench.report.render import (
    csv_text,
    latex_text,
    link_text,
    markdown_prose,
    markdown_text,
    to_csv,
    to_latex,
)
from drmbench.report.table import Cell, Table, left
from drmbench.report.tables import write_tables
from drmbench.running import results as stored
from drmbench.running.results import experiments_in, load_results

NAMES = (
    *("{RBF}", "{0.__class__}", "{", "%s", "100%", "$\\frac$", "$x$", "a\\b", "\\"),
    *("=cmd|'/C calc'!A0", "+1+1", "-x", "@SUM(A1)", "'quoted", "a|b", "<b>x</b>"),
    *("[x](http://example.org)", "![x](http://example.org)", "[x][y]", "[/x]", "[red]"),
    *("<script>alert(1)</script>", "`code`", "*bold*", "_x_", "漢字", "Ω→é", "Żółć"),
    *("naïve €", "a&b", '"q"', "#1", "~", "^", "😀", "&lt;", "<!-- x", "א"),
)
TITLE = "A {RBF} title, {}, %s $\\frac$ [t](http://x) | \\\n=two lines {x!r}"
TITLE += ' <a id="x"></a>'
NOTE = "[y]: http://example.org {note} $ % <i>\n# not a heading"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results in which people named everything oddly, in every way they can."""
    folder = tmp_path_factory.mktemp("named")
    methods = [{"name": "nb", "label": name} for name in NAMES]
    make_results(
        folder,
        "own",
        datasets=["{x}", "=1", "a|b", "$\\frac$", "漢", "<i>", "%d", "*"],
        methods=[*methods, "drm-rbf"],
        modes=("paper", "honest"),
        title=TITLE,
        deviations=[NOTE],
    )
    solvers = [{"name": name, "label": f"{name} $\\frac$"} for name in ("drm-gd", "nb")]
    for kind in ("timing", "convergence"):
        make_results(
            folder, kind, kind=kind, datasets=["$\\frac$"], methods=solvers, title=TITLE
        )
    swept = [
        {"name": "drm-rbf", "label": f"{beta} $\\frac$ {{}}", "params": {"beta": beta}}
        for beta in (0.01, 1.0, 100.0)
    ]
    selected = [{"label": f"{name}-rbf"} for name in ("drm", "krr")]
    make_results(
        folder,
        "ablation",
        datasets=["$\\frac$", *KEEL],
        methods=[*selected, *swept],
        metrics=("gmean",),
        modes=("maxabs",),
        split={"kind": "folds"},
        reproduces="figure4",
        title=TITLE,
    )
    return folder


@pytest.fixture(scope="module")
def written(folder: Path) -> dict[str, str]:
    """All tables of these in all formats, by the name of the file."""
    files = write_tables(folder, [], folder.parent / "named-out", formats=["all"])
    return {path.name: path.read_text(encoding="utf-8") for path in files}


def test_every_table_is_written_in_every_format(written: dict[str, str]) -> None:
    endings = [name.rpartition(".")[2] for name in written]
    assert endings.count("csv") == endings.count("tex") == endings.count("html") > 10


def own_markdown(written: dict[str, str]) -> dict[str, str]:
    names = ("own.md", "ablation.md", "timing.md", "convergence.md")
    return {name: written[name] for name in names if name in written}


def test_markdown_has_no_markup_of_theirs(written: dict[str, str]) -> None:
    """As an independent reader of Markdown sees it."""
    assert own_markdown(written).keys() >= {"own.md", "ablation.md"}
    seen: list[str] = []
    for text in own_markdown(written).values():
        for token in MarkdownIt("commonmark").enable("table").parse(text):
            assert token.type != "html_block"
            for part in token.children or ():
                assert part.type not in ("link_open", "image")
                if part.type == "html_inline":  # the anchors of tables
                    assert re.fullmatch(r'<a id="[\w.-]+">|</a>', part.content)
            shown = [
                part.content for part in token.children or () if part.type != "em_open"
            ]
            seen.append("".join(shown).strip())
    assert set(NAMES) <= set(seen)
    assert " ".join(TITLE.split()) in seen


def test_the_index_links_only_documents(written: dict[str, str]) -> None:
    tokens = MarkdownIt("commonmark").parse(written["README.md"])
    parts = [part for token in tokens for part in token.children or ()]
    links = [str(p.attrs["href"]) for p in parts if p.type == "link_open"]
    assert links
    assert all(link.partition("#")[0] in written for link in links)
    assert not any(part.type in ("image", "html_inline") for part in parts)


@given(st.text(st.sampled_from("[]()!<>*\\|`a: x:h/"), max_size=30))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_escaped_markdown_is_no_link(name: str) -> None:
    reader = MarkdownIt("commonmark").enable("table")
    table = f"| {markdown_text(name)} | b |\n|---|---|\n| c | d |\n"
    shown = f"# {markdown_prose(name)}\n\n{table}\n[{link_text(markdown_prose(name))}]"
    for token in reader.parse(shown):
        assert token.type != "html_block"
        for part in token.children or ():
            assert part.type not in ("link_open", "image", "html_inline")


def test_csv_has_no_formulas_and_gives_names_back(written: dict[str, str]) -> None:
    fields: set[str] = set()
    for name, text in written.items():
        if name.endswith(".csv"):
            fields |= {field for row in csv.reader(io.StringIO(text)) for field in row}
    for field in fields:
        if field.startswith(("=", "+", "-", "@", "\t")):
            assert str(float(field))  # numbers are numbers
    given_back = {field.removeprefix("'") for field in fields}
    assert set(NAMES) <= given_back
    assert {"=1", "$\\frac$"} <= given_back
    assert "'=cmd|'/C calc'!A0" in fields


@given(st.text(max_size=20))
@settings(derandomize=True)
def test_csv_texts_can_be_reversed(text: str) -> None:
    shown = csv_text(text)
    assert shown.removeprefix("'") == text
    assert shown == text or not text[0].isalnum()


@pytest.mark.parametrize("number", ["-0.5", "+0.0123", "-1e-05", "-.5", "+3."])
def test_numbers_stay_numbers_in_csv(number: str) -> None:
    assert csv_text(number) == number
    table = Table(
        experiment="t",
        kind="",
        title="",
        columns=left("=a", "b"),
        rows=((Cell("-x"), Cell("−0.5", -0.5)),),
    )
    assert to_csv(table) == "'=a,b\n'-x,-0.5\n"


def test_latex_has_only_letters_that_it_knows(written: dict[str, str]) -> None:
    letter = re.compile(r"\\drmletter\{(.)\}\{([0-9A-F]{4,6})\}")
    shown = set()
    for name, text in written.items():
        if not name.endswith(".tex"):
            continue
        for found, number in letter.findall(text):
            assert ord(found) == int(number, 16)
            shown.add(found)
        rest = letter.sub("", text)
        assert set(filter(lambda c: not c.isascii(), rest)) <= set("éïŻółć")
        assert text.startswith("% \\usepackage")
        assert (r"\providecommand\drmletter[2]" in text) == bool(letter.search(text))
        assert "<" not in rest
        assert "|" not in rest
    assert shown >= set("漢字€😀א")


def test_letters_of_latex() -> None:
    assert latex_text("Größe, naïve, façade, Łódź") == "Größe, naïve, façade, Łódź"
    assert latex_text("a|b") == r"a\textbar{}b"
    assert latex_text("日") == r"\drmletter{日}{65E5}"
    plain = Table(experiment="t", kind="", title="ü", columns=left("a"), rows=())
    assert "drmletter" not in to_latex(plain)


class Shown(HTMLParser):
    """The tags and texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.add(" ".join(data.split()))


def test_html_shows_names_as_they_are(folder: Path, written: dict[str, str]) -> None:
    out = folder.parent / "named-out" / "report.html"
    page = write_report(folder, (), out).read_text(encoding="utf-8")
    for text in (page, *(t for name, t in written.items() if name.endswith(".html"))):
        shown = Shown()
        shown.feed(text)
        assert not shown.tags & {"b", "i"}
        assert "alert(1)" not in shown.texts
    shown = Shown()
    shown.feed(page)
    assert set(NAMES) <= shown.texts


def test_figures_take_no_name_for_a_formula(folder: Path) -> None:
    said: list[str] = []
    seen: set[str] = set()
    for drawing in draw_all(load_results(folder), say=said.append):
        for suffix in FORMATS:
            assert len(rendered(drawing, suffix)) > 1000
        seen |= set(texts(drawing.figure))
        for text in drawing.figure.findobj(Text):
            # Only what matplotlib writes at ticks may be a formula.
            power = re.fullmatch(r"\$\\mathdefault\{.*\}\$|", text.get_text())
            assert power or "$" not in text.get_text() or not text.get_parse_math()
    for name in ("$\\frac$", "$x$", "{RBF}"):
        assert any(name in text for text in seen)
    assert any(re.search("letters drawn as boxes: .*字", line) for line in said)


def test_powers_at_logarithmic_axes_stay_formulas(results_folder: Path) -> None:
    drawing = draw(results_folder)["convergence_objective"]
    powers = [
        text
        for text in drawing.figure.findobj(Text)
        if text.get_text().startswith("$\\mathdefault{10^")
    ]
    assert powers
    assert all(text.get_parse_math() for text in powers)


def test_the_index_of_figures_has_no_markup_of_theirs(folder: Path) -> None:
    out = folder.parent / "named-out"
    *_, index = write_figures(folder, [], out, say=lambda _: None)
    text = index.read_text(encoding="utf-8")
    for token in MarkdownIt("commonmark").parse(text):
        for part in token.children or ():
            if part.type == "image":
                assert str(part.attrs["src"]).endswith(".svg")
            assert part.type not in ("link_open", "html_inline")


def test_terminals_show_headings_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (tuple(map(Cell, NAMES)),)
    table = Table(experiment="", kind="", title="", columns=left(*NAMES), rows=rows)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "10000")
    monkeypatch.setenv("NO_COLOR", "1")
    show(table)
    heading, cells = capsys.readouterr().out.splitlines()
    for name in NAMES:
        assert name in heading
        assert name in cells


def test_a_lost_manifest_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stored._warn_once.cache_clear()
    for name in ("kept", "lost", "begun"):
        make_results(tmp_path, name)
    (tmp_path / "lost" / "manifest.json").unlink()
    for file in (tmp_path / "begun").iterdir():
        file.unlink()
    (tmp_path / "begun" / "cells.jsonl").write_bytes(b"")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert list(load_results(tmp_path)) == ["kept"] == experiments_in(tmp_path)
    begun, lost = (record.getMessage() for record in caplog.records)
    assert lost.startswith(f"{tmp_path / 'lost'} has no manifest.json and is left out.")
    assert "run the whole experiment again" in lost
    assert begun.startswith(f"{tmp_path / 'begun'} has no manifest.json and is left")
    assert "Run the experiment again (`drmbench run CONFIG`)" in begun
    with pytest.raises(InputError, match=r"lost has no manifest\.json\. Restore"):
        load_results(tmp_path, ["lost"])
    with pytest.raises(InputError, match="has no results of 'other'"):
        load_results(tmp_path, ["other"])
