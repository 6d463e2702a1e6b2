"""One table in its formats: golden files, escapes, and what each format must carry."""

from __future__ import annotations

import csv
import dataclasses
import io
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from result_files import make_results
from table_cells import to_html

from drmbench.report.analyses.comparison import score_table
from drmbench.report.render import (
    latex_text,
    to_csv,
    to_latex,
    to_markdown,
    to_text,
)
from drmbench.report.scores import table_sources
from drmbench.report.table import Cell, Column, Footnote, Table
from drmbench.report.tables import rendered_tables
from drmbench.running.results import load_results

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / "golden"
#: Set it to 1 to write the golden files again, then look at what changed.
REGENERATE = os.environ.get("DRMBENCH_WRITE_GOLDEN") == "1"

RENDERERS = {
    "md": to_markdown,
    "csv": to_csv,
    "tex": to_latex,
    "html": to_html,
}
NASTY = r"50 % of $x_1^2$ & <b>*bold*</b> | \alpha #1 {~} `code` [i] “q” ± β"


def every_mark(folder: Path) -> Table:
    """Return a table in which everything occurs that a table can show."""
    make_results(
        folder,
        "imbalanced",
        reproduces="table8",
        modes=("paper", "honest"),
        metrics=("gmean", "accuracy"),
        datasets=[
            "haberman",
            {"name": "glass4", "substitute": "glass-4", "note": "other rows"},
            {"name": "ecoli1", "note": "one row less"},
            {"name": "yeast3", "missing": "its address is gone"},
        ],
        methods=["svm-rbf", "knn-euclidean", "nb", "drm-rbf", "drm-linear"],
        values={
            ("haberman", "svm-rbf"): [0.6, 0.61, 0.62, 0.63, 0.64],
            ("haberman", "drm-rbf"): [0.64, 0.63, 0.62, 0.61, 0.6],
            ("haberman", "nb"): [0.9, 0.91, 0.92],
            ("glass4", "nb"): "the covariance is singular",
            ("glass4", "knn-euclidean"): [0.8, "timeout: 600 s passed", 0.8, 0.8, 0.8],
        },
        selection_overrides={"svm-rbf": "10-fold instead of leave-one-out"},
        deviations=["Over-sampling is inside the training part"],
    )
    (source,) = table_sources(load_results(folder))
    return score_table(source, "paper", "gmean")


@pytest.mark.parametrize("ending", RENDERERS)
def test_golden_files(tmp_path, ending):
    text = RENDERERS[ending](every_mark(tmp_path))
    path = GOLDEN / f"table8-gmean-paper-mode.{ending}"
    if REGENERATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


def plain(name: str, title: str, columns, rows, **more) -> Table:
    return Table(
        experiment=name, kind="", title=title, columns=columns, rows=rows, **more
    )


def nasty_table() -> Table:
    return plain(
        "a b/ü",
        NASTY,
        (Column(NASTY), Column("n", "right", "s")),
        ((Cell(NASTY, mark="a", title='say "hi"'), Cell("1", 1.0, bold=True)),),
        footnotes=(Footnote("a", NASTY),),
        notes=(NASTY,),
    )


