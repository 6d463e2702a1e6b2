"""Reading experiment files: YAML becomes experiments, or a list of all problems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from drmbench.config.messages import Problems, raise_all
from drmbench.config.model import Experiment
from drmbench.config.resolve import Draft, Refs
from drmbench.errors import did_you_mean, quoted
from drmbench.files import is_special
from drmbench.shipped import shipped_configs

#: Experiment files have a few thousand bytes; reading much more YAML takes minutes.
MAX_BYTES = 200_000


def load_experiments(paths: Sequence[Path]) -> list[Experiment]:
    """Load YAML files, one experiment each.

    If anything is wrong in any of them, `InputError` lists all of it, one
    ``file:line: message`` per line.
    """
    experiments: list[Experiment] = []
    found: list[str] = []
    names: dict[str, str] = {}
    for path in paths:
        problems = Problems(path)
        text = _read_text(path, problems)
        if text is not None:
            draft = Draft(text, problems)
            name = draft.file.name
            if name in names:
                problems.add(
                    draft.root.line_of("name"),
                    f"the experiment {quoted(name)} is also in {names[name]}; their"
                    " results"
                    " would share a folder",
                )
            elif name:
                names[name] = str(path)
            experiment = draft.resolve()
            if experiment:
                experiments.append(experiment)
        found += problems.in_order()
    raise_all(found)
    return experiments


def parse_experiment(
    text: str, *, source: Path, datasets: Refs | None = None, lines: bool = True
) -> Experiment:
    """Build an experiment from the YAML text of a file.

    Paths in the text are relative to the folder of `source`. If there are `datasets`,
    those in the text are not looked at: no file is opened, and it does not matter
    whether they can still be found. `InputError` lists all that is wrong, by line
    unless `lines` is false.

    Examples
    --------
    >>> experiment = parse_experiment(
    ...     "{name: tiny, datasets: [iris], methods: [nb]}", source=Path("tiny.yaml"))
    >>> experiment.split.train, experiment.timeout
    ('paper', None)
    """
    problems = Problems(source, lines=lines)
    experiment = Draft(text, problems, datasets).resolve()
    raise_all(problems.in_order())
    assert experiment is not None
    return experiment


def _read_text(path: Path, problems: Problems) -> str | None:
    line = 0
    if is_special(path):
        problems.add(line, "a pipe or device; give a regular file")
        return None
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) <= MAX_BYTES:
            return data.decode("utf-8-sig")
        reason = f"larger than {MAX_BYTES:,} bytes; is it an experiment?"
    except FileNotFoundError:
        reason = f"no such file.{_near_names(path)}"
    except IsADirectoryError:
        names = [name for name in _names_in(path) if name.endswith(".yaml")]
        listed = f" It has: {', '.join(names[:20])}" if names else ""
        reason = f"a directory, not a file.{listed}"
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        reason = f"not UTF-8 text (byte 0x{error.object[error.start]:02x})"
    except (OSError, ValueError) as error:
        reason = f"cannot be read ({getattr(error, 'strerror', error)})"
    problems.add(line, reason)
    return None


def _near_names(path: Path) -> str:
    """Name the files and packaged configs that a missing file may mean."""
    packaged = shipped_configs()
    near = did_you_mean(path.name, _names_in(path.parent))
    near = near or did_you_mean(path.stem, packaged)
    return near or f" Packaged configs: {', '.join(packaged)}"


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(file.name for file in folder.iterdir())
    except OSError:
        return []
