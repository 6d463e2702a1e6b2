"""Changed experiment files through ``config check`` and the plan of a dry run.

Each is read, or refused with exit code 2 and a message that names the file.
"""

from __future__ import annotations

import glob
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from config_changes import FILES, MARKS, VALUES

from drmbench.config import load_experiments

from . import REPOSITORY
from .small import command
from .trials import Attack, Trial
from .warm import warm_up

_BAD = REPOSITORY / "tests" / "bad_configs"
#: Values beyond those of the tests: huge, deep, long, and from other alphabets.
_EXTREME = (
    *(str(10**n) for n in (3, 6, 9, 19, 40, 400)),
    *(
        "1e308",
        "-1e-308",
        "0.1e-400",
        "[" * 60 + "]" * 60,
        "{a: " * 60 + "1" + "}" * 60,
    ),
    *(
        "9" * 5000,
        "x" * 5000,
        "\u202e\u0645\u0631\u062d\u0628\u0627",
        "\u4e2d\u6587",
        "\U0001f400",
    ),
    *(
        "{name: synthetic, parameters: {n: 100, p: 2}}",
        "'{}'",
        "'{0}'",
        "'%s'",
        "'../x'",
    ),
    *("&b [1, 2]", "*b", "{<<: *b}", "[*b, *b]", "'\\\\'", "'a/b'", "'.'", "''' '''"),
    *(
        "[0.1, 0.10]",
        "[1, true]",
        "{kind: kfold, k: 1000000}",
        "{kind: random, train: 0.5}",
    ),
)
_ALL_VALUES = (*VALUES, *_EXTREME)


@dataclass(frozen=True)
class Texts:
    """What is changed, and where the changed files go."""

    good: tuple[str, ...]
    bad: tuple[str, ...]
    folder: Path  #: With the table that some of the texts name


def prepare(folder: Path) -> Texts:
    """Read the shipped, the good and the bad configs."""
    warm_up()
    for path in [*_BAD.glob("*.csv"), *FILES[0].parent.glob("*.csv")]:
        (folder / path.name).write_bytes(path.read_bytes())
    good, bad = (
        tuple(_local(path.read_text(encoding="utf-8")) for path in files)
        for files in (FILES, sorted(_BAD.glob("*.yaml")))
    )
    return Texts(good, bad, folder)


def _local(text: str) -> str:
    """Return a config that finds its table beside it, and generates little data."""
    return text.replace("../../bad_configs/", "").replace("000000", "00")


def attempt(given: Texts, trial: Trial, rng: random.Random) -> None:
    """Change a text one to three times, check it, and plan it if it is good."""
    text = rng.choice(given.good if rng.random() < 0.8 else given.bad)
    changes = rng.choice((_CHANGES, _MILD))
    for _ in range(rng.randint(1, 3)):
        text = rng.choice(changes)(rng, text)
    trial.units = 1
    path = given.folder / f"changed-{trial.number}.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    trial.story.append(text[:3000])
    ended = command("config", "check", path)
    _judge(trial, "check", path, ended.code, ended.err, (0, 2))
    if ended.code == 0:
        out = given.folder / f"out-{trial.number}"
        (experiment,) = load_experiments([path])
        names = {rng.choice(experiment.datasets).name for _ in range(2)}
        filters = [f"--dataset={glob.escape(name)}" for name in names]
        planned = command("run", path, "--dry-run", "--out", out, *filters)
        _judge(trial, "plan", path, planned.code, planned.err, (0, 2))
        if out.exists():
            trial.violate("wrong", "a dry run wrote something")
    path.unlink()


def _judge(
    trial: Trial, what: str, path: Path, code: int, err: str, allowed: tuple[int, ...]
) -> None:
    trial.outcomes[f"{what} {'ok' if code == 0 else 'refused'}"] += 1
    if "Traceback" in err:
        trial.violate("traceback", f"{what}: {err[-3000:]}")
    elif code not in allowed:
        trial.violate("wrong", f"{what} ended with {code}: {err[-500:]}")
    elif code and what == "check" and path.name not in err:
        trial.violate("wrong", f"a refusal that does not name the file: {err[-500:]}")


