"""Draw the README's picture of what the DRM does, from the gallery's example."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parent.parent

if __name__ == "__main__":
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "drmbench"
    runpy.run_path(str(ROOT / "examples" / "gallery" / "plot_representation.py"))
    plt.savefig(
        ROOT / "docs" / "representation.svg", metadata={"Date": None, "Creator": None}
    )
