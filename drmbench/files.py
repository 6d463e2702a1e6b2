"""Writing files so that no reader ever meets half of one, alone or among processes."""

from __future__ import annotations

import errno
import glob
import logging
import os
import shutil
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows: two downloads at once may then both do the work
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)

#: Seconds for which a temporary file is left alone, whoever made it.
_YOUNG = 60.0


def is_special(path: Path) -> bool:
    """Say whether something is neither file nor folder: reading may never end then."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _open(path: Path, flags: int) -> int:
    """Open a regular file; anything else is refused, and never waited for."""
    wanted = flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, wanted, 0o666)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise _special(path)


def _special(path: Path) -> OSError:
    return OSError(errno.EINVAL, "a pipe or device, not a regular file", str(path))


def read_regular(path: Path, start: int = 0) -> bytes:
    """Return the content of a file, which must be a regular one, from a byte on."""
    with os.fdopen(_open(path, os.O_RDONLY), "rb") as stream:
        stream.seek(start)
        return stream.read()


def open_own(path: Path, flags: int) -> int:
    """Open a file of drmbench's own to write to, and make it if it is not there.

    A link, pipe or device in its place is refused: whoever put it there would have what
    it leads to overwritten.
    """
    try:
        return _open(path, flags | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        text = "a link, in the place of a file that drmbench writes; remove it"
        raise OSError(errno.ELOOP, text, str(path)) from error


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a temporary file beside `target`, and move it there if all goes well.

    Whatever is raised inside the block, the temporary file is removed and `target`
    stays as it was. What a killed process left there is removed too. A pipe or device
    is refused: it would be gone, for all programs.
    """
    if is_special(target):
        raise _special(target)
    try:
        _make_folder(target.parent)
        _remove_dead(target)
        temporary = target.parent / f".{target.name}.{uuid.uuid4().hex}.part"
        held = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            _lock(held)
            yield temporary
            with temporary.open("rb") as stream:
                os.fsync(stream.fileno())
            temporary.replace(target)
        finally:
            os.close(held)
            temporary.unlink(missing_ok=True)
    except OSError as error:  # name what was to be written
        if error.filename is None or str(error.filename).endswith(".part"):
            error.filename = str(target)
        raise


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it; a file in the way is said to be none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        reason = os.strerror(errno.ENOTDIR)
        raise NotADirectoryError(errno.ENOTDIR, reason, str(folder)) from error


def _lock(descriptor: int) -> bool:
    """Lock a file until it is closed; False if another process has it or none can."""
    if fcntl is None:
        return False
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _remove_dead(target: Path) -> None:
    """Remove temporary files of `target` whose processes have ended without that."""
    for leftover in _temporaries(target):
        with suppress(OSError):
            descriptor = _open(leftover, os.O_RDWR)
            try:
                age = time.time() - os.fstat(descriptor).st_mtime
                if age > _YOUNG and _lock(descriptor):
                    leftover.unlink()
            finally:
                os.close(descriptor)


def _temporaries(target: Path) -> Iterator[Path]:
    """Give the temporary files and folders of `target`."""
    return target.parent.glob(f".{glob.escape(target.name)}.*.part")


def remove_leftovers(target: Path) -> None:
    """Remove temporary files and folders that a killed process left beside `target`.

    Only safe while the lock of `target` is held.
    """
    for leftover in _temporaries(target):
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink()


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Hold the inter-process lock called `name` in `folder` during the block.

    The system releases the lock when its process ends, however it ends, so a lock is
    never stale; the empty lock file stays behind on purpose.
    """
    locks = folder / ".locks"
    _make_folder(locks)
    path = locks / f"{name.replace('/', '_')}.lock"
    with os.fdopen(open_own(path, os.O_RDWR), "r+") as stream:
        if fcntl is not None:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                logger.info("another process holds %s; waiting for it", name)
                fcntl.flock(stream, fcntl.LOCK_EX)
        yield