def _drop_line(rng: random.Random, text: str) -> str:
    lines = text.splitlines() or [""]
    del lines[rng.randrange(len(lines))]
    return "\n".join(lines)


def _repeat_line(rng: random.Random, text: str) -> str:
    lines = text.splitlines() or [""]
    lines.insert(rng.randint(0, len(lines)), rng.choice(lines))
    return "\n".join(lines)


def _replace_value(rng: random.Random, text: str) -> str:
    """Put another value behind one of the colons, or in a list."""
    places = [n for n, mark in enumerate(text) if mark in ":[,"]
    if not places:
        return text
    start = rng.choice(places) + 1
    ends = [n for n in range(start, len(text)) if text[n] in ",]}\n"]
    end = ends[0] if ends else len(text)
    return f"{text[:start]} {rng.choice(_ALL_VALUES)}{text[end:]}"


def _insert_mark(rng: random.Random, text: str) -> str:
    place = rng.randint(0, len(text))
    return text[:place] + rng.choice(MARKS) + text[place:]


def _cut(rng: random.Random, text: str) -> str:
    start = rng.randint(0, len(text))
    return text[:start] + text[start + rng.randint(1, 30) :]


def _other_number(rng: random.Random, text: str) -> str:
    """Put another number in the place of one."""
    found = list(re.finditer(r"(?<![\w.])\d+(\.\d+)?(?![\w.])", text))
    if not found:
        return text
    match = rng.choice(found)
    number = rng.choice(
        ("0", "1", "2", "3", "7", "0.5", "1e-3", "100", "1000000", "-1")
    )
    return text[: match.start()] + number + text[match.end() :]


def _other_word(rng: random.Random, text: str) -> str:
    """Put a word of the text in the place of another one."""
    found = list(re.finditer(r"[a-z][\w-]+", text))
    if not found:
        return text
    one, other = rng.choice(found), rng.choice(found)
    return text[: one.start()] + other[0] + text[one.end() :]


def _rearrange(rng: random.Random, text: str) -> str:
    """Change the structure instead of the text: keys dropped, renamed, retyped."""
    try:
        root = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return text
    places = list(_places(root)) if isinstance(root, dict | list) else []
    if not places:
        return text
    holder, key = rng.choice(places)
    value = holder[key]
    change = rng.choice(("drop", "rename", "list", "text", "nest", "double", "swap"))
    if change == "drop":
        del holder[key]
    elif change == "rename" and isinstance(holder, dict):
        del holder[key]
        holder[rng.choice((f"{key}s", str(key).upper(), str(key)[:-1], "", "<<"))] = (
            value
        )
    elif change == "swap":
        other, place = rng.choice(places)
        holder[key] = other.get(place) if isinstance(other, dict) else None
    else:
        plain = "text" if isinstance(value, dict | list) else str(value)
        changed = {"list": [value], "text": plain, "nest": {key: value}}
        holder[key] = changed.get(change, [value, value])
    try:
        return yaml.safe_dump(root, allow_unicode=rng.random() < 0.5, sort_keys=False)
    except (yaml.YAMLError, RecursionError, ValueError):
        return text


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Give every holder and key below a value; what aliases stand for once."""
    seen, left = set(), [node]
    while left:
        holder = left.pop()
        if id(holder) in seen:
            continue
        seen.add(id(holder))
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            if isinstance(holder[key], dict | list):
                left.append(holder[key])


_CHANGES: tuple[Callable[[random.Random, str], str], ...] = (
    *(_drop_line, _repeat_line, _replace_value, _replace_value, _replace_value),
    *(_insert_mark, _cut, _rearrange, _rearrange),
)
#: Changes after which a good config is often still a good one.
_MILD = (_other_number, _other_word, _drop_line, _rearrange, _other_number)

ATTACK = Attack(
    name="configs",
    unit="configs",
    full=10_500,
    sample=150,
    share=0.22,
    limit=20.0,
    prepare=prepare,
    attempt=attempt,
)
