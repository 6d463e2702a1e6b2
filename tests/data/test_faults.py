"""What can go wrong on disks and wires: a clear message, and nothing half-written."""

from __future__ import annotations

import dataclasses
import errno
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import LoopbackServer, MakePlaces, files_below

from drmbench import files
from drmbench.data import loading, transfer
from drmbench.data.catalogue import Artifact, DatasetEntry
from drmbench.data.fetch import Fetcher, NotObtainedError
from drmbench.data.loading import load_exact
from drmbench.errors import DataUnavailableError
from drmbench.files import locked, replacing


@pytest.fixture
def remote(server: LoopbackServer, artifact: Artifact, content: bytes) -> Artifact:
    """The small file, served by the loopback server."""
    server.files[artifact.name] = content
    return dataclasses.replace(artifact, url=f"{server.address}/{artifact.name}")


@pytest.fixture
def remote_entry(entry: DatasetEntry, remote: Artifact) -> DatasetEntry:
    """The small data set, served by the loopback server."""
    source = dataclasses.replace(entry.sources[0], artifacts=(remote,))
    return dataclasses.replace(entry, sources=(source,))


@pytest.mark.parametrize("fault", ["cut", "short", "busy"])
def test_a_broken_transfer_is_tried_again(
    server: LoopbackServer,
    remote: Artifact,
    content: bytes,
    make_places: MakePlaces,
    fault: str,
) -> None:
    server.faults[remote.name] = [fault, fault]
    path = Fetcher(make_places()).obtain(remote, "url")
    assert path.read_bytes() == content
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("fault", "reason"), [("cut", "broke off"), ("short", "cut off after 1800 of 3600")]
)
def test_a_connection_that_always_breaks_is_given_up(
    server: LoopbackServer,
    remote: Artifact,
    make_places: MakePlaces,
    fault: str,
    reason: str,
) -> None:
    server.faults[remote.name] = [fault] * 10
    fetcher = Fetcher(make_places())
    with pytest.raises(NotObtainedError, match=reason):
        fetcher.obtain(remote, "url")
    assert len(server.requests) == 1 + transfer.RETRIES
    assert files_below(fetcher.places.store) == []


def test_a_mirror_that_never_ends_is_left_after_the_size(
    server: LoopbackServer, remote: Artifact, make_places: MakePlaces
) -> None:
    server.faults[remote.name] = ["endless"]
    fetcher = Fetcher(make_places())
    with pytest.raises(NotObtainedError, match="more than 69136 bytes came"):
        fetcher.obtain(remote, "url")
    assert server.requests == [remote.name]
    assert server.sent < 50e6, "what fits into buffers on the way"
    assert files_below(fetcher.places.store) == []


def test_a_mirror_that_dawdles_is_given_up(
    server: LoopbackServer,
    remote: Artifact,
    make_places: MakePlaces,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transfer, "SLOW_SECONDS", 1.0)
    server.faults[remote.name] = ["slow"]
    fetcher = Fetcher(make_places())
    started = time.monotonic()
    with pytest.raises(NotObtainedError, match="less than 1000 bytes a second"):
        fetcher.obtain(remote, "url")
    assert time.monotonic() - started < 10
    assert files_below(fetcher.places.store) == []


def test_no_transfer_takes_longer_than_the_deadline(
    server: LoopbackServer,
    remote: Artifact,
    make_places: MakePlaces,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transfer, "SLOW_SECONDS", 0.5)
    monkeypatch.setattr(transfer, "SLOWEST", 0)
    monkeypatch.setattr(transfer, "DEADLINE", 1.0)
    server.faults[remote.name] = ["slow"]
    with pytest.raises(NotObtainedError, match="not done within 1 s"):
        Fetcher(make_places()).obtain(remote, "url")


def test_wrong_bytes_are_refused_at_once(
    server: LoopbackServer, remote: Artifact, make_places: MakePlaces
) -> None:
    server.faults[remote.name] = ["cut", "wrong"]
    fetcher = Fetcher(make_places())
    with pytest.raises(NotObtainedError, match=r"not the file: its checksum is sha256"):
        fetcher.obtain(remote, "url")
    assert len(server.requests) == 2
    assert files_below(fetcher.places.store) == []


def flip_a_byte(path: Path, position: int = 100) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)


