"""Write the documents whose numbers come from the committed rows.

REPRODUCTION.md and docs/changed_numbers.md are templates as a whole; README.md has
parts that are filled in. Without an option all are compared with fresh ones and what
differs is named (exit code 1); ``--write`` writes them. A sentence that the rows no
longer support is an error that names it: rewrite it in docs/templates.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from drmbench.data.catalogue import origins
from drmbench.errors import DrmbenchError
from drmbench.files import replacing
from drmbench.report.text import TextRenderer
from drmbench.running.results import load_results

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "docs" / "templates"
REFERENCE = ROOT / "results" / "reference"


def fresh_texts() -> Iterator[tuple[str, str]]:
    """Give name and text of every document that has numbers of the rows."""
    texts = TextRenderer(TEMPLATES, load_results(REFERENCE), origins())
    yield "REPRODUCTION.md", texts.render("reproduction.md.j2")
    yield "docs/changed_numbers.md", texts.render("changed_numbers.md.j2")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    yield "README.md", texts.fill(readme)


def main() -> int:
    """Compare or write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="write the documents")
    wanted = parser.parse_args().write
    try:
        texts = dict(fresh_texts())
    except DrmbenchError as error:
        parser.exit(1, f"{error}\n")
    differing = [
        name
        for name, text in texts.items()
        if (ROOT / name).read_text(encoding="utf-8") != text
    ]
    for name in differing if wanted else ():
        with replacing(ROOT / name) as temporary:
            temporary.write_text(texts[name], encoding="utf-8", newline="\n")
    said = "written" if wanted else "differs from what the rows give"
    print("\n".join(f"{name}: {said}" for name in differing) or "all texts are current")
    return 1 if differing and not wanted else 0


if __name__ == "__main__":
    raise SystemExit(main())
