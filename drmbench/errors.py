"""The errors a user can cause or meet, each with the exit code the command ends with.

What the system does to a command, as a full disk, is made one of them by
:func:`explained`. Anything else that escapes is a bug and shows its traceback. The
command line catches them in exactly one place (:func:`drmbench.cli.main`).
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable

#: What the system says of a path that cannot be what a user takes it for; anything
#: else that it refuses, as a full disk, is no fault of what the user gave.
_WRONG_PATH = {
    *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY),
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP),
    *(errno.EINVAL, errno.EILSEQ, errno.ENXIO, errno.ENODEV, errno.ETXTBSY),
}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class DrmbenchError(Exception):
    """An expected failure; its text is the one message the user sees.

    Examples
    --------
    >>> import drmbench
    >>> try:
    ...     drmbench.load("irs")
    ... except DrmbenchError as error:
    ...     print(error.exit_code, type(error).__name__)
    2 InputError
    """

    exit_code = 1


class CheckFailedError(DrmbenchError):
    """Something was checked and found wanting: damaged data, a number that moved.

    Examples
    --------
    >>> CheckFailedError("iris: a number moved").exit_code
    1
    """

    exit_code = 1


class InputError(DrmbenchError, ValueError):
    """The user's input is wrong; the text names it and says what would be valid.

    Examples
    --------
    >>> from drmbench.methods import get_method
    >>> get_method("drm-rfb")
    Traceback (most recent call last):
    drmbench.errors.InputError: ... Did you mean 'drm-rbf'...
    """

    exit_code = 2


class DataUnavailableError(DrmbenchError):
    """A data set cannot be obtained here; the text says why and what would get it.

    Examples
    --------
    >>> DataUnavailableError("leukemia: no mirror has it").exit_code
    3
    """

    exit_code = 3


def is_full(error: OSError) -> bool:
    """Say whether a disk is full, or one's share of it."""
    return error.errno in _FULL


def reason_of(error: OSError) -> str:
    """Return why the system refused something, in its words."""
    reason = error.strerror or str(error) or type(error).__name__
    if error.errno in (errno.EMFILE, errno.ENFILE):
        reason += "; allow more of them (ulimit -n)"
    return reason


def refused(error: OSError, text: str) -> DrmbenchError:
    """Return what a command ends with when the system refuses something.

    It is wrong input if the path is at fault, and a failure otherwise.
    """
    return InputError(text) if error.errno in _WRONG_PATH else DrmbenchError(text)


def explained(error: Exception) -> DrmbenchError:
    """Return what a command ends with when something of the system stopped it.

    Examples
    --------
    >>> str(explained(FileNotFoundError(2, "No such file or directory", "a.csv")))
    'a.csv: No such file or directory'
    >>> str(explained(MemoryError()))
    'out of memory'
    """
    if isinstance(error, DrmbenchError):
        return error
    if isinstance(error, OSError):
        named = "" if error.filename is None else f"{error.filename}: "
        return refused(error, f"{named}{reason_of(error)}")
    if isinstance(error, UnicodeEncodeError | UnicodeDecodeError):
        around = error.object[max(error.start - 30, 0) : error.end + 30]
        why = f"{error.encoding}: {error.reason}"
        return InputError(f"not valid text or name of a file: {quoted(around)} ({why})")
    if isinstance(error, UnicodeError):
        return InputError(f"not valid text or name of a file: {error}")
    return DrmbenchError(f"out of memory: {error}".rstrip(": "))


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters, out of the middle if need be.

    Examples
    --------
    >>> shortened("0123456789", 8), shortened("01234567", 8)
    ('01234…89', '01234567')
    """
    if len(text) <= most:
        return text
    end = most // 4
    return f"{text[: most - end - 1]}…{text[-end:]}"


def quoted(value: object, most: int = 80) -> str:
    """Return a value as messages quote it: as Python writes it, shortened.

    Examples
    --------
    >>> quoted("iris"), quoted("x" * 70_000, 12)
    ("'iris'", "'xxxxxxx…xx'")
    """
    # Of a long text no more is looked at than may be shown.
    if isinstance(value, str) and len(value) > most:
        value = f"{value[:most]}{value[-most:]}"
    return shortened(repr(value), most)


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
