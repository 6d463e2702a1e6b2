from __future__ import annotations

import dataclasses
import hashlib
import zipfile
from pathlib import Path

import pytest
from support import LoopbackServer, MakePlaces

from drmbench.data import transfer
from drmbench.data.catalogue import Artifact, DatasetEntry, Source, load_catalogue
from drmbench.data.fetch import Fetcher
from drmbench.data.paths import find_places
from drmbench.data.sources import availability, local_files, resolve
from drmbench.errors import DataUnavailableError


def put(folder: Path, artifact: Artifact, content: bytes) -> Path:
    path = folder / artifact.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def everywhere(
    entry: DatasetEntry, artifact: Artifact, server: LoopbackServer, content: bytes
) -> DatasetEntry:
    """The small set, that can come as a wheel, from a package, or as a file."""
    server.files[artifact.name] = content
    file = dataclasses.replace(artifact, url=f"{server.address}/{artifact.name}")
    wheel = dataclasses.replace(artifact, name="small.whl", requirement="small==1")
    base = entry.sources[0]
    return dataclasses.replace(
        entry,
        sources=(
            dataclasses.replace(base, artifacts=(file,)),
            dataclasses.replace(
                base, label="wheel small 1", artifacts=(wheel,), members=("data.csv",)
            ),
            Source("package scikit-learn", package="scikit-learn", loader="load_iris"),
        ),
    )


