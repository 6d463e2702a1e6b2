"""A drawing and what all drawings say: names of things, and sentences of captions."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from drmbench.errors import DrmbenchError
from drmbench.paper import published_table
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.analyses.sensitivity import fixed_pairs, fixed_value
from drmbench.report.figures.style import OVERSAMPLED
from drmbench.report.protocol_words import split_words, times
from drmbench.report.score_pool import ENTRIES
from drmbench.report.scores import (
    DRM_FAMILIES,
    Scores,
    plain_first,
    scores_of,
    table_sources,
)
from drmbench.report.statistics import CompletePart
from drmbench.running.results import Results
from drmbench.words import MODES, TABLE_PREPARED, metric_words

#: More names than these are counted, not listed.
_LISTED = 6
#: Marks a data set for which a relative stands in.
STAND_IN = "†"
#: What bars around points are.
INTERVAL = "95 % bootstrap intervals over origins"
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_PAPER_FIGURES = {f"figure{number}" for number in range(1, 6)}


@dataclass(frozen=True, eq=False)
class Drawing:
    """A picture and the words that belong to it."""

    id: str  #: Stem of its files: the experiment or table, and what is shown
    title: str  #: What it shows to be so, in one line, chosen by the rows
    #: What is shown, of how many data sets, under which protocol, and what is missing
    caption: str
    figure: Figure  #: The picture, without title and caption
    experiments: tuple[str, ...] = ()  #: Names of those whose rows it shows


class NothingToDrawError(DrmbenchError):
    """The results have no row that a drawing could show; the text says which."""


def ordinal(number: int) -> str:
    """Say which of several something is.

    Examples
    --------
    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st']
    """
    teens = 10 < number % 100 < 14
    return f"{number}{'th' if teens else _ENDINGS.get(number % 10, 'th')}"


def fair_mode(results: Results) -> ScalingMode:
    """Return the mode that favours no method: honest if it was run, else the first."""
    return "honest" if "honest" in results.modes else results.modes[0]


def metric_label(metric: str) -> str:
    """Return what an axis calls a metric.

    Examples
    --------
    >>> metric_label("accuracy"), metric_label("gmean")
    ('Accuracy', 'G-mean')
    """
    words = metric_words(metric)
    return words[0].upper() + words[1:]


def dataset_name(results: Results, dataset: str) -> str:
    """Return a data set's name, marked if a relative stands in for it."""
    return dataset + (STAND_IN if results.datasets[dataset].get("substitute") else "")


def method_names(results: Results) -> dict[str, str]:
    """Return what figures call each method, by label.

    In an experiment that reproduces a table of the paper these are the paper's columns.
    Of methods that share one it is the first's, those first that have no label of their
    own; all others are called by their labels.
    """
    names = {label: label for label in results.methods}
    if published_table(results.experiment.reproduces) is None:
        return names
    taken: set[str] = set()
    for label in plain_first(results.methods):
        column = results.methods[label].get("column")
        if column and column not in taken:
            names[label] = column
            taken.add(column)
    return names


def methods_of(results: Mapping[str, Results], names: Sequence[str]) -> dict[str, Any]:
    """Return the manifest's entries of the methods of some experiments, by label."""
    return {
        label: entry for name in names for label, entry in results[name].methods.items()
    }


def beta_sweeps(results: Results) -> dict[str, dict[float, str]]:
    """Return labels by β, in its order, of each method run at several fixed values.

    Where α is fixed, too, it is no sweep over β alone.
    """
    found: dict[str, dict[float, str]] = {}
    for label, entry in results.methods.items():
        beta = fixed_value(entry, "beta")
        if beta is not None and fixed_value(entry, "alpha") is None:
            found.setdefault(entry["name"], {})[beta] = label
    several = {name: labels for name, labels in found.items() if len(labels) > 1}
    return {name: dict(sorted(labels.items())) for name, labels in several.items()}


def competing_methods(results: Results) -> list[str]:
    """Return the labels of methods that are not one value of α or β of several."""
    swept = {x for labels in beta_sweeps(results).values() for x in labels.values()}
    swept |= fixed_pairs(results).keys()
    return [label for label in results.methods if label not in swept]


def is_drm(method: Mapping[str, Any]) -> bool:
    """Tell whether a manifest's method is a DRM, over-sampled or not."""
    family = str(method.get("family") or "")
    return family.removeprefix(OVERSAMPLED) in DRM_FAMILIES


