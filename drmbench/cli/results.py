"""``drmbench results``: what results there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drmbench.cli.output import LEFT, RIGHT, examples, print_table
from drmbench.errors import InputError

if TYPE_CHECKING:
    from drmbench.run.results import Results

EPILOGUE = examples(
    "drmbench results",
    "drmbench results --experiment imbalanced",
    "drmbench results --out results/reference --json",
)


def results_command(
    experiment: Annotated[
        str | None, typer.Option("--experiment", "-e", help="Only this one, in full.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[Path, typer.Option("--out", help="Folder of the results.")] = Path(
        "results/runs"
    ),
) -> None:
    """Show what results there are, and how complete they are."""
    import json

    from drmbench.cli.run import print_results
    from drmbench.run.results import load_results

    if not out.is_dir():
        raise InputError(f"{out} is not a folder of results; `drmbench run` makes one")
    results = load_results(out, [experiment] if experiment else [])
    if as_json:
        described = [_describe(found) for found in results.values()]
        typer.echo(json.dumps(described, indent=1, ensure_ascii=False))
    elif experiment:
        print_results(out / experiment)
    else:
        _print_list(results)


def _describe(results: Results) -> dict[str, Any]:
    from drmbench.run.results import rows_expected

    rows = results.rows
    statuses = {str(k): int(v) for k, v in rows["status"].value_counts().items()}
    described: dict[str, Any] = {
        "experiment": results.name,
        "title": results.experiment.title,
        "kind": results.experiment.kind,
        "rows": len(rows),
        "expected": rows_expected(results),
        "statuses": statuses,
        "command": results.manifest["command"],
    }
    if results.experiment.kind == "classification":
        described["summaries"] = [
            {
                "dataset": cell.dataset,
                "method": cell.method,
                "mode": mode,
                "metric": results.metric,
                "mean": None if cell.done == 0 or cell.mean != cell.mean else cell.mean,
                "sd": None if cell.spread != cell.spread else cell.spread,
                "done": cell.done,
                "expected": cell.expected,
                "scaling": cell.scaling,
                "reason": cell.reason,
            }
            for mode in results.modes
            for cell in results.summaries(mode=mode)
        ]
    return described


def _print_list(results: dict[str, Results]) -> None:
    rows = []
    for found in results.values():
        described = _describe(found)
        statuses = described["statuses"]
        bad = ", ".join(f"{n} {s}" for s, n in statuses.items() if s != "ok")
        rows.append(
            [
                found.name,
                described["title"],
                f"{described['rows']}/{described['expected']}",
                bad,
            ]
        )
    headings = [("experiment", LEFT), ("title", LEFT), ("rows", RIGHT), ("", LEFT)]
    print_table(headings, rows)
