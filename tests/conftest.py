"""Shared fixtures: loopback only, data folders apart, needs told by markers."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import (
    MIRROR,
    REPOSITORY,
    CommandResult,
    LoopbackServer,
    Run,
    wheel_paths,
    with_one_worker,
)

from drmbench.cli import main
from drmbench.data import paths
from drmbench.data.assemble import row_orders
from drmbench.data.catalogue import load_catalogue

DATA_VARIABLES = ("DATA", "CACHE", "MIRROR", "OFFLINE")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, with the reason, tests whose data is not on this machine."""
    if item.get_closest_marker("mirror") and not Path(MIRROR or "?").is_dir():
        pytest.skip("DRMBENCH_MIRROR is not a folder with the paper's files")
    if item.get_closest_marker("wheels"):
        absent = [name for name, path in wheel_paths().items() if path is None]
        if absent:
            pytest.skip(f"not fetched: {', '.join(absent)} (`make test` fetches them)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests that wait for processes first, so that none is left for the end."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/run/"))


class NetworkUsedError(RuntimeError):
    """A test tried to reach something that is not this machine."""


@pytest.fixture(autouse=True)
def _only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    connect, lookup = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: object) -> None:
        if self.family != socket.AF_UNIX and isinstance(address, tuple):
            _refuse_strangers(address[0])
        connect(self, address)  # type: ignore[arg-type]

    def guarded_lookup(host: object, *args: object, **kwargs: object) -> object:
        _refuse_strangers(host)
        return lookup(host, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_lookup)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def _refuse_strangers(host: object) -> None:
    if host is None:  # all addresses of this machine, which a server binds to
        return
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name not in ("localhost", "::1") and not name.startswith("127."):
        raise NetworkUsedError(f"a test tried to reach {name}")


@pytest.fixture(scope="session")
def session_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of parsed copies that all tests of a session share."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_cache(
    monkeypatch: pytest.MonkeyPatch,
    session_cache: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Keep the user's cache out of the tests, and the tests off the network."""
    monkeypatch.setenv("DRMBENCH_CACHE", str(session_cache))
    monkeypatch.setenv("DRMBENCH_OFFLINE", "1")
    if not request.node.get_closest_marker("mirror"):
        monkeypatch.delenv("DRMBENCH_MIRROR", raising=False)


@pytest.fixture
def checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Path]:
    """A copy of the catalogue in a folder of its own, without any data.

    The data variables are unset, but for DRMBENCH_OFFLINE and the cache, which lies in
    the same folder.
    """
    root = tmp_path / "checkout"
    (root / "datasets").mkdir(parents=True)
    for name in ("registry.yaml", "keel_folds.json"):
        shutil.copy(REPOSITORY / "datasets" / name, root / "datasets")
    for variable in DATA_VARIABLES:
        monkeypatch.delenv(f"DRMBENCH_{variable}", raising=False)
    monkeypatch.setenv("DRMBENCH_CACHE", str(root / "cache"))
    monkeypatch.setenv("DRMBENCH_OFFLINE", "1")
    monkeypatch.setattr(paths, "checkout_root", lambda: root)
    _forget_catalogue()
    yield root
    _forget_catalogue()


def _forget_catalogue() -> None:
    load_catalogue.cache_clear()
    row_orders.cache_clear()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process, as the console script does."""

    def run_command(*arguments: str) -> CommandResult:
        command = ["drmbench", *with_one_worker(arguments)]
        monkeypatch.setattr("sys.argv", command)
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return CommandResult(code, captured.out, captured.err)

    return run_command


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """A running loopback server with nothing to serve yet."""
    loopback = LoopbackServer()
    loopback.start()
    yield loopback
    loopback.stop()
