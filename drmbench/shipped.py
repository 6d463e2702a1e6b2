"""Where the files lie that come with drmbench: in its checkout, or as installed.

A wheel carries the configs and the committed results in ``drmbench/_shipped``.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def checkout_root() -> Path | None:
    """Return the root of the checkout this code runs from, or None if installed."""
    root = _PACKAGE.parent
    return root if (root / "datasets" / "registry.yaml").is_file() else None


def shipped_reference() -> Path:
    """Return the folder of the committed results."""
    root = checkout_root()
    return root / "results" / "reference" if root else _PACKAGE / "_shipped/reference"


def shipped_configs() -> dict[str, Path]:
    """Return the experiment files that come with drmbench, by name.

    Examples
    --------
    >>> shipped_configs()["gene"].name
    'gene.yaml'
    """
    folder = (checkout_root() or _PACKAGE / "_shipped") / "configs"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find_config(path: Path) -> Path:
    """Return the experiment file that a path or a name stands for.

    A file that is here always wins: the path itself, else, for a name alone, NAME.yaml
    and configs/NAME.yaml. Then ``NAME``, ``NAME.yaml`` and ``configs/NAME.yaml`` stand
    for the shipped one of that name. What is neither is returned as it is.
    """
    candidates = [path]
    if path.parent == Path() and not path.suffix:
        candidates += [Path(f"{path}.yaml"), Path("configs", f"{path}.yaml")]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    named = path.parent in (Path(), Path("configs")) and path.suffix in ("", ".yaml")
    return shipped_configs().get(path.stem, path) if named else path
