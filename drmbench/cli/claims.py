"""``drmbench claims``: what became of each sentence of the paper."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from drmbench.cli.inputs import REFERENCE, reference_folder
from drmbench.cli.output import examples
from drmbench.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from drmbench.report.claims import Ground, Verdict

app = typer.Typer()

_WIDTH = 80
#: Short words for verdicts, in the order in which they are counted.
_SHORT = {
    "reproduced": "yes",
    "partly": "partly",
    "not reproduced": "no",
    "not testable": "?",
}
_LEGEND = (
    "yes: reproduced; partly; no: not reproduced; ?: not testable with these results."
    " Columns: the paper's protocol, the honest one, and the paper's own printed"
    " tables. What was run under one protocol, which then chooses nothing on test data,"
    " counts for both. `drmbench claims ID` shows a claim with its numbers and tests."
)
_TESTS = (
    "By: the typical difference (Hodges and Lehmann's) over data sets, or that of two"
    " shares of n test samples; w–t–l: wins, ties and losses; p: two-sided, corrected"
    " by Holm's method for all comparisons of a part."
)


class KindOption(StrEnum):
    """What decides a claim."""

    EMPIRICAL = "empirical"
    ARITHMETIC = "arithmetic"


class VerdictOption(StrEnum):
    """What a verdict can be."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    NOT_REPRODUCED = "not-reproduced"
    NOT_TESTABLE = "not-testable"


@app.command(
    "claims",
    epilog=examples(
        "drmbench claims",
        "drmbench claims superior",
        "drmbench claims --kind empirical --verdict not-reproduced",
        "drmbench claims --table table8",
        "drmbench claims --results results/runs --json",
    ),
)
def claims_command(
    names: Annotated[
        list[str] | None,
        Argument(metavar="[ID]...", help="Claims to show in full; else one line each."),
    ] = None,
    results: Annotated[
        Path | None, Option(help=f"Folder of results; {REFERENCE} if not given.")
    ] = None,
    kind: Annotated[
        KindOption | None,
        Option(help="Claims that experiments test, or the paper's own tables alone."),
    ] = None,
    verdict: Annotated[
        VerdictOption | None, Option(help="Claims with this verdict in any column.")
    ] = None,
    table: Annotated[
        str | None, Option(help="Claims on this table or figure, such as table8.")
    ] = None,
    as_json: Annotated[
        bool, Option("--json", help="Print the verdicts as JSON.")
    ] = False,
) -> None:
    """Print each sentence of the paper that can be checked, and what became of it.

    Empirical claims are tested on stored results, under the paper's own protocol and
    under the honest one; arithmetic ones on the paper's own tables. What has not been
    run is not testable, and the command that would run it is shown.
    """
    from drmbench.report.claims import judge
    from drmbench.running.results import load_results

    if results is not None and not results.is_dir():
        raise InputError(f"{results} is not a folder of results")
    verdicts = judge(load_results(reference_folder(results or REFERENCE)))
    chosen = _named(verdicts, names or ())
    if table:
        chosen = _on_table(chosen, table)
    if kind:
        chosen = [one for one in chosen if one.kind == kind.value]
    if verdict:
        wanted = verdict.value.replace("-", " ")
        chosen = [one for one in chosen if wanted in _row(one)]
    if as_json:
        rows = [one.as_record() for one in chosen]
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif names:
        typer.echo("\n\n".join("\n".join(_in_full(one)) for one in chosen))
    else:
        typer.echo("\n".join([*_summary(chosen), "", *_lines(chosen)]))


def _named(verdicts: list[Verdict], names: Sequence[str]) -> list[Verdict]:
    """Return the claims of these names, or all."""
    known = {verdict.id: verdict for verdict in verdicts}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError(f"no claim {name!r}.{hint} `drmbench claims` lists them")
    return [known[name] for name in names] or verdicts


def _on_table(verdicts: list[Verdict], table: str) -> list[Verdict]:
    """Return the claims about a table or figure of the paper."""
    wanted = f"table{table}" if table.isdigit() else table.lower().replace(" ", "")
    there = sorted({name for one in verdicts for name in one.claim.shown_in})
    if wanted not in there:
        raise InputError(f"no claim on {table!r}; there are {', '.join(there)}")
    return [one for one in verdicts if wanted in one.claim.shown_in]


def _row(verdict: Verdict) -> list[str | None]:
    grounds: tuple[Ground, ...] = ("paper", "honest", "printed")
    return [verdict.under(ground) for ground in grounds]


def _summary(verdicts: list[Verdict]) -> Iterator[str]:
    """Give the counts, those of empirical and arithmetic claims apart."""
    from drmbench.report.claims import counts

    of_kind = {
        kind.value: [one for one in verdicts if one.kind == kind.value]
        for kind in KindOption
    }
    sizes = " and ".join(f"{len(found)} {kind}" for kind, found in of_kind.items())
    yield f"{len(verdicts)} sentences of the paper, {sizes}:"
    yield ""
    heads = "".join(f"{word:>8}" for word in _SHORT.values())
    yield f"{'':44}{heads}"
    lines: tuple[tuple[str, str, Ground], ...] = (
        ("empirical, the paper's protocol", "empirical", "paper"),
        ("empirical, the honest protocol", "empirical", "honest"),
        ("the same in the paper's printed tables", "empirical", "printed"),
        ("arithmetic, in the paper's printed tables", "arithmetic", "printed"),
    )
    for words, kind, ground in lines:
        found = counts(of_kind[kind], ground)
        if found:
            cells = "".join(f"{found[status]:>8}" for status in _SHORT)  # type: ignore[index]
            yield f"{words:44}{cells}"
    yield ""
    yield from textwrap.wrap(_LEGEND, _WIDTH)


def _lines(verdicts: list[Verdict]) -> Iterator[str]:
    """Give one line per claim, below the heading of its section."""
    longest = max((len(one.id) for one in verdicts), default=0)
    yield f"{'paper':8}{'honest':8}{'printed':9}claim"
    for section, members in groupby(verdicts, lambda one: one.section):
        yield f"-- {section}"
        for one in members:
            cells = [_SHORT.get(status or "", "") for status in _row(one)]
            start = f"{cells[0]:8}{cells[1]:8}{cells[2]:9}{one.id:{longest + 2}}"
            room = _WIDTH - len(start)
            yield f"{start}{_shortened(one.quote, room)}".rstrip()


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def _in_full(verdict: Verdict) -> Iterator[str]:
    """Give a claim with the numbers and tests behind each verdict."""
    from drmbench.report.claims import GROUND_WORDS, comparison_tables
    from drmbench.report.render import to_text

    about = ", ".join(verdict.claim.shown_in)
    yield f"{verdict.id} ({verdict.kind}; {verdict.section}; {about})"
    yield from textwrap.wrap(f"“{verdict.quote}”", _WIDTH)
    tested = False
    for ground, found in verdict.grounds.items():
        yield f"\n{GROUND_WORDS[ground]}: {found.status.upper()}"
        for text in filter(None, (found.numbers, found.explanation)):
            yield from _wrapped(text)
        for table in comparison_tables(verdict, ground):
            yield f"\n{table.title}"
            yield to_text(table)
            tested = True
    for text in (_TESTS if tested else "", verdict.claim.note):
        if text:
            yield "\n" + "\n".join(textwrap.wrap(text, _WIDTH))
    yield from (f"Run: {command}" for command in verdict.commands)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")
