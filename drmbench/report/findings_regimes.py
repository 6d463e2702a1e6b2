"""What the text says of all methods in one ranking, for each kind of data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from drmbench.report.findings import Findings, OutdatedTextError
from drmbench.report.fold_statistics import ROPE
from drmbench.report.leaderboard import board, comparisons
from drmbench.report.page_answer import Card, Duel, card_of, duel
from drmbench.report.score_pool import ScorePool, pool_of
from drmbench.report.statistics import ALPHA


@dataclass(frozen=True, eq=False)
class Ranking:
    """The leaderboard of a regime in honest mode, and where the DRM stands in it."""

    pool: ScorePool  #: the figures that are ranked
    rope: float = ROPE  #: differences up to it are equivalent
    sure: float = 1 - ALPHA  #: the probability from which on a standing is said

    @cached_property
    def board(self) -> pd.DataFrame:
        """The complete methods, best mean rank first, by name."""
        whole = board(self.pool).dropna(subset="mean_rank")
        return whole.set_index("method")

    @cached_property
    def against(self) -> pd.DataFrame:
        """The DRM's entry against each other method, by name."""
        return comparisons(self.pool).set_index("method")

    @cached_property
    def card(self) -> Card:
        """What the page says of the regime."""
        return card_of(self.pool.regime, self.pool)

    @property
    def entry(self) -> str:
        """The DRM that stands for the method."""
        if self.pool.entry is None:
            raise OutdatedTextError(f"no DRM is complete in {self.pool.regime.name}")
        return self.pool.entry

    @property
    def sets(self) -> int:
        """How many data sets there are."""
        return len(self.pool.scores)

    @property
    def origins(self) -> int:
        """How many origins they have."""
        return len(set(self.pool.origin_list))

    @property
    def methods(self) -> int:
        """How many methods are ranked."""
        return len(self.board)

    def place(self, method: str = "") -> int:
        """Return the place of a method; of the DRM's entry if none is named."""
        return list(self.board.index).index(method or self.entry) + 1

    def places(self, methods: Iterable[str]) -> list[int]:
        """Return the places of methods, the best first."""
        return sorted(map(self.place, methods))

    def rank(self, method: str = "") -> float:
        """Return the mean rank of a method."""
        return float(self.board["mean_rank"][method or self.entry])

    def first(self, number: int) -> dict[str, float]:
        """Return the mean ranks of the first methods."""
        ranks = self.board["mean_rank"][:number]
        return {str(name): float(rank) for name, rank in ranks.items()}

    def duel(self, first: str, second: str) -> Duel:
        """Compare two complete methods over origins."""
        return duel(self.pool, first, second)

    def standing(self, standing: str) -> list[str]:
        """Return the methods that the DRM's entry has this standing to."""
        found = self.against
        return [str(name) for name in found.index[found["standing"] == standing]]


def ranking_of(findings: Findings, regime: str) -> Ranking:
    """Return the ranking of a regime."""
    every = findings.results.values()
    return Ranking(pool_of(every, regime, origins=findings.origins))
