"""How closely our G-means on KEEL's folds agree with the published ones, cell by cell.

The folds are given and most methods draw no random numbers, so cells can agree to the
last digit; these tables count those that do, and list which other ways to read the
paper were tried for cells that do not. Figures of the latter are in a file beside the
results, written by ``tools/keel_rules.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from drmbench.paper import Agreement, PublishedTable
from drmbench.protocol.protocol import ROWS_OF_MODE
from drmbench.report.scores import (
    Row,
    Scores,
    TableSource,
    figure_over_splits,
    scores_of,
)
from drmbench.report.table import (
    Cell,
    Marks,
    Table,
    count_cell,
    figure_cell,
    left,
    right,
    sentence,
)
from drmbench.words import OPTIMISTIC

#: Tables on KEEL's folds.
_ON_FOLDS = ("table8", "table9")

_NOTES = (
    "Exact: the same mean to four decimals, and a deviation that differs by at most one"
    " unit of the fourth; within 1 sd: of the paper's deviation.",
    "Exact with either: exact unscaled or with each part scaled by itself, although the"
    " paper says that it reports the better.",
    f"Ours are in paper mode, so {OPTIMISTIC}.",
)
#: Columns of the frame of cells.
_CELL = ["dataset", "method", "paper_mean", "paper_sd", "ours_mean", "ours_sd"]
_CELL += ["scaling", "agreement", "exact_with"]
#: Columns of a file of rules that say what was tried.
_WAY = ["column", "method", "reading", "figure", "rule"]
_RULES_COMMAND = "python tools/keel_rules.py --method METHOD --reading READING"
_RULES_NOTES = (
    "Reported: exact with the better mean of unscaled and scaled data, as the paper"
    " says it reports. Either: exact with one of the two. Exact: the same mean to four"
    " decimals, and a deviation that differs by at most one unit of the fourth. Within"
    " 0.005: the better mean is, exact ones among them.",
    "Readings: libsvm, LIBSVM with C = 1 always, γ from the decades without 10 and"
    " (x·y/p)^d for a polynomial; gamma, the decades as γ; variance, exp(−d²/(2s));"
    " kept-sizes, leave-one-out in which the classes keep the size they have with the"
    " left-out sample; penalty, β times ‖w‖² instead of ½‖w‖², so that 2β is added to"
    " the diagonal; names joined, both. Figure shares: the root of the share predicted"
    " minority times the share predicted majority, which does not depend on the true"
    " classes.",
    "Rules were tried until one fitted, so a single cell is no evidence; that one rule"
    " gives many cells is.",
    f"`{_RULES_COMMAND}` computes them.",
)


def agreement(scores: Scores) -> pd.DataFrame:
    """Class every cell of the paper's columns that is complete in paper mode.

    One row per data set and column: both figures, the better scaling, the class
    (:class:`~drmbench.paper.Agreement`), and the scaling that is exact, if any.
    """
    records = []
    for row in scores.rows:
        for column, entry in zip(scores.columns, scores.of_row(row), strict=True):
            ours, theirs = entry.ours, entry.paper
            if not column.published or ours.done != ours.expected:
                continue
            kind, exact_with = Agreement.UNPUBLISHED, ""
            if theirs is not None:
                kind = theirs.agreement(ours.mean, ours.spread)
                figures = _by_scaling(row, ours.method, scores.metric)
                exact_with = theirs.exact_scaling(figures) or ""
            paper = (theirs.mean, theirs.spread) if theirs else (None, None)
            figures_of_both = (*paper, ours.mean, ours.spread)
            found = (ours.scaling, str(kind), exact_with)
            records.append((row.heading, column.heading, *figures_of_both, *found))
    return pd.DataFrame(records, columns=_CELL)


def _by_scaling(row: Row, method: str, metric: str) -> dict[str, tuple[float, float]]:
    """Return mean and deviation of each scaling of paper mode."""
    owner = row.owner(method, metric)
    assert owner is not None
    return {
        scaling: figure_over_splits(rows, metric)
        for scaling in ROWS_OF_MODE["paper"]
        if (rows := owner.split_rows(row.dataset, method, "paper", scaling))
    }


def agreement_tables(source: TableSource) -> Iterator[Table]:
    """Give counts by method and the list of cells; nothing if not on KEEL's folds."""
    published = source.published
    if not published or published.id not in _ON_FOLDS or "paper" not in source.modes:
        return
    frame = agreement(scores_of(source, "paper", published.metric))
    title = f"{source.title}: agreement of G-means with the paper"
    about: dict[str, Any] = {"experiment": source.id, "metric": published.metric}
    about |= {"mode": "paper", "notes": _NOTES}
    yield Table(
        **about,
        kind="agreement",
        title=title,
        columns=(
            *left("method"),
            *right(*map(str, Agreement), "exact with either", "cells"),
        ),
        rows=tuple(
            (Cell(str(method)), *map(count_cell, _counts(part)))
            for method, part in [*frame.groupby("method", sort=False), ("all", frame)]
        ),
    )
    yield Table(
        **about,
        kind="agreement-cells",
        title=f"{title}, cell by cell",
        columns=(
            *left("data set", "method"),
            *right("paper", "ours"),
            *left("scaling", "agreement", "exact with"),
        ),
        rows=tuple(
            (
                Cell(cell["dataset"]),
                Cell(cell["method"]),
                figure_cell(cell["paper_mean"], cell["paper_sd"], 4)
                if cell["dataset"] in published.rows
                else Cell(""),
                figure_cell(cell["ours_mean"], cell["ours_sd"], 4),
                Cell(cell["scaling"]),
                Cell(cell["agreement"], bold=cell["agreement"] == Agreement.EXACT),
                Cell(cell["exact_with"]),
            )
            for cell in frame.to_dict("records")
        ),
        frame=frame,
    )


