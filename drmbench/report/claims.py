"""The paper's claims, each judged on stored results or on the paper's own tables."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
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
from drmbench.running.results import Results

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
    """Judge every claim of the paper, in its order, the paper's own tables last.

    A claim whose experiments are not among the results is not testable, and the verdict
    names the command that would make them.
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
        explanation = " ".join(filter(None, (found.explanation, claim.note)))
        commands = (f"drmbench run configs/{name}.yaml" for name in claim.experiments)
        said = claim.id, claim.section, claim.quote, found.status, found.numbers
        verdicts.append(Verdict(*said, explanation, tuple(commands)))
    return verdicts


def _test(claim: Claim, evidence: Evidence) -> Finding:
    """Test a claim in the paper's mode, and say beside it what the others give."""
    lacking = [name for name in claim.experiments if name not in evidence.results]
    if lacking:
        raise NotTestableError(f"no results of {', '.join(lacking)}")
    own = {name: evidence.results[name] for name in claim.experiments}
    modes: list[ScalingMode | None] = [None]
    if own:
        first, *more = (run.modes for run in own.values())
        common = [mode for mode in first if all(mode in run for run in more)]
        modes = sorted(common, key=lambda mode: mode != "paper")
        if not modes:
            raise NotTestableError("the experiments were run in different modes")
    check = functools.partial(CHECKS[claim.check], **claim.parameters)
    look_at = functools.partial(
        dataclasses.replace, evidence, results=own, tables=claim.tables
    )
    found = check(look_at(mode=modes[0]))
    if len(modes) == 1:
        return found
    said = [f"{modes[0]} mode: {found.numbers}"]
    for mode in modes[1:]:
        try:
            beside = check(look_at(mode=mode))
        except NotTestableError as error:
            said.append(f"{mode} mode: not testable ({error})")
        else:
            said.append(f"{mode} mode ({beside.status}): {beside.numbers}")
    return dataclasses.replace(found, numbers="; ".join(said))
