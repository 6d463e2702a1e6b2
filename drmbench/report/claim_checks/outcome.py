"""What a check of a claim says, and the rules by which counts become a status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["reproduced", "partly", "not reproduced", "not testable"]

#: Figures closer than this are the same: what is left of sums in another order.
SAME = 1e-9


class NotTestableError(Exception):
    """A claim cannot be tested on what there is; the text says why."""


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Attributes
    ----------
    status : {"reproduced", "partly", "not reproduced", "not testable"}
        The answer.
    numbers : str
        The figures behind it, in a sentence.
    explanation : str
        What it was tested on, and what it was not.
    """

    status: Status
    numbers: str
    explanation: str = ""


@dataclass(frozen=True)
class Rules:
    """How counts become a status; the numbers are in ``paper/claims.yaml``.

    Attributes
    ----------
    partly_share : float
        Share of what is claimed from which a claim holds in part.
    enough_share : float
        Share of the claim's data sets without which nothing is said.
    """

    partly_share: float
    enough_share: float

    def grade(self, holds: float, claimed: float) -> Status:
        """Return the status of a claim of which so much holds.

        Examples
        --------
        >>> rules = Rules(partly_share=0.5, enough_share=0.5)
        >>> rules.grade(7, 7), rules.grade(4, 7), rules.grade(3, 7)
        ('reproduced', 'partly', 'not reproduced')
        """
        if holds >= claimed - SAME:
            return "reproduced"
        if holds >= self.partly_share * claimed - SAME:
            return "partly"
        return "not reproduced"
