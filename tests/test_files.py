"""Files are written whole or not at all, and only where regular files belong."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from drmbench import files
from drmbench.files import locked, open_own, read_regular, replacing

KILLED = """
import os, signal, sys
from pathlib import Path
from drmbench.files import replacing
with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def temporaries(folder: Path) -> list[Path]:
    return list(folder.glob(".*.part"))


def test_what_a_killed_process_left_is_removed_when_it_is_old(tmp_path: Path) -> None:
    target = tmp_path / "[kept]*"
    subprocess.run([sys.executable, "-c", KILLED, target], check=False)
    (half,) = temporaries(tmp_path)
    with replacing(target) as temporary:
        temporary.write_bytes(b"first")
    assert temporaries(tmp_path) == [half], "it may be that of a process that starts"
    os.utime(half, (0, 0))
    with replacing(target) as temporary:
        temporary.write_bytes(b"second")
    assert temporaries(tmp_path) == []
    assert target.read_bytes() == b"second"


def test_what_a_living_process_writes_stays(tmp_path: Path) -> None:
    target = tmp_path / "kept"
    with replacing(target) as outer:
        outer.write_bytes(b"outer")
        os.utime(outer, (0, 0))
        with replacing(target) as inner:
            inner.write_bytes(b"inner")
        assert outer.read_bytes() == b"outer"
    assert target.read_bytes() == b"outer"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_an_error_names_the_file_and_leaves_it_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    target = tmp_path / "kept"
    target.write_bytes(b"old")

    def fail(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files.os, "fsync", fail)
    with (
        pytest.raises(OSError, match=os.strerror(number)) as caught,
        replacing(target) as temporary,
    ):
        temporary.write_bytes(b"new")
    assert caught.value.filename == str(target)
    assert target.read_bytes() == b"old"
    assert temporaries(tmp_path) == []


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="a pipe or device"), replacing(pipe) as temporary:
        temporary.write_bytes(b"new")
    assert pipe.is_fifo()
    assert temporaries(tmp_path) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    device = tmp_path / "device"
    try:
        os.mknod(device, 0o20600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("devices cannot be made here")
    with (
        pytest.raises(OSError, match="a pipe or device"),
        replacing(device) as temporary,
    ):
        temporary.write_bytes(b"new")
    assert device.is_char_device()


def test_a_link_is_neither_written_through_nor_locked(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("other")
    with pytest.raises(OSError, match="a link, in the place of a file"):
        open_own(tmp_path / "link", os.O_RDWR)
    (tmp_path / ".locks").mkdir()
    (tmp_path / ".locks" / "name.lock").symlink_to("../other")
    with (
        pytest.raises(OSError, match="a link, in the place of a file"),
        locked(tmp_path, "name"),
    ):
        pass
    assert not (tmp_path / "other").exists()


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    assert read_regular(tmp_path / "link", 2) == b"23"
    with pytest.raises(OSError, match="a pipe or device"):
        read_regular(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)
