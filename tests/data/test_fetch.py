from __future__ import annotations

import dataclasses
import hashlib
import socket
import subprocess
import zipfile
from pathlib import Path

import pytest
from support import LoopbackServer, MakePlaces

from drmbench.data import transfer
from drmbench.data.catalogue import Artifact
from drmbench.data.fetch import DamagedError, Fetcher, NotObtainedError, damage


def at(server: LoopbackServer, artifact: Artifact, content: bytes) -> Artifact:
    """Serve the small file and return it with its address."""
    server.files[artifact.name] = content
    return dataclasses.replace(artifact, url=f"{server.address}/{artifact.name}")


def test_a_file_is_downloaded_once(
    server: LoopbackServer,
    artifact: Artifact,
    content: bytes,
    make_places: MakePlaces,
) -> None:
    remote = at(server, artifact, content)
    reports: list[str] = []
    fetcher = Fetcher(make_places(), report=reports.append)
    path = fetcher.obtain(remote, "url")
    assert path == fetcher.places.store / "small/data.csv"
    assert path.read_bytes() == content
    assert fetcher.obtain(remote, "url") == path
    assert server.requests == ["small/data.csv"]
    assert len(reports) == 1
    assert server.address in reports[0]


def test_every_folder_is_searched_in_order(
    artifact: Artifact, content: bytes, make_places: MakePlaces
) -> None:
    fetcher = Fetcher(make_places())
    for folder in reversed(fetcher.places.folders):
        path = folder.path / artifact.name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        assert fetcher.find(artifact) == path


def test_absence_names_the_folders(artifact: Artifact, make_places: MakePlaces) -> None:
    places = make_places()
    with pytest.raises(NotObtainedError) as caught:
        Fetcher(places).find(artifact)
    assert all(str(folder.path) in str(caught.value) for folder in places.folders)


def test_a_mirror_folder_is_copied_from(
    tmp_path: Path, artifact: Artifact, content: bytes, make_places: MakePlaces
) -> None:
    original = tmp_path / "mirror" / artifact.name
    original.parent.mkdir(parents=True)
    original.write_bytes(content)
    fetcher = Fetcher(make_places(str(tmp_path / "mirror"), offline=True))
    path = fetcher.obtain(artifact, "mirror")
    assert path.is_relative_to(fetcher.places.store)
    assert path.read_bytes() == content


def test_a_mirror_address_is_downloaded_from(
    server: LoopbackServer, artifact: Artifact, content: bytes, make_places: MakePlaces
) -> None:
    server.files["base/" + artifact.name] = content
    fetcher = Fetcher(make_places(server.address + "/base/"))
    assert fetcher.obtain(artifact, "mirror").read_bytes() == content


def test_a_mirror_without_the_file_says_so(
    tmp_path: Path, artifact: Artifact, make_places: MakePlaces
) -> None:
    with pytest.raises(NotObtainedError, match="does not exist"):
        Fetcher(make_places(str(tmp_path))).obtain(artifact, "mirror")
    with pytest.raises(NotObtainedError, match="DRMBENCH_MIRROR is not set"):
        Fetcher(make_places()).obtain(artifact, "mirror")


@pytest.mark.parametrize("way", ["url", "mirror", "pip"])
def test_offline_opens_no_connection(
    server: LoopbackServer,
    artifact: Artifact,
    content: bytes,
    make_places: MakePlaces,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
) -> None:
    def forbidden(*args: object, **kwargs: object) -> None:
        raise AssertionError("something left the machine")

    monkeypatch.setattr(socket.socket, "connect", forbidden)
    monkeypatch.setattr(transfer.subprocess, "run", forbidden)
    remote = dataclasses.replace(at(server, artifact, content), requirement="tiny==1")
    fetcher = Fetcher(make_places(server.address, offline=True))
    with pytest.raises(NotObtainedError, match="DRMBENCH_OFFLINE"):
        fetcher.obtain(remote, way)  # type: ignore[arg-type]
    assert server.requests == []


def test_a_missing_page_is_not_asked_for_again(
    server: LoopbackServer, artifact: Artifact, make_places: MakePlaces
) -> None:
    remote = dataclasses.replace(artifact, url=f"{server.address}/nowhere")
    fetcher = Fetcher(make_places())
    for _ in range(2):
        with pytest.raises(NotObtainedError, match="HTTP 404"):
            fetcher.obtain(remote, "url")
    assert server.requests == ["nowhere"]


def test_a_silent_host_is_asked_once(
    artifact: Artifact, make_places: MakePlaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unused.getsockname()[1]}"
    fetcher = Fetcher(make_places())
    first = dataclasses.replace(artifact, url=f"http://{host}/a")
    with pytest.raises(NotObtainedError, match=f"{host} cannot be reached"):
        fetcher.obtain(first, "url")
    monkeypatch.delattr(transfer, "download")
    second = dataclasses.replace(artifact, name="other", url=f"http://{host}/b")
    with pytest.raises(NotObtainedError, match=f"{host} cannot be reached"):
        fetcher.obtain(second, "url")