def _counts(part: pd.DataFrame) -> list[int]:
    kinds = [int((part["agreement"] == str(kind)).sum()) for kind in Agreement]
    return [*kinds, int((part["exact_with"] != "").sum()), len(part)]


def tried_rules(
    rules: pd.DataFrame, published: PublishedTable, spellings: dict[str, str]
) -> pd.DataFrame:
    """Compare every rule of a file of rules with the published cells.

    ``spellings`` has the paper's name of each data set. One row per rule and data set,
    without rules for single cells: the published figure, and whether ours is exact with
    the better scaling (``reported``), exact with any (``either``) and within 0.005 with
    the better (``near``); ``words`` say what was tried.
    """
    selections = rules[~rules["rule"].str.startswith("always ")]
    records = []
    for key, part in selections.groupby([*_WAY, "dataset"], sort=False):
        way = dict(zip([*_WAY, "dataset"], map(str, key), strict=True))
        cell = published.cells.get((spellings.get(way["dataset"], ""), way["column"]))
        kinds = [
            cell.agreement(mean, sd) if cell else Agreement.UNPUBLISHED
            for mean, sd in zip(part["mean"], part["sd"], strict=True)
        ]
        better = kinds[int(part["mean"].to_numpy().argmax())]
        said = [way["method"]]
        said += [way["reading"]] * (way["reading"] != "registered")
        said += [way["figure"]] * (way["figure"] != "gmean")
        note = "" if better is Agreement.EXACT else " (not the better scaling)"
        records.append(
            {
                **way,
                "paper_mean": cell.mean if cell else None,
                "paper_sd": cell.spread if cell else None,
                "reported": better is Agreement.EXACT,
                "either": Agreement.EXACT in kinds,
                "near": better in (Agreement.EXACT, Agreement.NEAR),
                "words": f"{', '.join(said)}: {way['rule']}{note}",
            }
        )
    return pd.DataFrame(records)


def rules_tables(source: TableSource) -> Iterator[Table]:
    """Give what was tried and what gives which cell; nothing without such a file."""
    published, rows = source.published, source.rows()
    if published is None:
        return
    spellings = {row.dataset: row.published for row in rows}
    files = [r.rules for r in source.results if r.rules is not None]
    found = [tried_rules(rules, published, spellings) for rules in files]
    if not any(map(len, found)):
        return
    tried = pd.concat(found)
    title = f"{source.title}: ways to read the paper that were tried"
    about: dict[str, Any] = {"experiment": source.id, "metric": published.metric}
    about["notes"] = _RULES_NOTES
    counts = rule_counts(tried)
    yield Table(
        **about,
        kind="rules",
        title=title,
        columns=(
            *left(*_WAY),
            *right("cells tried", "reported", "either", "within 0.005"),
        ),
        rows=tuple(
            (*(Cell(str(text)) for text in line[:5]), *map(count_cell, line[5:9]))
            for line in counts.itertuples(index=False)
        ),
        frame=counts,
    )
    cells, marks = cells_given(tried, [row.dataset for row in rows]), Marks()
    given = [
        Cell(str(len(ways)) if ways else "none", mark=marks(*ways))
        for cell in cells.to_dict("records")
        for ways in [[sentence(x) for x in cell["exactly_given_by"].split("; ") if x]]
    ]
    yield Table(
        **about,
        kind="rules-cells",
        title=f"{title}, cell by cell",
        columns=(
            *left("data set", "column"),
            *(*right("paper"), *left("ways that give it exactly")),
        ),
        rows=tuple(
            (
                Cell(cell["dataset"]),
                Cell(cell["column"]),
                figure_cell(cell["paper_mean"], cell["paper_sd"], 4),
                ways,
            )
            for cell, ways in zip(cells.to_dict("records"), given, strict=True)
        ),
        footnotes=marks.footnotes,
        frame=cells,
    )


def rule_counts(tried: pd.DataFrame) -> pd.DataFrame:
    """Return one row per rule: on how many cells it was tried, how many it gives."""
    return pd.DataFrame(
        {
            **dict(zip(_WAY, key, strict=True)),
            "cells": int(part["paper_mean"].notna().sum()),
            "exact_reported": int(part["reported"].sum()),
            "exact_either": int(part["either"].sum()),
            "within_0.005_reported": int(part["near"].sum()),
            "datasets_either": " ".join(part["dataset"][part["either"]]),
        }
        for key, part in tried.groupby(_WAY, sort=False)
    )


def cells_given(tried: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    """Return one row per published cell: which rules give it exactly."""
    cells = tried[tried["paper_mean"].notna()]
    groups = {tuple(map(str, at)): p for at, p in cells.groupby(["dataset", "column"])}
    records = []
    for dataset, column in sorted(groups, key=lambda at: (order.index(at[0]), at[1])):
        part = groups[dataset, column]
        mean, sd = part[["paper_mean", "paper_sd"]].iloc[0]
        given_by = "; ".join(part["words"][part["either"]])
        records.append((dataset, column, mean, sd, given_by))
    columns = ["dataset", "column", "paper_mean", "paper_sd", "exactly_given_by"]
    return pd.DataFrame(records, columns=columns)
