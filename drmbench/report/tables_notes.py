"""Sentences below a table of scores: how figures came about and what was counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drmbench.protocol.protocol import ScalingMode
from drmbench.report.scores import Scores
from drmbench.report.statistics import complete_part
from drmbench.run.results import Results
from drmbench.words import OPTIMISTIC

_MODE_NOTES: dict[ScalingMode, str] = {
    "paper": f"Figures of ours are {OPTIMISTIC}.",
    "honest": "Scaling was selected with the parameters, on the training part alone.",
    "none": "Features were not scaled.",
    "maxabs": "Features were divided by their largest absolute value in the training"
    " part.",
}


def score_notes(comparison: Scores, lines: Sequence[str]) -> Iterator[str]:
    """Give the sentences below a table that shows some of ours, paper, difference."""
    source = comparison.source
    splits = {int(row.entry["splits"]) for row in comparison.rows}
    if "ours" in lines and max(splits, default=1) > 1:
        counts = " or ".join(map(str, sorted(splits)))
        yield (
            f"Ours is mean ± standard deviation over {counts} splits; a count in"
            " brackets says how many are done where not all are."
        )
    yield _MODE_NOTES[comparison.mode]
    yield from dict.fromkeys(
        f"Selection of parameters: {text}."
        for results in source.results
        if (text := results.selection(comparison.mode))
    )
    for lender in source.lenders:
        yield from _lent_notes(comparison, lender)
    if "ours" in lines:
        yield _block_note(comparison)
    if "paper" in lines:
        yield (
            "Wins of the paper's are what it prints in bold; in its mean ranks a dash"
            " is last."
        )
    if comparison.splits_columns:
        yield (
            "The paper's columns are the higher of two kernels or distances on the test"
            " parts. This mode makes no choice there, so each has a column of its own;"
            " the paper's figures are beside ours in paper mode."
        )
    for column in comparison.columns:
        if len(column.labels) > 1:
            yield (
                f"{column.heading} is the higher of {' and '.join(column.labels)} on"
                " the test parts, as the paper reports it."
            )
    if absent := source.absent_rows():
        yield f"Rows of the paper that these experiments have not: {', '.join(absent)}."


def _lent_notes(comparison: Scores, lender: Results) -> Iterator[str]:
    """Say how parameters of borrowed columns were selected."""
    overrides = lender.selection_overrides(comparison.mode)
    texts: dict[str, list[str]] = {}
    for label in comparison.lent:
        if label in lender.methods:
            text = overrides.get(label) or lender.selection(comparison.mode)
            texts.setdefault(text, []).append(label)
    for text, labels in texts.items():
        yield f"{' and '.join(labels)} are those of {lender.name}; selection: {text}."


def _block_note(comparison: Scores) -> str:
    part = complete_part(comparison.ranked_scores())
    left_out = ""
    if part.dropped_methods and len(part.means):
        left_out = f", without {', '.join(part.dropped_methods)}"
    text = (
        "Bold is the best complete figure of a row as printed. Wins and mean ranks of"
        f" ours are over the {len(part.means)} of {len(comparison.rows)} data sets on"
        f" which every method is complete{left_out}."
    )
    beyond = [c.heading for c in comparison.columns if c not in comparison.ranked]
    if beyond:
        text += f" Beyond the paper, and in none of these: {', '.join(beyond)}."
    return text
