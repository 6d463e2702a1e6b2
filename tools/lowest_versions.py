"""The lowest versions that pyproject.toml allows, as constraints for pip.

Printed for `make test-oldest`: of every requirement and extra with ``>=`` the release
that it names, so that the bounds are true and there is no second list of them.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
#: A name, perhaps extras, perhaps one bound.
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[\w,.-]+\])?(?:(>=|==)([\d.]+))?")


def constraints(pyproject: str) -> Iterator[str]:
    """Yield ``name==version`` for each lower bound in the text of a pyproject.toml."""
    project = tomllib.loads(pyproject)["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for requirement in (item for group in groups for item in group):
        parts = REQUIREMENT.fullmatch(requirement.replace(" ", ""))
        if parts is None:
            sys.exit(
                f"pyproject.toml: {requirement!r} is not a name with one >= or == bound"
            )
        if parts[2]:
            yield f"{parts[1]}=={parts[3]}"


if __name__ == "__main__":
    print("\n".join(constraints(PYPROJECT.read_text(encoding="utf-8"))))
