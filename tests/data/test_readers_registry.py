"""The table of readers: names, versions, laziness, messages."""

from __future__ import annotations

import subprocess
import sys

import pytest

from drmbench.data.readers import get_reader, reader_names, reader_version
from drmbench.errors import InputError


@pytest.mark.parametrize("name", reader_names())
def test_every_reader_loads_and_refuses_to_read_nothing(name: str) -> None:
    with pytest.raises(InputError, match="file"):
        get_reader(name)([])


def test_every_reader_has_a_positive_version() -> None:
    assert all(reader_version(name) >= 1 for name in reader_names())


@pytest.mark.parametrize("look_up", [get_reader, reader_version])
def test_unknown_name_gets_near_misses_and_the_list(look_up: object) -> None:
    assert callable(look_up)
    with pytest.raises(InputError) as caught:
        look_up("libsmv")
    assert "Did you mean 'libsvm'?" in str(caught.value)
    assert "tic-tac-toe" in str(caught.value)


def test_importing_the_table_imports_no_format() -> None:
    heavy = "['scipy', 'sklearn', 'pandas', 'rdata', 'xarray']"
    code = (
        "import sys, drmbench.data.readers;"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"
