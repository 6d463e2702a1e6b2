"""The report page in a real browser: quiet, usable by keyboard, on phones and paper."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from chromium import find_chromium, open_chromium

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")

TABLE = "document.getElementById('run-table')"
PHONE, DESKTOP = 360, 1280
#: Width of an A4 sheet in landscape between its margins, in CSS pixels.
PAPER = round((297 - 2 * 12) / 25.4 * 96)


@pytest.fixture(scope="module")
def browser():
    with open_chromium(CHROMIUM) as page:
        yield page


@pytest.fixture
def page(browser, sample_report):
    """The report, freshly loaded on a desktop."""
    browser.media()
    browser.open(sample_report, width=DESKTOP)
    return browser


def column(page, number):
    """Return the texts of a column of the table of experiments, in shown order."""
    return page.run(
        f"[...{TABLE}.tBodies[0].rows].filter(row => !row.hidden)"
        f".map(row => row.cells[{number}].textContent)"
    )


def heading(text):
    """Return an expression for a heading of the table of experiments."""
    headings = f"[...{TABLE}.querySelectorAll('thead th')]"
    return f"{headings}.find(th => th.textContent == '{text}')"


def sort_order(page, text):
    return page.run(f"{heading(text)}.getAttribute('aria-sort')")


def number_of(page, text):
    return page.run(f"{heading(text)}.cellIndex")


def overflow(page):
    """Return by how many pixels the page is wider than the window."""
    return page.run(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def test_it_loads_without_complaint_and_without_the_network(page, sample_report):
    requests = [r["request"]["url"] for r in page.sent("Network.requestWillBeSent")]
    assert requests == [sample_report.as_uri()]
    assert page.sent("Runtime.exceptionThrown") == []
    assert page.sent("Runtime.consoleAPICalled") == []
    assert page.sent("Log.entryAdded") == []
    assert page.run("document.querySelectorAll('svg').length") > 3


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
    assert page.run("globalThis.ran") is None
    assert page.run("new Promise(done => setTimeout(() => done(blocked), 50))") == [
        "script-src-elem"
    ]


def test_a_click_sorts_numbers_as_numbers(page):
    number = number_of(page, "cells done")
    values = [int(text.replace(",", "")) for text in column(page, number)]
    assert values != sorted(values)
    assert max(values) >= 100 > min(values)  # as texts they would sort otherwise
    orders = []
    for expected in (sorted(values), sorted(values, reverse=True), values):
        page.click(f"{heading('cells done')}.querySelector('button')")
        assert [int(t.replace(",", "")) for t in column(page, number)] == expected
        orders.append(sort_order(page, "cells done"))
    assert orders == ["ascending", "descending", "none"]


@pytest.mark.parametrize("key", ["Enter", " "])
def test_the_keyboard_sorts_texts(page, key):
    page.run(f"{heading('experiment')}.querySelector('button').focus()")
    page.press(key)
    page.press(key)
    assert sort_order(page, "experiment") == "descending"
    names = column(page, 0)
    assert names == sorted(names, reverse=True)
    page.press("Tab")
    page.press(key)
    assert sort_order(page, "experiment") == "none"
    assert sort_order(page, "what") == "ascending"


def test_scores_sort_by_their_numbers_and_gaps_come_last_both_ways(page):
    """Gene's first table has scores, negative differences, and a missing data set."""
    page.run(
        "globalThis.table = document.querySelector('#experiment-gene table');"
        "globalThis.column = [...table.tBodies[0].querySelectorAll('td')]"
        ".find(td => Number(td.dataset.value) < 0).cellIndex"
    )
    shown = "[...table.tBodies[0].rows].map(r => r.cells[column].dataset.value ?? null)"
    before = page.run(shown)
    numbers = sorted(float(value) for value in before if value is not None)
    gaps = [None] * before.count(None)
    assert numbers[0] < 0 < numbers[-1]
    assert gaps
    for expected in (numbers, numbers[::-1]):
        page.click("table.tHead.rows[0].cells[column].querySelector('button')")
        values = [None if v is None else float(v) for v in page.run(shown)]
        assert values == expected + gaps
    assert page.run("table.lastElementChild.tagName") == "TFOOT"  # the sums stay below


def test_a_filter_hides_rows_and_says_how_many_remain(page):
    tools = f"{TABLE}.closest('.scroll').previousElementSibling"
    page.run(f"{tools}.querySelector('input').focus()")
    page.type("FIGURE conv")
    assert column(page, 0) == ["convergence"]
    status = f"{tools}.querySelector('[role=status]').textContent"
    assert page.run(status) == "1 of 4 rows shown"
    page.run(f"{tools}.querySelector('input').select()")
    page.type("nothing has this")
    assert column(page, 0) == []
    assert page.run(status) == "0 of 4 rows shown"


