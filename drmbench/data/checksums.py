"""Checksums of files: sha256, or git's blob sha1 where only that is published."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

ALGORITHMS = {"sha256": 64, "git-sha1": 40}
"""Known algorithms, and the number of hexadecimal digits each one gives."""

_CHUNK = 1 << 20


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
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return f"{algorithm}:{digest.hexdigest()}"


def bytes_checksum(data: bytes) -> str:
    """Return ``"sha256:hexdigest"`` of some bytes.

    Examples
    --------
    >>> bytes_checksum(b"")[:19]
    'sha256:e3b0c44298fc'
    """
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
