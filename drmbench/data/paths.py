"""Where data may lie and where downloads go; the one reader of the data variables.

=====================  ==========================================================
``DRMBENCH_DATA``      folder searched first; downloads are written there
``DRMBENCH_CACHE``     folder instead of the user cache (downloads, parsed copies)
``DRMBENCH_MIRROR``    folder, or http(s) address, that holds the source files
``DRMBENCH_OFFLINE``   ``1``: open no network connection whatsoever
=====================  ==========================================================

``DRMBENCH_MAX_UNPACKED`` is how much a user's own file may unpack to, such as ``8G``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from drmbench.errors import InputError
from drmbench.shipped import checkout_root

UNPACKED = "DRMBENCH_MAX_UNPACKED"
"""The variable that allows files to unpack to more, or to less."""

_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


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


def parse_bytes(text: str) -> int:
    """Return the bytes that a size stands for; 0 if it is none.

    Examples
    --------
    >>> parse_bytes("512M"), parse_bytes("1.5 GiB"), parse_bytes("a lot")
    (536870912, 1610612736, 0)
    """
    number = text.strip().lower().removesuffix("ib").removesuffix("b")
    factor = _UNITS.get(number[-1:], 1)
    try:
        return int(float(number.rstrip("kmgt")) * factor)
    except (ValueError, OverflowError):
        return 0


def allowed_to_unpack(usual: int) -> int:
    """Return how many bytes a user's file may unpack to."""
    said = os.environ.get(UNPACKED)
    size = parse_bytes(said) if said else usual
    if size <= 0:
        raise InputError(f"{UNPACKED} must be a size such as 8G, not {said!r}")
    return size


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
