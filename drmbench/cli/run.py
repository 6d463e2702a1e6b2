"""``drmbench run``: experiments from YAML files to stored results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drmbench.cli.output import LEFT, RIGHT, examples, print_table
from drmbench.errors import InputError

if TYPE_CHECKING:
    from drmbench.config.model import Experiment
    from drmbench.run.runner import Tally
    from drmbench.run.session import Options, Session

EPILOGUE = examples(
    "drmbench run configs/quick.yaml",
    "drmbench run configs/gene.yaml --dry-run",
    "drmbench run configs/imbalanced.yaml --dataset glass2 --method 'drm-*'",
    "drmbench run configs/uci.yaml configs/face.yaml --jobs 4 --timeout 10m",
    "drmbench run configs/keel100.yaml --scheduler tcp://10.0.0.1:8786",
)

#: Reasons that are listed at the end of a run.
MOST_REASONS = 20

Configs = Annotated[
    list[Path], typer.Argument(metavar="CONFIG...", help="Experiment files (YAML).")
]
Datasets = Annotated[
    list[str] | None,
    typer.Option("--dataset", "-d", help="Only these data sets; shell patterns."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", "-m", help="Only these methods; shell patterns."),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Cells side by side; default: all cores."),
]
Out = Annotated[Path, typer.Option("--out", help="Folder of the results.")]


def run_command(
    configs: Configs,
    dataset: Datasets = None,
    method: Methods = None,
    jobs: Jobs = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan; run and fetch nothing.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run cells that failed again.")
    ] = False,
    force: Annotated[
        list[str] | None,
        typer.Option("--force", help="Run cells of these methods again; patterns."),
    ] = None,
    timeout: Annotated[
        str | None,
        typer.Option("--timeout", help="Time limit of a cell, such as 90s or 10m."),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="For all cells together, such as 8G."),
    ] = None,
    out: Out = Path("results/runs"),
    allow_missing: Annotated[
        bool,
        typer.Option("--allow-missing", help="Exit 0 although data sets are missing."),
    ] = False,
    substitutes: Annotated[
        bool,
        typer.Option("--substitutes", help="Let real relatives stand in, marked."),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse missing and substituted data sets."),
    ] = False,
    no_progress: Annotated[
        bool, typer.Option("--no-progress", help="Say only what goes wrong.")
    ] = False,
    scheduler: Annotated[
        str,
        typer.Option(
            "--scheduler", help="Run on dask: tcp://HOST:PORT, or local for a cluster."
        ),
    ] = "",
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="A line for every cell.")
    ] = False,
) -> None:
    """Run experiments; what is already there is not run again.

    Exit codes: 0 all well; 1 some cells failed; 2 wrong input; 3 data missing;
    130 interrupted.
    """
    from drmbench.config import load_experiments
    from drmbench.run.session import Options, default_jobs

    options = Options(
        out=out,
        datasets=tuple(dataset or ()),
        methods=tuple(method or ()),
        jobs=jobs or default_jobs(),
        memory=_bytes(memory),
        timeout=_seconds(timeout),
        retry_failed=retry_failed,
        force=tuple(force or ()),
        strict=strict,
        scheduler=scheduler,
        bar=not no_progress,
        verbose=verbose,
    )
    experiments = load_experiments(configs)
    if substitutes:
        experiments = [e.model_copy(update={"substitutes": True}) for e in experiments]
    if strict:
        experiments = [e.model_copy(update={"substitutes": False}) for e in experiments]
    if dry_run:
        _print_plan(experiments, options)
        return
    session, tally = run_experiments(experiments, options)
    _finish(session, tally, allow_missing=allow_missing)


def run_experiments(
    experiments: Sequence[Experiment], options: Options
) -> tuple[Session, Tally]:
    """Plan, warn, run, and print the tables."""
    from drmbench.run.session import open_session

    session = open_session(experiments, options, say=_say)
    session.refuse_if_strict()
    _announce(session)
    tally = session.run()
    for outlook in session.outlooks:
        print_results(outlook.work.folder)
    return session, tally


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    from drmbench.config import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise InputError(f"--timeout {text}: {error}") from error


def _bytes(text: str | None) -> int:
    if text is None:
        return 0
    units = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
    number = text.strip().lower().removesuffix("ib").removesuffix("b")
    factor = units.get(number[-1:], 1)
    try:
        value = int(float(number.rstrip("kmgt")) * factor)
    except ValueError:
        value = 0
    if value < 2**28:
        raise InputError(f"--memory {text}: a size of 256M or more, such as 8G")
    return value


def _print_plan(experiments: Sequence[Experiment], options: Options) -> None:
    from drmbench.run.progress import duration
    from drmbench.run.session import open_session

    session = open_session(experiments, options, dry=True, say=_say)
    rows = []
    for outlook in session.outlooks:
        for planned in outlook.plan.datasets:
            tasks = [t for t in outlook.new if t.dataset.name == planned.ref.name]
            wanted = [
                t for t in outlook.work.wanted if t.dataset.name == planned.ref.name
            ]
            if not (wanted or planned.missing or planned.unfetched):
                continue
            each = planned.splits * len(outlook.plan.experiment.methods)
            each *= len(outlook.plan.experiment.scaling)
            seconds = session.history.total(tasks)
            state = "blocked" if planned.missing else ""
            state = "to be fetched" if planned.unfetched else state
            state = f"† {planned.substitute}" if planned.substitute else state
            rows.append(
                [
                    outlook.plan.experiment.name,
                    planned.ref.name,
                    str(len(wanted) - len(tasks)),
                    str(len(tasks) if wanted else each if planned.unfetched else 0),
                    str(each if planned.missing else 0),
                    duration(seconds / options.jobs) if seconds else "",
                    state,
                ]
            )
    sides = [LEFT, LEFT, RIGHT, RIGHT, RIGHT, RIGHT, LEFT]
    names = ["experiment", "data set", "cached", "new", "blocked", "estimated", ""]
    print_table(list(zip(names, sides, strict=True)), rows)
    _print_totals(session, options)


def _print_totals(session: Session, options: Options) -> None:
    from drmbench.run.progress import duration

    cached = sum(outlook.cached for outlook in session.outlooks)
    blocked = sum(outlook.blocked for outlook in session.outlooks)
    unfetched = sum(outlook.unfetched for outlook in session.outlooks)
    seconds = session.history.total(session.new)
    if not session.new:
        time = "nothing to run"
    elif seconds is None:
        time = "time unknown: no cell like these was run yet"
    else:
        time = f"about {duration(seconds / options.jobs)} with {options.jobs} jobs"
    typer.echo(
        f"{cached} cells cached, {len(session.new) + unfetched} new, {blocked}"
        f" blocked by missing data; {time}."
    )
    _explain_data(session)


def _announce(session: Session) -> None:
    """Say before anything runs what will be run, and what cannot be had."""
    cached = sum(outlook.cached for outlook in session.outlooks)
    unwell = sum(len(outlook.unwell) for outlook in session.outlooks)
    kept = f"{cached} cells are there already"
    if unwell:
        kept += f", {unwell} without a result (--retry-failed runs them again)"
    if session.adopted:
        kept += f"; {session.adopted} came from other experiments"
    _say(f"{kept}; {len(session.new)} to run with {session.options.jobs} jobs.")
    _explain_data(session)


def _explain_data(session: Session) -> None:
    for planned in session.missing():
        reason = planned.missing.replace("\n", "\n    ")
        _say(f"missing: {planned.ref.name}: {reason}")
        _say(f"    get it with: {planned.facts['get']}")
    for planned in session.substituted():
        _say(
            f"warning: † {planned.substitute} stands in for {planned.ref.name}:"
            f" {planned.facts['note']}"
        )


def print_results(folder: Path) -> None:
    """Print the tables of a classification experiment."""
    from drmbench.report.overview import overview
    from drmbench.run.results import read_results

    results = read_results(folder)
    title = results.experiment.title or results.name
    if results.experiment.kind != "classification":
        done = int((results.rows["status"] == "ok").sum())
        typer.echo(f"\n{title}: {done} of {results.manifest['expected']} cells done.")
        return
    for mode in results.modes:
        headings, rows, remarks = overview(results, mode)
        typer.echo(f"\n{title}; scaling mode {mode}\n")
        sides = [LEFT, *[RIGHT] * (len(headings) - 1)]
        print_table(list(zip(headings, sides, strict=True)), rows)
        typer.echo("")
        for remark in remarks:
            typer.echo(remark)


def _list_unwell(records: Sequence[dict[str, Any]]) -> None:
    """Say which cells have no result and why, splits of a kind in one line."""
    splits: dict[str, list[str]] = {}
    for record in records:
        place = f"{record['dataset']}, {record['method']}, {record['mode']}"
        text = f"{record['status']}: {place}, split {{}}: {record['reason']}"
        splits.setdefault(text, []).append(str(record["split"]))
    for text, numbers in list(splits.items())[:MOST_REASONS]:
        before, _, after = text.partition("{}")
        _say(f"{before}{', '.join(numbers)}{after}")
    if len(splits) > MOST_REASONS:
        _say(f"… and {len(splits) - MOST_REASONS} more; the rows have all reasons")


def _finish(session: Session, tally: Tally, *, allow_missing: bool) -> None:
    """Say how it went and leave with the exit code that says the same."""
    from drmbench.run.progress import duration

    for outlook in session.outlooks:
        typer.echo(f"\nresults: {outlook.work.folder}")
    unwell = [r for o in session.outlooks for r in o.unwell.values()] + tally.bad
    _say(f"{tally.done} cells run in {duration(tally.seconds)}.")
    _list_unwell(unwell)
    if session.substituted():
        names = ", ".join(f"{d.ref.name}†" for d in session.substituted())
        _say(f"warning: not the paper's data: {names}")
    if tally.interrupted:
        _say(f"interrupted; {tally.left} cells left; the same command goes on.")
        raise typer.Exit(130)
    if any(record["status"] != "skipped" for record in unwell):
        raise typer.Exit(1)
    if session.missing() and not allow_missing:
        names = ", ".join(d.ref.name for d in session.missing())
        _say(f"missing data: {names} (--allow-missing accepts that)")
        raise typer.Exit(3)
