"""Writing files so that no reader ever meets half of one, alone or among processes."""

from __future__ import annotations

import logging
import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows: two downloads at once may then both do the work
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)


def is_special(path: Path) -> bool:
    """Say whether something is neither file nor folder: reading may never end then."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a temporary path beside `target`, and move it there if all goes well.

    Whatever is raised inside the block, the temporary file is removed and `target`
    stays as it was.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f".{target.name}.{uuid.uuid4().hex}.part"
    try:
        yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(target: Path) -> None:
    """Remove temporary files and folders that a killed process left beside `target`.

    Only safe while the lock of `target` is held.
    """
    for leftover in target.parent.glob(f".{target.name}.*.part"):
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
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / f"{name.replace('/', '_')}.lock").open("a") as stream:
        if fcntl is not None:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                logger.info("another process holds %s; waiting for it", name)
                fcntl.flock(stream, fcntl.LOCK_EX)
        yield
