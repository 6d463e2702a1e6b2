"""What is wrong with experiment files: collected, so that all is told at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from drmbench.errors import InputError


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes
    ----------
    source : Path
        The file, as the user named it.
    line : int or None
        Its line, from 1; None where the file could not be read at all.
    message : str
        What is wrong and what would be valid.
    """

    source: Path
    line: int | None
    message: str

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}" if self.line else str(self.source)
        return f"{place}: {self.message}"


class Problems:
    """The problems of one file.

    Parameters
    ----------
    source : Path
        The file, as messages name it.
    """

    def __init__(self, source: Path) -> None:
        self.source = source
        self._found: list[Problem] = []

    def add(self, line: int | None, message: str) -> None:
        """Note a problem."""
        self._found.append(Problem(self.source, line, message))

    def __len__(self) -> int:
        return len(self._found)

    def in_order(self) -> list[Problem]:
        """Return the problems by line, each once: an alias repeats what it stands for.

        Examples
        --------
        >>> problems = Problems(Path("a.yaml"))
        >>> for line in (7, 2, 7):
        ...     problems.add(line, "is wrong")
        >>> [str(problem) for problem in problems.in_order()]
        ['a.yaml:2: is wrong', 'a.yaml:7: is wrong']
        """
        return sorted(dict.fromkeys(self._found), key=lambda found: found.line or 0)


def raise_all(problems: Iterable[Problem]) -> None:
    """Raise one `InputError` that lists all problems, if there are any."""
    lines = [str(problem) for problem in problems]
    if len(lines) > 1:
        lines.insert(0, f"{len(lines)} problems in experiment files:")
    if lines:
        raise InputError("\n".join(lines))