class Reader(HTMLParser):
    """Collects texts and checks that elements nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.titles: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.titles += [value for name, value in attrs if name == "title"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


def test_html_escapes_and_nests():
    reader = Reader()
    reader.feed(to_html(nasty_table()))
    reader.close()
    assert reader.open == []
    assert "b" not in reader.texts  # the text's own element is text
    assert reader.texts["caption"] == [NASTY]
    assert reader.texts["p"] == [f" {NASTY}", NASTY]
    assert reader.texts["strong"] == ["1"]
    assert reader.texts["sup"] == ["a", "a"]
    assert reader.titles == ['say "hi"']
    assert 'id="a-b-"' in to_html(nasty_table())


def latex_problems(text: str) -> list[str]:
    """Return unescaped specials and unbalanced braces, line by line."""
    body = [line for line in text.splitlines() if not line.startswith("%")]
    joined = "\n".join(body)
    bare = re.sub(r"\\[\\&%$#_{}]", "", joined)
    problems = [f"{c} is not escaped" for c in "%$#_~`" if c in bare]
    if re.search(r"\^(?!2)", bare) or re.search("[±†‡≠β−–]", bare):
        problems.append("a sign that needs a command")
    if bare.count("{") != bare.count("}"):
        problems.append("braces do not balance")
    begun, ended = (re.findall(rf"\\{x}{{(\w+)}}", joined) for x in ("begin", "end"))
    if sorted(begun) != sorted(ended):
        problems.append("environments do not balance")
    return problems


@pytest.mark.parametrize("rows", [1, 60])
def test_latex_is_escaped_and_balanced(rows):
    table = nasty_table()
    many = dataclasses.replace(table, rows=table.rows * rows, notes=())
    text = to_latex(many)
    assert latex_problems(text) == []
    assert ("longtable}" in text.partition("\n")[2]) == (rows > 45)
    lines = [x for x in text.splitlines() if not x.startswith(r"\toprule ")]
    cells = [line for line in lines if line.endswith(r"\\") and " & " in line]
    assert len(cells) == rows + (rows == 1)  # a long one has its heading twice
    assert {len(re.findall(r"(?<!\\)&", line)) for line in cells} == {1}
    assert r"\textbf{1}" in text


def test_the_golden_latex_has_no_problems(tmp_path):
    assert latex_problems(to_latex(every_mark(tmp_path))) == []


def test_markdown_cells_stay_in_their_columns():
    lines = to_markdown(nasty_table()).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {3}
    assert table[1] == "|:---|---:|"
    assert table[2].endswith("| **1** |")
    assert "\\<b>" in table[2]


def test_csv_of_a_table_without_records_has_numbers():
    table = plain(
        "t",
        "t",
        (Column("set"), Column("time", "right", "s")),
        ((Cell("a,b"), Cell("0.333", 1 / 3)), (Cell("c"), Cell("–"))),
    )
    rows = list(csv.reader(io.StringIO(to_csv(table))))
    assert rows == [["set", "time [s]"], ["a,b", repr(1 / 3)], ["c", "–"]]


def test_csv_records_have_full_precision_and_empty_fields():
    records = ({"a": 0.1 + 0.2, "b": None, "c": True}, {"a": float("nan"), "b": 1})
    table = plain("t", "t", (), (), frame=pd.DataFrame(records, dtype=object))
    rows = list(csv.reader(io.StringIO(to_csv(table))))
    assert rows == [["a", "b", "c"], ["0.30000000000000004", "", "1"], ["", "1", ""]]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("scores", "mine-balanced-accuracy-paper-mode"),
        ("ranks", "mine-balanced-accuracy-paper-mode-statistics"),
        ("modes", "mine-balanced-accuracy-paper-minus-honest"),
        ("naive", "mine-naive-selection-paper-mode"),
        ("large-datasets", "mine-large-datasets"),
        ("", "mine"),
    ],
)
def test_the_id_says_what_the_table_is_about(kind, name):
    table = plain("mine", "t", (), (), metric="balanced_accuracy", mode="paper")
    assert dataclasses.replace(table, kind=kind).id == name


def test_text_for_the_terminal_is_aligned_and_has_the_marks():
    columns = (Column("set"), Column("time", "right", "s"))
    rows = ((Cell("a", mark="†"), Cell("0.5")), (Cell("long"), Cell("10.5", bold=True)))
    text = to_text(plain("t", "t", columns, rows))
    assert text.splitlines() == ["set   time [s]", "a †        0.5", "long      10.5"]


def test_an_empty_table_is_still_a_table():
    table = plain("t", "Nothing", (Column("a"),), ())
    assert to_csv(table) == "a\n"
    assert latex_problems(to_latex(table)) == []
    assert "| a |" in to_markdown(table)


needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="pdflatex is not here"
)


@pytest.fixture(scope="module")
def committed() -> list[str]:
    """Every committed table as LaTeX."""
    results = load_results(ROOT / "results" / "reference")
    return [text for _, text in rendered_tables(results, ["tex"])]


def compiled(folder: Path, texts: list[str], options: str, page: str) -> str:
    """Compile tables as one document and return its log.

    Long tables know their columns' widths once the log says nothing of a change.
    """
    inputs = "\n".join(f"{text}\\clearpage" for text in texts)
    (folder / "all.tex").write_text(
        rf"\documentclass[10pt,{options}]{{article}}\usepackage[{page}]{{geometry}}"
        r"\usepackage{array,booktabs,longtable}"
        r"\pdfcompresslevel=0\pdfobjcompresslevel=0"
        rf"\begin{{document}}{inputs}\end{{document}}",
        encoding="utf-8",
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    for _ in range(4):
        done = subprocess.run(command, cwd=folder, capture_output=True)
        log = done.stdout.decode(errors="replace")
        assert done.returncode == 0, log[-2000:]
        if "widths have changed" not in log:
            return log
    raise AssertionError("the widths of columns change with every run")


@needs_latex
def test_every_committed_table_compiles_and_fits_the_line_in_8_pt(tmp_path, committed):
    assert len(committed) > 20
    log = compiled(tmp_path, committed, "letterpaper", "margin=1in")  # 6.5 in
    assert re.findall("Overfull.*|Float too large.*|LaTeX Font Warning.*", log) == []
    # Every letter of the PDF is of 8 pt or more, but for marks and exponents.
    drawn = re.findall(
        rb"/F\d+ ([\d.]+) Tf [^\[]*\[(.*?)\]TJ", (tmp_path / "all.pdf").read_bytes()
    )
    assert len(drawn) > 5000
    small = {
        b"".join(re.findall(rb"\((.*?)\)", text))
        for size, text in drawn
        if float(size) < 7.9
    }
    assert all(re.fullmatch(rb"[a-z]*|[^a-z]{1,9}", text) for text in small), small


@needs_latex
def test_tables_of_a_page_stand_across_both_columns_of_a_journal(tmp_path, committed):
    """Long ones break over pages, which LaTeX does in one column only."""
    short = [text for text in committed if r"\begin{table*}" in text]
    assert len(short) > 20
    page = "textwidth=7.16in,textheight=9.5in"
    log = compiled(tmp_path, short, "letterpaper,twocolumn", page)
    assert re.findall("Overfull.*|Float too large.*|Too many unproc.*", log) == []


def test_committed_latex_has_one_caption_rules_of_booktabs_and_known_letters(committed):
    for text in committed:
        assert text.count(r"\caption{") == text.count(r"\label{") == 1
        assert r"\toprule" in text
        assert not re.search(r"`|\\hline|\\drmletter|\\resizebox", text)


@needs_latex
def test_letters_and_signs_of_many_kinds_compile(tmp_path):
    signs = "α β γ λ Σ ≫ ≪ ≠ ± − × ≤ ≥ √ ≈ → · ² ³ † ‡ § – — … “q” ‘q’ ½ 字"
    names = "Łódź Ångström Müller Čapek François Søren Ñandú"
    table = plain(
        *("x", f"{signs} {names}", (Column(signs), Column("β", "right", "µs"))),
        ((Cell(f"{NASTY} {names}", mark="a"), Cell("1 ± 2", bold=True)),),
        footnotes=(Footnote("a", signs),),
        notes=(f"`{NASTY.replace('`', '')}`", names),
    )
    log = compiled(tmp_path, [to_latex(table)], "a4paper", "margin=1in")
    assert "Missing character" not in log


def test_greek_letters_become_commands():
    assert latex_text("σ, λ and α²") == (
        r"\ensuremath{\sigma}, \ensuremath{\lambda} and"
        r" \ensuremath{\alpha}\ensuremath{^2}"
    )
