"""The report page: complete, well formed, escaped, and the same every time."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from result_files import KEEL, make_results
from sample_results import DEVIATION, FAILURE, MISSING
from table_cells import to_html

from drmbench.config import SplitSpec
from drmbench.report.claim_evidence import Finding
from drmbench.report.claims import Claim, ClaimPart, Verdict
from drmbench.report.facts import CellCount, count_cells, plain_table
from drmbench.report.html import inline_svg
from drmbench.report.page import Content, gather, page
from drmbench.report.page_appendix import unpacked
from drmbench.report.protocol_words import run_command, split_words
from drmbench.running.results import load_results

VOID = {"meta", "br", "hr", "input", "link", "img"}


class Outline(HTMLParser):
    """What a page consists of; raises if an element is closed that is not open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.levels: list[int] = []
        self.loads: list[str] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if (tag, name) == ("a", "href")]
        self.loads += [value for name, value in attrs if name in ("src", "srcset")]
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] not in ("script", "style"):
            self.text.append(data)


def judged_as(
    name,
    status,
    section="IV-C",
    quote="DRM is <best> & fastest",
    numbers="3 of 4",
    explanation="Mean rank 1.5.",
    experiment="gene",
):
    """Return a verdict that says so, in paper mode."""
    claim = Claim(name, section, quote, (ClaimPart("best_count", {}, (experiment,)),))
    return Verdict(claim, {"paper": Finding(status, numbers, explanation)})


VERDICTS = (
    judged_as("a", "reproduced"),
    judged_as("b", "reproduced"),
    judged_as("c", "partly"),
    judged_as("d", "not testable"),
)


def blocks_of(text):
    """Return the data that is opened later, by name."""
    found = re.findall(
        r'<script type="application/x-drmbench" id="data-(\w+)">(.*)<', text
    )
    return {name: unpacked(data) for name, data in found}