def test_git_blob_checksums_are_understood(
    artifact: Artifact, content: bytes, make_places: MakePlaces
) -> None:
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    pinned = dataclasses.replace(artifact, checksum=f"git-sha1:{blob}")
    path = make_places().store / artifact.name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert damage(path, pinned) is None
    path.write_bytes(content[:-2] + b"c\n")
    assert "git-sha1" in (damage(path, pinned) or "")


@pytest.fixture
def unpinned(artifact: Artifact) -> Artifact:
    return dataclasses.replace(artifact, checksum=None, size=None)


def test_the_first_download_without_checksum_is_pinned(
    server: LoopbackServer,
    unpinned: Artifact,
    content: bytes,
    make_places: MakePlaces,
    caplog: pytest.LogCaptureFixture,
) -> None:
    remote = at(server, unpinned, content)
    path = Fetcher(make_places()).obtain(remote, "url")
    digest = hashlib.sha256(content).hexdigest()
    assert path.with_name("data.csv.sha256").read_text() == f"{digest}  data.csv\n"
    assert "no published checksum" in caplog.text
    path.write_bytes(content + b"more")
    with pytest.raises(DamagedError, match=r"data\.csv\.sha256 says"):
        Fetcher(make_places()).find(remote)


def test_another_file_later_is_refused_without_checksum(
    server: LoopbackServer, unpinned: Artifact, content: bytes, make_places: MakePlaces
) -> None:
    remote = at(server, unpinned, content)
    path = Fetcher(make_places()).obtain(remote, "url")
    path.unlink()
    server.files[unpinned.name] = b"something else"
    with pytest.raises(NotObtainedError, match="not the file"):
        Fetcher(make_places()).obtain(remote, "url")
    assert not path.exists()


def test_a_file_put_there_by_hand_is_pinned_too(
    unpinned: Artifact, content: bytes, make_places: MakePlaces
) -> None:
    fetcher = Fetcher(make_places())
    path = fetcher.places.store / unpinned.name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert fetcher.find(unpinned) == path
    path.write_bytes(b"changed")
    with pytest.raises(DamagedError):
        fetcher.find(unpinned)


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Artifact:
    """A tiny wheel in a folder that pip takes for its index."""
    folder = tmp_path / "index"
    folder.mkdir()
    path = folder / "tiny_data-1.0-py3-none-any.whl"
    facts = (
        "Metadata-Version: 2.1\nName: tiny-data\nVersion: 1.0\nRequires-Dist: nope\n"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_data/rows.csv", "1,2,a\n")
        archive.writestr("tiny_data-1.0.dist-info/METADATA", facts)
        archive.writestr("tiny_data-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
        archive.writestr("tiny_data-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Artifact(
        path.name,
        f"sha256:{digest}",
        path.stat().st_size,
        requirement="tiny-data==1.0",
    )


def test_pip_brings_a_wheel_as_a_file(wheel: Artifact, make_places: MakePlaces) -> None:
    fetcher = Fetcher(make_places())
    path = fetcher.obtain(wheel, "pip")
    assert path == fetcher.places.store / wheel.name
    left = [p.name for p in fetcher.places.store.iterdir()]
    assert sorted(left) == [".locks", wheel.name]


def test_pips_own_words_are_the_reason(
    wheel: Artifact, make_places: MakePlaces
) -> None:
    absent = dataclasses.replace(wheel, requirement="tiny-data==2.0")
    fetcher = Fetcher(make_places())
    with pytest.raises(NotObtainedError, match=r"pip failed: .*tiny-data==2\.0"):
        fetcher.obtain(absent, "pip")
    assert [p.name for p in fetcher.places.store.iterdir()] == [".locks"]


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        ("WARNING: slow\nERROR: No match\nsee the docs\n", "No match"),
        ("ERROR: Exception:\nTraceback\nOSError: No space left\n", "No space left"),
        ("/bin/python: No module named pip\n", "No module named pip"),
        ("", "no message"),
    ],
)
def test_the_reason_is_found_in_pips_output(
    wheel: Artifact,
    make_places: MakePlaces,
    monkeypatch: pytest.MonkeyPatch,
    stderr: str,
    reason: str,
) -> None:
    def fail(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", stderr)

    monkeypatch.setattr(transfer.subprocess, "run", fail)
    with pytest.raises(NotObtainedError, match=f"pip failed: .*{reason}"):
        Fetcher(make_places()).obtain(wheel, "pip")


def test_a_wheel_with_another_checksum_is_refused(
    wheel: Artifact, make_places: MakePlaces
) -> None:
    other = dataclasses.replace(wheel, checksum="sha256:" + "0" * 64)
    fetcher = Fetcher(make_places())
    with pytest.raises(NotObtainedError, match="not the file"):
        fetcher.obtain(other, "pip")
    assert [p.name for p in fetcher.places.store.iterdir()] == [".locks"]
