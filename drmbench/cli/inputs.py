"""What commands are given: files here or shipped, a number of jobs, a file to write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from drmbench.cli.terminal import remark
from drmbench.errors import InputError, reason_of, refused
from drmbench.shipped import find_config, shipped_configs, shipped_reference

#: Folders of results: those that runs write, and those that are committed.
RUNS, REFERENCE = Path("results/runs"), Path("results/reference")

#: Bytes of addresses that a command takes which runs methods.
_LEAST_ADDRESSES = 1024 * 2**20


def config_files(given: Sequence[Path]) -> list[Path]:
    """Return the experiment files that paths and names stand for.

    One line says which of them are the shipped ones.
    """
    found = [find_config(path) for path in given]
    shipped = set(shipped_configs().values()) - set(given)
    for path in found:
        if path in shipped:
            remark(f"using the packaged config {path.stem} ({path})", "quiet")
    return found


def reference_folder(folder: Path) -> Path:
    """Return a folder of results; the shipped one if there is no results/reference."""
    if folder != REFERENCE or folder.is_dir():
        return folder
    shipped = shipped_reference()
    remark(f"no {REFERENCE} here: using the packaged rows ({shipped})", "quiet")
    return shipped


def job_count(wanted: int | None) -> int:
    """Return how many cells run side by side, at most one per processor."""
    from drmbench.running.runner import default_jobs

    most = default_jobs()
    if wanted is not None and wanted > most:
        remark(f"--jobs {wanted}: using {most}, as many as there are processors here")
    return min(wanted or most, most)


def require_addresses() -> None:
    """Refuse ``ulimit -v`` below what the numerical libraries take.

    They do not fail in an orderly way there, if at all; so this comes before them.
    """
    try:
        import resource
    except ImportError:  # not on Windows, which has no such limit
        return
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    if allowed != resource.RLIM_INFINITY and allowed < _LEAST_ADDRESSES:
        raise InputError(
            f"ulimit -v: {allowed >> 20}M of addresses are too few to run anything;"
            f" allow {_LEAST_ADDRESSES >> 20}M or more"
        )


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Give a temporary path that becomes the file if all goes well.

    A file that cannot be written is refused with the reason.
    """
    from drmbench.files import replacing

    try:
        with replacing(path) as temporary:
            yield temporary
    except OSError as error:
        reason = "it is a folder" if path.is_dir() else reason_of(error)
        raise refused(error, f"{path}: cannot be written ({reason})") from error
