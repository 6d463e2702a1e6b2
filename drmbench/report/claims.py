"""The paper's claims, each judged on stored results or on the paper's own tables.

A claim is a sentence. Empirical claims are tested on results, under the paper's
protocol and under the honest one, and where the sentence speaks of a printed table also
on that; arithmetic claims on the paper's own tables alone.
"""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import yaml

from drmbench.paper import shipped_text
from drmbench.protocol.protocol import ScalingMode
from drmbench.report import claim_facts, claim_scores, claim_tests
from drmbench.report.claim_evidence import (
    Evidence,
    Finding,
    NotTestableError,
    Rules,
    Status,
    stored_scores,
)
from drmbench.report.table import (
    NO_FIGURE,
    Cell,
    Table,
    left,
    probability,
    right,
    signed,
    signed_cell,
)
from drmbench.running.results import Results

Kind = Literal["empirical", "arithmetic"]
#: Under what a verdict was found: a protocol, or the paper's printed tables.
Ground = Literal["paper", "honest", "printed"]

#: What :attr:`Verdict.grounds` are called.
GROUND_WORDS = {
    "paper": "The paper's protocol",
    "honest": "The honest protocol",
    "maxabs": "One protocol, which chooses nothing on test data",
    "none": "One protocol, which chooses nothing on test data",
    "printed": "The paper's printed tables",
    "results": "Results",
}

#: Every check by its name: the public functions of the modules of checks that take
#: evidence.
CHECKS: dict[str, Callable[..., Finding]] = {
    name: check
    for module in (claim_scores, claim_tests, claim_facts)
    for name, check in inspect.getmembers(module, inspect.isfunction)
    if check.__module__ == module.__name__
    and next(iter(inspect.signature(check).parameters), "") == "evidence"
    and not name.startswith("_")
}


