"""Which methods of a comparison are better, and how sure that is, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from drmbench.metrics import get_metric
from drmbench.report.fold_statistics import (
    LEAST_SPLITS,
    ROPE,
    Difference,
    resampled_difference,
)
from drmbench.report.statistics import ALPHA, holm
from drmbench.running.compare import judged
from drmbench.running.results import Results, Summary

Relation = Literal["worse", "equivalent", "unclear"]


@dataclass(frozen=True)
class MethodStanding:
    """How a method stands to the best."""

    method: str  #: Its label
    relation: Relation  #: What can be claimed of it
    probability: float  #: How sure it is that the best is better, by more than a trifle


@dataclass(frozen=True)
class ComparisonVerdict:
    """What a comparison tells."""

    ranked: tuple[Summary, ...]  #: The methods that were compared, best first
    #: The others, as they are ranked; empty if there are too few splits for a claim
    standings: tuple[MethodStanding, ...]
    splits: int  #: Splits that all of them have

    def of(self, relation: Relation) -> list[MethodStanding]:
        """Return the methods that stand so to the best."""
        return [one for one in self.standings if one.relation == relation]


def judge(results: Results) -> ComparisonVerdict | None:
    """Compare the best method with each of the others; None if there is no figure.

    A method is worse if that is sure for all that are called so together, since the
    best was found by looking at all: 1 minus the probabilities are corrected by Holm's
    method. It is equivalent if that is sure for it alone.
    """
    ranked = tuple(judged(results))
    if not ranked:
        return None
    splits = len(ranked[0].values)
    if splits < LEAST_SPLITS:
        return ComparisonVerdict(ranked, (), splits)
    facts = results.datasets[ranked[0].dataset]
    share = int(facts["n_test"]) / (int(facts["n_test"]) + int(facts["n_train"]))
    found = differences(ranked, get_metric(results.metric).sign, share)
    unsure = holm([1 - one.better() for one in found])
    standings = tuple(
        MethodStanding(cell.method, _relation(one, p), one.better())
        for cell, one, p in zip(ranked[1:], found, unsure, strict=True)
    )
    return ComparisonVerdict(ranked, standings, splits)


def differences(
    ranked: tuple[Summary, ...], sign: int, test_share: float
) -> list[Difference]:
    """Return by how much the first is better than each other; sign -1 turns it."""
    best = [sign * value for value in ranked[0].values]
    return [
        resampled_difference(best, [sign * value for value in cell.values], test_share)
        for cell in ranked[1:]
    ]


def _relation(difference: Difference, unsure: float) -> Relation:
    if unsure <= ALPHA:
        return "worse"
    return "equivalent" if difference.equivalent() >= 1 - ALPHA else "unclear"


def verdict(results: Results) -> str:
    """Say in plain words which method did best, and how sure that is."""
    found = judge(results)
    if found is None:
        return "No method came to a result on every split; see the reasons above."
    ranked, best = found.ranked, found.ranked[0]
    text = f"Best: {best.method} ({results.metric} {best.mean:.3f})."
    if len(ranked) > 1:
        text += _claims(found)
    # By the name of the method or class, since labels are the user's.
    drms = {m.label for m in results.experiment.methods if "drm" in m.name.lower()}
    drm = next((cell for cell in ranked if cell.method in drms), best)
    if drm is not best:
        text += (
            f" The best DRM, {drm.method}, is number {ranked.index(drm) + 1} of"
            f" {len(ranked)}, {abs(best.mean - drm.mean):.3f} behind."
        )
    return text


def _claims(found: ComparisonVerdict) -> str:
    """Say what is sure, one sentence for each relation."""
    if not found.standings:
        return (
            f" {found.splits} splits are too few to say whether it is better than the"
            f" others; {LEAST_SPLITS} are the least, such as 5 folds drawn 3 times."
        )
    text = ""
    if equivalent := found.of("equivalent"):
        text += (
            f" Practically equivalent (within {ROPE}): {_listed(equivalent)}; there is"
            " nothing to choose between them."
        )
    if unclear := found.of("unclear"):
        text += (
            f" Not told apart from it by these {found.splits} splits:"
            f" {_listed(unclear)}."
        )
    if worse := found.of("worse"):
        shown = (f"{one.method} (probability {_shown(one)})" for one in worse)
        text += f" It is better than {', '.join(shown)}."
    return text


def _listed(standings: list[MethodStanding]) -> str:
    return ", ".join(one.method for one in standings)


def _shown(standing: MethodStanding) -> str:
    """Say a probability; none is certain."""
    p = standing.probability
    return "over 0.99" if p > 0.99 else f"{p:.2f}"


def standing_words(found: ComparisonVerdict | None) -> dict[str, str]:
    """Say in a word or two how each method stands to the best."""
    words = {"equivalent": "equivalent", "unclear": "not told apart"}
    return {
        one.method: words.get(one.relation) or f"worse ({_shown(one)})"
        for one in (found.standings if found else ())
    }