def drm_entry(labels: Sequence[str], methods: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the DRM that stands for the method among some labels, or an empty text.

    It is the first of :data:`~drmbench.report.score_pool.ENTRIES`, else the first DRM.
    """
    there = [label for label in labels if is_drm(methods[label])]
    named = [label for name in ENTRIES for label in there if label == name]
    return next(iter([*named, *there]), "")


def experiment_scores(
    results: Results, mode: ScalingMode, others: Iterable[Results] = ()
) -> Scores:
    """Return one experiment's scores as its tables show them.

    `others` are experiments from which a table of the paper may borrow columns.
    """
    published = published_table(results.experiment.reproduces)
    lent_by = published.borrows_from if published else ""
    lenders = [r for r in others if lent_by and r.experiment.reproduces == lent_by]
    together = {found.name: found for found in (results, *lenders)}
    (source,) = (s for s in table_sources(together) if results in s.results)
    return scores_of(source, mode, source.metric)


def mode_sentence(mode: ScalingMode) -> str:
    """Say how features are scaled, and why methods of a regime can be compared."""
    words = MODES[mode].caption
    return (
        f"{words[0].upper()}{words[1:]}; in a panel all methods have the same splits"
        " and are selected alike."
    )


def source_sentence(names: Sequence[str]) -> str:
    """Say which rows a figure is drawn from, and by which command."""
    command = shlex.join(["drmbench", "figures", *(names if len(names) == 1 else ())])
    experiments = "experiment" if len(names) == 1 else "experiments"
    return f"Source: {experiments} {', '.join(names)}; drawn by `{command}`."


def caption(
    results: Results, datasets: Iterable[str], missing: Sequence[str], *sentences: str
) -> str:
    """Join sentences, then say the source, what stands in, and what is not shown."""
    relatives = [
        f"{name} ({results.datasets[name]['substitute']})"
        for name in datasets
        if results.datasets[name].get("substitute")
    ]
    more = [source_sentence([results.name])]
    if relatives:
        more.append(f"{STAND_IN} a relative stands in: {listed(relatives)}.")
    if missing:
        more.append(f"Not shown: {listed(missing)}.")
    return " ".join(filter(None, (*sentences, *more)))


def experiment_caption(
    results: Results,
    shown: str,
    *more: str,
    datasets: Sequence[str],
    modes: Sequence[ScalingMode],
    missing: Sequence[str],
) -> str:
    """Return the caption of a figure of classification.

    It says what is `shown`, of which data sets, in which modes, then `more`, and what
    is missing, with the reasons.
    """
    entries = [results.datasets[name] for name in datasets]
    splits = [int(entry["splits"]) for entry in entries]
    protocols = []
    for mode in modes:
        others = list(results.selection_overrides(mode))
        exceptions = f" (otherwise for {listed(others)})" if others else ""
        selection = f"parameters selected by {results.selection(mode)}{exceptions}"
        protocols.append(f"{MODES[mode].caption}, {selection}")
    return caption(
        results,
        datasets,
        missing,
        shown,
        f"{times(len(datasets), 'data set')} (n ="
        f" {range_words(entry['n'] for entry in entries)} samples),"
        f" {range_words(splits)} {'split' if max(splits) == 1 else 'splits'} each.",
        f"Protocol: {split_words(results.experiment.split)}; {'; '.join(protocols)}.",
        *([f"{TABLE_PREPARED}."] if results.experiment.preparation == "table" else []),
        *more,
    )


def paper_figure(results: Results, number: int) -> str:
    """Return which figure of the paper a title belongs to, if it belongs to one."""
    of_paper = results.experiment.reproduces in _PAPER_FIGURES
    return f" (Figure {number} of the paper)" if of_paper else ""


def range_words(counts: Iterable[float]) -> str:
    """Say from where to where counts go.

    Examples
    --------
    >>> range_words([1200, 300]), range_words([5, 5])
    ('300 to 1,200', '5')
    """
    values = sorted(map(int, counts))
    low, high = values[0], values[-1]
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def machine_sentence(results: Results) -> str:
    """Say where times were measured."""
    there = results.manifest.get("environment") or {}
    threads = times(int(there.get("threads") or 1), "thread")
    return (
        f"Times on {there.get('cpu') or 'an unnamed processor'}, {threads}; other work"
        " may have been on the machine."
    )


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


def left_out(part: CompletePart, more: Iterable[str] = ()) -> list[str]:
    """Return the data sets and methods that are not complete, to say so."""
    dropped = (*part.dropped_datasets, *part.dropped_methods, *more)
    return [f"{name} (no complete results)" for name in dropped]
