"""``drmbench results``: what results there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from drmbench.cli.inputs import REFERENCE, RUNS, reference_folder
from drmbench.cli.listing import Field, Word, print_listing
from drmbench.cli.output import AsJson, examples, print_json
from drmbench.cli.terminal import tell
from drmbench.errors import InputError

if TYPE_CHECKING:
    from drmbench.running.results import Results

app = typer.Typer()

_FIELDS = (
    *(Field("experiment"), Field("title", least=24)),
    *(Field("rows", "right"), Field("without a figure")),
)


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
    as_json: AsJson = False,
    out: Annotated[Path, Option(help="Folder of the results.")] = RUNS,
) -> None:
    """Show what results there are, and how complete they are.

    Where nothing was run, the committed results are shown.
    """
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
        print_json(described)
        return
    complete = sum(one["rows"] == one["expected"] for one in described)
    tell(f"{len(described)} experiments in {out}, {complete} of them complete.\n")
    print_listing(_FIELDS, map(_row, described))


def _row(described: dict[str, Any]) -> tuple[str | Word, ...]:
    statuses, done = described["statuses"], described["rows"]
    bad = ", ".join(f"{n} {status}" for status, n in statuses.items() if status != "ok")
    shown = f"{done}/{described['expected']}"
    return (
        described["experiment"],
        described["title"],
        Word(shown, "" if done == described["expected"] else "fair"),
        Word(bad, "bad" if {"failed", "timeout"} & set(statuses) else "quiet"),
    )


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
