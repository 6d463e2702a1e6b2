"""Whatever the system does to a command ends in one message and an exit code.

The tables are over all commands that there are: a new one is held to the same.
"""

from __future__ import annotations

import errno
import functools
import inspect
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from support import REPOSITORY, CommandResult, Run

from drmbench.cli import app
from drmbench.errors import explained, quoted, shortened

Arguments = list[str]


def commands(
    group: typer.Typer = app, before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give every command, as it is called, and what typer knows of it."""
    for info in group.registered_commands:
        assert info.callback is not None
        yield (*before, info.name or info.callback.__name__.replace("_", "-")), info
    for sub in group.registered_groups:
        assert sub.typer_instance is not None
        name = (sub.name,) if isinstance(sub.name, str) else ()
        yield from commands(sub.typer_instance, (*before, *name))


COMMANDS = dict(commands())
NAMES = [pytest.param(name, id=" ".join(name)) for name in COMMANDS]


def required(info: Any) -> Arguments:
    """Return something for every argument that a command must have."""
    parameters = inspect.signature(info.callback).parameters.values()
    return ["x" for one in parameters if one.default is inspect.Parameter.empty]


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    """End a test that waits for a pipe."""

    def late(number: int, frame: object) -> None:
        raise AssertionError("waited in vain")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def one_message(result: CommandResult, code: int, *words: str) -> None:
    """Require an exit code, and one message with certain words."""
    assert "Traceback" not in result.err, result.err
    said = [x for x in result.err.splitlines() if x.startswith("drmbench: ")]
    assert len(said) == 1, result.err
    assert (result.code, [w for w in words if w not in said[0]]) == (code, []), said


def test_all_commands_are_found() -> None:
    assert {("run",), ("data", "fetch"), ("config", "schema")} <= set(COMMANDS)


# ------------------------------------------------------------------ any system error

FAULTS: dict[str, tuple[Exception, int, str]] = {
    "full disk": (OSError(errno.ENOSPC, "No space left", "a.csv"), 1, "a.csv: No spa"),
    "i/o": (OSError(errno.EIO, "Input/output error"), 1, "Input/output error"),
    "descriptors": (OSError(errno.EMFILE, "Too many open files"), 1, "ulimit -n"),
    "missing": (FileNotFoundError(errno.ENOENT, "No such", "b.csv"), 2, "b.csv: No su"),
    "read-only": (OSError(errno.EROFS, "Read-only", "c"), 2, "c: Read-only"),
    "no words": (OSError(), 1, "OSError"),
    "memory": (MemoryError("Unable to allocate 8 EiB"), 1, "out of memory: Unable"),
    "surrogate": (
        UnicodeEncodeError("utf-8", "the name b\udcff.csv", 10, 11, "not allowed"),
        *(2, "not allowed"),
    ),
    "bytes": (UnicodeDecodeError("utf-8", b"a\xff", 1, 2, "invalid"), 2, "invalid"),
    "70 kB": (OSError(errno.ENAMETOOLONG, "too long", "A" * 70_000), 2, "too long"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", NAMES)
def test_no_command_lets_an_error_of_the_system_through(
    name: tuple[str, ...], fault: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    error, code, words = FAULTS[fault]
    info = COMMANDS[name]

    @functools.wraps(info.callback)
    def failing(**given: object) -> None:
        raise error

    given = required(info)
    monkeypatch.setattr(info, "callback", failing)
    result = run(*name, *given)
    one_message(result, code, words)
    assert len(result.err) < 3000


def test_a_bug_still_shows_where_it_is(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(COMMANDS["methods",], "callback", failing)
    with pytest.raises(ZeroDivisionError):
        run("methods")


@pytest.mark.parametrize("name", NAMES)
def test_a_deleted_working_folder_is_said(
    name: tuple[str, ...], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    before = Path.cwd()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        result = run(*name, *required(COMMANDS[name]))
    finally:
        os.chdir(before)
    one_message(result, 2, "the working folder cannot be used", "No such file")


# --------------------------------------------------------------- what cannot be written


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, a config, some results, and two models."""
    folder = tmp_path_factory.mktemp("inputs")
    lines = [f"{i % 7},{i % 5 + i % 2},{'xy'[i % 2]}" for i in range(40)]
    (folder / "t.csv").write_text("a,b,label\n" + "\n".join(lines) + "\n")
    shutil.copy(REPOSITORY / "configs" / "quick.yaml", folder / "q.yaml")
    for name, parent in (("quick", "results"), ("timing", "drawn")):
        stored = REPOSITORY / "results" / "reference" / name
        shutil.copytree(stored, folder / parent / name)
    fit = [sys.executable, "-m", "drmbench", "fit", "t.csv", "--target", "label"]
    for options in (["--save", "m"], ["--method", "nb", "--save", "n"]):
        subprocess.run([*fit, *options], cwd=folder, check=True, capture_output=True)
    return folder


#: Of each command that writes, the arguments before the name of what it writes.
WRITERS: dict[tuple[str, ...], Callable[[Path], Arguments]] = {
    ("init",): lambda i: ["--force", "--data", f"{i / 't.csv'}", "--target", "label"],
    ("run",): lambda i: [f"{i / 'q.yaml'}", "--out"],
    ("compare",): lambda i: [
        *(f"{i / 't.csv'}", "--target", "label", "--methods", "nb", "--config"),
    ],
    ("tables",): lambda i: ["--results", f"{i / 'results'}", "quick", "--out"],
    ("figures",): lambda i: ["--results", f"{i / 'drawn'}", "timing", "--out"],
    ("report",): lambda i: ["--results", f"{i / 'results'}", "quick", "--out"],
    ("keel-cells",): lambda i: ["-d", "glass2", "-m", "nb", "--out"],
    ("check",): lambda i: ["--update", "--results", f"{i / 'results'}", "--reference"],
    ("fit",): lambda i: [f"{i / 't.csv'}", "--target", "label", "--save"],
    ("predict",): lambda i: [f"{i / 'm'}", f"{i / 't.csv'}", "--out"],
    ("config", "schema"): lambda i: ["--out"],
}
#: Commands whose folder is only read, or whose downloads are tested with the data.
READERS = {("results",), ("data", "fetch"), ("data", "list"), ("data", "info")}
READERS |= {("data", "verify"), ("claims",)}
#: Names of parameters that commands write to.
WRITTEN = {"out", "save", "config", "place", "update", "data_dir"}


def test_every_command_that_writes_is_among_those_tested() -> None:
    writing = {
        name
        for name, info in COMMANDS.items()
        if WRITTEN & set(inspect.signature(info.callback).parameters)
    }
    assert writing - READERS == set(WRITERS)


def written_by(inputs: Path, name: tuple[str, ...], place: Path) -> Arguments:
    """Return a command that writes to a place."""
    if name == ("init",) and place.suffix != ".yaml":
        place = place / "e.yaml"
    return [*name, *WRITERS[name](inputs), str(place)]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def leftovers(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob(".*.part")]


WRITING = [pytest.param(name, id=" ".join(name)) for name in WRITERS]


@pytest.mark.parametrize("name", WRITING)
def test_a_file_in_the_way_is_said_and_stays(
    name: tuple[str, ...], run: Run, inputs: Path, here: Path
) -> None:
    (here / "file").write_text("kept")
    result = run(*written_by(inputs, name, here / "file" / "below"))
    one_message(result, 2, "file", "Not a directory")
    assert (here / "file").read_text() == "kept"
    assert leftovers(here) == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here")
@pytest.mark.parametrize("name", WRITING)
def test_a_folder_that_takes_no_files_is_said(
    name: tuple[str, ...], run: Run, inputs: Path, here: Path
) -> None:
    result = run(*written_by(inputs, name, Path("/proc/drmbench/below")))
    one_message(result, 2, "/proc/drmbench", "No such file or directory")


@pytest.mark.parametrize("name", WRITING)
def test_pipes_are_neither_written_to_nor_replaced(
    name: tuple[str, ...], run: Run, inputs: Path, here: Path
) -> None:
    """A device is refused like them: replaced, it would be gone for all programs."""
    pipe = here / "pipe.yaml"
    os.mkfifo(pipe)
    result = run(*written_by(inputs, name, pipe))
    assert result.code == 2, result.err
    assert "Traceback" not in result.err
    assert pipe.is_fifo()
    assert leftovers(here) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("name", WRITING)
def test_a_full_or_failing_disk_is_said_and_leaves_no_half_file(
    name: tuple[str, ...],
    number: int,
    run: Run,
    inputs: Path,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setenv("DRMBENCH_CACHE", str(here / "cache"))
    monkeypatch.setattr(os, "fsync", fail)
    result = run(*written_by(inputs, name, here / "new.yaml"))
    one_message(result, 1, os.strerror(number))
    assert leftovers(here) == []


def test_a_link_that_leads_nowhere_is_no_folder(
    run: Run, inputs: Path, here: Path
) -> None:
    (here / "out").symlink_to("nowhere")
    result = run("run", str(inputs / "q.yaml"), "--out", "out")
    one_message(result, 2, "out: results cannot be kept there", "leads nowhere")
    assert not (here / "nowhere").exists()


# ---------------------------------------------------------------- what cannot be read

READING: dict[str, Callable[[Path, str], Arguments]] = {
    "config": lambda i, x: ["run", f"{x}.yaml"],
    "checked config": lambda i, x: ["config", "check", f"{x}.yaml"],
    "table": lambda i, x: ["compare", f"{x}.csv", "--target", "label"],
    "init": lambda i, x: ["init", "e.yaml", "--data", f"{x}.csv"],
    "chunks": lambda i, x: ["fit", f"{x}.csv", "--target", "label"],
    "npy": lambda i, x: ["fit", f"{x}.npy", "--target", "0"],
    "method": lambda i, x: ["fit", f"{x}.csv", "--target", "label", "--method", "nb"],
    "model": lambda i, x: ["predict", f"{x}.csv", str(i / "t.csv")],
    "rows to predict": lambda i, x: ["predict", str(i / "m"), f"{x}.csv"],
    "rows for a method": lambda i, x: ["predict", str(i / "n"), f"{x}.csv"],
}


def put(path: Path, kind: str) -> None:
    """Put something that is no regular file in a place."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
@pytest.mark.parametrize("what", READING)
def test_only_regular_files_are_read(
    what: str, kind: str, run: Run, inputs: Path, here: Path
) -> None:
    for suffix in ("yaml", "csv", "npy"):
        put(here / f"odd.{suffix}", kind)
    result = run(*READING[what](inputs, "odd"))
    one_message(result, 2, "odd.")


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
@pytest.mark.parametrize("file", ["manifest.json", "results.csv"])
@pytest.mark.parametrize(
    "command",
    [
        ["results", "--out", "results"],
        ["check", "--reference", "results"],
        ["check", "--results", "results", "--update", "--reference", "new"],
        ["tables", "--results", "results", "--out", "t"],
        ["claims", "--results", "results"],
        ["report", "--results", "results", "--out", "r.html"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_only_regular_files_are_results(
    command: Arguments, file: str, kind: str, run: Run, inputs: Path, here: Path
) -> None:
    shutil.copytree(inputs / "results", here / "results")
    (here / "results" / "quick" / file).unlink()
    put(here / "results" / "quick" / file, kind)
    one_message(run(*command), 2, f"results/quick/{file}")


# ---------------------------------------------------------------------- the streams

PRINTING = [["--version"], ["run", "--help"]]  # by typer's function, and by rich


def in_shell(arguments: Arguments, redirected: str, **more: str) -> CommandResult:
    """Run a command with redirected streams, as a shell does."""
    script = f'"$0" -m drmbench "$@" {redirected}'
    done = subprocess.run(
        ["bash", "-c", script, sys.executable, *arguments],
        capture_output=True,
        env={**os.environ, **more},
        timeout=50,
        check=False,
    )
    out, err = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return CommandResult(done.returncode, out, err)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_full_or_closed_output_is_an_error(
    arguments: Arguments, unbuffered: str
) -> None:
    full = in_shell(arguments, ">/dev/full", PYTHONUNBUFFERED=unbuffered)
    one_message(full, 1, "cannot write to standard output: No space left on device")
    closed = in_shell(arguments, ">&-", PYTHONUNBUFFERED=unbuffered)
    one_message(closed, 1, "cannot write to standard output: it is closed")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_predictions_that_do_not_all_arrive_are_an_error(
    inputs: Path, unbuffered: str
) -> None:
    """They are written in blocks, of which the last may only fail at the end."""
    command = ["predict", str(inputs / "m"), str(inputs / "t.csv")]
    full = in_shell(command, ">/dev/full", PYTHONUNBUFFERED=unbuffered)
    one_message(full, 1, "cannot write to standard output: No space left on device")


@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full", "2>&- <&-"])
def test_a_command_goes_on_without_its_remarks(redirected: str, here: Path) -> None:
    """`config check` says on standard error that it takes a packaged config."""
    done = in_shell(["config", "check", "quick"], redirected)
    assert (done.code, done.err) == (0, "")
    assert "quick" in done.out
    assert in_shell(["config", "check", "none.yaml"], redirected).code == 2


def test_a_reader_that_leaves_ends_a_command_in_silence() -> None:
    left = in_shell(["config", "schema"], '| true; exit "${PIPESTATUS[0]}"')
    assert (left.code, left.out, left.err) == (141, "", "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_no_encoding_stops_a_command(encoding: str, here: Path) -> None:
    """Neither signs that it lacks, nor the name of a file that is not UTF-8."""
    surroundings = {"LC_ALL": "C", "PYTHONIOENCODING": encoding}
    listed = in_shell(["data", "info", "iris"], "", **surroundings)
    assert (listed.code, listed.err) == (0, "")
    named = in_shell(
        ["config", "check", os.fsdecode(b"b\xff.yaml")], "", **surroundings
    )
    one_message(named, 2, "b\\udcff.yaml: no such file")


# --------------------------------------------------------------------- long values

LONG = "A" * 70_000
QUOTING: dict[str, Arguments] = {
    "value": ["compare", "cell.csv", "--target", "label"],
    "value in chunks": ["fit", "cell.csv", "--target", "label"],
    "heading": ["fit", "heading.csv", "--target", "label"],
    "target": ["compare", "cell.csv", "--target", LONG],
    "file": ["compare", f"{LONG}.csv"],
    "key": ["run", "key.yaml"],
    "value of a key": ["run", "value.yaml"],
    "name of a config": ["run", LONG],
    "folder": ["run", "quick", "--out", LONG],
    "pattern": ["run", "quick", "--dataset", LONG],
    "time": ["run", "quick", "--timeout", LONG],
    "method": ["methods", LONG],
    "data set": ["data", "info", LONG],
    "format": ["tables", "--format", LONG],
    "experiment": ["tables", LONG],
    "line": ["fit", "line.libsvm"],
}


@pytest.mark.parametrize("what", QUOTING)
def test_long_values_are_shortened_where_they_are_quoted(
    what: str, run: Run, here: Path
) -> None:
    rows = "".join(f"{i},{'xy'[i % 2]}\n" for i in range(40))
    (here / "cell.csv").write_text(f"a,label\n{rows}{LONG},x\n")
    (here / "heading.csv").write_text(f"{LONG},label\n,x\n")
    (here / "key.yaml").write_text(f"name: x\n{LONG}: 1\n")
    value = f"name: x\ndatasets: [iris]\nmethods: [nb]\nmetrics: [{LONG}]\n"
    (here / "value.yaml").write_text(value)
    (here / "line.libsvm").write_text(f"1 1:2\n{LONG}\n")
    result = run(*QUOTING[what])
    assert result.code == 2, result.err[:500]
    assert 10 < len(result.err) < 3500
    assert "Traceback" not in result.err


def test_a_shortened_text_keeps_its_ends_and_its_length() -> None:
    for most in (8, 9, 80, 81):
        text = shortened("0" + LONG + "9", most)
        assert len(text) == most
        assert (text[0], text[-1], text.count("…")) == ("0", "9", 1)
    assert quoted("it's") == repr("it's")
    assert len(quoted(LONG)) == len(quoted([LONG])) == 80
    assert quoted(LONG)[::79] == "''"


def test_expected_errors_stay_what_they_are() -> None:
    error = explained(MemoryError())
    assert explained(error) is error


def test_long_names_of_a_table_are_shortened(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    rows = [f"{n * n % 7},{'u' * 70_000 if n % 2 else 'v'}" for n in range(20)]
    path.write_text("\n".join([f"{'c' * 70_000},kind", *rows]), encoding="utf-8")
    found = run("fit", str(path), "--target", "kind", "--method", "nb")
    assert found.code == 0, found.err
    assert "2 classes (u" in found.out
    assert len(found.out + found.err) < 5_000
