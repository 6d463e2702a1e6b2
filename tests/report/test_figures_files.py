"""Figures are drawn once, written as the same bytes twice, and indexed."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from figure_results import (
    change_rows,
    draw,
)
from matplotlib._pylab_helpers import Gcf
from matplotlib.text import Text
from PIL import Image, ImageChops
from result_files import KEEL, make_results
from support import Run

from drmbench.report.figures import (
    FORMATS,
    Drawing,
    draw_all,
    rendered,
    to_svg,
    write_figures,
)
from drmbench.report.figures.style import headed, house_style
from drmbench.running.results import load_results


def test_every_figure_is_drawn_once(drawings: dict[str, Drawing]) -> None:
    assert list(drawings) == [
        "ablation_selected",
        "ablation_fixed_beta",
        "convergence_objective",
        "convergence_beta",
        "imbalanced_ranks",
        "timing_time",
        "imbalanced_published",
        "imbalanced_tradeoff",
    ]


@pytest.mark.parametrize("kind", ["classification", "timing", "convergence"])
@pytest.mark.parametrize("values", ["failed", None])
def test_nothing_usable_gives_messages(
    tmp_path: Path, kind: str, values: str | None
) -> None:
    make_results(
        tmp_path,
        "empty",
        kind=kind,
        datasets=KEEL,
        methods=["drm-rbf", "krr-rbf"],
        values=lambda *cell: values,
        modes=("paper", "honest"),
        reproduces="table8",
    )
    said: list[str] = []
    assert list(draw_all(load_results(tmp_path), say=said.append)) == []
    assert len(said) == {"classification": 2, "timing": 1, "convergence": 2}[kind]
    assert all(message.startswith("no figure: empty: ") for message in said)


def test_no_results_at_all() -> None:
    assert list(draw_all({})) == []


def test_matplotlib_is_left_as_it_was(tmp_path: Path) -> None:
    make_results(
        tmp_path, "timing", kind="timing", datasets=["poker"], methods=["drm-gd"]
    )
    with mpl.rc_context({"font.size": 31.0, "axes.grid": False}):
        before = dict(mpl.rcParams)
        for drawing in draw_all(load_results(tmp_path)):
            assert dict(mpl.rcParams) == before  # also between two drawings
            to_svg(drawing)
        assert dict(mpl.rcParams) == before
    assert not Gcf.figs


DRAW_AGAIN = """
import sys
from pathlib import Path
from drmbench.report.figures import FORMATS, write_figures
write_figures(Path(sys.argv[1]), ["timing"], Path(sys.argv[2]), formats=FORMATS)
"""


def test_another_process_writes_the_same_bytes(
    drawings: dict[str, Drawing], results_folder: Path, tmp_path: Path
) -> None:
    """Also with other hashes of texts and other settings of the user's."""
    (tmp_path / "matplotlibrc").write_text("font.size: 31\nsavefig.dpi: 20\n")
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "7",
        "MATPLOTLIBRC": str(tmp_path),
        "SOURCE_DATE_EPOCH": "1",
    }
    command = [sys.executable, "-c", DRAW_AGAIN, str(results_folder), str(tmp_path)]
    subprocess.run(command, check=True, env=environment)
    for suffix in FORMATS:
        written = (tmp_path / "figures" / f"timing_time.{suffix}").read_bytes()
        assert written == rendered(drawings["timing_time"], suffix), suffix


def test_files_have_no_date_and_no_version(drawings: dict[str, Drawing]) -> None:
    drawing = drawings["imbalanced_tradeoff"]
    assert "<dc:date>" not in to_svg(drawing)
    for suffix in FORMATS:
        content = rendered(drawing, suffix)
        assert b"CreationDate" not in content
        assert mpl.__version__.encode() not in content


def test_files_have_the_title_above_the_picture(drawings: dict[str, Drawing]) -> None:
    """All of it, in lines that fit, and nothing of the picture moves."""
    for drawing in drawings.values():
        width = drawing.figure.get_figwidth()
        before = [text.get_text() for text in drawing.figure.findobj(Text)]
        with headed(drawing.figure, drawing.title) as whole:
            (text,) = (x for x in drawing.figure.texts if x.get_weight() == "bold")
            assert text.get_text().replace("\n", " ") == drawing.title
            box = text.get_window_extent()
            assert box.x0 >= 0
            assert box.x1 <= drawing.figure.bbox.x1
            assert box.y0 >= drawing.figure.bbox.y1
            top = box.y1 / drawing.figure.dpi
            assert (whole.width, whole.height) == pytest.approx((width, top), abs=0.1)
        assert [text.get_text() for text in drawing.figure.findobj(Text)] == before
    drawing = drawings["timing_time"]
    bare = Image.open(io.BytesIO(_bare(drawing)))
    titled = Image.open(io.BytesIO(rendered(drawing, "png")))
    below = (0, titled.height - bare.height, titled.width, titled.height)
    difference = ImageChops.difference(bare, titled.crop(below)).convert("L")
    changed = np.asarray(difference) > 80
    assert changed.mean() < 0.01  # but for half a pixel of the crop


