"""Standard output and error as commands see them: they fail in words, or in silence.

What is asked for goes to standard output, so a command that cannot write there has
failed. Standard error takes remarks only: where it cannot be written to, a command goes
on without them. Neither fails for a character that its encoding lacks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO, cast

from drmbench.errors import DrmbenchError, reason_of


class ReaderLeftError(DrmbenchError):
    """Whoever read the output left, as ``head`` does: nothing needs to be said."""

    exit_code = 141  # that of a program that the signal SIGPIPE ended


class _Stream:
    """A standard stream, or the null device in the place of one that is closed."""

    #: None, lest typer writes to the bytes below and so past this class
    buffer = None

    def __init__(self, stream: TextIO | None, null: TextIO) -> None:
        self._closed = stream is None
        self._stream = null if stream is None else stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text, with escapes for what the encoding does not have."""
        if text == "":  # how typer tells texts from bytes, deaf to errors
            return 0
        try:
            try:
                return self._stream.write(text)
            except UnicodeEncodeError as error:
                plain = text.encode(error.encoding, "backslashreplace")
                return self._stream.write(plain.decode(error.encoding))
        except OSError as error:
            self._fail(error)
        return len(text)

    def flush(self) -> None:
        """Write what is buffered."""
        try:
            self._stream.flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """Let all else go to the null device, what is buffered too, and tell."""
        with suppress(OSError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)
        if isinstance(error, BrokenPipeError):
            raise ReaderLeftError from error


class _Output(_Stream):
    """Standard output."""

    def write(self, text: str) -> int:
        """Write a text; it is an error if that is not possible."""
        if self._closed and text:
            raise DrmbenchError("cannot write to standard output: it is closed")
        return super().write(text)

    def _fail(self, error: OSError) -> None:
        super()._fail(error)
        why = f"cannot write to standard output: {reason_of(error)}"
        raise DrmbenchError(why) from error


@contextmanager
def standard_streams() -> Iterator[None]:
    """Let standard output and error fail as this module says, during the block."""
    before = sys.stdout, sys.stderr
    if None in (sys.stdin, *before):
        _fill_descriptors()
    with Path(os.devnull).open("w", encoding="utf-8") as null:
        sys.stdout = cast(TextIO, _Output(sys.stdout, null))
        sys.stderr = cast(TextIO, _Stream(sys.stderr, null))
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


def _fill_descriptors() -> None:
    """Give closed standard descriptors to the null device.

    A file that is opened would get them, and with them what libraries print.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
