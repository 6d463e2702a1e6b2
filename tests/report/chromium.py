"""Headless Chromium over the DevTools protocol: just what the report's tests need."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import websocket

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--disable-dev-shm-usage", "--mute-audio"),
    *("--remote-debugging-port=0", "about:blank"),
)
PATIENCE = 60.0
KEYS = {"Enter": ("Enter", 13, "\r"), " ": ("Space", 32, " "), "Tab": ("Tab", 9, "")}


def find_chromium() -> str | None:
    """Return the path of a browser on this machine, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One tab, driven synchronously.

    Attributes
    ----------
    events : list of dict
        All events the browser has sent, oldest first.
    """

    def __init__(self, socket: websocket.WebSocket) -> None:
        self._socket, self._last = socket, 0
        self.events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Send a command and return its result; events meanwhile are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        self._socket.send(json.dumps(message))
        while (answer := json.loads(self._socket.recv())).get("id") != self._last:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, path: Path, *, width: int = 1280, height: int = 900) -> None:
        """Load a file in a window of a size, and wait until it is there."""
        self.resize(width, height)
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not self.sent("Page.loadEventFired"):
            self.events.append(json.loads(self._socket.recv()))

    def resize(self, width: int, height: int = 900) -> None:
        """Change the size of the window, as of a phone below 600 pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def media(self, medium: str = "", scheme: str = "light") -> None:
        """Pretend to be a medium ("print") and to prefer a colour scheme."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=medium, features=features)

    def scripts(self, allowed: bool) -> None:
        """Let the scripts of pages run, or not."""
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def sent(self, name: str) -> list[dict[str, Any]]:
        """Return the parameters of all events of a name."""
        return [event["params"] for event in self.events if event["method"] == name]

    def run(self, expression: str) -> Any:
        """Evaluate JavaScript and return its value, or what it promises."""
        done = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        if "exceptionDetails" in done:
            raise RuntimeError(json.dumps(done["exceptionDetails"]))
        return done["result"].get("value")

    def click(self, expression: str) -> None:
        """Click with the mouse on the element that JavaScript finds."""
        self.run(f"({expression}).scrollIntoView({{block: 'center'}})")
        box = self.run(f"({expression}).getBoundingClientRect().toJSON()")
        where = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                button="left",
                clickCount=1,
                **where,
            )

    def press(self, key: str) -> None:
        """Press a key of :data:`KEYS`."""
        code, number, text = KEYS[key]
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=code,
                windowsVirtualKeyCode=number,
                **({"text": text} if text and kind == "keyDown" else {}),
            )

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)

    def pdf(self) -> bytes:
        """Print the page."""
        printed = self.call("Page.printToPDF", preferCSSPageSize=True)
        return base64.b64decode(printed["data"])

    def screenshot(self, *, whole: bool = False) -> bytes:
        """Return a picture (PNG) of the window, or of the whole page."""
        taken = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        return base64.b64decode(taken["data"])


@contextlib.contextmanager
def open_chromium(executable: str) -> Iterator[Page]:
    """Start a browser with an empty profile, give its tab, and end it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [executable, *FLAGS, f"--user-data-dir={profile}"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, **quiet) as process:
            try:
                with contextlib.closing(_connect(Path(profile), process)) as socket:
                    yield Page(socket)
                    socket.send(json.dumps({"id": 0, "method": "Browser.close"}))
                process.wait(PATIENCE)
            finally:
                process.kill()


def _connect(profile: Path, process: subprocess.Popen[bytes]) -> websocket.WebSocket:
    """Wait until the browser says where it listens, and connect to its first tab."""
    port_file, deadline = profile / "DevToolsActivePort", time.monotonic() + PATIENCE
    while not (port_file.is_file() and len(port_file.read_text().split()) == 2):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the browser did not start (code {process.returncode})")
        time.sleep(0.05)
    port = port_file.read_text().split()[0]
    return websocket.create_connection(
        _tab_address(int(port)), timeout=PATIENCE, suppress_origin=True
    )


def _tab_address(port: int) -> str:
    from http.client import HTTPConnection

    with contextlib.closing(
        HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    ) as http:
        http.request("GET", "/json/list")
        tabs = json.loads(http.getresponse().read())
    return next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
