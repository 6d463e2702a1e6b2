"""Users' own modules, and packages that bring methods, written for tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from drmbench.methods import imports
from drmbench.methods.plugins import load_plugins

#: A classifier that does what its parameters say; the version is in what it predicts.
TOY = '''
import os
import time
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Toy(ClassifierMixin, BaseEstimator):
    """Predicts the class of the nearest mean, or misbehaves."""

    def __init__(self, power=2.0, fails="", seconds=0.0, random_state=None):
        self.power, self.fails, self.seconds = power, fails, seconds
        self.random_state = random_state

    def fit(self, X, y):
        time.sleep(self.seconds)
        if self.fails == "always" or self.fails == "odd" and X.shape[0] % 2:
            raise TypeError(f"cannot fit {len(X)} rows")
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == c].mean(axis=0) for c in self.classes_])
        return self

    def predict(self, X):
        if self.fails == "predict":
            raise RuntimeError("cannot predict")
        gaps = np.abs(X[:, None] - self.means_[None]) ** self.power
        return self.classes_[gaps.sum(axis=2).argmin(axis=1)]
'''


def write_distribution(
    folder: Path,
    name: str,
    *,
    version: str = "1.0",
    modules: dict[str, str],
    entry_points: str = "",
) -> Path:
    """Write an installed distribution with modules, and return the folder it is in."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{name}-*.dist-info/*"):
        old.unlink()
    for empty in folder.glob(f"{name}-*.dist-info"):
        empty.rmdir()
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(head)
    (info / "top_level.txt").write_text("".join(f"{one}\n" for one in modules))
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
    if entry_points:
        (info / "entry_points.txt").write_text(f"[drmbench.methods]\n{entry_points}")
    return folder


@contextmanager
def clean_imports(folder: Path) -> Iterator[None]:
    """Forget modules below a folder, and leave the search path as it was."""
    path, own = list(sys.path), dict(imports._own)
    try:
        yield
    finally:
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if file and Path(file).is_relative_to(folder):
                del sys.modules[name]
        sys.path[:] = path
        imports._own.clear()
        imports._own.update(own)
        imports._reached.clear()
        imports._distributions.cache_clear()
        load_plugins.cache_clear()
