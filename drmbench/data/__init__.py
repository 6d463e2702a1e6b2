"""Real data behind one catalogue: ``load("iris")`` fetches, verifies and parses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drmbench.data.catalogue import in_paper as in_paper
    from drmbench.data.catalogue import origin_of as origin_of
    from drmbench.data.dataset import Dataset as Dataset
    from drmbench.data.dataset import Provenance as Provenance
    from drmbench.data.loading import load as load

__all__ = ["Dataset", "Provenance", "in_paper", "load", "origin_of"]


def __getattr__(name: str) -> Any:
    """Import the public names on first use: the command line must start fast."""
    if name in ("Dataset", "Provenance"):
        from drmbench.data import dataset

        return getattr(dataset, name)
    if name in ("in_paper", "origin_of"):
        from drmbench.data import catalogue

        return getattr(catalogue, name)
    if name == "load":
        from drmbench.data.loading import load

        return load
    raise AttributeError(f"module 'drmbench.data' has no attribute {name!r}")
