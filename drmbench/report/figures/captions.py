"""What captions say besides what is drawn: how much, under which rules, what lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from drmbench.protocol.protocol import OPTIMISTIC, ScalingMode
from drmbench.report.protocol_words import split_words, times
from drmbench.run.results import Results

#: More names than these are counted, not listed.
_LISTED = 6
#: Marks a data set for which a relative stands in.
STAND_IN = "†"

_SCALING_WORDS: dict[ScalingMode, str] = {
    "honest": "scaling chosen on the training part (honest mode)",
    "paper": f"scaling as in the paper (paper mode; {OPTIMISTIC})",
    "none": "no scaling",
    "maxabs": "features divided by their largest absolute value in the training part",
}


def caption(*sentences: str) -> str:
    """Join the sentences that say something.

    Examples
    --------
    >>> caption("One.", "", "Two.")
    'One. Two.'
    """
    return " ".join(sentence for sentence in sentences if sentence)


def paper_figure(results: Results, number: int) -> str:
    """Return which figure of the paper a title belongs to, if it belongs to one."""
    of_paper = str(results.experiment.reproduces).startswith("figure")
    return f" (Figure {number} of the paper)" if of_paper else ""


def dataset_name(entry: dict[str, Any]) -> str:
    """Return a data set's name, marked if a relative stands in for it."""
    return f"{entry['name']}{STAND_IN if entry.get('substitute') else ''}"


def sizes_sentence(results: Results, datasets: Sequence[str]) -> str:
    """Say how many data sets are shown, how large they are, and how many splits."""
    sizes = [int(results.datasets[name]["n"]) for name in datasets]
    splits = [int(results.datasets[name]["splits"]) for name in datasets]
    return (
        f"{times(len(datasets), 'data set')} (n = {range_words(sizes)} samples),"
        f" {range_words(splits)} {'split' if max(splits) == 1 else 'splits'} each."
    )


def range_words(counts: Iterable[int]) -> str:
    """Say from where to where counts go.

    Examples
    --------
    >>> range_words([1200, 300]), range_words([5, 5])
    ('300 to 1,200', '5')
    """
    values = sorted(counts)
    low, high = values[0], values[-1]
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def protocol_sentence(results: Results, *modes: ScalingMode) -> str:
    """Say how data were split and scaled and parameters selected."""
    selected = "; ".join(
        f"{_SCALING_WORDS[mode]}, parameters selected by"
        f" {results.selection(mode)}{_exceptions(results, mode)}"
        for mode in modes
    )
    return f"Protocol: {split_words(results.experiment.split)}; {selected}."


def _exceptions(results: Results, mode: ScalingMode) -> str:
    others = list(results.selection_overrides(mode))
    return f" (otherwise for {listed(others)})" if others else ""


def machine_sentence(results: Results) -> str:
    """Say where times were measured."""
    there = results.manifest.get("environment") or {}
    threads = times(int(there.get("threads") or 1), "thread")
    return f"Times on {there.get('cpu') or 'an unnamed processor'}, {threads}."


def stand_in_sentence(results: Results, datasets: Iterable[str]) -> str:
    """Say which relative stands in for each marked data set, if any."""
    relatives = [
        f"{name} ({results.datasets[name]['substitute']})"
        for name in datasets
        if results.datasets[name].get("substitute")
    ]
    return f"{STAND_IN} a relative stands in: {listed(relatives)}." if relatives else ""


def missing_sentence(missing: Sequence[str]) -> str:
    """Say what is not shown, if anything.

    Examples
    --------
    >>> missing_sentence(["nci (not run)", "gcm (3 of 5 splits)"])
    'Not shown: nci (not run), gcm (3 of 5 splits).'
    """
    return f"Not shown: {listed(missing)}." if missing else ""


def listed(names: Sequence[str]) -> str:
    """List names, or the first few and how many more there are.

    Examples
    --------
    >>> listed(list("abcdefgh"))
    'a, b, c, d, e, f and 2 more'
    """
    if len(names) <= _LISTED:
        return ", ".join(names)
    return f"{', '.join(names[:_LISTED])} and {len(names) - _LISTED} more"


def absent_datasets(results: Results, shown: Iterable[str]) -> list[str]:
    """Return the data sets that are not shown, each with the reason."""
    there = set(shown)
    return [
        f"{name} ({entry.get('missing') or 'no complete results'})"
        for name, entry in results.datasets.items()
        if name not in there
    ]


def incomplete_cells(
    results: Results,
    datasets: Iterable[str],
    methods: Iterable[str],
    mode: ScalingMode,
) -> list[str]:
    """Return the cells without a complete figure, each with what it has."""
    chosen = list(methods)
    cells = [results.summary(d, m, mode=mode) for d in datasets for m in chosen]
    return [
        f"{cell.method} on {cell.dataset} ({_why(cell.done, cell.expected)})"
        for cell in cells
        if not cell.complete
    ]


def _why(done: int, expected: int) -> str:
    return "failed" if done == expected else f"{done} of {expected} splits"
