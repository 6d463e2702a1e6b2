"""How much memory there is, and how much a cell may need."""

from __future__ import annotations

import os
from pathlib import Path

from drmbench.methods.base import Method

#: Share of the machine's memory that all cells together may use.
SHARE = 0.8
#: Bytes of a worker that has imported everything and done nothing.
IDLE_WORKER = 250 * 2**20
#: Matrices of the size (training rows)² that a kernel method holds at a time.
_SQUARE_MATRICES = 8
#: Copies of the data that a cell holds at a time: loaded, split, scaled, fitted.
_DATA_COPIES = 5
#: Parts of the names of families that hold matrices of all pairs of samples.
_PAIRWISE = {"svm", "drm", "krr", "knn"}


def machine_memory() -> int:
    """Return the memory of this machine, or of its container if that has less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in (
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ):
        try:
            total = min(total, int(Path(path).read_text()))
        except (OSError, ValueError):
            continue
    return total


def cell_memory(method: Method, n_train: int, n: int, p: int) -> int:
    """Estimate the bytes that a cell needs at its peak.

    Parameters
    ----------
    method : Method
        A kernel method holds square matrices of the training part.
    n_train, n, p : int
        Training rows, all rows, and features.
    """
    data = 8 * n * p * _DATA_COPIES
    squares = 0
    if _PAIRWISE & set(method.family.split("-")) and not method.large_scale:
        squares = 8 * n_train**2 * _SQUARE_MATRICES
    return IDLE_WORKER + data + squares
