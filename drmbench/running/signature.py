"""The digests that bind rows, manifest and journal, and the check that they agree.

A manifest of version 3 has ``digests``: of the bytes of ``results.csv`` (``rows``), of
all else that the manifest says (``manifest``), and which ``journal`` the rows were
written from. Whatever one of the files says that the others do not know is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drmbench.errors import InputError
from drmbench.running.store import JOURNAL


class AlteredResultsError(InputError):
    """Rows, manifest and journal are not of one another."""


def signed(
    manifest: Mapping[str, Any], rows: bytes, journal: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a manifest, as JSON holds it, with the digests of rows and of itself.

    ``journal`` says what the rows were written from; None for rows without one.
    """
    plain = json.loads(json.dumps(manifest, default=str))
    rows_digest = hashlib.sha256(rows).hexdigest()
    plain["digests"] = {"rows": rows_digest, "journal": dict(journal or {})}
    plain["digests"]["manifest"] = _digest(plain)
    return dict(plain)


def _digest(manifest: Mapping[str, Any]) -> str:
    """Return the digest of all that a manifest says, except for that digest."""
    digests = {k: v for k, v in manifest["digests"].items() if k != "manifest"}
    text = json.dumps({**manifest, "digests": digests}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def require_whole(manifest: Mapping[str, Any], path: Path, *, needed: bool) -> None:
    """Refuse a manifest that was altered, or lacks digests that are needed."""
    digests = manifest.get("digests")
    if digests is None and not needed:
        return
    known = digests.get("manifest") if isinstance(digests, dict) else None
    if known is None or known != _digest(manifest):
        raise AlteredResultsError(
            f"{path} was altered since it was written: its digest is another"
            f" one. {healing(path.parent)}"
        )


def require_rows(manifest: Mapping[str, Any], rows: bytes, path: Path) -> None:
    """Refuse rows that are not the ones a manifest was written for."""
    digests = manifest.get("digests")
    if digests and digests.get("rows") != hashlib.sha256(rows).hexdigest():
        raise AlteredResultsError(
            f"{path} is not what its manifest.json was written for: one of them was"
            f" altered or comes from another run. {healing(path.parent)}"
        )


def healing(folder: Path) -> str:
    """Say how rows and manifest come to agree again."""
    if (folder / JOURNAL).exists():
        return (
            "Run the experiment again (`drmbench run CONFIG`): both are rewritten"
            " from the journal, and no finished cell is run twice."
        )
    return (
        "Restore both as they were; or run the whole experiment again, and `drmbench"
        " check --update` replaces them."
    )
