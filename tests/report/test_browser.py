"""The report page in a real browser: small, quiet, usable by all, on phones and paper.

What a view does is tried on small results; sizes, accessibility and paper on the page
of all results that the repository has.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from chromium import find_chromium, open_chromium
from result_files import make_results

from drmbench.report.leaderboard import leaderboard
from drmbench.report.page import write_report
from drmbench.running.results import load_results

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")

RESULTS = Path(__file__).resolve().parents[2] / "results"
AXE = (files("axe_core_python") / "axe.min.js").read_text("utf-8")
PHONE, DESKTOP = 390, 1280
#: Bytes that the first screen may need, and the whole file.
FIRST, WHOLE = 300_000, 1_500_000
#: What can be reached by the key Tab.
STOPS = """[...document.querySelectorAll(
  'a[href], button, input, select, summary, [tabindex]')]
  .filter(e => e.tabIndex >= 0 && e.checkVisibility())
  .filter(e => { const shut = e.parentElement.closest('details:not([open])');
    return !shut || (e.tagName === 'SUMMARY' && e.parentElement === shut
      && !shut.parentElement.closest('details:not([open])')); }).length"""


@pytest.fixture(scope="module")
def browser():
    with open_chromium(CHROMIUM) as page:
        yield page


@pytest.fixture
def page(browser, sample_report):
    """The report on small results, freshly loaded on a desktop."""
    browser.media()
    browser.open(sample_report, width=DESKTOP)
    return browser


@pytest.fixture(scope="module")
def report():
    """The report on all results: test_committed.py has that it is what is written."""
    return RESULTS / "report.html"


@pytest.fixture(scope="module")
def own_report(tmp_path_factory):
    """The report on an experiment of one's own."""
    folder = tmp_path_factory.mktemp("own")
    methods = ["drm-rbf", "svm-rbf", "nb"]
    make_results(
        folder / "results",
        "mine",
        datasets=["a", "b"],
        methods=methods,
        split={"kind": "kfold", "k": 5, "repeats": 1},
    )
    return write_report(folder / "results", (), folder / "mine.html")


def wait(page, expression):
    """Wait until JavaScript is true, and return its value."""
    return page.run(
        "new Promise((done, failed) => { let left = 200; const look = () => {"
        f" const value = ({expression}); if (value) done(value);"
        " else if (left--) setTimeout(look, 50); else failed('waited in vain'); };"
        " look(); })"
    )


def go(page, address, expression):
    """Go to a view, and wait for what it shows."""
    page.run(f"location.hash = {json.dumps(address)}")
    return wait(page, expression)


