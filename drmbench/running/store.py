"""The store: finished cells in an append-only journal that nothing can half-write.

``OUT/<experiment>/cells.jsonl`` has one line per cell: a checksum and the cell's
record. A line is appended under a lock and flushed to disk before the cell counts as
done. A line that a crash cut short, or that was damaged since, fails its checksum; it
is set aside in ``cells.rejected`` and its cell runs again. The journal is then
rewritten as the next generation (``cells.generation``), which tells every other process
to read it from the start. The tidy rows that people read (``results.csv``) are written
from the journal (:mod:`drmbench.running.view`).
"""

from __future__ import annotations

import json
import logging
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from drmbench.errors import DrmbenchError, InputError, explained, is_full, reason_of
from drmbench.files import locked, open_own, read_regular, replacing
from drmbench.running.task import SCHEMA_VERSION, Task

try:
    import fcntl
except ImportError:  # not on Windows: two runs at once may then compute a cell twice
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)

JOURNAL = "cells.jsonl"
REJECTED = "cells.rejected"
GENERATION = "cells.generation"
_RESERVE = ".reserve"
_RESERVE_BYTES = 256 * 1024

Record = dict[str, Any]


class StoreError(DrmbenchError):
    """Results cannot be written; what was finished is safe."""


class DiskFullError(StoreError):
    """The disk is full; what was finished is safe."""


def not_stored(error: OSError, text: str) -> StoreError:
    """Return what a run ends with when the system refuses something of its store."""
    if is_full(error):
        again = "make room and run the same command again."
        return DiskFullError(f"{text}. What was finished is safe; {again}")
    again = "the same command goes on."
    return StoreError(f"{text}. What was finished is safe; {again}")


@contextmanager
def storing() -> Iterator[None]:
    """Say of whatever the system refuses in the block that finished cells are safe."""
    try:
        yield
    except OSError as error:
        raise not_stored(error, str(explained(error))) from error


def encode(record: Record) -> bytes:
    """Return a journal line: the checksum of a record, and the record."""
    payload = json.dumps(record, allow_nan=False, ensure_ascii=False).encode()
    return b"%08x " % zlib.crc32(payload) + payload + b"\n"


