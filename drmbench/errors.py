"""The errors a user can cause or meet, each with the exit code the command ends with.

Anything else that escapes is a bug and shows its traceback. The command line catches
:class:`DrmbenchError` in exactly one place (:func:`drmbench.cli.main`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DrmbenchError(Exception):
    """An expected failure; its text is the one message the user sees."""

    exit_code = 1


class CheckFailedError(DrmbenchError):
    """Something was checked and found wanting: damaged data, a number that moved."""

    exit_code = 1


class InputError(DrmbenchError, ValueError):
    """The user's input is wrong; the text names it and says what would be valid."""

    exit_code = 2


class DataUnavailableError(DrmbenchError):
    """A data set cannot be obtained here; the text says why and what would get it."""

    exit_code = 3


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """Return `` Did you mean 'x' or 'y'?`` for near misses, or an empty string.

    Examples
    --------
    >>> did_you_mean("irs", ["iris", "wine"])
    " Did you mean 'iris'?"
    >>> did_you_mean("zebra", ["iris", "wine"])
    ''
    """
    folded = {candidate.casefold(): candidate for candidate in valid}
    near = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)
    if not near:
        return ""
    return f" Did you mean {' or '.join(repr(folded[match]) for match in near)}?"
