"""How Sphinx builds the documentation; every warning is an error (`make docs`).

Nothing is fetched. The command reference is made from the commands themselves, and
pages that live elsewhere in the repository are included with their links put right.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from sphinx.application import Sphinx

import drmbench
from drmbench.cli import app as commands

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))

project = "drmbench"
author = "The drmbench developers"
version = release = drmbench.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "templates", "gallery/*.ipynb", "gallery/*.py"]
nitpicky = True
# Classes of other packages, which are named but not documented here.
nitpick_ignore_regex = [
    (r"py:.*", r"(sklearn|numpy|np|scipy|pandas|pd|imblearn|pathlib)\..*"),
    # What docstrings name of their own modules that is not public.
    (r"py:.*", r"(distances|oversample|NothingGeneratedWarning|fit_sparse_lda_grid)"),
    (r"py:.*", r"drmbench\.drm\.linear\.LinearLeaveOneOut"),
]

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"drmbench {version}"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
}
# Pages that are a section by themselves have nothing to list beside them.
html_sidebars = {page: [] for page in ("index", "start", "tutorial", "changelog")}
templates_path = ["_templates"]

toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 10**6,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
}


def command_pages(command: Any, words: tuple[str, ...]) -> Iterator[str]:
    """Give the sections of the command reference, one for each command."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from command_pages(inner, (*words, name))
    if hasattr(command, "commands"):
        return
    context = command.make_context(" ".join(words), [], resilient_parsing=True)
    usage = " ".join([*words, *command.collect_usage_pieces(context)])
    yield f"## {' '.join(words)}\n\n```text\n{usage}\n```\n\n{command.help}\n"
    rows = [
        record
        for parameter in command.get_params(context)
        if (record := parameter.get_help_record(context)) and "--help" not in record[0]
    ]
    if rows:
        yield "| argument or option | |\n|---|---|"
        for option, said in rows:
            text = re.sub(r"([|*<>])", r"\\\1", " ".join(said.split()))
            yield "| `" + option.replace("|", r"\|") + f"` | {text} |"
    examples = [line for line in command.epilog.splitlines()[1:] if line.strip()]
    yield "\n```bash\n" + "\n".join(examples) + "\n```\n"


def fill_in_commands(app: Sphinx, page: str, source: list[str]) -> None:
    """Add every command to the page of the command reference."""
    if page == "reference/commands":
        root = typer.main.get_command(commands)
        source[0] += "\n" + "\n".join(command_pages(root, ("drmbench",)))


def lead_links_on(app: Sphinx, file: Path, page: str, content: list[str]) -> None:
    """Make links of an included document lead to where they led from its own folder.

    Links to folders, which a site has no page for, become plain text.
    """
    home = (app.srcdir / file).resolve().parent

    def moved(found: re.Match[str]) -> str:
        text, target, place = found.groups()
        path = (home / target).resolve()
        if path.is_dir():
            return text
        up = "../" * (1 + page.count("/"))
        inside = path.relative_to(ROOT)
        # A file that is no page can be downloaded; a place in it has no address.
        if inside.parts[0] != "docs":
            return f"[{text}](path:{up}{inside})"
        return f"[{text}]({up}{inside}{place or ''})"

    links = r"\[([^\]]+)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]+)?\)"
    content[0] = re.sub(links, moved, content[0])


def without_targets(
    app: Sphinx, what: str, name: str, owner: object, options: Any, lines: list[str]
) -> None:
    """Keep reST from taking the end of an attribute's name for a link."""
    lines[:] = [line.replace("(n_features_in_,)", "(n_features,)") for line in lines]


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("source-read", fill_in_commands)
    app.connect("include-read", lead_links_on)
    app.connect("autodoc-process-docstring", without_targets, priority=100)
