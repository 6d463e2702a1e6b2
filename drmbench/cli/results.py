"""``drmbench results``: what results there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from drmbench.cli.inputs import REFERENCE, RUNS, reference_folder
from drmbench.cli.output import LEFT, RIGHT, examples, print_table
from drmbench.errors import InputError

if TYPE_CHECKING:
    from drmbench.running.results import Results

app = typer.Typer()


@app.command(
    "results",
    epilog=examples(
        "drmbench results",
        "drmbench results --experiment imbalanced",
        "drmbench results --out results/reference --json",
    ),
)
def results_command(
    experiment: Annotated[
        str | None, Option("--experiment", "-e", help="Only this one, in full.")
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
    out: Annotated[Path, Option(help="Folder of the results.")] = RUNS,
) -> None:
    """Show what results there are, and how complete they are.

    Where nothing was run, the committed results are shown.
    """
    import json

    from drmbench.cli.run import print_results
    from drmbench.running.results import load_results

    out = reference_folder(REFERENCE if out == RUNS and not out.is_dir() else out)
    if not out.is_dir():
        raise InputError(f"{out} is not a folder of results; `drmbench run` makes one")
    results = load_results(out, [experiment] if experiment else [])
    if not results:
        raise InputError(f"{out} has no results; `drmbench run` makes some")
    if experiment and not as_json:
        print_results(out / experiment)
        return
    described = [_describe(found) for found in results.values()]
    if as_json:
        typer.echo(json.dumps(described, indent=1, ensure_ascii=False))
        return
    rows = []
    for one in described:
        bad = ", ".join(f"{n} {s}" for s, n in one["statuses"].items() if s != "ok")
        done = f"{one['rows']}/{one['expected']}"
        rows.append([one["experiment"], one["title"], done, bad])
    headings = [("experiment", LEFT), ("title", LEFT), ("rows", RIGHT), ("", LEFT)]
    print_table(headings, rows)


def _describe(results: Results) -> dict[str, Any]:
    from drmbench.running.results import rows_expected

    rows, experiment = results.rows, results.experiment
    described: dict[str, Any] = {
        "experiment": results.name,
        "title": experiment.title,
        "kind": experiment.kind,
        "rows": len(rows),
        "expected": rows_expected(results),
        "statuses": rows["status"].value_counts().to_dict(),
        "command": results.manifest["command"],
    }
    if experiment.kind == "classification":
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
