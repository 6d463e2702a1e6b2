"""Checks the parameters of generated data, without generating it."""

from __future__ import annotations

from typing import Any

from drmbench.config.fit import fit, misfit
from drmbench.config.problems import Problems
from drmbench.config.shapes import Number
from drmbench.config.tree import Scalar, Table
from drmbench.data.catalogue import DatasetEntry
from drmbench.errors import InputError, did_you_mean


def checked_parameters(
    entry: DatasetEntry, table: Table, problems: Problems
) -> dict[str, Any]:
    """Return the valid parameters of a data set; the others become problems.

    Parameters
    ----------
    entry : DatasetEntry
        The data set; all but generated ones take no parameters.
    table : Table
        The parameters that the file gives.
    problems : Problems
        Where problems are noted.
    """
    found: dict[str, Any] = {}
    for name, (line, node) in table.entries.items():
        if name not in entry.parameters:
            problems.add(line, _unknown(entry, name))
            continue
        shape = Number(whole=isinstance(entry.parameters[name], int))
        fitted = fit(node, shape)
        if isinstance(fitted, Scalar):
            found[name] = fitted.value
        else:
            problems.add(node.line, f"{name} {misfit(node, shape)}")
    reason = _out_of_range({**entry.parameters, **found}) if found else ""
    if reason:
        problems.add(table.line, reason)
    return {} if reason else found


def _unknown(entry: DatasetEntry, name: str) -> str:
    if not entry.parameters:
        return f"{entry.name} takes no parameters; only generated data does"
    return (
        f"{entry.name} has no parameter {name!r}."
        f"{did_you_mean(name, entry.parameters)} Valid: {', '.join(entry.parameters)}"
    )


def _out_of_range(parameters: dict[str, Any]) -> str:
    from drmbench.data.synthetic import iter_synthetic

    try:
        iter_synthetic(**parameters)  # checks at once, generates when iterated
    except InputError as error:
        return str(error)
    return ""
