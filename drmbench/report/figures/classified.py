"""What figures of classification experiments share: modes, names, gaps."""

from __future__ import annotations

import re
from collections.abc import Iterable

from drmbench.metrics import get_metric
from drmbench.paper import published_table
from drmbench.protocol.protocol import ScalingMode
from drmbench.report.scores import Scores, scores_of, table_sources
from drmbench.report.statistics import CompletePart
from drmbench.run.results import Results

_LABEL = re.compile(r"(?P<model>drm|krr)-(?P<kernel>rbf|poly)(?: beta=(?P<beta>\S+))?")


def is_classification(results: Results) -> bool:
    """Tell whether an experiment classifies."""
    return bool(results.experiment.kind == "classification")


def fair_mode(results: Results) -> ScalingMode:
    """Return the mode that favours no method: honest if it was run, else the first."""
    return "honest" if "honest" in results.modes else results.modes[0]


def metric_label(metric: str) -> str:
    """Return what an axis calls a metric, without its footnote.

    Examples
    --------
    >>> metric_label("accuracy"), metric_label("gmean")
    ('Accuracy', 'G-mean')
    """
    return get_metric(metric).label.partition(" (")[0]


def metric_words(metric: str) -> str:
    """Return what a sentence calls a metric.

    Examples
    --------
    >>> metric_words("accuracy"), metric_words("gmean")
    ('accuracy', 'G-mean')
    """
    label = metric_label(metric)
    return label[0].lower() + label[1:] if label[1].islower() else label


def method_names(results: Results) -> dict[str, str]:
    """Return what figures call each method, by label.

    In an experiment that reproduces a table of the paper these are the paper's columns,
    of methods that share one the shortest label's; all else is called by its label.
    """
    names = {label: label for label in results.methods}
    if published_table(results.experiment.reproduces) is None:
        return names
    taken: set[str] = set()
    for label in sorted(results.methods, key=len):
        column = results.methods[label].get("column")
        if column and column not in taken:
            names[label] = column
            taken.add(column)
    return names


def comparison_of(
    results: Results, mode: ScalingMode, others: Iterable[Results] = ()
) -> Scores:
    """Return one experiment's figures as its tables show them.

    Parameters
    ----------
    results : Results
        The experiment.
    mode : {"honest", "paper", "none", "maxabs"}
        The scaling mode.
    others : iterable of Results
        Experiments from which a table of the paper may borrow columns.
    """
    published = published_table(results.experiment.reproduces)
    lent_by = published.borrows_from if published else ""
    together = {results.name: results} | {
        other.name: other
        for other in others
        if lent_by and other.experiment.reproduces == lent_by
    }
    (source,) = (s for s in table_sources(together) if results in s.results)
    return scores_of(source, mode, source.metric)


def free_methods(results: Results) -> list[str]:
    """Return the labels of methods all of whose parameters were selected."""
    return [label for label in results.methods if fixed_beta(label) is None]


def fixed_beta(label: str) -> float | None:
    """Return the β that a label of the ablation says was fixed, or None.

    Examples
    --------
    >>> fixed_beta("drm-rbf beta=0.001"), fixed_beta("drm-rbf"), fixed_beta("nb")
    (0.001, None, None)
    """
    found = _LABEL.fullmatch(label)
    try:
        return float(found["beta"]) if found and found["beta"] else None
    except ValueError:
        return None


def left_out(part: CompletePart) -> list[str]:
    """Return the data sets and methods that are not complete, to say so."""
    dropped = (*part.dropped_datasets, *part.dropped_methods)
    return [f"{name} (no complete results)" for name in dropped]
