"""``drmbench methods``: what can be compared, with which parameters, and by whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from drmbench.cli.listing import Field, print_listing
from drmbench.cli.output import AsJson, examples, print_json
from drmbench.cli.terminal import remark, tell, tell_fact
from drmbench.errors import InputError, did_you_mean, quoted

if TYPE_CHECKING:
    from drmbench.methods.base import Method, Params

#: Letters before the texts of a method that is shown in full.
_INDENT = 15
_FIELDS = (
    Field("name"),
    Field("in the paper"),
    Field("what it is", least=24),
    Field("candidates", "right", hide=2),
    Field("family", hide=1),
)

app = typer.Typer()


@app.command(
    "methods",
    epilog=examples(
        "drmbench methods",
        "drmbench methods drm-rbf",
        "drmbench methods 'smote-*' --full",
        "drmbench methods --family drm --json",
    ),
)
def methods_command(
    name: Annotated[
        str | None,
        Argument(metavar="NAME", help="One method, in full; or a shell pattern."),
    ] = None,
    family: Annotated[
        str | None, Option(help="Only methods of this family, such as svm.")
    ] = None,
    full: Annotated[
        bool, Option("--full", help="Grid, parameters and citation of each.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the methods, or show one in full."""
    from drmbench.methods.registry import get_method, list_methods, plugins

    one = name is not None and not set("*?[") & set(name)
    methods = (get_method(name),) if name and one else list_methods()
    for plugin in plugins() if name is None else ():
        if plugin.problem:
            remark(f"warning: {plugin}", "fair")
    chosen = _matching(methods, name, family)
    if as_json:
        records = [_as_record(method) for method in chosen]
        print_json(records[0] if one else records)
    elif one or full:
        for number, method in enumerate(chosen):
            if number:
                tell("")
            _describe(method)
    else:
        families = len({method.family for method in chosen})
        tell(
            f"{len(chosen)} methods of {families} families; `drmbench methods NAME`"
            " shows the grid, the parameters and the citation of one.\n"
        )
        print_listing(_FIELDS, map(_row, chosen))


def _matching(
    methods: Sequence[Method], pattern: str | None, family: str | None
) -> list[Method]:
    """Return the methods whose name and family are wanted; it is wrong if none is."""
    families = dict.fromkeys(method.family for method in methods)
    if family is not None and family not in families:
        hint = did_you_mean(family, families)
        raise InputError(
            f"no method of the family {quoted(family)}.{hint} Families:"
            f" {', '.join(families)}."
        )
    found = [
        method
        for method in methods
        if (pattern is None or fnmatchcase(method.name, pattern))
        and family in (None, method.family)
    ]
    if not found:
        raise InputError(
            f"no method is called {quoted(pattern)}; `drmbench methods` lists them"
        )
    return found


def _row(method: Method) -> tuple[str, ...]:
    candidates = str(len(method.candidates()))
    return method.name, method.column or "", method.title, candidates, method.family


def _as_record(method: Method) -> dict[str, Any]:
    return {
        "name": method.name,
        "title": method.title,
        "family": method.family,
        "column": method.column,
        "grid": {name: list(values) for name, values in method.grid.items()},
        "defaults": dict(method.defaults),
        "paper_params": dict(method.paper_params),
        "candidates": len(method.candidates()),
        "stochastic": method.stochastic,
        "scale_invariant": method.scale_invariant,
        "large_scale": method.large_scale,
        "leave_one_out": _leave_one_out(method),
        "citation": method.citation,
        "versions": dict(method.origin.get("versions", {})),
    }


def _describe(method: Method) -> None:
    """Print a method's title and facts; those without text are left out."""
    tell(f"{method.name}: {method.title}", "heading")
    for label, text in _facts(method):
        tell_fact(f"    {label}", text, _INDENT)


def _facts(method: Method) -> Iterator[tuple[str, str]]:
    grid = [
        f"{name}: {', '.join(map(_shown, values))}"
        for name, values in method.grid.items()
    ]
    scaling = "nothing but rounding" if method.scale_invariant else "the result"
    yield "paper", method.column or "-"
    yield "grid", "; ".join(grid)
    yield "fixed", _assignments(method.defaults)
    yield "reference", method.citation
    yield "from", ", ".join(map(" ".join, method.origin.get("versions", {}).items()))
    yield "paper mode", _assignments(method.paper_params)
    yield "family", method.family
    yield "candidates", str(len(method.candidates()))
    yield "selection", f"leave-one-out by {_leave_one_out(method)}"
    yield "seed", "changes the result" if method.stochastic else "has no effect"
    yield "scaling", f"of features changes {scaling}"
    yield "for", "large data" if method.large_scale else "small and medium data"


def _leave_one_out(method: Method) -> str:
    return "exact shortcut" if method.predict_left_out else "refits"


def _assignments(params: Params) -> str:
    return ", ".join(f"{name}={_shown(value)}" for name, value in params.items())


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