def _bare(drawing: Drawing) -> bytes:
    stream = io.BytesIO()
    with house_style():
        drawing.figure.savefig(stream, format="png", dpi=200)
    return stream.getvalue()


def test_the_index_has_all_captions_and_keeps_other_figures(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_results(
            tmp_path, name, kind="timing", datasets=["poker"], methods=["drm-gd"]
        )
    written = write_figures(tmp_path, [], tmp_path, formats=FORMATS)
    assert [path.name for path in written] == [
        *(f"{name}_time.{suffix}" for name in ("one", "two") for suffix in FORMATS),
        "README.md",
    ]
    index = written[-1].read_text()
    captions = [drawing.caption for drawing in draw(tmp_path).values()]
    assert all(caption in index for caption in captions)
    write_figures(tmp_path, ["two"], tmp_path, formats=FORMATS)
    assert written[-1].read_text() == index
    for suffix in FORMATS:
        (tmp_path / "figures" / f"one_time.{suffix}").unlink()
    write_figures(tmp_path, ["two"], tmp_path, formats=FORMATS)
    assert "one_time" not in written[-1].read_text()


@pytest.mark.parametrize(
    ("formats", "linked"),
    [
        (("svg",), ["c_beta.svg"]),
        (("pdf",), ["c_beta.pdf"]),
        (FORMATS, ["c_beta.svg", "c_beta.pdf", "c_beta.png"]),
    ],
)
def test_the_index_links_what_is_written(
    tmp_path: Path, formats: tuple[str, ...], linked: list[str]
) -> None:
    make_results(
        tmp_path, "c", kind="convergence", datasets=["poker"], methods=["drm-gd"]
    )
    *files, index = write_figures(tmp_path, [], tmp_path, formats=formats)
    targets = re.findall(r"\]\((\S+)\)", index.read_text())
    assert sorted(targets) == sorted(path.name for path in files)
    assert [name for name in targets if name.startswith("c_beta")] == linked
    rendered_files = {
        f"{drawing.id}.{suffix}": rendered(drawing, suffix)
        for drawing in draw_all(load_results(tmp_path))
        for suffix in formats
    }
    assert rendered_files == {path.name: path.read_bytes() for path in files}


def test_the_command_draws_and_says_what_it_cannot(run: Run, tmp_path: Path) -> None:
    make_results(
        tmp_path, "c", kind="convergence", datasets=["poker"], methods=["drm-gd"]
    )
    change_rows(tmp_path, "c", "trace", "", method="drm-gd")
    answer = run("figures", "c", "--results", str(tmp_path), "--out", str(tmp_path))
    assert answer.code == 0
    names = [Path(text).name for text in answer.out.splitlines()]
    assert names == ["c_beta.svg", "README.md"]
    assert answer.err == (
        "drmbench: no figure: c: no finished row has a trace at β = 10000\n"
    )
    place = ("--results", str(tmp_path), "--out", str(tmp_path))
    everything = run("figures", "c", *place, "--format", "all")
    names = [Path(text).name for text in everything.out.splitlines()]
    assert names == ["c_beta.svg", "c_beta.pdf", "c_beta.png", "README.md"]
    wrong = run("figures", "c", *place, "--format", "svg,pfd")
    assert wrong.code == 2
    assert "no format 'pfd'; there are svg, pdf, png, and all" in wrong.err


def test_wrong_names_and_folders(run: Run, tmp_path: Path) -> None:
    make_results(
        tmp_path, "timing", kind="timing", datasets=["poker"], methods=["drm-gd"]
    )
    wrong = run("figures", "timming", "--results", str(tmp_path))
    assert wrong.code == 2
    assert "Did you mean 'timing'?" in wrong.err
    nowhere = run("figures", "--results", str(tmp_path / "nowhere"))
    assert nowhere.code == 2
    assert "has no results to draw" in nowhere.err
    (tmp_path / "taken").write_text("")
    taken = run("figures", "--results", str(tmp_path), "--out", str(tmp_path / "taken"))
    assert taken.code == 2
    assert "cannot write to" in taken.err
