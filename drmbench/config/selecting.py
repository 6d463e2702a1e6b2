"""How an experiment selects parameters, for all methods and for some by themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from drmbench.config.check import kind_problem
from drmbench.config.problems import Problems
from drmbench.config.protocol_schema import OVERRIDE
from drmbench.config.tree import Table
from drmbench.errors import did_you_mean
from drmbench.protocol.selection import SelectionPlan


def choose_selection(table: Table, metric: str) -> SelectionPlan:
    """Return the plan of all methods.

    Parameters
    ----------
    table : Table
        The checked ``protocol.selection`` of the file.
    metric : str
        What selects if the file does not say.
    """
    said = table.values(*OVERRIDE.names(), "tie")
    return SelectionPlan(**{"metric": metric, **said})


def choose_overrides(
    table: Table, plan: SelectionPlan, labels: Sequence[str], problems: Problems
) -> dict[str, SelectionPlan]:
    """Return the plans of single methods, by label.

    Parameters
    ----------
    table : Table
        The checked ``protocol.selection`` of the file.
    plan : SelectionPlan
        The plan of all methods, which each of these starts from.
    labels : sequence of str
        Labels of the experiment's methods; empty if they are not known, for then
        every label may be right.
    problems : Problems
        Where unknown labels and keys without effect are noted.
    """
    own = table.table("methods")
    for label, (line, _) in own.entries.items():
        if labels and label not in labels:
            problems.add(
                line,
                f"protocol.selection.methods: no method here has the label {label!r}."
                f"{did_you_mean(label, labels)} Labels: {', '.join(labels)}",
            )
    known = [label for label in own.entries if not labels or label in labels]
    return _plans(table, "methods", known, plan, problems)


def choose_mode_plans(
    table: Table, plan: SelectionPlan, scaling: Sequence[str], problems: Problems
) -> dict[str, SelectionPlan]:
    """Return the plans of all methods in some scaling modes, by mode.

    Parameters
    ----------
    table, plan, problems
        As in :func:`choose_overrides`.
    scaling : sequence of str
        The experiment's scaling modes.
    """
    own = table.table("modes")
    for mode, (line, _) in own.entries.items():
        if mode not in scaling:
            problems.add(
                line,
                f"protocol.selection.modes: the mode {mode} is not run here; the modes"
                f" are: {', '.join(scaling)}",
            )
    return _plans(table, "modes", list(own.entries), plan, problems)


def _plans(
    table: Table,
    section: str,
    names: Sequence[str],
    plan: SelectionPlan,
    problems: Problems,
) -> dict[str, SelectionPlan]:
    """Return the plans of a section, each starting from the experiment's."""
    kind = None if "kind" in table.lost else plan.kind
    plans: dict[str, SelectionPlan] = {}
    for name in names:
        node = table.table(section).entries[name][1]
        if isinstance(node, Table):
            _check_keys(f"{section}.{name}", node, kind, problems)
            # A footnote on the experiment's plan says nothing about this one.
            said = {"note": "", **node.values(*OVERRIDE.names())}
            plans[name] = dataclasses.replace(plan, **said)
    return plans


def _check_keys(
    where: str, table: Table, inherited: str | None, problems: Problems
) -> None:
    """Refuse keys that the kind of the experiment's plan does not have."""
    if inherited is None or "kind" in table or "kind" in table.lost:
        return  # not known, or the schema has looked at the keys already
    for field in OVERRIDE.fields:
        reason = kind_problem(field, inherited)
        if reason and field.name in table:
            problems.add(
                table.line_of(field.name),
                f"protocol.selection.{where}.{field.name}: {reason}",
            )
