"""``drmbench claims``: what became of each sentence of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from drmbench.cli.inputs import REFERENCE, reference_folder
from drmbench.cli.listing import Field, Row, Word, print_listing, show
from drmbench.cli.output import AsJson, examples, print_json
from drmbench.cli.terminal import Style, prose, tell
from drmbench.errors import InputError, did_you_mean, quoted

if TYPE_CHECKING:
    from drmbench.report.claim_evidence import Status
    from drmbench.report.claims import Ground, Verdict

app = typer.Typer()

#: Short words for verdicts, in the order in which they are counted, and their colours.
_SHORT: dict[Status, Word] = {
    "reproduced": Word("yes", "good"),
    "partly": Word("partly", "fair"),
    "not reproduced": Word("no", "bad"),
    "not testable": Word("?", "quiet"),
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
#: What is counted: words, kind of the claims, and under what they are judged.
_COUNTED: tuple[tuple[str, str, Ground], ...] = (
    ("empirical, the paper's protocol", "empirical", "paper"),
    ("empirical, the honest protocol", "empirical", "honest"),
    ("the same in the paper's printed tables", "empirical", "printed"),
    ("arithmetic, in the paper's printed tables", "arithmetic", "printed"),
)
_FIELDS = (
    *(Field("paper"), Field("honest"), Field("printed")),
    *(Field("claim"), Field("sentence", least=20)),
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


class ProtocolOption(StrEnum):
    """Under what a claim is judged."""

    PAPER = "paper"
    HONEST = "honest"
    PRINTED = "printed"


@app.command(
    "claims",
    epilog=examples(
        "drmbench claims",
        "drmbench claims superior",
        "drmbench claims --kind empirical --verdict not-reproduced --protocol honest",
        "drmbench claims --section 'face recognition' --full",
        "drmbench claims --table table8",
        "drmbench claims --results results/runs --json",
    ),
)
def claims_command(
    names: Annotated[
        list[str] | None,
        Argument(metavar="ID", help="Claims to show in full; else one line each."),
    ] = None,
    results: Annotated[
        Path | None, Option(help=f"Folder of results; {REFERENCE} if not given.")
    ] = None,
    kind: Annotated[
        KindOption | None,
        Option(help="Claims that experiments test, or the paper's own tables alone."),
    ] = None,
    verdict: Annotated[
        VerdictOption | None,
        Option(
            *("--verdict", "--status"),
            metavar="VERDICT",
            help="Claims that are reproduced, partly, not-reproduced or not-testable.",
        ),
    ] = None,
    protocol: Annotated[
        ProtocolOption | None,
        Option(help="Claims judged under this; --verdict then looks there only."),
    ] = None,
    section: Annotated[
        str | None, Option(help="Claims of this section of the paper.")
    ] = None,
    table: Annotated[
        str | None, Option(help="Claims on this table or figure, such as table8.")
    ] = None,
    full: Annotated[
        bool, Option("--full", help="Every claim with its numbers and tests.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what became of each sentence of the paper.

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
    if section:
        chosen = _in_section(chosen, section)
    if kind:
        chosen = [one for one in chosen if one.kind == kind.value]
    grounds: tuple[Ground, ...] = ("paper", "honest", "printed")
    if protocol:
        grounds = (protocol.value,)
        chosen = [one for one in chosen if one.under(grounds[0])]
    if verdict:
        wanted = verdict.value.replace("-", " ")
        chosen = [x for x in chosen if wanted in [x.under(one) for one in grounds]]
    if as_json:
        print_json([one.as_record() for one in chosen])
    elif names or full:
        for number, one in enumerate(chosen):
            if number:
                tell("")
            _tell_in_full(one)
    else:
        _tell_summary(chosen)
        if chosen:
            tell("")
            print_listing(_FIELDS, _rows(chosen))


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


def _in_section(verdicts: list[Verdict], text: str) -> list[Verdict]:
    """Return the claims of the sections whose names have this text."""
    there = dict.fromkeys(one.section for one in verdicts)
    wanted = [name for name in there if text.casefold() in name.casefold()]
    if not wanted:
        raise InputError(f"no section {quoted(text)}; there are: {', '.join(there)}")
    return [one for one in verdicts if one.section in wanted]


def _tell_summary(verdicts: list[Verdict]) -> None:
    """Print the counts, those of empirical and arithmetic claims apart."""
    from drmbench.report.claims import counts

    of_kind = {
        kind.value: [one for one in verdicts if one.kind == kind.value]
        for kind in KindOption
    }
    sizes = " and ".join(f"{len(found)} {kind}" for kind, found in of_kind.items())
    if not verdicts:
        tell("0 sentences of the paper are left by these filters.")
        return
    tell(f"{len(verdicts)} sentences of the paper, {sizes}:\n")
    rows: list[Row] = []
    for words, kind, ground in _COUNTED:
        if found := counts(of_kind[kind], ground):
            shown = (Word(str(found[x]), _SHORT[x].style) for x in _SHORT)
            rows.append([words, *shown])
    heads = (Field(word.text, "right") for word in _SHORT.values())
    print_listing([Field("judged"), *heads], rows)
    tell("\n" + "\n".join(prose(_LEGEND)))


def _rows(verdicts: list[Verdict]) -> Iterator[Row]:
    """Give one line per claim, below the heading of its section."""
    grounds: tuple[Ground, ...] = ("paper", "honest", "printed")
    for section, members in groupby(verdicts, lambda one: one.section):
        yield f"-- {section}"
        for one in members:
            found = (one.under(ground) for ground in grounds)
            cells = (_SHORT[status] if status else "" for status in found)
            yield (*cells, one.id, one.quote)


def _tell_in_full(verdict: Verdict) -> None:
    """Print a claim with the numbers and tests behind each verdict."""
    from drmbench.report.claims import GROUND_WORDS, comparison_tables

    about = ", ".join(verdict.claim.shown_in)
    tell(f"{verdict.id} ({verdict.kind}; {verdict.section}; {about})", "heading")
    tell("\n".join(prose(f"“{verdict.quote}”")))
    tested = False
    for ground, found in verdict.grounds.items():
        style: Style = _SHORT[found.status].style
        tell(f"\n{GROUND_WORDS[ground]}: {found.status.upper()}", style)
        for text in filter(None, (found.numbers, found.explanation)):
            tell("\n".join(prose(text, "  ")))
        for table in comparison_tables(verdict, ground):
            tell(f"\n{table.title}", "heading")
            show(table)
            tested = True
    for text in filter(None, (_TESTS if tested else "", verdict.claim.note)):
        tell("\n" + "\n".join(prose(text)))
    for command in verdict.commands:
        tell(f"Run: {command}")
