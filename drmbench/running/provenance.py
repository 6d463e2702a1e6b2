"""What computed a cell: a digest of the code, and the versions that matter.

Every record of the journal says it (``made_by``), so that results of several codes are
never taken for results of one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from drmbench import __version__

#: Packages whose versions can change a result.
PACKAGES = (
    *("numpy", "scipy", "scikit-learn"),
    *("imbalanced-learn", "liblinear-official"),
)
#: Folders and modules of drmbench that decide what a cell gives.
_CODE = (
    *("data", "drm", "methods", "protocol", "metrics.py", "npz.py"),
    "running/execute.py",
)

#: ``code``, a digest, and ``versions`` by package; empty where nothing is known.
Maker = dict[str, Any]


def code_digest(root: Path) -> str:
    """Return a digest of the modules below a package that decide what cells give."""
    digest = hashlib.sha256()
    for name in _CODE:
        place = root / name
        for path in [place] if place.suffix else sorted(place.rglob("*.py")):
            # Git may store other ends of lines.
            text = path.read_bytes().replace(b"\r\n", b"\n")
            digest.update(f"{path.relative_to(root).as_posix()} {len(text)}\n".encode())
            digest.update(text)
    return digest.hexdigest()[:16]


@cache
def _maker_here() -> str:
    versions = {"drmbench": __version__}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    code = code_digest(Path(__file__).resolve().parent.parent)
    return json.dumps({"code": code, "versions": versions})


def maker_here() -> Maker:
    """Return what computes cells in this process."""
    maker: Maker = json.loads(_maker_here())
    return maker


def maker_of(record: Mapping[str, Any]) -> Maker:
    """Return what computed a record; empty if it does not say."""
    return dict(record.get("made_by") or {})


def same_code(maker: Mapping[str, Any]) -> bool:
    """Whether cells were computed by the very code and version that runs here."""
    here, there = maker_here(), maker.get("versions") or {}
    same_version = there.get("drmbench") == here["versions"]["drmbench"]
    return bool(same_version and maker.get("code") == here["code"])


def counted_makers(records: Iterable[Mapping[str, Any]]) -> list[Maker]:
    """Return what computed some records, each with its number of ``cells``."""
    found: dict[str, Maker] = {}
    for record in records:
        maker = maker_of(record)
        entry = found.setdefault(
            json.dumps(maker, sort_keys=True), {**maker, "cells": 0}
        )
        entry["cells"] += 1
    return list(found.values())


def merged_makers(old: Sequence[Maker], new: Sequence[Maker]) -> list[Maker]:
    """Return what computed rows of which some were replaced by rows of other makers.

    How many are left of the old ones is not known.
    """
    found: dict[str, Maker] = {}
    for maker in (*(old or [{}]), *(new or [{}])):
        plain = {key: value for key, value in maker.items() if key != "cells"}
        found.setdefault(json.dumps(plain, sort_keys=True), plain)
    return list(found.values())


def one_code(makers: Iterable[Maker]) -> bool:
    """Whether all cells were computed by the same code with the same packages.

    The digest tells the code; drmbench's version may rise without a change of it.

    Examples
    --------
    >>> old = {"code": "0a1b", "versions": {"drmbench": "0.1", "numpy": "2.0"}}
    >>> new = {"code": "0a1b", "versions": {"drmbench": "0.2", "numpy": "2.0"}}
    >>> one_code([old, new]), one_code([old, {**new, "code": "2c3d"}])
    (True, False)
    """
    return len({(x.get("code"), frozenset(_versions(x))) for x in makers}) <= 1


def maker_words(makers: Sequence[Maker]) -> list[str]:
    """Name what computed some cells, each with the versions that not all have.

    Examples
    --------
    >>> one = {"code": "0a1b", "versions": {"drmbench": "0.2", "numpy": "2.0"}}
    >>> maker_words([one])
    ['drmbench 0.2 of code 0a1b']
    >>> maker_words([{**one, "cells": 3}, {"cells": 1}])
    ['drmbench 0.2 of code 0a1b with numpy 2.0 (3 cells)', 'unknown code (1 cell)']
    """
    common = set.intersection(*(set(_versions(maker)) for maker in makers))
    return [_words(maker, common) for maker in makers]


def _versions(maker: Maker) -> Iterator[tuple[str, str]]:
    versions = maker.get("versions") or {}
    return ((name, text) for name, text in versions.items() if name != "drmbench")


def _words(maker: Maker, common: set[tuple[str, str]]) -> str:
    words = "unknown code"
    if maker.get("code"):
        version = maker["versions"].get("drmbench", "")
        words = f"drmbench {version} of code {maker['code'][:8]}"
    own = [" ".join(pair) for pair in _versions(maker) if pair not in common]
    words += f" with {', '.join(own)}" if own else ""
    if (cells := maker.get("cells")) is None:
        return words
    return f"{words} ({cells} cell{'' if cells == 1 else 's'})"
