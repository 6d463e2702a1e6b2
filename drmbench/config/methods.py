"""Finds the methods an experiment file names, and checks their changed parameters."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from drmbench.config.model import MethodRef
from drmbench.config.names import SOLVERS
from drmbench.config.problems import Problems
from drmbench.config.tree import Node, Scalar, Table
from drmbench.errors import InputError

#: The largest grid of the paper has 343; this many take hours on small data.
MAX_CANDIDATES = 10_000


def choose_methods(
    items: Sequence[Node], kind: str, problems: Problems
) -> list[MethodRef]:
    """Return the methods that the items of ``methods`` stand for.

    Parameters
    ----------
    items : sequence of Node
        Names and mappings, as the schema has checked them.
    kind : str
        Kind of the experiment.
    problems : Problems
        Where duplicate labels and wrong parameters are noted.
    """
    chosen: dict[str, MethodRef] = {}
    lines: dict[str, int] = {}
    for item in items:
        table = item if isinstance(item, Table) else Table(line=item.line)
        ref = _ref(item, table)
        if ref is None:
            continue
        if ref.label in chosen:
            problems.add(
                item.line,
                f"the label {ref.label!r} is there twice, first in line"
                f" {lines[ref.label]}; give one another with `as`",
            )
            continue
        chosen[ref.label], lines[ref.label] = ref, item.line
        if kind == "classification":
            _check_changes(ref, table, problems)
        else:
            _check_solver(ref, table, kind, problems)
    return list(chosen.values())


def _ref(item: Node, table: Table) -> MethodRef | None:
    name = item.value if isinstance(item, Scalar) else table.value("name")
    if not isinstance(name, str):
        return None
    label = table.value("as", name)
    return MethodRef(name, label, table.value("grid", {}), table.value("params", {}))


def _check_solver(ref: MethodRef, table: Table, kind: str, problems: Problems) -> None:
    if ref.name not in SOLVERS:
        problems.add(
            table.line,
            f"the kind {kind} measures {', '.join(SOLVERS)} only, not {ref.name!r}",
        )
    for key in ("grid", "params"):
        if key in table:
            problems.add(
                table.line_of(key),
                f"the kind {kind} takes its parameters from `measure`; remove {key!r}",
            )


def _check_changes(ref: MethodRef, table: Table, problems: Problems) -> None:
    """Check every parameter by itself, at its line, then all of them together."""
    before = len(problems)
    for key in ("grid", "params"):
        for name, entry in table.table(key).entries.items():
            changed = {key: {name: table.table(key).value(name)}}
            reason = _change_problem(MethodRef(ref.name, ref.label, **changed))
            if reason:
                problems.add(entry.key_line, reason)
    if len(problems) == before and (ref.grid or ref.params):
        reason = _size_problem(ref) or _change_problem(ref, alone=False)
        if reason:
            problems.add(table.line, reason)


def _change_problem(ref: MethodRef, *, alone: bool = True) -> str:
    """Say what is wrong with changed parameters; `alone`: whatever the others are."""
    from drmbench.methods.registry import get_method, with_overrides

    method = get_method(ref.name)
    if alone:
        first = {name: values[:1] for name, values in method.grid.items()}
        method = dataclasses.replace(method, grid=first)
    try:
        with_overrides(method, grid=ref.grid, params=ref.params)
    except InputError as error:
        return str(error)
    return ""


def _size_problem(ref: MethodRef) -> str:
    from drmbench.methods.registry import get_method

    grid = {**get_method(ref.name).grid, **ref.grid}
    sizes = [len(values) for name, values in grid.items() if name not in ref.params]
    if math.prod(sizes) <= MAX_CANDIDATES:
        return ""
    return (
        f"{ref.label}: the grid has {math.prod(sizes):,} candidates; at most"
        f" {MAX_CANDIDATES:,} are allowed"
    )
