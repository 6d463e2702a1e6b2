"""Constraints with the lowest versions that are allowed."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from lowest_versions import PYPROJECT, constraints

TEMPLATE = "[project]\ndependencies = [{!r}]\noptional-dependencies = {{}}\n"


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        ("numpy>=2.0", ["numpy==2.0"]),
        ("dask[array,dataframe] >= 2024.8", ["dask==2024.8"]),
        ("ruff==0.1.2", ["ruff==0.1.2"]),
        ("types-PyYAML", []),
        ("drmbench[dask]", []),
    ],
)
def test_a_lower_bound_becomes_the_version(
    requirement: str, expected: list[str]
) -> None:
    assert list(constraints(TEMPLATE.format(requirement))) == expected


@pytest.mark.parametrize("requirement", ["a>=1,<2", "a~=1.0", "a>1; os_name=='nt'"])
def test_what_cannot_be_read_is_named(requirement: str) -> None:
    with pytest.raises(SystemExit, match="is not a name with one >= or == bound"):
        list(constraints(TEMPLATE.format(requirement)))


def test_every_dependency_of_the_package_has_its_lowest_version() -> None:
    text = PYPROJECT.read_text(encoding="utf-8")
    found = {Requirement(line).name: Requirement(line) for line in constraints(text)}
    for line in tomllib.loads(text)["project"]["dependencies"]:
        wanted = Requirement(line)
        (version,) = (s.version for s in wanted.specifier if s.operator == ">=")
        assert str(found[wanted.name].specifier) == f"=={version}"
        assert wanted.specifier.contains(version)
