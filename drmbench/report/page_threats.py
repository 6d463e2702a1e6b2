"""What a reader should know before believing the page, from the results themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from drmbench.report import facts
from drmbench.report.page_answer import Card
from drmbench.report.protocol_words import times
from drmbench.report.score_pool import ScorePool
from drmbench.running.results import Results
from drmbench.words import OPTIMISTIC

#: More names than these are counted, not listed.
_LISTED = 8


def threats(
    results: Mapping[str, Results],
    pools: Sequence[ScorePool] = (),
    cards: Sequence[Card] = (),
) -> Iterator[tuple[str, str]]:
    """Give what threatens the conclusions: a word or two, and a sentence on it.

    Pools are those that the cards were made of; a page without cards has none.
    """
    judged = [card for card in cards if card.best]
    if judged:
        yield (
            "Choice of the rival",
            "The best other method of each kind of data was found by looking at the"
            " results, which favours it; the DRM that stands for the method was named"
            " beforehand.",
        )
    for pool in pools:
        origins, sets = len(set(pool.origin_list)), len(pool.scores)
        if origins < sets:
            yield (
                "Related data",
                f"{pool.regime.title}: {times(sets, 'data set')} come from"
                f" {times(origins, 'origin')}, so intervals and tests count origins.",
            )
        lacking = [m for m in pool.scores.columns if m not in pool.complete]
        if lacking:
            yield (
                "Incomplete methods",
                f"{pool.regime.title}: {_listed(lacking)} did not come to a figure on"
                " every data set and cannot be ranked.",
            )
    if any("paper" in found.modes for found in results.values()):
        yield "Mode paper", f"Figures of the mode “paper” are {OPTIMISTIC}."
    for what, field in (("Stand-ins", "substitute"), ("Missing data", "missing")):
        names = {
            name: entry[field]
            for found in results.values()
            for name, entry in found.datasets.items()
            if entry.get(field)
        }
        if names and field == "substitute":
            said = [f"{real} for {name}" for name, real in names.items()]
            yield what, f"A relative stood in: {_listed(said)}."
        elif names:
            yield (
                what,
                f"Could not be obtained, and was not run: {_listed(list(names))}.",
            )
    counts = {name: facts.count_cells(found) for name, found in results.items()}
    bad = {n: c.failed + c.timeouts + c.skipped for n, c in counts.items()}
    if any(bad.values()):
        said = [f"{number:,} in {name}" for name, number in bad.items() if number]
        yield (
            "Cells without a figure",
            f"A method failed, ran out of time or does not apply: {_listed(said)}."
            " The appendix has the reasons.",
        )
    deviating = [n for n, found in results.items() if found.experiment.deviations]
    if deviating:
        yield (
            "Deviations",
            f"{_listed(deviating)} {'say' if len(deviating) > 1 else 'says'} what was"
            " done otherwise than planned; see the experiment in the appendix.",
        )
    mixed = [name for name, found in results.items() if found.makers]
    if mixed:
        yield (
            "Several versions",
            f"The cells of {_listed(mixed)} were not all computed by one code.",
        )


def _listed(names: Sequence[str]) -> str:
    if len(names) <= _LISTED:
        return ", ".join(names)
    return f"{', '.join(names[:_LISTED])} and {len(names) - _LISTED} more"
