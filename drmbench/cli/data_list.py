"""``drmbench data list``: what the catalogue has, counted first, then line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer import Argument, Option

from drmbench.cli.data_names import DataDir, Groups, chosen
from drmbench.cli.listing import Field, Word, print_listing
from drmbench.cli.output import AsJson, examples, print_json
from drmbench.cli.terminal import tell, tell_fact
from drmbench.errors import InputError, did_you_mean, quoted

if TYPE_CHECKING:
    from drmbench.data.catalogue import DatasetEntry
    from drmbench.data.sources import Availability
    from drmbench.report.regimes import Regime

app = typer.Typer()

_MARKS = {"git-sha1": "git's SHA-1", "first use": "trusted on first use"}
_FIELDS = (
    Field("name"),
    Field("n × p", "right"),
    Field("classes", "right"),
    Field("IR", "right"),
    Field("regime"),
    Field("group", least=10, hide=1),
    Field("ready"),
    Field("from", least=16, hide=2),
    Field("why not", least=12, hide=3),
)


class _Listed(NamedTuple):
    """A data set of the listing."""

    entry: DatasetEntry
    answer: Availability
    regime: Regime


@app.command(
    "list",
    epilog=examples(
        "drmbench data list",
        "drmbench data list 'yeast*' --ready",
        "drmbench data list --group keel --group face",
        "drmbench data list --regime wide --max-n 100",
        "drmbench data list --json",
    ),
)
def list_command(
    patterns: Annotated[
        list[str] | None,
        Argument(metavar="NAME", help="Only these; shell patterns."),
    ] = None,
    group: Groups = None,
    regime: Annotated[
        str | None,
        Option(help="Only this kind of data: images, large, wide, rare or low."),
    ] = None,
    ready: Annotated[
        bool | None,
        Option("--ready/--missing", help="Only what is on this machine, or is not."),
    ] = None,
    min_n: Annotated[int, Option(min=0, help="Only with so many samples.")] = 0,
    max_n: Annotated[
        int | None, Option(min=0, help="Only with no more samples.")
    ] = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """List the data sets, counted first, and what is ready here.

    IR is the largest class over the smallest. Files are pinned by their SHA-256, but
    for sets that are marked: by git's SHA-1, or trusted on first use. Nothing is
    downloaded.
    """
    from drmbench.data.paths import find_places
    from drmbench.data.sources import availability
    from drmbench.report.regimes import DatasetFacts, get_regime, regime_of

    wanted = get_regime(regime) if regime else None
    places = find_places(data_dir)
    found = [
        _Listed(entry, availability(entry, places), regime_of(DatasetFacts.of(entry)))
        for entry in _named(chosen(None, group), patterns or ())
        if entry.n >= min_n and (max_n is None or entry.n <= max_n)
    ]
    if wanted:
        found = [one for one in found if one.regime == wanted]
    if ready is not None:
        found = [one for one in found if one.answer.ready == ready]
    if as_json:
        print_json([_as_record(one) for one in found])
        return
    _tell_summary(found)
    if found:
        tell("")
        print_listing(_FIELDS, map(_row, found))


def _named(
    entries: Sequence[DatasetEntry], patterns: Sequence[str]
) -> list[DatasetEntry]:
    """Return the data sets whose names match a pattern, all without any."""
    for pattern in patterns:
        if not any(fnmatchcase(entry.name, pattern) for entry in entries):
            hint = did_you_mean(pattern, [entry.name for entry in entries])
            raise InputError(
                f"no data set is called {quoted(pattern)}.{hint} `drmbench data list`"
                " lists them; * stands for any letters"
            )
    return [
        entry
        for entry in entries
        if not patterns or any(fnmatchcase(entry.name, one) for one in patterns)
    ]


def _tell_summary(found: Sequence[_Listed]) -> None:
    """Count the data sets, those that are ready, and those of groups and regimes."""
    ready = sum(one.answer.ready for one in found)
    tell(f"{len(found)} data sets: {ready} ready here, {len(found) - ready} not.")
    counts = {
        "groups": Counter(group for one in found for group in one.entry.groups),
        "regimes": Counter(one.regime.name for one in found),
    }
    for label, counted in counts.items():
        tell_fact(label, ", ".join(f"{k} {n}" for k, n in counted.items()), 9)


def _row(one: _Listed) -> tuple[str | Word, ...]:
    entry, answer, regime = one
    ratio = entry.imbalance_ratio
    return (
        entry.name,
        f"{entry.n} × {entry.p}",
        str(entry.classes),
        "?" if ratio is None else f"{ratio:.2f}" if ratio < 1000 else f"{ratio:.0f}",
        regime.name,
        ", ".join(entry.groups),
        Word("yes", "good") if answer.ready else Word("no", "fair"),
        ", ".join(filter(None, (answer.where, _MARKS.get(entry.pin or "")))),
        answer.why,
    )


def _as_record(one: _Listed) -> dict[str, Any]:
    entry, answer, regime = one
    return {**catalogue_record(entry, answer), "regime": regime.name}


def catalogue_record(entry: DatasetEntry, answer: Availability) -> dict[str, Any]:
    """Return what the catalogue knows of a data set, for programs."""
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
