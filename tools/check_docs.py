"""Check what linters do not: that the documents say what is true of the tree.

Every relative link leads somewhere, every ``make`` target and ``drmbench`` command that
is named exists, every command's help has examples, the versions agree, and no text
speaks of a place on somebody's machine.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import typer

from drmbench import __version__
from drmbench.cli import app

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("docs/*/*.md"),
        *ROOT.glob("*/README.md"),
    ]
)


def places(text: str) -> set[str]:
    """Return the names of places in a document: of its headings and of anchors."""
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    slugs = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {slug.replace(" ", "-") for slug in slugs} | {
        *re.findall(r'<a id="([^"]+)">', text)
    }


def broken_links() -> Iterator[str]:
    """Yield relative links to files, or to places in them, that are not there."""
    for document in DOCUMENTS:
        links = re.findall(r"\]\(([^)#\s]+)(?:#([^)\s]+))?", document.read_text())
        for target, place in links:
            if "://" in target:
                continue
            path = document.parent / target
            if not path.exists():
                yield f"{document.name}: the link to {target} is broken"
            elif place and place not in places(path.read_text()):
                yield f"{document.name}: {target} has no place {place}"


def misquoted_code() -> Iterator[str]:
    """Yield code blocks that name a file and do not stand in it."""
    for document in DOCUMENTS:
        blocks = re.findall(
            r"^```text (\S+\.py)\n(.*?)^```", document.read_text(), re.M | re.S
        )
        for name, code in blocks:
            if code not in (ROOT / name).read_text():
                yield f"{document.name}: {name} does not have {code.strip()!r}"


def unknown_targets() -> Iterator[str]:
    """Yield ``make`` targets that documents name and the Makefile lacks."""
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for document in DOCUMENTS:
        for name in re.findall(r"`make ([a-z-]+)", document.read_text()):
            if name not in targets:
                yield f"{document.name}: `make {name}` does not exist"


def commands(
    group: click.Command, path: tuple[str, ...] = ()
) -> dict[tuple[str, ...], click.Command]:
    """Return every command of the command line by its words."""
    if not hasattr(group, "commands"):
        return {path: group}
    found = {}
    for name, command in group.commands.items():
        found |= commands(command, (*path, name))
    return found


def command_faults() -> Iterator[str]:
    """Yield commands without examples, and named commands that do not exist."""
    known = commands(typer.main.get_command(app))
    for words, command in known.items():
        if "drmbench" not in (command.epilog or ""):
            yield f"drmbench {' '.join(words)}: its help has no example"
    first_words = {words[0] for words in known}
    for document in DOCUMENTS:
        for name in re.findall(
            r"(?:bin/|^    |`)drmbench ([a-z][a-z-]*)", document.read_text(), re.M
        ):
            if name not in first_words:
                yield f"{document.name}: `drmbench {name}` does not exist"


def version_faults() -> Iterator[str]:
    """Yield places whose version differs from the package's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    if project != __version__:
        yield f"pyproject.toml says {project}, the package {__version__}"
    changes = (ROOT / "CHANGELOG.md").read_text()
    day = re.search(rf"^## {re.escape(__version__)} \((.+)\)$", changes, re.MULTILINE)
    if day is None:
        yield f"CHANGELOG.md does not say when {__version__} was released"
        return
    for name, pattern in (
        ("CITATION.cff", rf"^version: {re.escape(__version__)}$"),
        ("CITATION.cff", rf"^date-released: {day[1]}$"),
    ):
        if not re.search(pattern, (ROOT / name).read_text(), re.MULTILINE):
            yield f"{name} does not name version {__version__} of {day[1]}"


def private_paths() -> Iterator[str]:
    """Yield tracked texts that name a path on somebody's machine."""
    answer = subprocess.run(
        ["git", "grep", "-nIE", r"(^|[^.\w/])/(home|root|Users|work)/\w"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    for line in answer.stdout.splitlines():
        if not line.startswith("tools/check_docs.py"):
            yield f"a path of one machine: {line}"


def main() -> None:
    """Print every fault and leave with 1 if there is one."""
    checks = (
        broken_links,
        misquoted_code,
        unknown_targets,
        command_faults,
        version_faults,
        private_paths,
    )
    faults = [fault for check in checks for fault in check()]
    print("\n".join(faults) or f"{len(DOCUMENTS)} documents checked: nothing wrong")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
