"""The top of the page: what drmbench is, the verdict in brief, what was run and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from drmbench.report.markup import Html, escaped, section, tag
from drmbench.report.sections.progress import Progress, progress
from drmbench.report.sections.tables import plain_table, shown
from drmbench.report.sections.verdicts import STATUSES
from drmbench.report.sections.words import (
    metrics_words,
    selection_words,
    split_words,
    target_words,
    times,
)
from drmbench.report.table import Table
from drmbench.run.results import Results

if TYPE_CHECKING:
    from drmbench.report.claims import Verdict

ABOUT = (
    "drmbench is a reference implementation and a benchmark of the Discriminative"
    " Ridge Machine (DRM), the classifier of Peng and Cheng, “Discriminative Ridge"
    " Machine: A Classifier for High-Dimensional Data or Imbalanced Data” (IEEE"
    " Transactions on Neural Networks and Learning Systems 32(6), 2021). It runs the"
    " paper's experiments on real data against the paper's baselines, each tuned as"
    " much as the DRM: once as the paper did, and once honestly, without any choice"
    " made on test data. This page says what came of it."
)


def overview(results: Mapping[str, Results], verdicts: Sequence[Verdict]) -> Html:
    """Return the summary, what was run, and under which protocol."""
    counts = {name: progress(found) for name, found in results.items()}
    return Html(
        section(
            "summary",
            2,
            "Summary",
            tag("p", verdict_sentence(verdicts)),
            _tiles(verdicts),
            tag("p", run_sentence(results, counts)),
        )
        + section("run", 2, "What was run", shown(_run_table(results, counts)))
        + section(
            "protocol",
            2,
            "How it was run",
            _protocol_text(),
            shown(_protocols(results)),
        )
    )


def verdict_sentence(verdicts: Sequence[Verdict]) -> str:
    """Say how many of the paper's claims came out how."""
    if not verdicts:
        return "No claim of the paper was judged."
    counts: Counter[str] = Counter(verdict.status for verdict in verdicts)
    good, half, bad, unknown = (counts[status] for status in STATUSES)
    return (
        f"Of {times(len(verdicts), 'claim')} of the paper, {good} came out as printed,"
        f" {half} in part and {bad} not; {unknown} could not be tested with these"
        " results."
    )


def run_sentence(results: Mapping[str, Results], counts: Mapping[str, Progress]) -> str:
    """Say how much was run and how much of it failed."""
    datasets = {name for found in results.values() for name in found.datasets}
    methods = {label for found in results.values() for label in found.methods}
    done = sum(count.done for count in counts.values())
    expected = sum(count.expected for count in counts.values())
    failed = sum(count.without_figure for count in counts.values())
    return (
        f"{times(len(results), 'experiment')}, {times(len(datasets), 'data set')},"
        f" {times(len(methods), 'method')}: {done:,} of {expected:,} cells are done"
        " (a cell is a method on one split of a data set in one scaling mode);"
        f" {failed:,} of them gave no figure, because the method failed, ran out of"
        " time or does not apply, and are listed with their reasons."
    )


def _tiles(verdicts: Sequence[Verdict]) -> Html:
    counts: Counter[str] = Counter(verdict.status for verdict in verdicts)
    tiles = (
        tag(
            "li",
            tag("strong", f"{counts[status]}"),
            Html(f" {escaped(mark)} {escaped(status)}"),
            class_=f"tile {status.replace(' ', '-')}",
        )
        for status, mark in STATUSES.items()
    )
    return tag("ul", *tiles, class_="tiles", aria_label="Claims by verdict")


def _run_table(results: Mapping[str, Results], counts: Mapping[str, Progress]) -> Table:
    headings = (
        *("experiment", "what", "in the paper", "data sets", "missing", "substituted"),
        *("methods", "cells done", "cells expected", "failed", "timed out", "skipped"),
    )
    rows = [
        (
            name,
            found.experiment.title,
            target_words(found.experiment.reproduces),
            len(found.datasets),
            sum(1 for entry in found.datasets.values() if entry.get("missing")),
            sum(1 for entry in found.datasets.values() if entry.get("substitute")),
            len(found.methods),
            counts[name].done,
            counts[name].expected,
            counts[name].failed,
            counts[name].timeouts,
            counts[name].skipped,
        )
        for name, found in results.items()
    ]
    return plain_table(
        "run-table", "Experiments and how complete they are", headings, rows
    )


def _protocol_text() -> Html:
    return tag(
        "p",
        "Splits depend on the data set and the seed alone, so all methods share them."
        " Parameters are selected within the training part. The scaling mode “paper”"
        " does as the paper did and is optimistic; “honest” makes no choice on test"
        " data. Each experiment's section has the details and the grids.",
    )


def _protocols(results: Mapping[str, Results]) -> Table:
    rows = [
        (
            name,
            split_words(found.experiment.split),
            selection_words(found),
            ", ".join(found.modes),
            metrics_words(found),
            found.experiment.seed,
        )
        for name, found in results.items()
    ]
    headings = ("experiment", "split", "selection", "scaling", "metrics", "seed")
    return plain_table("protocol-table", "Protocol of each experiment", headings, rows)
