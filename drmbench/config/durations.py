"""Time limits as people write them: ``90s``, ``10m``, ``1h30m``."""

from __future__ import annotations

import math
import re

from drmbench.errors import InputError

#: Hours, minutes and seconds in this order, none required but one above zero.
PATTERN = (
    r"^(?=.*[1-9])([0-9]+(\.[0-9]+)?h)?([0-9]+(\.[0-9]+)?m)?([0-9]+(\.[0-9]+)?s?)?$"
)
EXAMPLES = "90s, 10m or 1h30m"

_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "": 1.0}


def parse_duration(text: str) -> float:
    """Return the seconds that a text stands for.

    Parameters
    ----------
    text : str
        Hours, minutes and seconds, such as ``10m`` or ``1h30m``; a number alone is
        seconds.

    Raises
    ------
    InputError
        If it is not a time above zero.

    Examples
    --------
    >>> parse_duration("10m"), parse_duration("1h30m"), parse_duration("2.5s")
    (600.0, 5400.0, 2.5)
    """
    if not re.search(PATTERN, text):
        raise InputError(f"{text!r} is not a time; write it as {EXAMPLES}")
    parts = re.findall(r"([0-9.]+)([hms]?)", text)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not math.isfinite(seconds):
        raise InputError(f"{text!r} is too long a time")
    return seconds