def decode(line: bytes) -> Record | None:
    """Return the record of a journal line, or None if the line is damaged."""
    checksum, _, payload = line.removesuffix(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(payload):
        return None
    try:
        record = json.loads(payload)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


class Store:
    """The finished cells of one experiment.

    If ``read_only``, nothing is written or locked, and damaged lines stay where they
    are.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = folder  #: Made when the first cell is written
        self.records: dict[str, Record] = {}  #: Of each finished cell, by key
        self.rejected = 0  #: Damaged lines that were set aside, or passed over
        self._read_only = read_only
        self._read_to = 0
        self._file: tuple[int, int] | None = None
        self._claims: int | None = None
        self.refresh()

    @property
    def journal(self) -> Path:
        """The file that cells are appended to."""
        return self.folder / JOURNAL

    @property
    def generation(self) -> int:
        """How many times the journal was rewritten."""
        try:
            return int(read_regular(self.folder / GENERATION))
        except (OSError, ValueError):  # none yet, or damaged: the file tells as well
            return 0

    def refresh(self) -> None:
        """Read what another process has finished since."""
        file, size = self._look()
        if file is None or (file, size) == (self._file, self._read_to):
            return
        if self._read_only:
            self._read()
            return
        with locked(self.folder, "journal"):
            self._read()

    def _look(self) -> tuple[tuple[int, int] | None, int]:
        """Return which journal there is, by generation and file, and its size."""
        try:
            found = self.journal.stat()
        except OSError:
            return None, 0
        return (self.generation, found.st_ino), found.st_size

    def append(self, record: Record) -> None:
        """Write a finished cell; when this returns, the cell survives anything.

        What prevents it raises :class:`StoreError`, a full disk
        :class:`DiskFullError`; all that was written before is safe.
        """
        line = encode(record)
        with locked(self.folder, "journal"):
            self._read()
            try:
                _append(self.journal, line)
            except OSError as error:
                reserve = self.folder / _RESERVE
                if is_full(error) and reserve.exists():
                    reserve.unlink()
                    with suppress(OSError):
                        _append(self.journal, line)
                    self._read()
                text = f"cannot write to {self.journal}: {reason_of(error)}"
                raise not_stored(error, text) from error
            self._read()

    def reserve(self) -> None:
        """Set room aside, so that cells that end on a full disk can be written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with replacing(self.folder / _RESERVE) as temporary:  # never through a link
                temporary.write_bytes(bytes(_RESERVE_BYTES))
        except OSError as error:
            text = f"cannot write to {self.folder}: {reason_of(error)}"
            raise not_stored(error, text) from error

    def release(self) -> None:
        """Give the reserved room back, and all claims."""
        (self.folder / _RESERVE).unlink(missing_ok=True)
        if self._claims is not None:
            os.close(self._claims)
            self._claims = None

    def claim(self, key: str) -> bool:
        """Take a cell for this process; False if another process is at it.

        The system gives claims back when a process ends, however it ends.
        """
        if fcntl is not None:
            claims, exclusive = self._claims_file(), fcntl.LOCK_EX | fcntl.LOCK_NB
            try:
                fcntl.lockf(claims, exclusive, 1, _place(key))
            except (BlockingIOError, PermissionError):  # as systems say it
                return False
            except OSError as error:
                raise InputError(
                    f"{self.folder / '.claims'}: cannot be locked ({error.strerror});"
                    " give --out a folder on a disk that has locks"
                ) from error
        return True

    def unclaim(self, key: str) -> None:
        """Give a claimed cell back."""
        if fcntl is not None:
            fcntl.lockf(self._claims_file(), fcntl.LOCK_UN, 1, _place(key))

    def _claims_file(self) -> int:
        # Kept open: closing any descriptor of it would drop all claims.
        if self._claims is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / ".claims"
            self._claims = open_own(path, os.O_RDWR)
        return self._claims

    def _read(self) -> None:
        """Read the lines since the last time; the journal's lock is held.

        Of a journal that was rewritten, or cut, that is all lines. Finished cells
        that it lost meanwhile are written again.
        """
        file, size = self._look()
        before: dict[str, Record] = {}
        if file != self._file or size < self._read_to:
            before, self.records, self._read_to = self.records, {}, 0
        damaged = [] if file is None else self._read_lines()
        self._file = file
        lost = {key: r for key, r in before.items() if key not in self.records}
        self.records |= lost
        if self._read_only:
            self.rejected += len(damaged)
        elif damaged:
            self._set_aside(damaged)
        elif lost:
            self._rewrite()

    def _read_lines(self) -> list[bytes]:
        """Take the records of the lines since the last time; return damaged lines."""
        content = read_regular(self.journal, self._read_to)
        damaged = []
        for line in content.splitlines(keepends=True):
            record = decode(line)
            if record is not None:
                if (version := record.get("schema", 0)) != SCHEMA_VERSION:
                    raise InputError(
                        f"{self.journal}: results of schema version {version}; this"
                        f" drmbench reads version {SCHEMA_VERSION}. Use the drmbench"
                        " that wrote them, or another --out folder."
                    )
                self.records[record["key"]] = record
            elif line.strip():
                damaged.append(line)
        self._read_to += len(content)
        return damaged

    def _set_aside(self, damaged: list[bytes]) -> None:
        self.rejected += len(damaged)
        text = "%s: %d damaged line(s) set aside in %s; their cells run again"
        logger.warning(text, self.journal, len(damaged), REJECTED)
        descriptor = open_own(self.folder / REJECTED, os.O_WRONLY | os.O_APPEND)
        with os.fdopen(descriptor, "ab") as stream:
            stream.writelines(line.rstrip(b"\n") + b"\n" for line in damaged)
        self._rewrite()

    def _rewrite(self) -> None:
        """Rewrite the journal; the journal's lock is held."""
        # The number first: whoever sees it and the old journal only reads that again.
        with replacing(self.folder / GENERATION) as temporary:
            temporary.write_text(f"{self.generation + 1}\n", encoding="ascii")
        kept = b"".join(map(encode, self.records.values()))
        with replacing(self.journal) as temporary:
            temporary.write_bytes(kept)
        self._file, self._read_to = self._look()


def _place(key: str) -> int:
    """Return the byte of the claims file that stands for a cell."""
    return int(key[:12], 16)


def _append(path: Path, line: bytes) -> None:
    """Append a line and flush it to disk; on failure leave the file as it was."""
    descriptor = open_own(path, os.O_WRONLY | os.O_APPEND)
    try:
        before = os.fstat(descriptor).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(descriptor, line[written:])
            os.fsync(descriptor)
        except OSError:
            with suppress(OSError):  # else the rest of the line is set aside later
                os.ftruncate(descriptor, before)
            raise
    finally:
        os.close(descriptor)


def all_records(out: Path) -> Iterator[tuple[str, Record]]:
    """Give the experiment and record of every finished cell below a folder.

    The journals are only read: they may be those of other runs.
    """
    for path in sorted(out.glob(f"*/{JOURNAL}")):
        for record in Store(path.parent, read_only=True).records.values():
            yield path.parent.name, record


def names_of(task: Task) -> dict[str, str]:
    """Return what an experiment calls a cell, which another may call otherwise."""
    return {"dataset": task.dataset.name, "method": task.method.label}