def test_a_flipped_byte_is_noticed_and_mended(
    server: LoopbackServer,
    remote_entry: DatasetEntry,
    content: bytes,
    make_places: MakePlaces,
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = load_exact(remote_entry, Fetcher(make_places()))
    path = make_places().store / "small/data.csv"
    flip_a_byte(path)
    again = load_exact(remote_entry, Fetcher(make_places()))
    assert f"{path} is damaged" in caplog.text
    assert path.read_bytes() == content
    assert again.fingerprint == before.fingerprint


def test_a_flipped_byte_without_network_is_an_error(
    remote_entry: DatasetEntry, make_places: MakePlaces
) -> None:
    load_exact(remote_entry, Fetcher(make_places()))
    path = make_places().store / "small/data.csv"
    flip_a_byte(path)
    with pytest.raises(DataUnavailableError, match=f"{path} is damaged: its checksum"):
        load_exact(remote_entry, Fetcher(make_places(offline=True)))


def test_a_store_that_cannot_be_written_to_is_named(
    tmp_path: Path, remote_entry: DatasetEntry, make_places: MakePlaces
) -> None:
    (tmp_path / "store").write_text("a file where the folder should be")
    with pytest.raises(DataUnavailableError, match=f"cannot write to {tmp_path}/store"):
        load_exact(remote_entry, Fetcher(make_places()))
    assert files_below(tmp_path) == ["store"]


def test_a_read_only_store_reads_the_mirror_in_place(
    tmp_path: Path,
    entry: DatasetEntry,
    content: bytes,
    make_places: MakePlaces,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "store").write_text("a file where the folder should be")
    original = tmp_path / "mirror/small/data.csv"
    original.parent.mkdir(parents=True)
    original.write_bytes(content)
    places = make_places(str(tmp_path / "mirror"))
    assert load_exact(entry, Fetcher(places)).n_samples == 600
    assert "cannot write to" in caplog.text
    with pytest.raises(DataUnavailableError, match="cannot write to"):
        load_exact(entry, Fetcher(places, must_store=True))


def refuse(code: int) -> Callable[..., None]:
    def failing(*args: object, **kwargs: object) -> None:
        raise OSError(code, os.strerror(code))

    return failing


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_refused_move_leaves_nothing_behind(
    remote: Artifact,
    make_places: MakePlaces,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
) -> None:
    monkeypatch.setattr(Path, "replace", refuse(code))
    fetcher = Fetcher(make_places())
    with pytest.raises(NotObtainedError, match=os.strerror(code)):
        fetcher.obtain(remote, "url")
    assert files_below(fetcher.places.store) == []


class FullDisk:
    """A stream that has room for a few bytes only."""

    def __init__(self, stream: object, room: int) -> None:
        self._stream, self._room = stream, room

    def write(self, data: bytes) -> int:
        self._room -= len(data)
        if self._room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._stream.write(data)  # type: ignore[attr-defined,no-any-return]

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def test_a_full_disk_during_a_download_leaves_nothing_behind(
    remote: Artifact, make_places: MakePlaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = transfer._Limited
    monkeypatch.setattr(
        transfer,
        "_Limited",
        lambda stream, most: limited(FullDisk(stream, room=1024), most),
    )
    fetcher = Fetcher(make_places())
    with pytest.raises(NotObtainedError, match="No space left on device"):
        fetcher.obtain(remote, "url")
    assert files_below(fetcher.places.store) == []


def test_a_full_disk_does_not_stop_a_load(
    remote_entry: DatasetEntry,
    make_places: MakePlaces,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    Fetcher(make_places()).obtain(remote_entry.sources[0].artifacts[0], "url")
    loading._warn_once.cache_clear()
    monkeypatch.setattr(np, "savez", refuse(errno.ENOSPC))
    for _ in range(2):
        assert load_exact(remote_entry, Fetcher(make_places())).n_samples == 600
    warnings = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "No space left on device" in warnings[0].getMessage()
    assert files_below(make_places().parsed) == []


def test_a_parsed_cache_that_cannot_be_made_does_not_stop_a_load(
    remote_entry: DatasetEntry,
    make_places: MakePlaces,
    caplog: pytest.LogCaptureFixture,
) -> None:
    make_places().parsed.write_text("a file where the folder should be")
    loading._warn_once.cache_clear()
    assert load_exact(remote_entry, Fetcher(make_places())).n_samples == 600
    assert "no parsed copies can be kept" in caplog.text


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_no_damage_to_a_parsed_copy_changes_the_data(
    entry: DatasetEntry,
    content: bytes,
    make_places: MakePlaces,
    share: float,
    bit: int,
) -> None:
    places = make_places(offline=True)
    raw = places.store / "small/data.csv"
    raw.parent.mkdir(parents=True, exist_ok=True)
    raw.write_bytes(content)
    before = load_exact(entry, Fetcher(places))
    (copy,) = places.parsed.rglob("*.npz")
    data = bytearray(copy.read_bytes())
    data[int(share * len(data))] ^= 1 << bit
    copy.write_bytes(data)
    assert load_exact(entry, Fetcher(places)).fingerprint == before.fingerprint
    assert load_exact(entry, Fetcher(places)).class_names == before.class_names


def test_a_truncated_parsed_copy_is_made_again(
    remote_entry: DatasetEntry,
    make_places: MakePlaces,
    caplog: pytest.LogCaptureFixture,
) -> None:
    places = make_places()
    before = load_exact(remote_entry, Fetcher(places))
    (copy,) = places.parsed.rglob("*.npz")
    whole = copy.read_bytes()
    copy.write_bytes(whole[: len(whole) // 2])
    assert load_exact(remote_entry, Fetcher(places)).fingerprint == before.fingerprint
    assert caplog.text.count("is damaged") == 1
    assert len(copy.read_bytes()) == len(whole)


def test_an_error_inside_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "kept"
    target.write_text("old")

    def fail_half_way() -> None:
        with replacing(target) as temporary:
            temporary.write_text("half of the new")
            raise KeyError

    with pytest.raises(KeyError):
        fail_half_way()
    assert target.read_text() == "old"
    assert files_below(tmp_path) == ["kept"]


FETCH = """
import sys
from pathlib import Path
from drmbench.data.catalogue import Artifact
from drmbench.data.fetch import Fetcher
from drmbench.data.paths import Folder, Places
store, name, checksum, url = sys.argv[1:]
places = Places((Folder("store", Path(store)),), None, False, Path(store))
print(Fetcher(places).obtain(Artifact(name, checksum, None, url), "url"))
"""

HOLD = """
import sys, time
from pathlib import Path
from drmbench.files import locked, replacing
folder, name = Path(sys.argv[1]), sys.argv[2]
with locked(folder, name), replacing(folder / name) as temporary:
    temporary.write_bytes(b"half")
    print("holding", flush=True)
    time.sleep(60)
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_that_fetch_at_once_do_the_work_once(
    server: LoopbackServer, remote: Artifact, content: bytes, make_places: MakePlaces
) -> None:
    store = make_places().store
    arguments = (str(store), remote.name, str(remote.checksum), str(remote.url))
    with locked(store, remote.name):
        children = [start(FETCH, *arguments) for _ in range(3)]
        time.sleep(1.0)  # all of them are waiting for the lock, or about to
        assert server.requests == []
    for child in children:
        out, _ = child.communicate(timeout=60)
        assert child.returncode == 0
        assert Path(out.strip()).read_bytes() == content
    assert server.requests == [remote.name]
    assert files_below(store) == [remote.name]


def test_a_killed_process_leaves_neither_lock_nor_half_file(
    remote: Artifact, content: bytes, make_places: MakePlaces
) -> None:
    store = make_places().store
    with start(HOLD, str(store), remote.name) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "holding\n"
        child.kill()
    assert len(files_below(store)) == 1
    (store / f"small/.{Path(remote.name).name}.pip.part").mkdir()
    path = Fetcher(make_places()).obtain(remote, "url")
    assert path.read_bytes() == content
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_systems_without_file_locks_still_fetch(
    remote: Artifact,
    content: bytes,
    make_places: MakePlaces,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(files, "fcntl", None)
    assert Fetcher(make_places()).obtain(remote, "url").read_bytes() == content


def test_an_altered_parsed_copy_is_not_used(
    remote_entry: DatasetEntry,
    make_places: MakePlaces,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also one that can be read: it is not what the source's checksum stands for."""
    places = make_places()
    before = load_exact(remote_entry, Fetcher(places))
    (copy,) = places.parsed.rglob("*.npz")
    with np.load(copy) as archive:
        arrays = dict(archive)
    arrays["X"] = arrays["X"] + 1.0
    np.savez(copy, **arrays)
    again = load_exact(remote_entry, Fetcher(places))
    assert again.fingerprint == before.fingerprint
    assert caplog.text.count("is damaged (it is not what was written)") == 1
    copy.with_suffix(".sha256").unlink()  # as by an earlier drmbench
    np.savez(copy, **arrays)
    again = load_exact(remote_entry, Fetcher(places))
    assert again.fingerprint == before.fingerprint
