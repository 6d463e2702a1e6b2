"""The lock: it satisfies pyproject.toml, pins all of it by hash and names no index."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from packaging.markers import Marker, default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = ("linux", "darwin")
#: ``name==version ; marker \`` and the lines of hashes below it.
PIN = re.compile(
    r"^(?P<requirement>[a-z0-9][^\s\\]*(?: ; [^\\]+?)?) \\\n"
    r"(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)",
    re.MULTILINE,
)


class Pin(NamedTuple):
    name: str
    version: str
    marker: Marker | None


def pins(lock: str) -> list[Pin]:
    found = []
    for match in PIN.finditer((ROOT / "requirements" / lock).read_text("utf-8")):
        requirement = Requirement(match["requirement"])
        (specifier,) = requirement.specifier
        assert specifier.operator == "=="
        name = canonicalize_name(requirement.name)
        found.append(Pin(name, specifier.version, requirement.marker))
    return found


def versions(lock: str, environment: dict[str, str]) -> dict[str, str]:
    """Return what the lock installs on a machine; each package has one version."""
    here = [
        pin
        for pin in pins(lock)
        if pin.marker is None or pin.marker.evaluate(environment)
    ]
    assert len({pin.name for pin in here}) == len(here)
    return {pin.name: pin.version for pin in here}


def machine(python: str, platform: str) -> dict[str, str]:
    here: dict[str, Any] = dict(default_environment())
    system = {"linux": "Linux", "darwin": "Darwin"}[platform]
    here.update(python_version=python, python_full_version=f"{python}.0")
    here.update(sys_platform=platform, platform_system=system, os_name="posix")
    here.update(implementation_name="cpython", platform_python_implementation="CPython")
    return {**here, "extra": ""}


def project() -> dict[str, Any]:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return tomllib.loads(text)


def wanted() -> list[Requirement]:
    """Return all that drmbench[dev] asks for by itself."""
    found = project()["project"]
    extras = found["optional-dependencies"]
    lines = [*found["dependencies"], *(line for one in extras.values() for line in one)]
    requirements = [Requirement(line) for line in lines]
    own = [one for one in requirements if one.name == found["name"]]
    assert all(extra in extras for one in own for extra in one.extras)
    return [one for one in requirements if one.name != found["name"]]


def unmet(requirements: list[Requirement], here: dict[str, str]) -> list[str]:
    return [
        str(one)
        for one in requirements
        if not one.specifier.contains(here.get(canonicalize_name(one.name), "0"), True)
        or canonicalize_name(one.name) not in here
    ]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_it_satisfies_pyproject(python: str, platform: str) -> None:
    here = versions("dev.txt", machine(python, platform))
    assert len(wanted()) > 30
    assert unmet(wanted(), here) == []


@pytest.mark.parametrize("python", PYTHONS)
def test_what_builds_comes_before_what_is_built(python: str) -> None:
    here = versions("build.txt", machine(python, "linux"))
    asked = [Requirement(line) for line in project()["build-system"]["requires"]]
    assert unmet(asked, here) == []
    assert {"pip", "setuptools", "editables"} <= set(here)
    later = versions("dev.txt", machine(python, "linux"))
    both = here.keys() & later.keys()
    assert {name: here[name] for name in both} == {name: later[name] for name in both}


def test_packages_find_their_own_requirements_in_it() -> None:
    """Of the packages that are installed here in the very version of the lock."""
    environment = {**default_environment(), "extra": ""}
    here = versions("dev.txt", {str(k): str(v) for k, v in environment.items()})
    checked = 0
    for name, version in here.items():
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        if package.version != version:
            continue
        asked = [Requirement(line) for line in package.requires or []]
        needed = [
            one
            for one in asked
            if one.marker is None or one.marker.evaluate({"extra": ""})
        ]
        assert unmet(needed, here) == [], name
        checked += 1
    if not checked:
        pytest.skip("no package here has the version of the lock")


@pytest.mark.parametrize("lock", ["dev.txt", "build.txt"])
def test_every_line_is_a_pin_with_its_hashes(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text("utf-8")
    assert len(pins(lock)) == len(re.findall(r"^[a-z0-9]", text, re.MULTILINE))
    rest = [line for line in PIN.sub("", text).splitlines() if line.strip()]
    assert [line for line in rest if not line.lstrip().startswith("#")] == []
    assert "://" not in text


def test_a_requirement_beyond_the_lock_is_found() -> None:
    here = versions("dev.txt", machine("3.12", "linux"))
    asked = [Requirement("numpy>=99"), Requirement("no-such-package")]
    assert unmet(asked, here) == ["numpy>=99", "no-such-package"]


def test_the_script_is_for_the_pythons_that_are_checked_here() -> None:
    script = (ROOT / "tools" / "install.sh").read_text("utf-8")
    bounds = re.search(r"not \((\d+), (\d+)\) <= .* < \((\d+), (\d+)\)", script)
    assert bounds is not None
    low, high = int(bounds[2]), int(bounds[4])
    assert bounds[1] == bounds[3] == "3"
    assert [f"3.{minor}" for minor in range(low, high)] == list(PYTHONS)


def install(
    folder: Path, *, fits: bool, failing: str = "nothing", **variables: str
) -> Any:
    """Run the script with a stand-in for Python that records what it is asked."""
    stand_in = folder / "python"
    stand_in.write_text(
        f"""#!/bin/sh
if [ "$1" = -c ]; then exit {int(not fits)}; fi
echo "$@" >> {folder}/asked
case "$*" in *{failing}*) exit 1;; esac
"""
    )
    stand_in.chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if k != "UNLOCKED"}
    done = subprocess.run(
        ["bash", str(ROOT / "tools" / "install.sh"), str(stand_in)],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done, (folder / "asked").read_text().splitlines()


def test_it_is_installed_from_the_lock_alone(tmp_path: Path) -> None:
    done, asked = install(tmp_path, fits=True)
    assert (done.returncode, done.stdout) == (0, "")
    build, packages, own = asked
    assert "--require-hashes" in build
    assert build.endswith("requirements/build.txt")
    assert "--require-hashes" in packages
    assert "--no-build-isolation" in packages
    assert packages.endswith("requirements/dev.txt")
    assert own.endswith("--no-deps --no-build-isolation --editable .")


@pytest.mark.parametrize("lock", ["build.txt", "dev.txt"])
def test_a_file_that_is_refused_is_not_fetched_without_hashes(
    tmp_path: Path, lock: str
) -> None:
    done, asked = install(tmp_path, fits=True, failing=lock)
    assert done.returncode == 1
    assert "UNLOCKED=1" in done.stderr
    assert all("--require-hashes" in line for line in asked)


@pytest.mark.parametrize(("fits", "unlocked"), [(False, ""), (True, "1")])
def test_without_the_lock_it_says_so(tmp_path: Path, fits: bool, unlocked: str) -> None:
    done, asked = install(tmp_path, fits=fits, UNLOCKED=unlocked)
    assert done.returncode == 0
    assert done.stdout.startswith("not from the lock: ")
    assert asked[-1].endswith("--editable .[dev]")
