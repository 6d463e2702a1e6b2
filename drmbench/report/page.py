"""The report page as a whole: head, table of contents and all sections."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from drmbench import __version__
from drmbench.report.markup import Html, joined, section, tag, void
from drmbench.report.sections.group import Group, group_section
from drmbench.report.sections.overview import ABOUT, overview
from drmbench.report.sections.provenance import data_section, environment_section
from drmbench.report.sections.reproduce import reproduce_section
from drmbench.report.sections.verdicts import verdict_section
from drmbench.report.table import Table
from drmbench.run.results import Results

if TYPE_CHECKING:
    from drmbench.report.claims import Verdict

TITLE = "The Discriminative Ridge Machine, reproduced"


@dataclass(frozen=True)
class Content:
    """All that the page shows.

    Attributes
    ----------
    groups : sequence of Group
        The experiments, in the order of the page.
    verdicts : sequence of Verdict
        The paper's claims, judged.
    dataset_tables : sequence of Table
        The paper's tables of data sets.
    drawn_with : str
        The versions that the figures' bytes depend on; empty without figures.
    """

    groups: Sequence[Group]
    verdicts: Sequence[Verdict] = ()
    dataset_tables: Sequence[Table] = ()
    drawn_with: str = ""

    @property
    def results(self) -> dict[str, Results]:
        """All experiments by name, in the order of the page."""
        found = [part.results for group in self.groups for part in group.experiments]
        return {results.name: results for results in found}


def page(content: Content) -> str:
    """Return the page: one HTML file that needs no other and asks no network."""
    style, script = _asset("report.css"), _asset("report.js")
    body = (
        tag("a", "Skip to the content", href="#content", class_="skip"),
        tag("header", tag("h1", TITLE), tag("p", ABOUT)),
        _contents(content),
        tag("main", _sections(content), id="content", tabindex="-1"),
        tag("footer", tag("p", _made_by(content))),
        tag("script", Html(script)),
    )
    whole = tag("html", _head(style, script), tag("body", joined(body)), lang="en")
    return f"<!doctype html>\n{whole}\n"


def _made_by(content: Content) -> str:
    drawn = f" Figures drawn with {content.drawn_with}." if content.drawn_with else ""
    return f"Made by drmbench {__version__}.{drawn}"


def _head(style: str, script: str) -> Html:
    metas = (
        {"charset": "utf-8"},
        {"http_equiv": "Content-Security-Policy", "content": _policy(script)},
        {"name": "viewport", "content": "width=device-width, initial-scale=1"},
        {"name": "color-scheme", "content": "light dark"},
    )
    title = tag("title", f"{TITLE} (drmbench)")
    return tag(
        "head", *(void("meta", **m) for m in metas), title, tag("style", Html(style))
    )


def _policy(script: str) -> str:
    """Return a policy that allows this very script, inline styles, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return files("drmbench.report").joinpath("assets", name).read_text("utf-8")


def _sections(content: Content) -> Html:
    results = content.results
    return joined(
        [
            overview(results, content.verdicts),
            verdict_section(content.verdicts),
            section(
                "experiments", 2, "Experiments", *map(group_section, content.groups)
            ),
            reproduce_section(results),
            environment_section(results),
            data_section(results, content.dataset_tables),
        ]
    )


def _contents(content: Content) -> Html:
    links = {
        "summary": "Summary",
        "run": "What was run",
        "protocol": "How it was run",
        "claims": "The paper's claims",
        "experiments": "Experiments",
        "reproduce": "How to reproduce",
        "environment": "Environment",
        "data": "Data",
    }
    inner = {group.anchor: group.label for group in content.groups}
    items = (
        tag("li", _link(to, text), _link_list(inner) if to == "experiments" else "")
        for to, text in links.items()
    )
    contents = tag("details", tag("summary", "Contents"), tag("ol", *items), open=True)
    return tag("nav", contents, aria_label="Contents")


def _link_list(links: Mapping[str, str]) -> Html:
    return tag("ul", *(tag("li", _link(to, text)) for to, text in links.items()))


def _link(to: str, text: str) -> Html:
    return tag("a", text, href=f"#{to}")
