"""Loads experiment files, all of them before anything is reported or run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from drmbench.config.model import Experiment
from drmbench.config.problems import Problem, Problems, raise_all
from drmbench.config.resolve import Draft, draft
from drmbench.errors import did_you_mean

#: Experiment files have a few thousand bytes; reading much more YAML takes minutes.
MAX_BYTES = 200_000


def load_experiments(paths: Sequence[Path]) -> list[Experiment]:
    """Load experiment files.

    Parameters
    ----------
    paths : sequence of Path
        YAML files.

    Returns
    -------
    list of Experiment
        One a file, in order.

    Raises
    ------
    InputError
        If anything is wrong in any of the files. The text lists all of it, one
        ``file:line: message`` a line.
    """
    experiments: list[Experiment] = []
    found: list[Problem] = []
    names: dict[str, str] = {}
    for path in paths:
        problems = Problems(path)
        drawn = _load(path, problems)
        if drawn.name in names:
            problems.add(
                drawn.line,
                f"the experiment {drawn.name!r} is also in {names[drawn.name]};"
                " their results would share a folder",
            )
        elif drawn.name:
            names[drawn.name] = str(path)
        found += problems.in_order()
        if drawn.experiment:
            experiments.append(drawn.experiment)
    raise_all(found)
    return experiments


def parse_experiment(text: str, *, source: Path) -> Experiment:
    """Build an experiment from the text of a file.

    Parameters
    ----------
    text : str
        YAML text.
    source : Path
        The file, for messages; paths in the text are relative to its folder.

    Raises
    ------
    InputError
        If anything is wrong; the text lists all of it.

    Examples
    --------
    >>> experiment = parse_experiment(
    ...     "{name: tiny, datasets: [iris], methods: [nb]}", source=Path("tiny.yaml"))
    >>> experiment.split.train, experiment.timeout
    ('paper', None)
    """
    problems = Problems(source)
    return _whole(draft(text, source, problems), problems)


def parse_without_data(text: str, *, source: Path) -> Experiment:
    """Build an experiment from the text of a file, with none of its data sets.

    For reading how stored results came about: no other file is opened, and it does
    not matter whether the data sets can still be found.

    Parameters
    ----------
    text : str
        YAML text.
    source : Path
        The file, for messages.

    Raises
    ------
    InputError
        If anything is wrong besides the data sets; the text lists all of it.

    Examples
    --------
    >>> experiment = parse_without_data(
    ...     "{name: tiny, datasets: [{path: gone.csv}], methods: [nb]}",
    ...     source=Path("tiny.yaml"))
    >>> experiment.datasets, experiment.plan_of("honest").kind
    ((), 'loo')
    """
    problems = Problems(source)
    return _whole(draft(text, source, problems, with_data=False), problems)


def _whole(drawn: Draft, problems: Problems) -> Experiment:
    """Return the experiment, or raise what is wrong with it."""
    raise_all(problems.in_order())
    assert drawn.experiment is not None
    return drawn.experiment


def _load(path: Path, problems: Problems) -> Draft:
    text = _read_text(path, problems)
    return Draft(None, 1, None) if text is None else draft(text, path, problems)


def _read_text(path: Path, problems: Problems) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        problems.add(None, f"no such file.{_near_files(path)}")
        return None
    except IsADirectoryError:
        problems.add(None, f"a directory, not a file.{_yaml_files(path)}")
        return None
    except (OSError, ValueError) as error:
        problems.add(None, f"cannot be read ({getattr(error, 'strerror', error)})")
        return None
    if len(data) > MAX_BYTES:
        problems.add(None, f"larger than {MAX_BYTES:,} bytes; is it an experiment?")
        return None
    return _decode(data, problems)


def _decode(data: bytes, problems: Problems) -> str | None:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.add(line, f"not UTF-8 text (byte 0x{data[error.start]:02x})")
        return None


def _near_files(path: Path) -> str:
    folder = path.parent
    return did_you_mean(path.name, [file.name for file in _files_of(folder)])


def _yaml_files(folder: Path) -> str:
    names = sorted(file.name for file in _files_of(folder) if file.suffix == ".yaml")
    return f" It has: {', '.join(names[:20])}" if names else ""


def _files_of(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
