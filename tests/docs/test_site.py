"""What checks the built site finds every fault; every formula is drawn."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support import REPOSITORY

GOOD = {
    "index.html": '<a href="a/b.html#there">b</a> <a href="#top" id="top">top</a>'
    '<a href="https://example.org/">elsewhere</a> <link rel="canonical" '
    'href="https://example.org/"><script src="s.js"></script>',
    "a/b.html": '<h2 id="there">There</h2> <img src="../p.png"><a href="..">up</a>',
    "s.js": "",
    "p.png": "",
    "s.css": "@font-face {src: url(../f.woff2), url(data:font/woff2,a)}",
}


def check(site: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    for name, text in files.items():
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    command = [sys.executable, REPOSITORY / "tools/check_site.py", site]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_sound_site_passes(tmp_path: Path) -> None:
    done = check(tmp_path, GOOD)
    assert done.stdout == "2 pages checked: every link leads somewhere\n"
    assert done.returncode == 0


def test_every_fault_is_named(tmp_path: Path) -> None:
    faults = {
        '<a href="c.html">c</a>': "leads nowhere",
        '<a href="a/b.html#here">b</a>': "has no such place",
        '<a href="#bottom">b</a>': "has no such place",
        '<img src="q.png">': "leads nowhere",
        '<script src="https://cdn.example.org/m.js"></script>': "fetches https://cdn",
        '<link rel="stylesheet" href="//example.org/s.css">': "fetches //example.org",
    }
    style = "@import 'https://example.org/font.css'; b {background: url(http://a/b)}"
    pages = {f"{n}.html": text for n, text in enumerate(faults)}
    done = check(tmp_path, {**GOOD, **pages, "bad.css": style})
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    for page, said in zip(pages, faults.values(), strict=True):
        assert any(line.startswith(page) and said in line for line in lines), page
    assert "bad.css fetches https://example.org/font.css" in lines
    assert "bad.css fetches http://a/b" in lines
    assert len(lines) == len(faults) + 2


def test_an_empty_folder_is_no_site(tmp_path: Path) -> None:
    assert check(tmp_path, {}).returncode == 1


@pytest.fixture
def mathml(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("latex2mathml", reason="`pip install -e .[docs]` brings it")
    monkeypatch.syspath_prepend(REPOSITORY / "docs")
    return __import__("mathml").mathml


def test_every_formula_of_the_mathematics_is_drawn(mathml) -> None:
    """No command is left over as text, and each says its source."""
    text = (REPOSITORY / "docs/math.md").read_text(encoding="utf-8")
    found = re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", text, re.DOTALL)
    assert len(found) > 200
    for block, inline in found:
        drawn = ElementTree.fromstring(
            mathml(block or inline, "block" if block else "inline")
        )
        assert "\\" not in "".join(drawn.itertext())
        assert drawn.get("alttext") == " ".join((block or inline).split())


def test_norms_stand_close_to_what_they_measure(mathml) -> None:
    drawn = mathml(r"\lVert w \rVert^2 / 2", "inline")
    signs = re.findall(r"<mo ([^>]+)>(&#x02016;|&#x0002F;)</mo>", drawn)
    assert signs == [
        ('stretchy="false" lspace="0" rspace="0"', sign)
        for sign in ("&#x02016;", "&#x02016;", "&#x0002F;")
    ]
