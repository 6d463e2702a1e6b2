"""The paper's claims, each judged on stored results or on the paper's own tables."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from drmbench.paper import shipped_text
from drmbench.protocol.protocol import ScalingMode
from drmbench.report import claim_facts, claim_scores
from drmbench.report.claim_evidence import (
    Evidence,
    Finding,
    NotTestableError,
    Rules,
    Status,
    stored_scores,
)
from drmbench.run.results import Results

#: Every check by its name: the public functions of the two modules of checks.
CHECKS: dict[str, Callable[..., Finding]] = {
    name: check
    for module in (claim_scores, claim_facts)
    for name, check in inspect.getmembers(module, inspect.isfunction)
    if check.__module__ == module.__name__ and not name.startswith("_")
}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and how it is checked."""

    #: Short name, where the sentence is, and the sentence as printed
    id: str
    section: str
    quote: str
    check: str  #: Name in :data:`CHECKS`
    #: The check's parameters
    parameters: Mapping[str, Any] = field(default_factory=dict)
    experiments: tuple[str, ...] = ()  #: Experiments whose results it needs
    tables: tuple[str, ...] = ()  #: The paper's tables it looks at instead
    note: str = ""  #: What a reader should know besides

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that make the numbers."""
        return tuple(f"drmbench run configs/{name}.yaml" for name in self.experiments)


@dataclass(frozen=True)
class Verdict:
    """What became of a claim."""

    #: Of the claim
    id: str
    section: str
    quote: str
    #: The answer; where results of both exist, that of the mode ``paper``
    status: Status
    numbers: str  #: The figures behind it, also those of the mode ``honest``
    explanation: str  #: What it was tested on, what it was not, and why it could not be
    #: What makes the numbers; empty for the paper's own tables
    commands: tuple[str, ...]


@functools.cache
def load_claims() -> tuple[Rules, tuple[Claim, ...]]:
    """Return the rules and the claims of ``paper/claims.yaml``, in its order."""
    content = yaml.safe_load(shipped_text("claims.yaml"))
    claims = []
    for entry in content["claims"]:
        lists = {key: tuple(entry.get(key, ())) for key in ("experiments", "tables")}
        claims.append(Claim(**{**entry, **lists}))
    return Rules(**content["rules"]), tuple(claims)


def judge(results: Mapping[str, Results]) -> list[Verdict]:
    """Judge every claim of the paper.

    Parameters
    ----------
    results : mapping of str to Results
        Stored results by experiment; claims whose experiments are not there are not
        testable, and the verdict names the command that would make them.

    Returns
    -------
    list of Verdict
        In the order of the paper, the paper's own tables last.
    """
    rules, claims = load_claims()
    # Many claims look at the same results, and summaries of these take time.
    evidence = Evidence(rules, results, read=functools.cache(stored_scores))
    verdicts = []
    for claim in claims:
        try:
            found = _test(claim, evidence)
        except NotTestableError as error:
            found = Finding("not testable", "", f"{error}.")
        verdicts.append(
            Verdict(
                claim.id,
                claim.section,
                claim.quote,
                found.status,
                found.numbers,
                " ".join(filter(None, (found.explanation, claim.note))),
                claim.commands,
            )
        )
    return verdicts


def _test(claim: Claim, evidence: Evidence) -> Finding:
    """Test a claim in the first mode, and say beside it what the others give."""
    lacking = [name for name in claim.experiments if name not in evidence.results]
    if lacking:
        raise NotTestableError(f"no results of {', '.join(lacking)}")
    own = {name: evidence.results[name] for name in claim.experiments}
    check = functools.partial(CHECKS[claim.check], **claim.parameters)
    first, *others = (
        dataclasses.replace(evidence, results=own, tables=claim.tables, mode=mode)
        for mode in _modes(own.values()) or (None,)
    )
    found = check(first)
    if not others:
        return found
    said = [f"{first.mode} mode: {found.numbers}"]
    for other in others:
        try:
            beside = check(other)
        except NotTestableError as error:
            said.append(f"{other.mode} mode: not testable ({error})")
        else:
            said.append(f"{other.mode} mode ({beside.status}): {beside.numbers}")
    return dataclasses.replace(found, numbers="; ".join(said))


def _modes(results: Iterable[Results]) -> list[ScalingMode]:
    """Return the modes that all results have, the paper's own first."""
    runs = [run.modes for run in results]
    common = [
        mode for mode in (runs[0] if runs else ()) if all(mode in r for r in runs)
    ]
    if runs and not common:
        raise NotTestableError("the experiments were run in different modes")
    return sorted(common, key=lambda mode: mode != "paper")