def test_places_are_tried_in_the_documented_order(
    everywhere: DatasetEntry,
    content: bytes,
    tmp_path: Path,
    make_places: MakePlaces,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def pip(requirement: str, wheel: str, target: Path) -> None:
        target.write_bytes(content)

    monkeypatch.setattr(transfer, "pip_download", pip)
    file, wheel, package = everywhere.sources
    mirror = tmp_path / "mirror"
    put(mirror, file.artifacts[0], content)
    places = make_places(str(mirror))

    def origin(*sources: Source) -> str:
        set_of_them = dataclasses.replace(everywhere, sources=sources)
        return resolve(set_of_them, Fetcher(places)).origin

    def forget(source: Source) -> None:
        (places.store / source.artifacts[0].name).unlink()

    assert origin(file, wheel, package).startswith("package scikit-learn ")
    assert origin(file, wheel) == "wheel small 1"
    assert origin(file, wheel, package) == "wheel small 1"  # it is here now
    forget(wheel)
    assert origin(file) == "mirror"
    assert origin(file) == "data directory"
    forget(file)
    places = make_places()
    assert origin(file) == "url"


def test_the_message_lists_what_was_tried_and_what_would_help(
    everywhere: DatasetEntry, make_places: MakePlaces
) -> None:
    hidden = dataclasses.replace(everywhere, sources=everywhere.sources[:2])
    places = make_places(offline=True)
    with pytest.raises(DataUnavailableError) as caught:
        resolve(hidden, Fetcher(places))
    text = str(caught.value)
    file, wheel = (source.artifacts[0] for source in hidden.sources)
    assert f"  - {file.name}: not in {places.store}" in text
    assert f"  - {wheel.name}: not in {places.store}" in text
    assert "  - pip download small==1: offline (DRMBENCH_OFFLINE is set)" in text
    assert f"  - the mirror ({file.name}): DRMBENCH_MIRROR is not set" in text
    assert f"  - {file.url}: offline (DRMBENCH_OFFLINE is set)" in text
    assert "DRMBENCH_OFFLINE=0 drmbench data fetch small" in text
    assert caught.value.exit_code == 3


def test_a_package_that_is_not_installed_is_told(
    everywhere: DatasetEntry, make_places: MakePlaces
) -> None:
    absent = dataclasses.replace(
        everywhere.sources[2],
        package="no-such-one",
        label="package no-such-one",
    )
    only = dataclasses.replace(everywhere, sources=(absent,))
    with pytest.raises(DataUnavailableError, match="no-such-one: not installed"):
        resolve(only, Fetcher(make_places()))
    assert availability(only, make_places()).why == "no-such-one is not installed"


def test_one_missing_file_of_several_is_named(
    entry: DatasetEntry, artifact: Artifact, content: bytes, make_places: MakePlaces
) -> None:
    second = dataclasses.replace(artifact, name="small/more.csv")
    source = dataclasses.replace(entry.sources[0], artifacts=(artifact, second))
    pair = dataclasses.replace(entry, sources=(source,))
    put(make_places().store, artifact, content)
    with pytest.raises(DataUnavailableError, match=r"and 1 more: small/more\.csv: not"):
        resolve(pair, Fetcher(make_places(offline=True)))


def test_members_of_a_wheel_come_in_natural_order(
    entry: DatasetEntry, make_places: MakePlaces, tmp_path: Path
) -> None:
    path = make_places().store / "faces.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("s10/1.pgm", "s2/10.pgm", "s2/9.pgm", "s2/note.txt"):
            archive.writestr(f"faces/{name}", name)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    wheel = Artifact(path.name, f"sha256:{digest}", requirement="faces==1")
    source = Source(
        "wheel faces 1", (wheel,), ("faces/s*/*.pgm", "faces/s2/note.txt"), reader="pgm"
    )
    found = resolve(
        dataclasses.replace(entry, sources=(source,)), Fetcher(make_places())
    )
    names = [blob.name.removeprefix("faces/") for blob in found.blobs()]
    assert names == ["s2/9.pgm", "s2/10.pgm", "s10/1.pgm", "s2/note.txt"]
    assert found.checksums() == {"faces.whl": f"sha256:{digest}"}


def test_availability_follows_the_same_order(
    everywhere: DatasetEntry,
    content: bytes,
    tmp_path: Path,
    make_places: MakePlaces,
) -> None:
    file, wheel, package = everywhere.sources

    def answer(*sources: Source, **where: object) -> tuple[bool, str, str]:
        set_of_them = dataclasses.replace(everywhere, sources=sources)
        return tuple(availability(set_of_them, make_places(**where)))  # type: ignore[return-value]

    assert answer(file, wheel, package)[1].startswith("package scikit-learn")
    pending = "not fetched yet (0.0 MB)"
    assert answer(file, wheel) == (False, "wheel small 1", pending)
    assert answer(file)[1].startswith("url 127.0.0.1")
    assert answer(file, mirror="http://mirror") == (False, "mirror", pending)
    offline = answer(file, wheel, mirror="http://mirror", offline=True)
    assert offline == (False, "nowhere", "offline (DRMBENCH_OFFLINE is set)")
    put(tmp_path / "mirror", file.artifacts[0], content)
    mirrored = answer(file, mirror=str(tmp_path / "mirror"), offline=True)
    assert mirrored == (True, "mirror", "")
    put(make_places().folders[1].path, file.artifacts[0], content)
    assert answer(file, wheel) == (True, "user cache", "")


def test_a_file_of_another_size_is_not_ready(
    entry: DatasetEntry, artifact: Artifact, make_places: MakePlaces
) -> None:
    put(make_places().store, artifact, b"short")
    assert not availability(entry, make_places()).ready
    assert [path.name for path, _ in local_files(entry, make_places())] == ["data.csv"]


def test_generated_data_is_always_ready(make_places: MakePlaces) -> None:
    entry = load_catalogue().entry("synthetic")
    assert availability(entry, make_places(offline=True)) == (True, "generated", "")


def test_folders_follow_the_environment(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw, cache = checkout / "datasets" / "raw", checkout / "cache" / "raw"
    assert [folder.path for folder in find_places().folders] == [raw, cache]
    monkeypatch.setenv("DRMBENCH_DATA", str(checkout / "chosen"))
    assert find_places().store == checkout / "chosen"
    assert find_places(checkout / "given").store == checkout / "given"
    assert find_places().offline
    monkeypatch.setenv("DRMBENCH_OFFLINE", "0")
    assert not find_places().offline


def test_without_a_checkout_downloads_go_to_the_user_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("drmbench.data.paths.checkout_root", lambda: None)
    monkeypatch.delenv("DRMBENCH_DATA", raising=False)
    monkeypatch.delenv("DRMBENCH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    places = find_places()
    assert [folder.label for folder in places.folders] == ["user cache"]
    assert "drmbench" in places.store.parts
