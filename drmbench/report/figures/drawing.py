"""A drawing and what all drawings say: names of things, and sentences of captions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from drmbench.errors import DrmbenchError
from drmbench.paper import published_table
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.protocol_words import split_words, times
from drmbench.report.scores import Scores, plain_first, scores_of, table_sources
from drmbench.report.statistics import CompletePart
from drmbench.running.results import Results
from drmbench.words import MODES, TABLE_PREPARED, metric_words

#: More names than these are counted, not listed.
_LISTED = 6
#: Marks a data set for which a relative stands in.
STAND_IN = "†"
_PAPER_FIGURES = {f"figure{number}" for number in range(1, 6)}


@dataclass(frozen=True, eq=False)
class Drawing:
    """A picture and the words that belong to it."""

    id: str  #: Stem of its files: the experiment or table, and what is shown
    title: str  #: One line
    #: What is shown, of how many data sets, under which protocol, and what is missing
    caption: str
    figure: Figure  #: The picture, without title and caption


class NothingToDrawError(DrmbenchError):
    """The results have no row that a drawing could show; the text says which."""


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


def beta_sweeps(results: Results) -> dict[str, dict[float, str]]:
    """Return labels by β, in its order, of each method run at several fixed values."""
    found: dict[str, dict[float, str]] = {}
    for label, entry in results.methods.items():
        beta = entry["params"].get("beta")
        if isinstance(beta, int | float):
            found.setdefault(entry["name"], {})[float(beta)] = label
    several = {name: labels for name, labels in found.items() if len(labels) > 1}
    return {name: dict(sorted(labels.items())) for name, labels in several.items()}


def competing_methods(results: Results) -> list[str]:
    """Return the labels of methods that are not one value of β of several."""
    swept = {x for labels in beta_sweeps(results).values() for x in labels.values()}
    return [label for label in results.methods if label not in swept]


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


def caption(
    results: Results, datasets: Iterable[str], missing: Sequence[str], *sentences: str
) -> str:
    """Join sentences, then say what stands in for data sets and what is not shown."""
    relatives = [
        f"{name} ({results.datasets[name]['substitute']})"
        for name in datasets
        if results.datasets[name].get("substitute")
    ]
    more = []
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
    return f"Times on {there.get('cpu') or 'an unnamed processor'}, {threads}."


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
