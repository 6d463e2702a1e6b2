"""Turns a checked file into an experiment: names become data sets and methods."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drmbench.config.check import check_tree
from drmbench.config.datasets import choose_datasets
from drmbench.config.durations import parse_duration
from drmbench.config.lines import read_tree
from drmbench.config.measuring import choose_measure
from drmbench.config.methods import choose_methods
from drmbench.config.model import Experiment
from drmbench.config.names import scalar_metric_names
from drmbench.config.problems import Problems
from drmbench.config.schema import EXPERIMENT
from drmbench.config.selecting import (
    choose_mode_plans,
    choose_overrides,
    choose_selection,
)
from drmbench.config.shapes import Record
from drmbench.config.splitting import choose_split
from drmbench.config.tree import Node, Table
from drmbench.errors import InputError


@dataclass(frozen=True)
class Draft:
    """What could be made of a file.

    Attributes
    ----------
    name : str or None
        The experiment's name; None if the file has no valid one.
    line : int
        Where it stands.
    experiment : Experiment or None
        The experiment; None if the file has problems.
    """

    name: str | None
    line: int
    experiment: Experiment | None


#: All keys but the one that names data.
_WITHOUT_DATA = Record(
    tuple(field for field in EXPERIMENT.fields if field.name != "datasets"),
    EXPERIMENT.default_kind,
)


def draft(
    text: str, source: Path, problems: Problems, *, with_data: bool = True
) -> Draft:
    """Read, check and resolve the text of an experiment file.

    Parameters
    ----------
    text : str
        The YAML text.
    source : Path
        The file; paths in it are relative to its folder.
    problems : Problems
        Where all that is wrong is noted.
    with_data : bool
        Whether to find the data sets; if not, the experiment has none.
    """
    node = read_tree(text, problems)
    if node is None:
        return Draft(None, 1, None)
    if with_data:
        table = check_tree(node, EXPERIMENT, problems)
    else:
        table = check_tree(_without(node, "datasets"), _WITHOUT_DATA, problems)
    fields = _fields(table, source.parent, problems)
    name, line = table.value("name"), table.line_of("name")
    if len(problems):
        return Draft(name, line, None)
    return Draft(name, line, Experiment(source=source, **fields))


def _without(node: Node, key: str) -> Node:
    if not isinstance(node, Table):
        return node
    kept = {name: entry for name, entry in node.entries.items() if name != key}
    return Table(kept, node.line)


def _fields(table: Table, folder: Path, problems: Problems) -> dict[str, Any]:
    """Return the experiment's fields; nonsense where there are problems."""
    kind = table.value("kind", Experiment.kind)
    protocol = table.table("protocol")
    chosen = choose_datasets(table.items("datasets"), folder, problems)
    methods = choose_methods(table.items("methods"), kind, problems)
    fields = {
        **table.values("name", "title", "reproduces", "kind", "seed", "substitutes"),
        "datasets": tuple(one.ref for one in chosen),
        "methods": tuple(methods),
        "split": choose_split(protocol, chosen, problems),
        "deviations": tuple(table.value("deviations", ())),
        "timeout": _timeout(table, problems),
    }
    if kind != "classification":
        _check_measured(protocol, kind, problems)
        measure = choose_measure(table.table("measure"), kind, chosen, problems)
        return {**fields, "scaling": ("maxabs",), "measure": measure}
    metrics = _metrics(table, problems)
    selection = protocol.table("selection")
    plan = choose_selection(selection, metrics[0])
    labels = [method.label for method in methods] if table.whole("methods") else []
    scaling = tuple(protocol.value("scaling", Experiment.scaling))
    return {
        **fields,
        "scaling": scaling,
        "metrics": metrics,
        "selection": plan,
        "selection_overrides": choose_overrides(selection, plan, labels, problems),
        "selection_modes": choose_mode_plans(selection, plan, scaling, problems),
        "tie": selection.value("tie"),
    }


def _metrics(table: Table, problems: Problems) -> tuple[str, ...]:
    metrics = tuple(table.value("metrics", ())) or Experiment.metrics
    scalar = scalar_metric_names()
    if metrics[0] not in scalar:
        problems.add(
            table.line_of("metrics"),
            f"metrics: the first is shown in tables and must be one number"
            f" ({', '.join(scalar)}), not {metrics[0]!r}",
        )
        return Experiment.metrics
    return metrics


def _timeout(table: Table, problems: Problems) -> float | None:
    timeout = table.value("timeout")
    if not isinstance(timeout, str):
        return None if timeout is None else float(timeout)
    try:
        return parse_duration(timeout)
    except InputError as error:
        problems.add(table.line_of("timeout"), f"timeout: {error}")
        return None


def _check_measured(protocol: Table, kind: str, problems: Problems) -> None:
    """Refuse what has no effect where single solves are measured."""
    if "selection" in protocol:
        problems.add(
            protocol.line_of("selection"),
            f"protocol.selection: the kind {kind} selects nothing; it takes its"
            " parameters from `measure`",
        )
    if protocol.value("scaling", ["maxabs"]) != ["maxabs"]:
        problems.add(
            protocol.line_of("scaling"),
            f"protocol.scaling: the kind {kind} scales by maxabs only",
        )
