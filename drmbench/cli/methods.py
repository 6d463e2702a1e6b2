"""``drmbench methods``: what can be compared, with which parameters, and by whom."""

from __future__ import annotations

import json
import shutil
import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from drmbench.cli.output import examples

if TYPE_CHECKING:
    from drmbench.methods.base import Method, Params

_INDENT = " " * 4
_LABEL_WIDTH = 11

app = typer.Typer()


@app.command(
    "methods",
    epilog=examples(
        "drmbench methods", "drmbench methods drm-rbf", "drmbench methods --json"
    ),
)
def methods_command(
    name: Annotated[
        str | None,
        Argument(metavar="NAME", help="One method, in full; else all of them."),
    ] = None,
    as_json: Annotated[
        bool, Option("--json", help="Print JSON, for programs.")
    ] = False,
) -> None:
    """List the methods: name, column in the paper, parameters and grid, citation."""
    from drmbench.methods.registry import get_method, list_methods, plugins

    chosen = list_methods() if name is None else (get_method(name),)
    for plugin in plugins() if name is None else ():
        if plugin.problem:
            typer.echo(f"warning: {plugin}", err=True)
    if as_json:
        records = [_as_record(method) for method in chosen]
        shown = records if name is None else records[0]
        typer.echo(json.dumps(shown, indent=1, ensure_ascii=False))
        return
    full = name is not None
    typer.echo("\n\n".join(_in_words(method, full=full) for method in chosen))


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


def _in_words(method: Method, *, full: bool) -> str:
    """Return a method's title and labelled paragraphs; those without text are out."""
    grid = [
        f"{name}: {', '.join(map(_shown, values))}"
        for name, values in method.grid.items()
    ]
    texts = {
        "paper": method.column or "-",
        "grid": "; ".join(grid),
        "fixed": _assignments(method.defaults),
        "reference": method.citation,
        "from": ", ".join(map(" ".join, method.origin.get("versions", {}).items())),
    }
    if full:
        scaling = "nothing but rounding" if method.scale_invariant else "the result"
        texts |= {
            "paper mode": _assignments(method.paper_params),
            "family": method.family,
            "candidates": str(len(method.candidates())),
            "selection": f"leave-one-out by {_leave_one_out(method)}",
            "seed": "changes the result" if method.stochastic else "has no effect",
            "scaling": f"of features changes {scaling}",
            "for": "large data" if method.large_scale else "small and medium data",
        }
    lines = [f"{method.name}: {method.title}"]
    for label, text in texts.items():
        lines += textwrap.wrap(
            text,
            width=min(shutil.get_terminal_size().columns, 100),
            initial_indent=_INDENT + label.ljust(_LABEL_WIDTH),
            subsequent_indent=_INDENT + " " * _LABEL_WIDTH,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines)


def _leave_one_out(method: Method) -> str:
    return "exact shortcut" if method.predict_left_out else "refits"


def _assignments(params: Params) -> str:
    return ", ".join(f"{name}={_shown(value)}" for name, value in params.items())


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
