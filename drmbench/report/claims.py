"""The paper's claims, each judged on stored results or on the paper's own tables."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from drmbench.paper import shipped_text
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.claim_checks import CHECKS
from drmbench.report.claim_checks.evidence import Evidence
from drmbench.report.claim_checks.outcome import (
    NotTestableError,
    Outcome,
    Rules,
    Status,
)
from drmbench.report.claim_checks.scores import stored_scores
from drmbench.run.results import Results


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and how it is checked.

    Attributes
    ----------
    id, section, quote : str
        Short name, where the sentence is, and the sentence as printed.
    check : str
        Name in :data:`~drmbench.report.claim_checks.CHECKS`.
    parameters : mapping
        The check's parameters.
    experiments : tuple of str
        Experiments whose results it needs.
    tables : tuple of str
        The paper's tables it looks at instead.
    note : str
        What a reader should know besides.
    """

    id: str
    section: str
    quote: str
    check: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    experiments: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    note: str = ""

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that make the numbers."""
        return tuple(f"drmbench run configs/{name}.yaml" for name in self.experiments)


@dataclass(frozen=True)
class Verdict:
    """What became of a claim.

    Attributes
    ----------
    id, section, quote : str
        Of the claim.
    status : {"reproduced", "partly", "not reproduced", "not testable"}
        The answer; where results of both exist, that of the mode ``paper``.
    numbers : str
        The figures behind it, also those of the mode ``honest``.
    explanation : str
        What it was tested on, what it was not, and why it could not be.
    commands : tuple of str
        What makes the numbers; empty for the paper's own tables.
    """

    id: str
    section: str
    quote: str
    status: Status
    numbers: str
    explanation: str
    commands: tuple[str, ...]


@functools.cache
def load_claims() -> tuple[Rules, tuple[Claim, ...]]:
    """Return the rules and the claims of ``paper/claims.yaml``, in its order."""
    content = yaml.safe_load(shipped_text("claims.yaml"))
    return Rules(**content["rules"]), tuple(map(_claim, content["claims"]))


def _claim(entry: Mapping[str, Any]) -> Claim:
    lists = {key: tuple(entry.get(key, ())) for key in ("experiments", "tables")}
    return Claim(**{**entry, **lists})


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
    return [_judge(claim, evidence) for claim in claims]


def _judge(claim: Claim, evidence: Evidence) -> Verdict:
    try:
        outcome = _outcome(claim, evidence)
    except NotTestableError as error:
        outcome = Outcome("not testable", "", f"{error}.")
    explanation = " ".join(filter(None, (outcome.explanation, claim.note)))
    return Verdict(
        claim.id,
        claim.section,
        claim.quote,
        outcome.status,
        outcome.numbers,
        explanation,
        claim.commands,
    )


def _outcome(claim: Claim, evidence: Evidence) -> Outcome:
    lacking = [name for name in claim.experiments if name not in evidence.results]
    if lacking:
        raise NotTestableError(f"no results of {', '.join(lacking)}")
    own = {name: evidence.results[name] for name in claim.experiments}
    first, *others = (
        dataclasses.replace(evidence, results=own, tables=claim.tables, mode=mode)
        for mode in _modes(own.values()) or (None,)
    )
    check = CHECKS[claim.check]
    outcome = check(first, **claim.parameters)
    if not others:
        return outcome
    said = [_beside(claim, other) for other in others]
    return Outcome(
        outcome.status,
        "; ".join([f"{first.mode} mode: {outcome.numbers}", *said]),
        outcome.explanation,
    )


def _beside(claim: Claim, evidence: Evidence) -> str:
    """Say what another mode gives."""
    try:
        outcome = CHECKS[claim.check](evidence, **claim.parameters)
    except NotTestableError as error:
        return f"{evidence.mode} mode: not testable ({error})"
    return f"{evidence.mode} mode ({outcome.status}): {outcome.numbers}"


def _modes(results: Iterable[Results]) -> list[ScalingMode]:
    """Return the modes that all results have, the paper's own first."""
    runs = [run.modes for run in results]
    common = [
        mode for mode in (runs[0] if runs else ()) if all(mode in r for r in runs)
    ]
    if runs and not common:
        raise NotTestableError("the experiments were run in different modes")
    return sorted(common, key=lambda mode: mode != "paper")
