"""The penalties of the family: ridge, lasso and group lasso (math note, section 1)."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from drmbench.drm.partition import Array, ClassPartition


class Penalty(Protocol):
    """A convex function of the representation, column by column."""

    def value(self, W: Array) -> Array:
        """Return the penalty of each column of W, (m,)."""
        ...

    def prox(self, V: Array, step: float) -> Array:
        """Return ``argmin_W step · penalty(W) + ½‖W - V‖²``."""
        ...


class Ridge:
    """``½β‖w‖²``: the Discriminative Ridge Machine itself."""

    def __init__(self, beta: float) -> None:
        self.beta = float(beta)

    def value(self, W: Array) -> Array:
        """Return ``½β‖w‖²`` of each column."""
        value: Array = 0.5 * self.beta * np.einsum("im,im->m", W, W)
        return value

    def prox(self, V: Array, step: float) -> Array:
        """Shrink towards zero."""
        return V / (1.0 + step * self.beta)


class Lasso:
    """``β‖w‖₁``, (q, r) = (1, 1)."""

    def __init__(self, beta: float) -> None:
        self.beta = float(beta)

    def value(self, W: Array) -> Array:
        """Return ``β‖w‖₁`` of each column."""
        value: Array = self.beta * np.abs(W).sum(axis=0)
        return value

    def prox(self, V: Array, step: float) -> Array:
        """Soft-threshold every entry."""
        shrunk: Array = np.sign(V) * np.maximum(np.abs(V) - step * self.beta, 0.0)
        return shrunk


class GroupLasso:
    """``β Σ_c ‖w_c‖₂``, (q, r) = (2, 1); the groups are the classes."""

    def __init__(self, beta: float, partition: ClassPartition) -> None:
        self.beta = float(beta)
        self._partition = partition

    def _norms(self, W: Array) -> Array:
        norms: Array = np.sqrt(self._partition.class_sums(W * W))
        return norms

    def value(self, W: Array) -> Array:
        """Return ``β Σ_c ‖w_c‖₂`` of each column."""
        value: Array = self.beta * self._norms(W).sum(axis=0)
        return value

    def prox(self, V: Array, step: float) -> Array:
        """Shrink every class's part as a block."""
        norms = self._norms(V)
        safe = np.where(norms > 0.0, norms, 1.0)
        factors = np.maximum(1.0 - step * self.beta / safe, 0.0)
        shrunk: Array = np.repeat(factors, self._partition.counts, axis=0) * V
        return shrunk


def make_penalty(name: str, beta: float, partition: ClassPartition) -> Penalty:
    """Return the penalty called ``ridge``, ``lasso`` or ``group_lasso``."""
    if name == "ridge":
        return Ridge(beta)
    if name == "lasso":
        return Lasso(beta)
    if name == "group_lasso":
        return GroupLasso(beta, partition)
    raise ValueError(f"penalty must be ridge, lasso or group_lasso, got {name!r}")