@dataclass(frozen=True)
class ClaimPart:
    """What a sentence says, or one of several things, and how it is checked."""

    check: str  #: Name in :data:`CHECKS`
    #: The check's parameters
    parameters: Mapping[str, Any] = field(default_factory=dict)
    experiments: tuple[str, ...] = ()  #: Experiments whose results it needs
    tables: tuple[str, ...] = ()  #: The paper's tables it looks at instead
    about: str = ""  #: Which of several things it is
    note: str = ""  #: What a reader should know besides

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> ClaimPart:
        """Return a part from the keys of an entry that are its own."""
        keys = {name: entry[name] for name in cls.__annotations__ if name in entry}
        lists = {key: tuple(entry.get(key, ())) for key in ("experiments", "tables")}
        return cls(**{**keys, **lists})


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper."""

    #: Short name, where the sentence is, and the sentence as printed
    id: str
    section: str
    quote: str
    parts: tuple[ClaimPart, ...]  #: What it says; usually one thing
    printed: ClaimPart | None = None  #: How the paper's own tables are asked besides
    note: str = ""  #: What a reader should know besides
    #: The paper's tables and figures that it is about, such as ``table8``
    shown_in: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """Whether experiments test it, or the paper's own tables alone."""
        return "empirical" if self.experiments else "arithmetic"

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments whose results it needs."""
        return tuple(dict.fromkeys(x for part in self.parts for x in part.experiments))


@dataclass(frozen=True)
class Verdict:
    """What became of a claim."""

    claim: Claim
    #: What was found, by scaling mode, the paper's first; "" for the paper's own tables
    findings: Mapping[str, Finding]
    printed: Finding | None = None  #: What the paper's own tables say besides

    @property
    def id(self) -> str:
        """The claim's short name."""
        return self.claim.id

    @property
    def kind(self) -> Kind:
        """The claim's kind."""
        return self.claim.kind

    @property
    def section(self) -> str:
        """Where the sentence is."""
        return self.claim.section

    @property
    def quote(self) -> str:
        """The sentence."""
        return self.claim.quote

    @property
    def status(self) -> Status:
        """The answer; where results of both modes exist, that of the mode ``paper``."""
        return next(iter(self.findings.values())).status

    def under(self, ground: Ground) -> Status | None:
        """Return the answer under a protocol or in the printed tables, if it has one.

        What was run in one mode only, which then chooses nothing on test data, has the
        same answer under both protocols.
        """
        if ground == "printed":
            found = self.printed
            if self.kind == "arithmetic":
                found = next(iter(self.findings.values()))
            return found.status if found else None
        if self.kind == "arithmetic":
            return None
        return self.findings[ground].status if ground in self.findings else self.status

    @property
    def numbers(self) -> str:
        """The figures behind it, those of the other mode beside it."""
        (mode, first), *others = self.findings.items()
        if not others:
            return first.numbers
        said = [f"{mode} mode: {first.numbers}"]
        for name, found in others:
            said.append(
                f"{name} mode: not testable ({found.explanation.rstrip('.')})"
                if found.status == "not testable"
                else f"{name} mode ({found.status}): {found.numbers}"
            )
        return "; ".join(said)

    @property
    def grounds(self) -> dict[str, Finding]:
        """What was found, by scaling mode, and as ``printed`` in the paper's tables."""
        found = {mode or "printed": one for mode, one in self.findings.items()}
        if self.findings.keys() == {""} and self.kind == "empirical":
            found = {"results": self.findings[""]}
        return {**found, **({"printed": self.printed} if self.printed else {})}

    @property
    def explanation(self) -> str:
        """What it was tested on, what it was not, and why it could not be."""
        first = next(iter(self.findings.values()))
        return " ".join(filter(None, (first.explanation, self.claim.note)))

    @property
    def commands(self) -> tuple[str, ...]:
        """What makes the numbers; empty for the paper's own tables."""
        return tuple(
            f"drmbench run configs/{name}.yaml" for name in self.claim.experiments
        )

    def as_record(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        return {
            "id": self.id,
            "kind": self.kind,
            "section": self.section,
            "shown_in": list(self.claim.shown_in),
            "quote": self.quote,
            "status": self.status,
            **{f"{ground}_status": self.under(ground) for ground in get_args(Ground)},
            "numbers": self.numbers,
            "explanation": self.explanation,
            "commands": list(self.commands),
            "findings": {
                ground: _finding_record(found) for ground, found in self.grounds.items()
            },
        }


def _finding_record(found: Finding) -> dict[str, Any]:
    rules, _ = load_claims()
    comparisons = [
        {**vars(one), "relation": rules.relation(one)} for one in found.comparisons
    ]
    return {**vars(found), "comparisons": comparisons}


def comparison_tables(verdict: Verdict, ground: str) -> Iterator[Table]:
    """Give the differences behind a finding as tables, one for each part of it.

    Comparisons within single data sets are one table.
    """
    rules, _ = load_claims()
    found = verdict.grounds[ground].comparisons
    parts: dict[str, list[tuple[Cell, ...]]] = {}
    for one in found:
        single = one.unit == "test samples"
        names = f"{one.ours} to {one.theirs}"
        ends = " to ".join(signed(end, 3) for end in one.interval or ())
        tally = "–".join(map(str, one.tally or ()))
        parts.setdefault("" if single else one.on, []).append(
            (
                Cell(f"{one.on}, {one.theirs}" if single and one.on else names),
                signed_cell(one.difference, 3),
                Cell(ends or NO_FIGURE),
                Cell(tally) if tally else Cell(f"{one.n:,}", one.n),
                Cell(probability(one.p_holm), one.p_holm),
                Cell(rules.relation(one)),
            )
        )
    counted = "w–t–l" if found and found[0].tally else "n"
    columns = left("compared") + right("by", "95 % interval", counted, "p") + left("so")
    for number, (about, rows) in enumerate(parts.items(), 1):
        yield Table(
            experiment=f"claim-{verdict.id}-{ground}-{number}",
            kind="comparisons",
            title=about.capitalize() or "Comparisons",
            columns=columns,
            rows=tuple(rows),
        )


def counts(verdicts: Iterable[Verdict], ground: Ground) -> Counter[Status]:
    """Count the answers under a protocol or in the printed tables."""
    found = (verdict.under(ground) for verdict in verdicts)
    return Counter(status for status in found if status)


@functools.cache
def load_claims() -> tuple[Rules, tuple[Claim, ...]]:
    """Return the rules and the claims of ``paper/claims.yaml``, in its order."""
    content = yaml.safe_load(shipped_text("claims.yaml"))
    claims = (_claim(entry, content["shown_in"]) for entry in content["claims"])
    return Rules(**content["rules"]), tuple(claims)


def _claim(entry: Mapping[str, Any], shown_in: Mapping[str, str]) -> Claim:
    parts = [ClaimPart.read(part) for part in entry.get("parts") or [entry]]
    printed = None
    if asked := entry.get("printed"):
        own = {key: entry[key] for key in ("check", "parameters") if key in entry}
        printed = ClaimPart.read({**own, **asked})
    everything = [*parts, *([printed] if printed else [])]
    places = [shown_in[name] for part in parts for name in part.experiments]
    places += [t.partition("_")[0] for part in everything for t in part.tables]
    return Claim(
        id=entry["id"],
        section=entry["section"],
        quote=entry["quote"],
        parts=tuple(parts),
        printed=printed,
        note=entry.get("note", ""),
        shown_in=tuple(dict.fromkeys(places)),
    )


def judge(results: Mapping[str, Results]) -> list[Verdict]:
    """Judge every claim of the paper, in its order, the arithmetic ones last.

    A claim whose experiments are not among the results is not testable, and the verdict
    names the command that would make them.
    """
    rules, claims = load_claims()
    # Many claims look at the same results, and summaries of these take time.
    evidence = Evidence(rules, results, read=functools.cache(stored_scores))
    return [_verdict(claim, evidence) for claim in claims]


def _verdict(claim: Claim, evidence: Evidence) -> Verdict:
    """Test a claim in each mode of its experiments, and on the printed tables."""
    printed = None
    if claim.printed:
        printed = _with_note(_test(claim.printed, evidence), claim.printed.note)
    try:
        modes = _modes(claim, evidence)
    except NotTestableError as error:
        missing = Finding("not testable", "", f"{error}.")
        return Verdict(claim, {"": missing}, printed)
    findings: dict[str, Finding] = {}
    for mode in modes:
        found = [_test(part, replace(evidence, mode=mode)) for part in claim.parts]
        names = [part.about for part in claim.parts]
        one = found[0] if len(found) == 1 else _together(names, found)
        findings[mode or ""] = one
    return Verdict(claim, findings, printed)


def _modes(claim: Claim, evidence: Evidence) -> list[ScalingMode | None]:
    """Return the modes that all experiments of a claim have, the paper's first."""
    if claim.kind == "arithmetic":
        return [None]
    lacking = [name for name in claim.experiments if name not in evidence.results]
    if lacking:
        raise NotTestableError(f"no results of {', '.join(lacking)}")
    first, *more = (evidence.results[name].modes for name in claim.experiments)
    common = [mode for mode in first if all(mode in run for run in more)]
    if not common:
        raise NotTestableError("the experiments were run in different modes")
    return sorted(common, key=lambda mode: mode != "paper")


def _test(part: ClaimPart, evidence: Evidence) -> Finding:
    """Test one thing that a sentence says."""
    own = {name: evidence.results[name] for name in part.experiments}
    look_at = replace(evidence, results=own, tables=part.tables)
    try:
        return CHECKS[part.check](look_at, **part.parameters)
    except NotTestableError as error:
        return Finding("not testable", "", f"{error}.")


def _with_note(found: Finding, note: str) -> Finding:
    return replace(found, explanation=" ".join(filter(None, (found.explanation, note))))


def _together(names: list[str], found: list[Finding]) -> Finding:
    """Return what several things that a sentence says come to.

    It is reproduced, not reproduced or not testable if all of them are, else partly;
    the numbers tell which part holds.
    """
    statuses = {one.status for one in found}
    numbers = (
        f"{name} ({one.status}): {one.numbers}".rstrip(": ")
        for name, one in zip(names, found, strict=True)
    )
    explanations = (
        f"{name.capitalize()}: {one.explanation}"
        for name, one in zip(names, found, strict=True)
        if one.explanation
    )
    return Finding(
        statuses.pop() if len(statuses) == 1 else "partly",
        "; ".join(numbers),
        " ".join(explanations),
        tuple(
            replace(test, on=test.on or name)
            for name, one in zip(names, found, strict=True)
            for test in one.comparisons
        ),
    )
