"""``drmbench check``: committed results must be sound, fresh ones agree with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from drmbench.cli.inputs import REFERENCE, RUNS, reference_folder
from drmbench.cli.listing import Field, Word, print_listing
from drmbench.cli.output import AsJson, examples, print_json
from drmbench.cli.terminal import tell
from drmbench.errors import CheckFailedError, InputError, reason_of, refused

if TYPE_CHECKING:
    from drmbench.report.check import CheckedExperiment
    from drmbench.report.reference import Soundness

app = typer.Typer()

_FIELDS = (
    *(Field("experiment"), Field("cells", "right"), Field("rows")),
    *(Field("without the data of", least=20), Field("not of one code", least=20)),
)


@app.command(
    epilog=examples(
        "drmbench check",
        "drmbench check --experiment imbalanced --results results/runs",
        "drmbench check --tolerance 0.01",
        "drmbench check --results results/runs --json",
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
    as_json: AsJson = False,
) -> None:
    """Check the committed results, and compare fresh ones with them.

    The committed rows must be readable and possible: no cell twice, nothing that the
    manifest does not list, metrics between 0 and 1. Cells that are not there are
    counted and no fault. Where nothing was run, that is all.

    A fresh figure of a deterministic method may differ by one test sample of a split,
    which another BLAS can turn; the mean of a method that draws random numbers by what
    its spread over splits explains. Only cells in both are compared, times never. Ends
    with exit code 1 and the list of what is wrong or moved, if anything is.
    """
    from drmbench.report.check import compare_folders, failure_text, shortened
    from drmbench.report.reference import check_folder
    from drmbench.running.results import experiments_in

    names = experiment or []
    if update:
        if as_json:
            raise InputError("--json prints what was checked: leave it or --update out")
        _update(reference, results or RUNS, names)
        return
    reference, asked = reference_folder(reference), reference
    found = check_folder(reference, names)
    if found and not as_json:
        _tell_soundness(asked, found)
    faults = [fault for one in found for fault in one.faults]
    fresh = experiments_in(RUNS)
    comparing = results is not None or any(name in fresh for name in names or fresh)
    if not (faults or comparing or experiments_in(reference)):
        raise InputError(f"nothing to check: {reference} and {RUNS} have no results")
    compared: list[CheckedExperiment] = []
    if comparing and not faults:
        folders = reference, results or RUNS
        compared = compare_folders(*folders, names, tolerance=tolerance)
    if as_json:
        print_json(_as_record(asked, found, compared))
    elif compared:
        _tell_comparison(compared)
    elif not faults:
        tell(
            f"\nNothing fresh in {RUNS} to compare with it: `drmbench run"
            f" configs/{names[0] if names else 'quick'}.yaml` would make results."
        )
    if faults:
        lines = "\n".join(shortened(faults))
        raise CheckFailedError(f"the committed results are damaged:\n{lines}")
    if any(one.failed for one in compared):
        raise CheckFailedError(f"the results moved:\n{failure_text(compared)}")


def _tell_soundness(folder: Path, found: Sequence[Soundness]) -> None:
    """Print what the rows of each experiment are like, counted first."""
    done, expected = sum(x.done for x in found), sum(x.expected for x in found)
    faults = sum(len(one.faults) for one in found)
    state = f"faults: {faults}" if faults else "all rows sound"
    names = "1 experiment" if len(found) == 1 else f"{len(found)} experiments"
    tell(f"{folder}: {names}, {done} of {expected} cells, {state}.\n")
    print_listing(_FIELDS, map(_row, found))


def _row(one: Soundness) -> tuple[str | Word, ...]:
    bad = Word(f"faults: {len(one.faults)}", "bad")
    return (
        one.name,
        Word(f"{one.done}/{one.expected}", "" if one.done == one.expected else "fair"),
        bad if one.faults else Word("sound", "good"),
        ", ".join(one.missing),
        "; ".join(one.makers),
    )


def _tell_comparison(compared: Sequence[CheckedExperiment]) -> None:
    """Print what became of the cells of each experiment."""
    from drmbench.report.check import shortened

    tell("")
    for line in dict.fromkeys(line for one in compared for line in one.context):
        tell(f"differs from the reference: {line}")
    for one in compared:
        tell(one.summary(), "bad" if one.failed else "good")
        for place in shortened(one.new):
            tell(f"  not in the reference: {place}")


def _as_record(
    folder: Path, found: Sequence[Soundness], compared: Sequence[CheckedExperiment]
) -> dict[str, Any]:
    """Return everything that was found, for programs."""
    failed = any(one.faults for one in found) or any(one.failed for one in compared)
    return {
        "reference": str(folder),
        "ok": not failed,
        "experiments": [asdict(one) for one in found],
        "compared": [{**asdict(one), "failed": one.failed} for one in compared],
    }


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
        tell(line)
