"""The journal: whatever happens to its file, finished cells survive."""

import errno
import json
import os
import random
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drmbench.errors import InputError
from drmbench.running import store as store_module
from drmbench.running.store import DiskFullError, Store, all_records, encode


def record(number, **more):
    return {
        "schema": 1,
        "key": f"{number:024x}",
        "dataset": "iris",
        "method": "nb",
        "mode": "none",
        "split": number,
        "status": "ok",
        "reason": "",
        "seconds": 0.1,
        "rows": [{"accuracy": 0.1 * number, "reason": "ünïcode"}],
        **more,
    }


@contextmanager
def open_store(folder):
    """Open a store for writing, with room set aside, as a run does."""
    store = Store(folder)
    store.reserve()
    try:
        yield store
    finally:
        store.release()


def filled(folder, count=3):
    with open_store(folder) as store:
        for number in range(count):
            store.append(record(number))
    return folder / "cells.jsonl"


def test_what_was_appended_is_read_back_exactly(tmp_path):
    filled(tmp_path)
    assert list(Store(tmp_path).records.values()) == [record(n) for n in range(3)]


def test_a_later_record_of_the_same_cell_counts(tmp_path):
    filled(tmp_path)
    with open_store(tmp_path) as store:
        store.append(record(1, status="failed"))
    found = Store(tmp_path).records
    assert len(found) == 3
    assert found[record(1)["key"]]["status"] == "failed"


@settings(derandomize=True, max_examples=60, deadline=None)
@given(cut=st.integers(1, 400))
def test_a_line_cut_short_is_set_aside_and_the_rest_survives(tmp_path_factory, cut):
    journal = filled(tmp_path_factory.mktemp("store"))
    content = journal.read_bytes()
    last = len(content.splitlines(keepends=True)[-1])
    cut = min(cut, last)
    journal.write_bytes(content[:-cut])
    found = Store(journal.parent)
    assert list(found.records.values()) == [record(0), record(1)]
    with open_store(journal.parent) as again:
        again.append(record(2))
    assert journal.read_bytes() == content


@settings(derandomize=True, max_examples=60, deadline=None)
@given(place=st.integers(0, 10_000), value=st.integers(0, 255))
def test_a_changed_byte_never_passes_for_a_result(tmp_path_factory, place, value):
    journal = filled(tmp_path_factory.mktemp("store"))
    content = bytearray(journal.read_bytes())
    content[place % len(content)] = value
    journal.write_bytes(content)
    for found in Store(journal.parent).records.values():
        assert found in [record(n) for n in range(3)]