def test_claims_are_filtered_by_verdict(page):
    shown = (
        "[...document.querySelectorAll('.claim')].filter(c => !c.hidden)"
        ".map(c => c.dataset.status)"
    )
    before = page.run(shown)
    dropped = before[0]
    page.click(f"document.querySelector('fieldset input[value=\"{dropped}\"]')")
    left = [status for status in before if status != dropped]
    assert page.run(shown) == left
    said = page.run("document.querySelector('fieldset [role=status]').textContent")
    assert said == f"{len(left)} of {len(before)} claims shown"


def test_claims_are_filtered_and_counted_by_kind(page):
    shown = (
        "[...document.querySelectorAll('.claim')].filter(c => !c.hidden)"
        ".map(c => [c.dataset.kind, c.dataset.status])"
    )
    before = [tuple(pair) for pair in page.run(shown)]
    label = (
        "document.querySelector('fieldset input[value=\"partly\"]')"
        ".parentElement.textContent.trim()"
    )
    counts = [before.count((kind, "partly")) for kind in ("empirical", "arithmetic")]
    assert page.run(label) == f"partly ({counts[0]} + {counts[1]})"
    page.click("document.querySelector('fieldset input[value=\"empirical\"]')")
    left = [pair for pair in before if pair[0] == "arithmetic"]
    assert [tuple(pair) for pair in page.run(shown)] == left
    assert left


def test_paper_gets_everything_but_the_controls(page):
    page.run(
        "document.querySelectorAll('tbody tr, .claim').forEach(e => e.hidden = true)"
    )
    page.media("print", "dark")
    page.resize(PAPER)
    displays = (
        "[...new Set([...document.querySelectorAll('{}')]"
        ".map(e => getComputedStyle(e).display))]"
    )
    assert page.run(displays.format(".tools, nav, .skip")) == ["none"]
    assert page.run(displays.format("tbody tr")) == ["table-row"]
    assert page.run(displays.format(".claim")) == ["block"]
    folded = (
        "[...document.querySelectorAll('details:not([open]) > :not(summary, .tools)')]"
        ".filter(e => !e.checkVisibility({contentVisibilityAuto: true}))"
    )
    assert page.run(f"{folded}.length") == 0
    assert page.run("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


def test_no_table_is_cut_on_paper(page):
    page.media("print")
    page.resize(PAPER)
    assert overflow(page) == 0
    cut = (
        "[...document.querySelectorAll('table, pre')]"
        f".filter(e => e.getBoundingClientRect().right > {PAPER} + 1).map(e => e.id)"
    )
    assert page.run(cut) == []


def test_it_prints(page):
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) > 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_the_page_never_scrolls_sideways(page, width, scheme):
    page.media("", scheme)
    page.resize(width)
    page.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert overflow(page) == 0


def test_wide_tables_scroll_by_keyboard_with_their_first_column_in_place(page):
    page.resize(PHONE)
    region = f"{TABLE}.closest('.scroll')"
    assert page.run(f"{region}.scrollWidth > {region}.clientWidth")
    assert page.run(f"{region}.tabIndex") == 0
    left = f"{TABLE}.querySelector('tbody th').getBoundingClientRect().left"
    before = page.run(left)
    page.run(f"{region}.scrollLeft = 200")
    assert page.run(left) == before


def test_structure(page):
    ids = page.run("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(set(ids)) == len(ids)
    levels = page.run(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])"
    )
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    unlabelled = "[...document.querySelectorAll('input')].filter(i => !i.labels.length)"
    assert page.run(f"{unlabelled}.length") == 0
    tables = "[...document.querySelectorAll('table')]"
    assert page.run(f"{tables}.every(t => t.caption)")
    assert page.run(
        f"{tables}.every(t => [...t.querySelectorAll('th')].every(h => h.scope))"
    )
    assert page.run("document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(page, scheme):
    """Every text has a contrast of at least 4.5 to 1 (WCAG 2, level AA)."""
    page.media("", scheme)
    assert page.run(f"({CONTRASTS})()") == []


CONTRASTS = """() => {
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const bad = new Set();
  for (const e of document.body.querySelectorAll("*")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || e.closest("svg, script")) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.add(`${e.tagName}.${e.className} ${ratio.toFixed(2)}`);
  }
  return [...bad];
}"""


def test_without_scripts_everything_is_there(browser, sample_report):
    browser.media()
    browser.scripts(False)
    try:
        browser.open(sample_report, width=DESKTOP)
        document = browser.call("DOM.getDocument", depth=-1)["root"]
        names = list(element_names(document))
    finally:
        browser.scripts(True)
    assert "table" in names
    assert not {"button", "input"} & set(names)


def element_names(node):
    yield node["nodeName"].lower()
    for child in node.get("children", ()):
        yield from element_names(child)
