"""What the tests share besides fixtures: a misbehaving server, and small helpers."""

from __future__ import annotations

import http.server
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from drmbench.data.catalogue import load_catalogue
from drmbench.data.paths import Places, find_places

REPOSITORY = Path(__file__).resolve().parents[1]

MIRROR = os.environ.get("DRMBENCH_MIRROR", "")
"""The mirror as it was when the tests started."""

MakePlaces = Callable[..., Places]
"""What the fixture ``make_places`` gives."""


def with_one_worker(arguments: Sequence[str]) -> list[str]:
    """Return a command that starts one worker, unless it says how many or what for.

    Starting a worker takes longer than the small cells of the tests.
    """
    plain = {"--jobs", "--scheduler", "--dry-run", "--help"}.isdisjoint(arguments)
    if plain and arguments and arguments[0] in ("run", "compare"):
        return [*arguments, "--jobs", "1"]
    return [*arguments]


def wheel_paths() -> dict[str, Path | None]:
    """Return where each wheel of the catalogue lies, outside of the user's cache."""
    names = {
        artifact.name
        for entry in load_catalogue()
        for source in entry.sources
        for artifact in source.artifacts
        if artifact.requirement
    }
    return {name: _first_copy(name) for name in sorted(names)}


def _first_copy(name: str) -> Path | None:
    folders = [f.path for f in find_places().folders if f.label != "user cache"]
    copies = (folder / name for folder in folders)
    return next((path for path in copies if path.is_file()), None)


def files_below(folder: Path) -> list[str]:
    """Return the files below a folder, but for the lock files."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and ".locks" not in path.parts
    )


class CommandResult:
    """How a command ended and what it printed."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


Run = Callable[..., CommandResult]
"""What the fixture ``run`` gives."""


class LoopbackServer:
    """An http server on this machine that can be told to misbehave.

    Attributes
    ----------
    files : dict of str to bytes
        What is served, by path without the leading slash.
    faults : dict of str to list of str
        What to do on the next requests for a path: "cut" (break off half-way),
        "wrong" (other bytes of the same length), "short" (half, as if it were all),
        "busy" (status 503), "endless" (zeros for ever), "slow" (two bytes a second);
        then all is well again.
    requests : list of str
        Paths asked for, in order.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.faults: defaultdict[str, list[str]] = defaultdict(list)
        self.requests: list[str] = []
        self.stopped = threading.Event()
        self.sent = 0  # bytes, by requests that go on and on
        self._server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), self._handler()
        )
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}
        )

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.lstrip("/")
                server.requests.append(path)
                faults = server.faults[path]
                fault = faults.pop(0) if faults else ""
                if path not in server.files or fault == "busy":
                    self.send_error(503 if fault else 404)
                    return
                if fault in ("endless", "slow"):
                    self._go_on(b"0" * 65536 if fault == "endless" else b"0", fault)
                    return
                self._answer(server.files[path], fault)

            def _go_on(self, piece: bytes, fault: str) -> None:
                self.send_response(200)
                self.end_headers()
                pause = 0.5 if fault == "slow" else 0.0
                with suppress(OSError):  # until either side leaves
                    while not server.stopped.wait(pause):
                        self.wfile.write(piece)
                        server.sent += len(piece)

            def _answer(self, content: bytes, fault: str) -> None:
                half = content[: len(content) // 2]
                body = {
                    "cut": half,
                    "short": half,
                    "wrong": bytes(byte ^ 1 for byte in content),
                }.get(fault, content)
                length = len(body) if fault == "short" else len(content)
                self.send_response(200)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                """Keep quiet."""

        return Handler
