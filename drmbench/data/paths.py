"""Where data may lie and where downloads go; the one reader of the data variables.

=====================  ==========================================================
``DRMBENCH_DATA``      folder searched first; downloads are written there
``DRMBENCH_CACHE``     folder instead of the user cache (downloads, parsed copies)
``DRMBENCH_MIRROR``    folder, or http(s) address, that holds the source files
``DRMBENCH_OFFLINE``   ``1``: open no network connection whatsoever
=====================  ==========================================================
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from drmbench.errors import InputError
from drmbench.shipped import checkout_root


class Folder(NamedTuple):
    """A folder that is searched for source files, and what it is called in messages."""

    label: str
    path: Path


@dataclass(frozen=True)
class Places:
    """Everything that decides where data comes from and goes to."""

    folders: tuple[Folder, ...]  #: searched in this order; the first takes downloads
    mirror: str | None  #: folder or http(s) address laid out like a data directory
    offline: bool  #: whether the network must not be touched
    parsed: Path  #: folder of the parsed copies

    @property
    def store(self) -> Path:
        """The folder that downloads are written to."""
        return self.folders[0].path

    @property
    def mirror_folder(self) -> Path | None:
        """The mirror as a folder, or None if there is none or it is an address."""
        if self.mirror is None or is_address(self.mirror):
            return None
        return Path(self.mirror).expanduser()


def is_address(mirror: str) -> bool:
    """Tell an http(s) address from a folder."""
    return mirror.startswith(("http://", "https://"))


def catalogue_file(name: str) -> Path:
    """Return the path of a file of the catalogue, in a checkout or as installed."""
    root = checkout_root()
    if root is not None:
        return root / "datasets" / name
    return Path(__file__).resolve().parent / "catalogue" / name


def find_places(data_dir: str | Path | None = None) -> Places:
    """Work out the places; `data_dir` stands in for ``DRMBENCH_DATA``."""
    chosen_cache = os.environ.get("DRMBENCH_CACHE")
    if chosen_cache:
        cache = Path(chosen_cache).expanduser()
    else:
        import pooch

        cache = Path(pooch.os_cache("drmbench"))
    folders = []
    chosen = data_dir or os.environ.get("DRMBENCH_DATA")
    if chosen and Path(chosen).expanduser().is_file():
        raise InputError(f"{chosen}: a file; the data directory must be a folder")
    if chosen:
        folders.append(Folder("data directory", Path(chosen).expanduser()))
    root = checkout_root()
    if root is not None:
        folders.append(Folder("datasets/raw", root / "datasets" / "raw"))
    folders.append(Folder("user cache", cache / "raw"))
    return Places(
        folders=tuple(folders),
        mirror=os.environ.get("DRMBENCH_MIRROR") or None,
        offline=os.environ.get("DRMBENCH_OFFLINE", "0") not in ("", "0"),
        parsed=cache / "parsed",
    )