def texts_in(data):
    """Give every text within data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from (key, *texts_in(value))
    elif isinstance(data, list):
        for value in data:
            yield from texts_in(value)


@pytest.fixture(scope="module")
def results(sample_folder):
    return load_results(sample_folder)


@pytest.fixture(scope="module")
def text(sample_report):
    return sample_report.read_text("utf-8")


@pytest.fixture(scope="module")
def outline(text):
    return Outline(text)


def test_the_page_is_well_formed(outline):
    assert [i for i, n in Counter(outline.ids).items() if n > 1] == []
    assert outline.tags["main"] == outline.tags["h1"] == outline.tags["nav"] == 1
    assert all(after <= before + 1 for before, after in pairwise(outline.levels))


def test_every_link_leads_to_a_part_of_the_page_or_to_a_view(text, outline, results):
    views = {"leaderboard", "rows", "table"}
    data = blocks_of(text)
    tables = {table["id"] for table in data["tables"]}
    seen = set()
    for link in outline.links:
        name, _, query = link.removeprefix("#").partition("?")
        assert name in (views if query else outline.ids)
        key, _, value = query.partition("=")
        seen.add(name)
        if name == "table":
            assert (key, value in tables) == ("id", True)
        if name == "rows":
            assert (key, value in results) == ("e", True)
    assert {"answer", "claims", "datasets", "protocol", "appendix", *views} <= seen


def test_nothing_is_loaded(text, outline):
    assert outline.loads == []
    assert outline.tags["link"] == outline.tags["iframe"] == 0
    assert not re.search(r"@import|url\((?!#)", text)


def test_the_policy_allows_the_script_of_the_page_and_no_other(text):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    rules = dict(rule.split(maxsplit=1) for rule in html.unescape(policy[1]).split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert len(re.findall(r"<script(?! type=.application/x-drmbench)", text)) == 1


def test_the_same_results_give_the_same_bytes(results):
    timing = {"timing": results["timing"]}
    assert page(gather(timing)) == page(gather(timing))


@pytest.mark.parametrize(
    "said",
    [
        DEVIATION,
        FAILURE,
        "stopped after 600 s",
        MISSING,
        "drmbench data fetch gcm",
        "drmbench run configs/gene.yaml",
        "wine: wine-red stood in. A relative with other classes.",
        "alpha: 0.001, 1; beta: 1",
        "sha256:" + "a" * 64,
        "OpenBLAS",
        "seconds and iterations",
        "the data set's own folds, each the test part once",
    ],
)
def test_the_page_says(text, outline, said):
    opened = texts_in(blocks_of(text))
    assert any(said in part for part in (*outline.text, *opened))


def test_text_from_results_is_never_markup(tmp_path):
    evil = "<script>alert('x')</script>\"&"
    make_results(
        tmp_path,
        "evil",
        datasets=[{"name": evil, "note": evil, "files": {evil: evil}}],
        methods=[{"label": evil, "title": evil, "grid": {evil: [evil]}}],
        values={(evil, evil): evil},
        title=evil,
        deviations=[evil],
        selection=evil,
    )
    verdict = judged_as("x", "partly", evil, evil, evil, evil, evil)
    text = page(replace(gather(load_results(tmp_path)), verdicts=[verdict]))
    outline = Outline(text)
    assert outline.tags["script"] == 1 + len(blocks_of(text))
    assert sum(evil in part for part in outline.text) > 3
    assert sum(evil in part for part in texts_in(blocks_of(text))) > 12


def test_a_table_of_its_own_is_escaped_and_has_its_id():
    evil = "<script>alert('x')</script>\"&"
    fragment = to_html(plain_table("a b", evil, [evil, "n"], [[evil, 1500]]))
    outline = Outline(fragment)
    assert outline.tags == Counter(
        table=1, caption=1, thead=1, tbody=1, tr=2, th=3, td=1
    )
    assert outline.ids == ["a-b"]
    assert [part for part in outline.text if part.strip()] == [
        *(evil, evil, "n"),
        *(evil, "1,500"),
    ]


def test_verdicts_are_counted_and_marked(results):
    text = page(Content(results, VERDICTS))
    outline = Outline(text)
    said = (
        "2 came out as printed under the paper's own protocol, 1 in part and 0 not; 1"
    )
    assert any(said in part for part in outline.text)
    assert text.count('class="claim"') == 4
    assert "✓ reproduced" in outline.text
    assert "? not testable" in outline.text


def test_kinds_and_protocols_are_counted_apart(results):
    claim = Claim(
        "e", "Tables", "a sum", (ClaimPart("row_count", {}, (), ("table2",)),)
    )
    sums = Verdict(claim, {"": Finding("partly", "18 of 19")})
    tested = Finding("reproduced", "3 of 3")
    both = replace(judged_as("f", "reproduced"), printed=Finding("partly", "2 of 3"))
    both = replace(both, findings={"paper": tested, "honest": Finding("partly", "1")})
    outline = Outline(page(Content(results, [*VERDICTS, sums, both])))
    said = " ".join(" ".join(outline.text).split())
    assert (
        "Of 5 empirical claims of the paper, 3 came out as printed under the paper's"
        " own protocol, 1 in part" in said
    )
    assert "Under the honest protocol 2 hold, 2 in part and 0 not" in said
    assert "1 arithmetic claim can be checked" in said
    assert "✓ reproduced honest: ◐ partly DRM is" in said
    assert "So can 1 of the empirical ones: 0 hold, 1 in part and 0 not." in said


def test_cells_are_counted_once_whatever_the_number_of_scalings(results):
    # 4 sets (1 missing) x 6 methods x 2 modes x 5 splits; 3 splits of 2 modes not run.
    assert count_cells(results["gene"]) == CellCount(
        done=3 * 6 * 2 * 5 - 3 * 2,
        expected=4 * 6 * 2 * 5,
        failed=10,
        timeouts=2,
        skipped=0,
    )


def test_commands_quote_odd_labels(results):
    command = run_command(results["gene"], "--method", "drm-rbf beta=1")
    assert command == "drmbench run configs/gene.yaml --method 'drm-rbf beta=1'"


@pytest.mark.parametrize(
    ("split", "words"),
    [
        ({"kind": "given"}, "the data set's own training and test part"),
        ({"kind": "kfold", "k": 10, "repeats": 3}, "stratified 10-fold, 3 times"),
        (
            {"kind": "random", "train": 1000, "test": 2000, "repeats": 1},
            "stratified random, 1,000 train, 2,000 test",
        ),
        (
            {"kind": "random", "train": "paper", "test": None, "repeats": 5},
            "stratified random, 5 times, the paper's numbers train, the others test",
        ),
    ],
)
def test_splits_in_words(split, words):
    assert split_words(SplitSpec(**split)) == words


def test_drawings_share_no_ids_and_no_styles():
    drawing = (
        '<?xml version="1.0"?>\n<!DOCTYPE svg>\n'
        '<svg width="100pt" height="50pt" viewBox="0 0 100 50" id="root">\n'
        "<metadata><rdf>x</rdf></metadata><defs><style>*{stroke: red}</style></defs>"
        '<path id="a"/><use xlink:href="#a" clip-path="url(#b)"/></svg>\n'
    )
    one, two = (inline_svg(drawing, name, "A & B") for name in ("one", "two"))
    found = Outline(one + two)
    assert found.ids == ["one", "one-name", "one-a", "two", "two-name", "two-a"]
    assert 'xlink:href="#one-a" clip-path="url(#one-b)"' in one
    assert "#one * {stroke: red}" in one
    assert 'viewBox="0 0 100 50"' in one
    assert '<title id="one-name">A &amp; B</title>' in one
    assert not re.search(r"metadata|<\?xml|DOCTYPE|height=", one)


@pytest.mark.parametrize("datasets", [["mine"], ["mine", "iris", "wine"]])
def test_a_page_on_ones_own_experiment_has_no_word_of_the_paper(
    run, tmp_path, datasets
):
    missing = {"name": "lost", "missing": "no such file", "get": "ask"}
    datasets = [{"name": name, "n_train": 80, "n_test": 20} for name in datasets]
    make_results(
        tmp_path / "results",
        "compare-mine",
        datasets=[*datasets, *([missing] if len(datasets) > 1 else [])],
        methods=["drm-rbf", "svm-rbf", "knn-euclidean", "rf", "nb"],
        values={("mine", "nb"): [0.9, "failed: singular", 0.8, 0.7, 0.6]},
        modes=("honest",),
        metrics=("gmean", "accuracy"),
        title="Methods compared on mine",
        deviations=["ten rows were left out"],
        split={"kind": "kfold", "k": 5, "repeats": 1},
    )
    out = tmp_path / "mine.html"
    answer = run("report", "--results", str(tmp_path / "results"), "--out", str(out))
    assert answer.code == 0, answer.err
    text = out.read_text("utf-8")
    shown = re.sub(r"<(style|script).*?</\1>", "", text, flags=re.DOTALL)
    opened = blocks_of(text)
    words = r"paper|reproduc|claim|peng|cheng|discriminative|published|table \d"
    said = " ".join((shown, *texts_in(opened)))
    assert re.findall(words, said, flags=re.IGNORECASE) == []
    outline = Outline(text)
    assert {"answer", "leaderboard", "datasets", "protocol"} <= set(outline.ids)
    assert set(outline.links) <= {f"#{name}" for name in outline.ids}
    assert len(outline.ids) == len(set(outline.ids))
    assert "<h1>Methods compared on mine</h1>" in text
    assert ("Best: " in said) == (len(datasets) == 1)
    assert ("mean ranks over data sets" in said) == (len(datasets) > 1)
    assert "ten rows were left out" in said
    assert "singular" in said
    assert ("no such file" in said) == (len(datasets) > 1)
    assert opened["figures"]["figures"]
    assert opened["boards"]["boards"][0]["group"] == "compare-mine"
    assert opened["cells"][0]["command"] == "drmbench run configs/compare-mine.yaml"


def test_one_experiment_of_the_paper_makes_it_a_page_on_the_paper(tmp_path):
    make_results(tmp_path, "gene", reproduces="table3")
    make_results(tmp_path, "mine", datasets=["mine"])
    both = gather(load_results(tmp_path))
    assert not both.own
    assert "empirical claims of the paper" in page(both)
    assert gather(load_results(tmp_path, ["mine"])).own


def test_the_command_writes_one_file(run, tmp_path, sample_folder):
    out = tmp_path / "new" / "report.html"
    arguments = ("--results", str(sample_folder), "--out", str(out))
    answer = run("report", "timing", *arguments)
    assert (answer.code, answer.out.strip()) == (0, str(out))
    data = blocks_of(out.read_text("utf-8"))
    assert [one["name"] for one in data["experiments"]] == ["timing"]
    assert [path.name for path in out.parent.iterdir()] == ["report.html"]


def test_the_command_says_what_is_wrong(run, tmp_path):
    make_results(tmp_path / "results", "gene")
    (tmp_path / "taken").write_text("")
    there = ("--results", str(tmp_path / "results"))
    unknown = run("report", "gen", *there)
    assert unknown.code == 2
    assert "Did you mean 'gene'?" in unknown.err
    empty = run("report", "--results", str(tmp_path / "nothing"))
    assert empty.code == 2
    assert "has no results to report on" in empty.err
    blocked = run("report", *there, "--out", str(tmp_path / "taken" / "report.html"))
    assert blocked.code == 2
    assert "cannot write" in blocked.err


def test_leaderboards_are_in_the_appendix_where_there_are_enough_data_sets(tmp_path):
    common = {"reproduces": "table8", "metrics": ("gmean",)}
    make_results(tmp_path / "many", "imbalanced", datasets=KEEL, **common)
    make_results(tmp_path / "few", "imbalanced", datasets=KEEL[:2], **common)
    many, few = (gather(load_results(tmp_path / name)) for name in ("many", "few"))
    assert "leaderboard_rare" in [table.id for table in many.tables]
    assert "leaderboard_rare" not in [table.id for table in few.tables]


def test_colours_of_drawings_are_the_page_s():
    drawing = '<svg width="9pt"><path style="fill: #ffffff; stroke: #0072b2"/></svg>'
    shown = inline_svg(drawing, "one", "A")
    assert "fill: var(--c-ffffff, #ffffff); stroke: var(--c-0072b2, #0072b2)" in shown
