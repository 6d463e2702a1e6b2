"""Every public name is in the reference, with an example that the suite runs.

And every packaged config is in the table of what there is to run.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from fnmatch import fnmatchcase
from typing import Any

import pytest
from support import REPOSITORY

REFERENCE = (REPOSITORY / "docs/reference/api.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^   (drmbench\.[\w.]+)$", REFERENCE, re.MULTILINE)
#: Modules all of whose names are public.
PUBLIC = ("drmbench", "drmbench.data", "drmbench.methods")


def named(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def test_every_public_name_is_listed_once() -> None:
    assert len(LISTED) == len(set(LISTED))
    listed = [named(path) for path in LISTED]
    for module in map(importlib.import_module, PUBLIC):
        for name in module.__all__:
            if name == "__version__":
                assert ".. data:: drmbench.__version__" in REFERENCE
                assert f"\n   '{module.__version__}'\n" in REFERENCE
            else:
                found = getattr(module, name)
                assert any(found is one for one in listed), name


@pytest.mark.parametrize("path", LISTED)
def test_every_name_has_an_example_that_is_run(path: str) -> None:
    """The suite runs the doctests of the module that an object is defined in."""
    found = named(path)
    assert "Examples\n--------" in (inspect.getdoc(found) or "")
    home = importlib.import_module(found.__module__)
    names = {test.name for test in doctest.DocTestFinder().find(home) if test.examples}
    assert f"{found.__module__}.{found.__qualname__}" in names


def test_every_config_is_told_of() -> None:
    page = (REPOSITORY / "docs/runs.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]+`) \|", page, re.MULTILINE)
    told = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    configs = {path.stem for path in (REPOSITORY / "configs").glob("*.yaml")}
    assert {x for x in configs if not any(fnmatchcase(x, y) for y in told)} == set()
    assert {x for x in told if not any(fnmatchcase(y, x) for y in configs)} == set()
