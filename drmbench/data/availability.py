"""Telling, without fetching or hashing anything, whether a data set is ready to use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from drmbench.data.entries import Artifact, DatasetEntry, Source
from drmbench.data.fetch import OFFLINE_REASON
from drmbench.data.paths import Places
from drmbench.data.sources import STEPS, Step, applies, installed_version


class Availability(NamedTuple):
    """Where a data set would come from.

    Attributes
    ----------
    ready : bool
        Whether all of it is on this machine.
    where : str
        The place it would be taken from.
    why : str
        Why it is not ready, or empty.
    """

    ready: bool
    where: str
    why: str = ""


def availability(entry: DatasetEntry, places: Places) -> Availability:
    """Say where a data set would come from, by a look at file names and sizes.

    Parameters
    ----------
    entry : DatasetEntry
        The data set.
    places : Places
        Where data may come from.
    """
    if entry.parameters:
        return Availability(True, "generated")
    closed = []
    for step in STEPS:
        for source in entry.sources:
            if not applies(source, step):
                continue
            answer = _look(source, step, places)
            if answer.where:
                return answer
            closed.append(answer.why)
    return Availability(False, "nowhere", closed[-1])


def local_files(entry: DatasetEntry, places: Places) -> Iterator[tuple[Path, Artifact]]:
    """Give every file of a data set that lies in one of the searched folders."""
    for source in entry.sources:
        for artifact in source.artifacts:
            for folder in places.folders:
                path = folder.path / artifact.name
                if path.is_file():
                    yield path, artifact


def _look(source: Source, step: Step, places: Places) -> Availability:
    """Answer for one source and place; an empty `where` means: try the next one."""
    if step == "local":
        return _look_in_folders(source, places)
    if step == "package":
        installed = installed_version(source.package)
        if installed is None:
            return Availability(False, "", f"{source.package} is not installed")
        return Availability(True, f"{source.label} {installed}")
    if step == "mirror":
        return _look_in_mirror(source, places)
    if places.offline:
        return Availability(False, "", OFFLINE_REASON)
    if step == "pip":
        return Availability(False, source.label, _not_yet(source))
    host = urlsplit(source.artifacts[0].url or "").netloc
    return Availability(False, f"url {host}", _not_yet(source))


def _look_in_folders(source: Source, places: Places) -> Availability:
    labels = []
    for artifact in source.artifacts:
        for folder in places.folders:
            if _same_size(folder.path / artifact.name, artifact):
                labels.append(folder.label)
                break
        else:
            return Availability(False, "", f"{artifact.name} is not here")
    where = source.label if source.members else labels[0]
    return Availability(True, where)


def _look_in_mirror(source: Source, places: Places) -> Availability:
    if places.mirror is None:
        return Availability(False, "", "no mirror")
    folder = places.mirror_folder
    if folder is not None:
        files = [(folder / artifact.name, artifact) for artifact in source.artifacts]
        complete = all(_same_size(path, artifact) for path, artifact in files)
        if complete:
            return Availability(True, "mirror")
        return Availability(False, "", "not in the mirror")
    if places.offline:
        return Availability(False, "", OFFLINE_REASON)
    return Availability(False, "mirror", _not_yet(source))


def _same_size(path: Path, artifact: Artifact) -> bool:
    try:
        size = path.stat().st_size
    except OSError:
        return False
    return artifact.size is None or size == artifact.size


def _not_yet(source: Source) -> str:
    sizes = [artifact.size for artifact in source.artifacts]
    if None in sizes:
        return "not fetched yet"
    total = sum(size or 0 for size in sizes) / 1e6
    return f"not fetched yet ({total:.1f} MB)"
