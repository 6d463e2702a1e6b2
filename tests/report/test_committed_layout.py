"""Every committed table reads on a screen, and its marks have one meaning each."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from drmbench.report.render import to_markdown
from drmbench.report.table import Table
from drmbench.report.tables import documents
from drmbench.running.results import Results
from drmbench.words import paper_place


@pytest.fixture
def results(committed_results: dict[str, Results]) -> dict[str, Results]:
    return committed_results


@pytest.fixture
def tables(committed_tables: list[Table]) -> list[Table]:
    return committed_tables


def test_markdown_has_at_most_ten_columns_and_short_cells(tables):
    for table in tables:
        for line in to_markdown(table).splitlines():
            if line.startswith("|"):
                cells = re.split(r"(?<!\\)\|", line)[1:-1]
                assert len(cells) <= 10, table.id
                bare = (re.sub(r"<sup>.*</sup>|\*", "", cell) for cell in cells)
                assert all(len(text.strip()) <= 45 for text in bare), table.id


def test_every_mark_has_one_meaning_and_every_meaning_a_mark(tables):
    marked = 0
    for table in tables:
        cells = [*table.columns, *(cell for row in table.rows for cell in row)]
        used = list(dict.fromkeys(m for cell in cells for m in cell.mark.split()))
        meanings = Counter(note.mark for note in table.footnotes)
        assert set(meanings.values()) <= {1}, table.id
        assert set(used) == set(meanings), table.id
        letters = [mark for mark in used if mark.isascii()]
        assert letters == [n.mark for n in table.footnotes if n.mark.isascii()]
        marked += bool(used)
    assert marked > 20


def test_signs_mean_the_same_in_every_table(tables):
    """Letters count the footnotes of one table; a sign is learnt once."""
    meanings: dict[str, set[str]] = {}
    for note in (note for table in tables for note in table.footnotes):
        assert re.fullmatch(r"[a-z]{1,2}|[^\w\s]", note.mark)
        if not note.mark.isascii():
            meanings.setdefault(note.mark, set()).add(note.text)
    assert meanings
    assert all(len(texts) == 1 for texts in meanings.values()), meanings


def test_about_25_documents_the_papers_in_its_order_and_honest_first(results, tables):
    found = documents(results, tables)
    assert 15 <= len(found) <= 28
    assert sorted(id(t) for d in found for t in d.tables) == sorted(map(id, tables))
    assert len({document.name for document in found}) == len(found)
    places = [
        paper_place(document.name.partition("-")[0])
        for document in found
        if document.name.startswith("table")
    ]
    assert places == sorted(places) == [paper_place(d.name[:6]) for d in found][:11]
    for document in found:
        assert len(document.markdown().encode()) < 500_000  # GitHub shows no more
        for kind in ("scores", "seconds", "ranks"):
            modes = [
                (table.metric, table.mode)
                for table in document.tables
                if table.kind == kind and table.mode in ("honest", "paper")
            ]
            for metric, mode in modes:
                if mode == "paper" and (metric, "honest") in modes:
                    paper = modes.index((metric, "paper"))
                    assert modes.index((metric, "honest")) < paper


def test_the_drm_is_in_the_first_part_of_every_table_of_scores(results, tables):
    """Added methods and the paper's figures do not push it off the screen."""
    seen = 0
    for table in tables:
        if table.kind != "scores":
            continue
        head = next(x for x in to_markdown(table).splitlines() if x.startswith("|"))
        headings = [text.strip() for text in head.strip("|").split("|")]
        there = [c.text for c in table.columns if re.match("(?i)drm", c.text)]
        assert set(there[:2]) <= {re.sub("<sup>.*", "", text) for text in headings}
        seen += bool(there)
    assert seen > 20
