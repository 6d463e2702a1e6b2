"""Check the built documentation: links, places in pages, and that nothing is fetched.

Every link within the site leads to a file that is there and, after a ``#``, to an
element of that name; no page, style or script loads anything from another host.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a browser fetches by itself, as opposed to what a reader may click.
FETCHED = {
    *{(tag, "src") for tag in ("audio", "iframe", "img", "script", "source", "video")},
    *{("link", "href"), ("object", "data"), ("use", "href"), ("image", "href")},
}
#: Links of a page's head that name an address without fetching it.
ONLY_NAMED = {"canonical", "next", "prev", "search", "index", "author", "copyright"}
#: An address on another host that a style sheet loads.
REMOTE = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\s\"')]+)")


@dataclass
class Page(HTMLParser):
    """What a page names, and what is named in it."""

    places: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses and the name of an element."""
        found = {name: value for name, value in attrs if value is not None}
        self.places.update(found[name] for name in ("id", "name") if name in found)
        for name in ("href", "src", "data"):
            address = found.get(name, "")
            named = set(found.get("rel", "").split()) & ONLY_NAMED
            if (tag, name) in FETCHED and not named:
                self.fetched.append(address)
            if address:
                self.links.append(address)


def pages_of(site: Path) -> list[Path]:
    """Return the pages of a site, without templates of its theme and downloads."""
    others = {
        page
        for place in ("_static", "_downloads")
        for page in site.glob(f"{place}/**/*.html")
    }
    return sorted(set(site.rglob("*.html")) - others)


@cache
def read(path: Path) -> Page:
    """Return what a page holds."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def has_place(path: Path, name: str) -> bool:
    """Say whether a file has an element of a name; only pages are asked."""
    return not name or path.suffix != ".html" or name in read(path).places


def broken_links(site: Path) -> Iterator[str]:
    """Yield links within the site that lead to no file, or to no place in it."""
    for path in pages_of(site):
        for link in read(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path.parent / unquote(parts.path) if parts.path else path
            if target.is_dir():
                target /= "index.html"
            said = f"{path.relative_to(site)}: {link}"
            if not target.is_file():
                yield f"{said} leads nowhere"
            elif not has_place(target.resolve(), unquote(parts.fragment)):
                yield f"{said} has no such place"


def fetched_from_elsewhere(site: Path) -> Iterator[str]:
    """Yield what a browser would load from another host."""
    for path in pages_of(site):
        for address in read(path).fetched:
            if urlsplit(address).netloc:
                yield f"{path.relative_to(site)} fetches {address}"
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        for address in REMOTE.findall(text):
            yield f"{path.relative_to(site)} fetches {address}"


def main() -> None:
    """Print every fault of the site given and leave with 1 if there is one."""
    site = Path(sys.argv[1]).resolve()
    pages = len(pages_of(site))
    faults = [*broken_links(site), *fetched_from_elsewhere(site)]
    if not pages:
        faults = [f"{site} has no page"]
    print("\n".join(faults) or f"{pages} pages checked: every link leads somewhere")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
