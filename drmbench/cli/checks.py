"""``drmbench check``: committed results must be sound, fresh ones agree with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from drmbench.cli.inputs import REFERENCE, RUNS, reference_folder
from drmbench.cli.output import examples
from drmbench.errors import CheckFailedError, InputError, reason_of, refused

app = typer.Typer()


@app.command(
    epilog=examples(
        "drmbench check",
        "drmbench check --experiment imbalanced --results results/runs",
        "drmbench check --tolerance 0.01",
        "drmbench check --experiment imbalanced --update",
    )
)
def check(
    reference: Annotated[
        Path, Option(help="Folder of the committed results.")
    ] = REFERENCE,
    results: Annotated[
        Path | None,
        Option(help="Folder of the fresh results; without it results/runs, if there."),
    ] = None,
    experiment: Annotated[
        list[str] | None,
        Option("--experiment", "-e", help="An experiment; repeatable."),
    ] = None,
    tolerance: Annotated[
        float | None,
        Option(
            min=0.0, help="Absolute difference to allow, instead of one test sample."
        ),
    ] = None,
    update: Annotated[
        bool, Option("--update", help="Write the fresh results over the reference.")
    ] = False,
) -> None:
    """Check the committed results, and compare fresh ones with them, cell by cell.

    The committed rows must be readable and possible: no cell twice, nothing that the
    manifest does not list, metrics between 0 and 1. Cells that are not there are
    counted and no fault. Where nothing was run, that is all.

    A fresh figure of a deterministic method may differ by one test sample of a split,
    which another BLAS can turn; the mean of a method that draws random numbers by what
    its spread over splits explains. Only cells in both are compared, times never. Ends
    with exit code 1 and the list of what is wrong or moved, if anything is.
    """
    from drmbench.report.check import shortened
    from drmbench.report.reference import check_folder
    from drmbench.running.results import experiments_in

    names = experiment or []
    if update:
        _update(reference, results or RUNS, names)
        return
    reference, asked = reference_folder(reference), reference
    found = check_folder(reference, names)
    for one in found:
        typer.echo(f"{asked}: {one.summary()}")
    faults = [fault for one in found for fault in one.faults]
    if faults:
        lines = "\n".join(shortened(faults))
        raise CheckFailedError(f"the committed results are damaged:\n{lines}")
    fresh = experiments_in(RUNS)
    if results is not None or any(name in fresh for name in names or fresh):
        _compare(reference, results or RUNS, names, tolerance)
    elif not experiments_in(reference):
        raise InputError(f"nothing to check: {reference} and {RUNS} have no results")
    else:
        typer.echo(
            f"Nothing fresh in {RUNS} to compare with it: `drmbench run"
            f" configs/{names[0] if names else 'quick'}.yaml` would make results."
        )


def _compare(
    reference: Path, results: Path, names: list[str], tolerance: float | None
) -> None:
    from drmbench.report.check import compare_folders, failure_text, shortened

    found = compare_folders(reference, results, names, tolerance=tolerance)
    for line in dict.fromkeys(line for one in found for line in one.context):
        typer.echo(f"differs from the reference: {line}")
    for one in found:
        typer.echo(one.summary())
        for place in shortened(one.new):
            typer.echo(f"  not in the reference: {place}")
    if any(one.failed for one in found):
        raise CheckFailedError(f"the results moved:\n{failure_text(found)}")


def _update(reference: Path, results: Path, names: list[str]) -> None:
    from drmbench.report.check import compare, failure_text
    from drmbench.report.reference import update_reference
    from drmbench.running.results import experiments_in, load_results
    from drmbench.running.signature import AlteredResultsError

    fresh = load_results(results, names, sound=False)
    if not fresh:
        raise InputError(f"{results} has no results; `drmbench run CONFIG` makes some")
    known = [name for name in fresh if name in experiments_in(reference)]
    found, altered = [], []
    for name in known:
        try:
            old = load_results(reference, [name], sound=False)[name]
        except AlteredResultsError as error:
            altered.append(f"{name}: replaced without a comparison: {error}")
        else:
            found.append(compare(old, fresh[name]))
    try:
        written = update_reference(reference, results, list(fresh))
    except OSError as error:
        why = f"cannot write to {reference}: {reason_of(error)}"
        raise refused(error, why) from error
    for line in (*altered, *failure_text(found).splitlines(), *written):
        typer.echo(line)
