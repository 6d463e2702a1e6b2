"""Options that say which data sets of the catalogue a command is about, and where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

if TYPE_CHECKING:
    from drmbench.data.catalogue import DatasetEntry

DataDir = Annotated[
    Path | None,
    Option(
        "--data-dir",
        help="Folder searched first and written to, instead of $DRMBENCH_DATA.",
    ),
]
Names = Annotated[
    list[str] | None,
    Argument(metavar="NAME", help="Data sets, as in `drmbench data list`."),
]
Groups = Annotated[
    list[str] | None,
    Option("--group", "-g", help="All data sets of this group; repeatable."),
]


def chosen(
    names: Sequence[str] | None, groups: Sequence[str] | None
) -> list[DatasetEntry]:
    """Return what names and groups ask for; all of it if they ask for nothing."""
    from drmbench.data.catalogue import load_catalogue

    catalogue = load_catalogue()
    found = catalogue.entries(names or [])
    for group in groups or []:
        found += [entry for entry in catalogue.group(group) if entry not in found]
    return found if names or groups else list(catalogue)
