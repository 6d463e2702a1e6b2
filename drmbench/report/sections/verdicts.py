"""The paper's claims one by one, each with the verdict that the results allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from drmbench.report.markup import Html, commands, details, section, tag

if TYPE_CHECKING:
    from drmbench.report.claims import Verdict

#: What a verdict can be, best first, and its mark for those who do not see colours.
STATUSES = {
    "reproduced": "✓",
    "partly": "◐",
    "not reproduced": "✗",
    "not testable": "?",
}


def verdict_section(verdicts: Sequence[Verdict]) -> Html:
    """Return the section on the paper's claims."""
    return section(
        "claims",
        2,
        "The paper's claims against these results",
        tag(
            "p",
            "Each claim is quoted from the paper, judged by fixed rules on the stored"
            " results, and shown with the numbers behind the verdict.",
        ),
        tag(
            "div",
            *map(_claim, verdicts),
            id="claim-list",
            data_statuses=", ".join(STATUSES),
        ),
    )


def _claim(verdict: Verdict) -> Html:
    anchor = f"claim-{verdict.id}"
    status = verdict.status
    badge = tag(
        "span",
        f"{STATUSES[status]} {status}",
        class_=f"badge {status.replace(' ', '-')}",
    )
    name = tag("small", verdict.id)
    heading = tag("h3", badge, f" {verdict.section} ", name, id=f"{anchor}-title")
    rerun = details(
        "Run it again", commands(verdict.commands, f"Commands for {verdict.id}")
    )
    return tag(
        "article",
        heading,
        tag("blockquote", tag("p", verdict.quote)),
        tag("p", tag("strong", "Numbers: "), verdict.numbers),
        tag("p", verdict.explanation),
        rerun if verdict.commands else "",
        id=anchor,
        class_="claim",
        data_status=status,
        aria_labelledby=f"{anchor}-title",
    )
