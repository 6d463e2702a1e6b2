"""Checksums of all that `make tables figures report` writes, in every format.

Git holds the documents, the SVG figures and the page; results/SHA256SUMS vouches for
the other formats as well. Without an option the sums are compared with fresh ones and
what differs is named (exit code 1); ``--write`` records fresh ones, and the digests of
the committed rows and manifests in the manifests.

Text depends on the stored rows alone. A drawing also depends on the versions of the
libraries that lay it out and pack it, which the file names in its first lines.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from drmbench.files import replacing
from drmbench.report import figures
from drmbench.report.figures import drawn_with
from drmbench.report.page import write_report
from drmbench.report.reference import sign_reference
from drmbench.report.tables import rendered_tables
from drmbench.running.results import experiments_in, load_results

RESULTS = Path(__file__).resolve().parent.parent / "results"
REFERENCE = RESULTS / "reference"
SUMS = RESULTS / "SHA256SUMS"


def packed_with() -> str:
    """Return the versions of what packs the bytes of PDF, PNG and the page."""
    return f"Pillow {metadata.version('pillow')}, zlib {zlib.ZLIB_RUNTIME_VERSION}"


def comparable(name: str, heading: str) -> bool:
    """Tell whether a file must be the same here, given the first lines of the sums."""
    if name.startswith("tables/"):
        return True
    drawn = drawn_with() in heading
    packed = name.endswith((".pdf", ".png", ".html"))
    return drawn and (packed_with() in heading or not packed)


def fresh_files() -> Iterator[tuple[str, bytes]]:
    """Give name and content of every file that the commands write, sorted by name."""
    results = load_results(REFERENCE)
    found = {f"tables/{name}": text.encode() for name, text in rendered_tables(results)}
    drawings = list(figures.draw_all(results))
    for drawing in drawings:
        for suffix in figures.FORMATS:
            name = f"figures/{drawing.id}.{suffix}"
            found[name] = figures.rendered(drawing, suffix)
    found[f"figures/{figures.INDEX}"] = figures.svg_index(drawings).encode()
    with tempfile.TemporaryDirectory() as folder:
        page = write_report(REFERENCE, (), Path(folder) / "report.html")
        found[page.name] = page.read_bytes()
    yield from sorted(found.items())


def fresh_sums() -> dict[str, str]:
    """Return the checksum of every file by name."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in fresh_files()}


def recorded() -> tuple[str, dict[str, str]]:
    """Return the first lines of the recorded sums, and the sums by name."""
    text = SUMS.read_text(encoding="utf-8")
    pairs = re.findall(r"^([0-9a-f]{64})  (\S+)$", text, re.MULTILINE)
    heading = "".join(line for line in text.splitlines(True) if line.startswith("#"))
    return heading, {name: digest for digest, name in pairs}


def differing(fresh: dict[str, str]) -> list[str]:
    """Return the files that differ from the recorded sums, or are in one place only."""
    heading, known = recorded()
    return [
        name
        for name in sorted({*fresh, *known})
        if fresh.get(name) != known.get(name)
        and (comparable(name, heading) or not (name in fresh and name in known))
    ]


def strays() -> list[str]:
    """Return files in results/ that are not what the sums say, or that nothing writes.

    Documents and SVG figures must be there; other formats may.
    """
    known = recorded()[1]
    there = {
        path.relative_to(RESULTS).as_posix(): path
        for folder in ("tables", "figures")
        for path in (RESULTS / folder).rglob("*")
        if path.is_file()
    } | {"report.html": RESULTS / "report.html"}
    needed = {name for name in known if name.endswith((".md", ".svg"))}
    wrong = {
        name
        for name, path in there.items()
        if hashlib.sha256(path.read_bytes()).hexdigest() != known.get(name)
    }
    return sorted(wrong | (needed - there.keys()))


def main() -> int:
    """Compare or record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="record fresh sums")
    if parser.parse_args().write:
        for name in experiments_in(REFERENCE):
            sign_reference(REFERENCE / name)
        fresh = fresh_sums()
        heading = f"# drawn with {drawn_with()}\n# packed with {packed_with()}\n"
        lines = (f"{digest}  {name}\n" for name, digest in fresh.items())
        with replacing(SUMS) as temporary:
            temporary.write_text(heading + "".join(lines), encoding="utf-8")
        print(f"{len(fresh)} checksums in {SUMS.relative_to(RESULTS.parent)}")
        return 0
    faults = [*differing(fresh_sums()), *strays()]
    print("\n".join(faults) or "all files are what the commands write")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
