"""Attacks on runs and readers: kills, crowds, flipped bits, broken files.

``python -m tools.faults`` prints how many trials of each kind there were and what was
violated; ``--only kills --trial 17 --seed N`` repeats one of them. Nothing here is
shipped, and the package knows nothing of it.
"""

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

#: What the tests have: broken configs, valid files of every format, small runs.
_SHARED = (".", "run", "data", "config")
for _name in _SHARED:
    _path = str(REPOSITORY / "tests" / _name)
    if _path not in sys.path:
        sys.path.append(_path)
