"""``drmbench data``: list, fetch, verify and describe what the catalogue has."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from drmbench.cli import data_info, data_list
from drmbench.cli.data_names import DataDir, Groups, Names, chosen
from drmbench.cli.output import examples
from drmbench.cli.terminal import remark, tell
from drmbench.errors import CheckFailedError, DataUnavailableError, InputError

if TYPE_CHECKING:
    from drmbench.data.catalogue import Artifact

app = typer.Typer(
    no_args_is_help=True,
    help="List, describe, fetch and verify the data sets of the catalogue.",
    epilog=examples("drmbench data list", "drmbench data info haberman"),
)
app.add_typer(data_list.app)
app.add_typer(data_info.app)

_FULL_REASONS = 5


@app.command(
    epilog=examples(
        "drmbench data fetch haberman iris",
        "drmbench data fetch --group keel",
        "drmbench data fetch --all --data-dir ~/drmbench-data",
        "DRMBENCH_MIRROR=/mnt/mirror drmbench data fetch --group gene",
    ),
)
def fetch(
    names: Names = None,
    group: Groups = None,
    everything: Annotated[
        bool, Option("--all", help="Every data set of the catalogue.")
    ] = False,
    preferred: Annotated[
        bool,
        Option(
            "--preferred", help="From its first source, also where another is there."
        ),
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Fetch and verify data sets.

    What cannot be obtained is told, the rest is fetched, and the command ends with exit
    code 3.
    """
    from drmbench.data.fetch import Fetcher
    from drmbench.data.paths import find_places
    from drmbench.data.sources import resolve

    if not (names or group or everything):
        raise InputError(
            "say what to fetch: names, --group GROUP or --all"
            " (see `drmbench data list`)"
        )
    entries = [e for e in chosen(names, group) if not e.parameters]
    if preferred:
        entries = [dataclasses.replace(e, sources=e.sources[:1]) for e in entries]

    def report(line: str) -> None:
        remark(f"      {line}")

    progress, places = sys.stderr.isatty(), find_places(data_dir)
    fetcher = Fetcher(places, must_store=True, progress=progress, report=report)
    missing: dict[str, DataUnavailableError] = {}
    for number, entry in enumerate(entries, start=1):
        try:
            state = resolve(entry, fetcher).origin
        except DataUnavailableError as error:
            missing[entry.name] = error
            state = "MISSING"
        tell(f"[{number}/{len(entries)}] {entry.name}: {state}")
    tell(f"{len(entries) - len(missing)} of {len(entries)} data sets are ready")
    if missing:
        lines = [f"{len(missing)} could not be obtained: {', '.join(missing)}"]
        lines += map(str, list(missing.values())[:_FULL_REASONS])
        if len(missing) > _FULL_REASONS:
            lines += ["For why each of the others is missing: drmbench data fetch NAME"]
        raise DataUnavailableError("\n".join(lines))


@app.command(
    epilog=examples("drmbench data verify", "drmbench data verify ijcnn1 shuttle")
)
def verify(names: Names = None, data_dir: DataDir = None) -> None:
    """Hash every fetched file again and report damage (exit code 1)."""
    from drmbench.data.fetch import damage
    from drmbench.data.paths import find_places
    from drmbench.data.sources import local_files

    places = find_places(data_dir)
    files: dict[Path, Artifact] = {}
    owners: dict[Path, str] = {}
    for entry in chosen(names, None):
        for path, artifact in local_files(entry, places):
            files[path] = artifact
            owners.setdefault(path, entry.name)
    damaged = []
    for path, artifact in files.items():
        problem = damage(path, artifact)
        typer.echo(f"{'DAMAGED' if problem else 'ok':8}{path}")
        if problem:
            damaged.append(f"{path} is damaged: {problem}")
            damaged.append(f"  `drmbench data fetch {owners[path]}` fetches it again.")
    tell(f"{len(files)} files checked, {len(damaged) // 2} damaged")
    if damaged:
        raise CheckFailedError("\n".join(damaged))