def overflow(page):
    """Return by how many pixels the page is wider than the window."""
    return page.run(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def violations(page):
    """Return the rules of accessibility that the page breaks, with an example."""
    page.run(f"{AXE};1")
    return page.run(
        "axe.run().then(r => r.violations.map(v => [v.id, v.nodes[0].html]))"
    )


def ranking(page):
    """Return method and mean rank of those that the leaderboard ranks, as shown."""
    rows = "[...document.querySelectorAll('#leaderboard .standings tbody tr')]"
    cells = page.run(
        f"{rows}.map(r => [r.cells[0].textContent, r.cells[2].textContent])"
    )
    return [(name, float(rank)) for name, rank in cells if rank != "–"]


# ---- The page of all results ------------------------------------------------------


def test_the_file_is_small_and_its_first_screen_smaller(browser, report, tmp_path):
    """What is painted first needs nothing after the first 300 kB."""
    content = report.read_bytes()
    assert len(content) <= WHOLE
    assert content.index(b'<script type="application/x-drmbench"') <= FIRST
    start = tmp_path / "start.html"
    start.write_bytes(content[:FIRST])
    seen = []
    for path in (report, start):
        browser.media()
        browser.open(path, width=DESKTOP)
        seen.append(browser.run("document.getElementById('answer').innerText"))
    assert seen[0] == seen[1]
    assert "The DRM" in seen[0]


def test_it_is_light_before_anything_is_opened(browser, report):
    browser.media()
    browser.open(report, width=1440)
    assert browser.run("document.querySelectorAll('*').length") <= 5000
    assert browser.run(STOPS) <= 100
    assert [r["request"]["url"] for r in browser.sent("Network.requestWillBeSent")] == [
        report.as_uri()
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_breaks_no_rule_of_accessibility(browser, report, scheme):
    browser.media("", scheme)
    browser.open(report, width=DESKTOP)
    assert violations(browser) == []
    for address, there in (
        ("leaderboard?data=rare", "document.querySelector('#leaderboard tbody tr')"),
        ("rows?e=face", "document.querySelector('#datasets [role=grid] td')"),
        ("appendix", "document.querySelector('#appendix .filled > details')"),
    ):
        go(browser, address, f"!!{there}")
    browser.run("document.querySelector('#appendix .filled > details').open = true")
    assert wait(browser, "!!document.querySelector('#appendix svg')")
    assert violations(browser) == []
    address = "cell?e=study-rare&d=haberman&m=drm&mode=honest"
    go(browser, address, "!!document.querySelector('dialog[open] tbody tr')")
    assert violations(browser) == []


def test_on_a_phone_the_drm_and_its_best_rival_are_in_view(browser, report):
    browser.media()
    browser.open(report, width=PHONE, height=844)
    assert overflow(browser) == 0
    rows = "[...document.querySelectorAll('#standings tbody tr')]"
    pinned = f"{rows}.find(r => r.matches('.pinned'))"
    rival = f"{rows}.find(r => !r.matches('.pinned, .drm'))"
    for row in (pinned, rival):
        box = f"({row}).cells[2].getBoundingClientRect()"
        assert 0 < browser.run(f"{box}.left") < browser.run(f"{box}.right") <= PHONE
    size = "parseFloat(getComputedStyle(document.querySelector('.card p')).fontSize)"
    assert browser.run(size) >= 14


def test_figures_are_dark_in_the_dark(browser, report):
    browser.media("", "dark")
    browser.open(report, width=DESKTOP)
    go(browser, "appendix", "!!document.querySelector('#appendix .filled > details')")
    browser.run("document.querySelector('#appendix .filled > details').open = true")
    wait(browser, "!!document.querySelector('.drawing svg path')")
    white = (
        "[...document.querySelectorAll('.drawing svg *')].filter(e =>"
        " getComputedStyle(e).fill === 'rgb(255, 255, 255)'"
        " && e.getBoundingClientRect().width > 100).length"
    )
    assert browser.run(white) == 0
    assert browser.run("document.querySelectorAll('.drawing svg *').length") > 50


def test_it_prints_on_ten_pages(browser, report):
    browser.media()
    browser.open(report, width=DESKTOP)
    printed = browser.pdf()
    assert 2 < len(re.findall(rb"/Type\s*/Page\b", printed)) <= 10


def test_ranks_made_in_the_page_are_those_of_the_tables(browser, report):
    browser.media()
    browser.open(report, width=DESKTOP)
    go(browser, "leaderboard?data=wide", "document.querySelector('#leaderboard tbody')")
    shown = dict(ranking(browser))
    table = leaderboard(load_results(RESULTS / "reference").values(), "wide")
    ranks = dict(zip(table["method"], table["mean_rank"], strict=True))
    assert shown.keys() == ranks.keys()
    for method, rank in ranks.items():
        assert shown[method] == pytest.approx(rank, abs=0.0051)


# ---- What it does -----------------------------------------------------------------


def test_it_loads_without_complaint_and_without_the_network(page, sample_report):
    requests = [r["request"]["url"] for r in page.sent("Network.requestWillBeSent")]
    assert requests == [sample_report.as_uri()]
    assert page.sent("Runtime.exceptionThrown") == []
    assert page.sent("Runtime.consoleAPICalled") == []
    assert page.sent("Log.entryAdded") == []


def test_the_policy_holds(page):
    """The page cannot load anything, even if something were put into it."""
    page.run(
        "globalThis.blocked = [];"
        "document.addEventListener('securitypolicyviolation',"
        " event => blocked.push(event.violatedDirective));"
        "const script = document.createElement('script');"
        "script.textContent = 'globalThis.ran = true';"
        "document.body.append(script);"
    )
    wait(page, "blocked.length")
    assert page.run("blocked") == ["script-src-elem"]
    assert page.run("globalThis.ran") is None


LEADERBOARD = "document.querySelector('#leaderboard .standings tbody tr')"


def test_the_leaderboard_ranks_again_and_pins_the_drm(page):
    go(page, "leaderboard?data=rare", f"!!{LEADERBOARD}")
    before = ranking(page)
    assert before[0][0] == "drm-rbf"
    others = [rank for _, rank in before[1:]]
    assert others == sorted(others)
    page.run("document.querySelector('#leaderboard .toggles').open = true")
    dropped = before[1][0]
    page.click(f"document.querySelector('#leaderboard input[value=\"{dropped}\"]')")
    after = ranking(page)
    assert {name for name, _ in after} == {name for name, _ in before} - {dropped}
    assert sum(rank for _, rank in after) == pytest.approx(
        sum(range(1, len(after) + 1)), abs=0.05
    )
    assert page.run("location.hash") == (
        f"#leaderboard?data=rare&mode=honest&without={dropped}"
    )


def test_filters_have_an_address(page):
    address = "leaderboard?data=rare&metric=accuracy&mode=paper&nfrom=300"
    go(page, address, f"!!{LEADERBOARD}")
    values = (
        "Object.fromEntries(new FormData(document.querySelector('#leaderboard form')))"
    )
    shown = page.run(values)
    assert (shown["metric"], shown["mode"], shown["nfrom"]) == (
        "accuracy",
        "paper",
        "300",
    )
    said = page.run("document.querySelector('#leaderboard caption').textContent")
    assert "on 3 data sets" in said  # glass4 has 214 samples
    go(
        page,
        "leaderboard?data=rare&nfrom=9000",
        "!document.querySelector('#leaderboard tbody')",
    )
    assert "No data set passes" in page.run(
        "document.querySelector('#leaderboard [role=status]').textContent"
    )


def test_sorting_says_so_and_keeps_the_drm_first(page):
    go(page, "leaderboard?data=rare", f"!!{LEADERBOARD}")
    button = "document.querySelectorAll('#leaderboard th button')[1]"
    orders = []
    for _ in range(2):
        page.click(button)
        orders.append(page.run(f"{button}.parentElement.getAttribute('aria-sort')"))
        names = [name for name, _ in ranking(page)]
        assert names[0] == "drm-rbf"
    assert orders == ["ascending", "descending"]
    ranks = [rank for _, rank in ranking(page)[1:]]
    assert ranks == sorted(ranks, reverse=True)


def test_a_cell_opens_by_keyboard_and_gives_the_focus_back(page):
    go(page, "rows?e=gene", "!!document.querySelector('#datasets [role=grid] td')")
    before = page.run("location.hash")
    page.run(
        "document.querySelector('#datasets [role=grid] td[tabindex=\"0\"]').focus()"
    )
    page.press("Enter")
    wait(page, "!!document.querySelector('dialog[open] tbody tr')")
    said = page.run("document.querySelector('dialog').innerText")
    assert "drmbench run configs/gene.yaml --dataset iris --method drm-rbf" in said
    assert "0" * 40 in said  # the commit
    assert page.run("location.hash").startswith("#cell?e=gene&d=iris&m=drm-rbf")
    splits = page.run("document.querySelector('dialog tbody').rows.length")
    assert splits == 5
    page.click("document.querySelector('dialog .close')")
    # A dialog tells of its end a moment after it is gone.
    wait(page, f"location.hash === {json.dumps(before)}")
    assert not page.run("!!document.querySelector('dialog[open]')")
    assert page.run("document.activeElement.tagName") == "TD"


def test_failures_say_why(page):
    address = "cell?e=gene&d=zoo-3&m=svm-rbf&mode=honest"
    go(page, address, "!!document.querySelector('dialog[open] tbody tr')")
    said = page.run("document.querySelector('dialog').innerText")
    assert "timeout: stopped after 600 s" in said


def test_claims_are_filtered_and_lead_to_their_tables(page):
    shown = "[...document.querySelectorAll('.claim')].filter(c => !c.hidden)"
    every = page.run(f"{shown}.map(c => [c.dataset.kind, c.dataset.status])")
    go(page, "claims?kind=empirical&status=partly", "true")
    wait(page, f"{shown}.length < {len(every)}")
    left = page.run(f"{shown}.map(c => [c.dataset.kind, c.dataset.status])")
    assert left == [pair for pair in every if pair == ["empirical", "partly"]]
    said = page.run("document.querySelector('#claims [role=status]').textContent")
    assert said.startswith(f"{len(left)} of {len(every)} claims")
    link = page.run("document.querySelector('.claim a[href^=\"#table\"]').hash")
    table = link.partition("id=")[2]
    go(page, link, f"!!document.getElementById('t-{table}')")
    assert page.run(f"document.getElementById('table-{table}').open")


def test_data_sets_are_found(page):
    go(page, "datasets", "!!document.querySelector('#find-dataset')")
    page.run("document.querySelector('#find-dataset').focus()")
    page.type("glass")
    shown = (
        "[...document.querySelectorAll('#datasets tbody tr')].filter(r => !r.hidden)"
    )
    assert page.run(f"{shown}.map(r => r.cells[0].textContent)") == ["glass4"]


def test_a_browser_that_cannot_unpack_says_so(page):
    page.run("delete globalThis.DecompressionStream")
    said = go(
        page, "leaderboard", "document.querySelector('[role=alert]')?.textContent"
    )
    assert "cannot unpack" in said


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_the_page_never_scrolls_sideways(page, width, scheme):
    page.media("", scheme)
    page.resize(width)
    go(page, "leaderboard?data=rare", f"!!{LEADERBOARD}")
    go(page, "rows?e=gene", "!!document.querySelector('#datasets [role=grid] td')")
    page.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert overflow(page) == 0


def test_structure(page):
    ids = page.run("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(set(ids)) == len(ids)
    levels = page.run(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])"
    )
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    tables = "[...document.querySelectorAll('table')]"
    assert page.run(f"{tables}.every(t => t.caption)")
    assert page.run(
        f"{tables}.every(t => [...t.querySelectorAll('th')].every(h => h.scope))"
    )


def test_without_scripts_the_answer_and_the_claims_are_there(browser, sample_report):
    browser.media()
    browser.scripts(False)
    try:
        browser.open(sample_report, width=DESKTOP)
        document = browser.call("DOM.getDocument", depth=-1)["root"]
        names = list(element_names(document))
    finally:
        browser.scripts(True)
    assert {"table", "article", "q", "noscript"} <= set(names)
    assert not {"button", "input"} & set(names)


def element_names(node):
    yield node["nodeName"].lower()
    for child in node.get("children", ()):
        yield from element_names(child)


def test_ones_own_page_has_the_same_views(browser, own_report):
    browser.media()
    browser.open(own_report, width=DESKTOP)
    assert violations(browser) == []
    go(browser, "leaderboard", f"!!{LEADERBOARD}")
    assert {name for name, _ in ranking(browser)} == {"drm-rbf", "svm-rbf", "nb"}
    address = "cell?e=mine&d=a&m=nb"
    go(browser, address, "!!document.querySelector('dialog[open] tbody tr')")
    said = browser.run("document.body.innerText")
    assert "drmbench run configs/mine.yaml --dataset a --method nb" in said
    assert not re.search("paper|reproduc|claim", said, re.IGNORECASE)
    assert browser.sent("Runtime.exceptionThrown") == []
