"""Fixtures of the data tests: a small file to fetch, and places of its own."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from support import MakePlaces

from drmbench.data import transfer
from drmbench.data.catalogue import Artifact, DatasetEntry, Source
from drmbench.data.paths import Folder, Places

CONTENT = b"1,2,a\n3,4,b\n5,6,b\n" * 200


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry at once instead of after a pause."""
    monkeypatch.setattr(transfer, "FIRST_PAUSE", 0.0)


@pytest.fixture
def content() -> bytes:
    """The bytes of the small file."""
    return CONTENT


@pytest.fixture
def artifact() -> Artifact:
    """The small file as the catalogue would list it, without an address."""
    digest = hashlib.sha256(CONTENT).hexdigest()
    return Artifact("small/data.csv", f"sha256:{digest}", len(CONTENT))


@pytest.fixture
def entry(artifact: Artifact) -> DatasetEntry:
    """A data set whose only source is the small file."""
    source = Source(
        label="files",
        artifacts=(artifact,),
        reader="delimited",
        options={"delimiter": ","},
    )
    return DatasetEntry(
        name="small",
        title="A small set",
        groups=("test",),
        n=600,
        p=2,
        classes=2,
        class_counts={"a": 200, "b": 400},
        citation="",
        licence="none",
        sources=(source,),
    )


@pytest.fixture
def make_places(tmp_path: Path) -> MakePlaces:
    """Build places whose store and cache lie in the test's folder."""

    def make(mirror: str | None = None, offline: bool = False) -> Places:
        return Places(
            folders=(
                Folder("data directory", tmp_path / "store"),
                Folder("user cache", tmp_path / "cache"),
            ),
            mirror=mirror,
            offline=offline,
            parsed=tmp_path / "parsed",
        )

    return make
