"""A terminal for tests: a command in a pseudo-terminal, and what its screen shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte

#: Runs the command line with the catalogue of a folder that has no data.
DRIVER = """
import sys
from pathlib import Path
from drmbench.data import paths
if root := sys.argv[1]:
    paths.checkout_root = lambda: Path(root)
sys.argv = ["drmbench", *sys.argv[2:]]
from drmbench.cli import main
main()
"""
#: What would decide about widths and colours besides the terminal.
_OTHERS = {
    *("COLUMNS", "LINES", "TERMINAL_WIDTH"),
    *("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS"),
}
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
_LONGEST = 120.0  # seconds


def environment(**variables: str) -> dict[str, str]:
    """Return the environment of a child, without what other terminals asked for."""
    kept = {k: v for k, v in os.environ.items() if k not in _OTHERS}
    return {**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1", **variables}


class Terminal:
    """A terminal in which a command runs; a context ends it if need be."""

    def __init__(
        self,
        arguments: Sequence[str],
        width: int,
        *,
        cwd: Path,
        checkout: Path | None = None,
        variables: Mapping[str, str] | None = None,
        height: int = 40,
    ) -> None:
        leader, follower = pty.openpty()
        size = struct.pack("HHHH", height, width, 0, 0)
        fcntl.ioctl(follower, termios.TIOCSWINSZ, size)
        self._screen = pyte.HistoryScreen(width, height, history=10_000)
        self._stream, self._leader = pyte.ByteStream(self._screen), leader
        self.raw = b""  #: all that was written
        self._child = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(checkout or ""), *arguments],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            cwd=cwd,
            env=environment(**(variables or {})),
            start_new_session=True,
        )
        os.close(follower)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait()
        os.close(self._leader)

    def read_until(self, seen: Callable[[str], bool]) -> str:
        """Read until the screen is as wanted, or the command has ended."""
        limit = time.monotonic() + _LONGEST
        while not seen(self.text) and self._read():
            assert time.monotonic() < limit, self.text
        return self.text

    def finish(self) -> str:
        """Read all there is, and require that the command ended well."""
        text = self.read_until(lambda _: False)
        assert self._child.wait() == 0, text
        return text

    def _read(self) -> bool:
        try:
            found = os.read(self._leader, 65536)
        except OSError:  # the other side of a closed terminal
            return False
        self.raw += found
        self._stream.feed(found)
        return bool(found)

    @property
    def text(self) -> str:
        """All lines of the screen, those above it too, without spaces at their ends."""
        above = (
            "".join(line[x].data for x in range(self._screen.columns))
            for line in self._screen.history.top
        )
        lines = [line.rstrip() for line in (*above, *self._screen.display)]
        return "\n".join(lines).rstrip("\n") + "\n"

    @property
    def written_lines(self) -> list[str]:
        """The lines as they were written, before the terminal breaks any."""
        return _ESCAPE.sub("", self.raw.decode()).replace("\r", "").split("\n")