def test_damaged_lines_are_kept_apart_and_counted(tmp_path, caplog):
    journal = filled(tmp_path)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0] + b"garbage\n" + lines[2])
    store = Store(tmp_path)
    assert store.rejected == 1
    assert "1 damaged line(s)" in caplog.text
    assert (tmp_path / "cells.rejected").read_bytes() == b"garbage\n"
    assert Store(tmp_path).rejected == 0


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_keeps_the_cell_from_the_reserve_and_says_so(
    tmp_path, monkeypatch, number
):
    journal = filled(tmp_path)
    real = os.write
    calls = []

    def write(descriptor, data):
        calls.append(len(data))
        if len(calls) == 1:
            return real(descriptor, data[: len(data) // 2])
        if len(calls) == 2:
            raise OSError(number, os.strerror(number))
        return real(descriptor, data)

    with open_store(tmp_path) as store:
        monkeypatch.setattr(store_module.os, "write", write)
        with pytest.raises(DiskFullError, match="make room and run the same command"):
            store.append(record(3))
        monkeypatch.undo()
        assert not (tmp_path / ".reserve").exists()
    assert list(Store(tmp_path).records.values()) == [record(n) for n in range(4)]
    assert len(journal.read_bytes().splitlines()) == 4


def test_a_full_disk_without_reserve_leaves_the_journal_as_it_was(
    tmp_path, monkeypatch
):
    journal = filled(tmp_path)
    before = journal.read_bytes()

    def write(descriptor, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store = Store(tmp_path)
    monkeypatch.setattr(store_module.os, "write", write)
    with pytest.raises(DiskFullError, match="No space left"):
        store.append(record(3))
    assert journal.read_bytes() == before


def test_a_claimed_cell_is_refused_to_another_process_until_given_back(tmp_path):
    key = record(1)["key"]
    ask = (
        "import sys; from pathlib import Path;"
        "from drmbench.running.store import Store;"
        f"print(Store(Path({str(tmp_path)!r})).claim({key!r}))"
    )

    def asked():
        done = subprocess.run([sys.executable, "-c", ask], capture_output=True)
        return done.stdout.decode().strip()

    store = Store(tmp_path)
    assert store.claim(key)
    assert asked() == "False"
    store.unclaim(key)
    assert asked() == "True"
    store.release()


def test_what_another_process_appended_is_seen_after_a_refresh(tmp_path):
    filled(tmp_path)
    mine, other = Store(tmp_path), Store(tmp_path)
    other.append(record(7))
    assert record(7)["key"] not in mine.records
    mine.refresh()
    assert mine.records[record(7)["key"]] == record(7)


@pytest.mark.parametrize("schema", [0, 99])
def test_another_schema_is_refused(tmp_path, schema):
    (tmp_path / "cells.jsonl").write_bytes(encode({**record(5), "schema": schema}))
    with pytest.raises(InputError, match=f"schema version {schema}"):
        Store(tmp_path)


def test_records_of_all_experiments_below_a_folder(tmp_path):
    filled(tmp_path / "a", 1)
    filled(tmp_path / "b", 2)
    found = [(name, json.dumps(r["split"])) for name, r in all_records(tmp_path)]
    assert found == [("a", "0"), ("b", "0"), ("b", "1")]


# ------------------------------------------------- a journal that is rewritten


def damage(journal, number):
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[number] = lines[number][:-5] + b"XXXX\n"
    journal.write_bytes(b"".join(lines))


def test_compaction_by_a_third_process_loses_and_doubles_nothing(tmp_path):
    """It makes the journal shorter, and the others let it grow again at once."""
    rng = random.Random(3)
    for trial in range(100):
        folder = tmp_path / str(trial)
        journal = filled(folder, 4)
        writers = [Store(folder), Store(folder)]
        damage(journal, rng.randrange(4))
        third = Store(folder)
        assert third.rejected == 1
        for number in range(4, 4 + rng.randrange(1, 8)):
            rng.choice([*writers, third]).append(record(number))
        count = number + 1
        for store in (*writers, third, Store(folder)):
            store.refresh()
            assert sorted(store.records) == [record(n)["key"] for n in range(count)]
            assert all(store.records[r["key"]] == r for r in map(record, range(count)))
        assert len(journal.read_bytes().splitlines()) == count
        assert (folder / "cells.rejected").read_bytes().count(b"\n") == 1


def test_each_rewriting_is_a_generation(tmp_path):
    journal = filled(tmp_path)
    assert Store(tmp_path).generation == 0
    for generation in (1, 2):
        damage(journal, 0)
        assert Store(tmp_path).generation == generation
    (tmp_path / "cells.generation").write_bytes(b"\xff damaged")
    damage(journal, 0)
    assert Store(tmp_path).generation == 1


def test_a_journal_of_the_same_size_rewritten_is_read_again(tmp_path):
    journal = filled(tmp_path)
    mine = Store(tmp_path)
    damage(journal, 2)
    other = Store(tmp_path)  # without its last line
    other.append(record(2, status="failed"))
    other.append(record(3))
    mine.refresh()
    assert mine.records == Store(tmp_path).records
    assert record(3)["key"] in mine.records


def test_reading_alone_leaves_everything_as_it_is(tmp_path):
    journal = filled(tmp_path)
    damage(journal, 1)
    before = journal.read_bytes()
    shutil.rmtree(tmp_path / ".locks")
    found = Store(tmp_path, read_only=True)
    assert (len(found.records), found.rejected) == (2, 1)
    assert list(tmp_path.iterdir()) == [journal]
    assert journal.read_bytes() == before


def test_a_link_in_the_place_of_the_reserve_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / ".reserve").symlink_to(precious)
    with open_store(folder):
        assert not (folder / ".reserve").is_symlink()
    assert precious.read_text() == "mine"


def test_a_disk_without_locks_is_told_and_not_waited_for(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(store_module.fcntl, "lockf", refuse)
    with pytest.raises(InputError, match=r"\.claims: cannot be locked"):
        Store(tmp_path).claim(f"{1:024x}")
