"""How an experiment splits its data sets, and whether each of them can be split so."""

from __future__ import annotations

from collections.abc import Sequence

from drmbench.config.datasets import ChosenSet
from drmbench.config.model import SplitSpec
from drmbench.config.problems import Problems
from drmbench.config.tree import Table

#: Splits of sets that the paper does not all split in one way.
FALLBACK = SplitSpec(kind="kfold", k=5, repeats=1)

_OWN = "use a random or kfold split for it"
_SHOWN = 3


def choose_split(
    protocol: Table, chosen: Sequence[ChosenSet], problems: Problems
) -> SplitSpec:
    """Return how data sets are split; sets that cannot be split so become problems.

    Parameters
    ----------
    protocol : Table
        The checked ``protocol`` of the file.
    chosen : sequence of ChosenSet
        The data sets.
    problems : Problems
        Where problems are noted.
    """
    table = protocol.table("split")
    said = "split" in protocol
    spec = _as_said(table) if said else _as_in_the_paper(chosen)
    if "split" in protocol.lost or table.lost - {"test", "repeats"}:
        return spec  # what it should have been is not known
    if "test" in table and spec.train == "paper":
        problems.add(
            table.line_of("test"),
            "protocol.split.test: the paper's sizes have a test size of their own;"
            " give `train` a number of rows or a share, or remove `test`",
        )
        return spec
    if spec.max_train and (spec.train == "paper" or spec.train >= 1):
        problems.add(
            table.line_of("max_train"),
            "protocol.split.max_train is for a `train` that is a share, such as 0.6;"
            " give `train` a share, or remove `max_train`",
        )
        return spec
    reasons: dict[int, list[str]] = {}
    for one in chosen:
        found = split_problem(spec, one)
        if found:
            line = table.line_of(found[0]) if said else one.line
            reasons.setdefault(line, []).append(found[1])
    for line, texts in reasons.items():
        problems.add(line, _shortened(texts))
    return spec


def _shortened(reasons: Sequence[str]) -> str:
    more = len(reasons) - _SHOWN
    rest = f"; and {more} more data sets" if more > 0 else ""
    return "; ".join(reasons[:_SHOWN]) + rest


def _as_said(table: Table) -> SplitSpec:
    said = table.values("kind", "train", "test", "max_train", "k", "repeats")
    if said.get("kind") == "kfold":
        said.setdefault("repeats", FALLBACK.repeats)
    return SplitSpec(**said)


def _as_in_the_paper(chosen: Sequence[ChosenSet]) -> SplitSpec:
    kinds = {one.paper.split if one.paper else None for one in chosen}
    kind = kinds.pop() if len(kinds) == 1 else None
    return SplitSpec(kind=kind) if kind else FALLBACK


def split_problem(spec: SplitSpec, one: ChosenSet) -> tuple[str, str] | None:
    """Say why a data set cannot be split so, and which key is to blame.

    Returns
    -------
    (str, str) or None
        The key of ``protocol.split`` and the reason; None if it can.

    Examples
    --------
    >>> from drmbench.config.model import DatasetRef
    >>> iris = ChosenSet(DatasetRef("iris"), line=1, n=150, classes=3)
    >>> split_problem(SplitSpec(train=150), iris)
    ('train', 'iris has 150 rows: training on 150 leaves none to test')
    """
    match spec.kind:
        case "given":
            reason = f"{one.name} comes without a split of its own; {_OWN}"
            return None if one.given else ("kind", reason)
        case "folds":
            reason = f"{one.name} comes without folds of its own; {_OWN}"
            return None if one.folds else ("kind", reason)
        case "kfold":
            return _kfold_problem(spec, one)
        case "random" if spec.train == "paper":
            return _paper_problem(one)
        case "random":
            return _random_problem(spec, one)


def _kfold_problem(spec: SplitSpec, one: ChosenSet) -> tuple[str, str] | None:
    if spec.k > one.n:
        return "k", f"{one.name} has {one.n} rows, too few for {spec.k} folds"
    train = one.n - -(-one.n // spec.k)
    if train < one.classes:
        return "k", _too_few(one, train)
    return None


def _paper_problem(one: ChosenSet) -> tuple[str, str] | None:
    if one.paper and one.paper.train and one.paper.test:
        return None
    if one.paper:
        why = f"the paper splits {one.name} by its folds"
    elif one.ref.path:
        why = f"{one.name} is a file of yours"
    else:
        why = f"{one.name} is not in the paper"
    return "train", f"{why}, so `train` must be a number of rows or a share"


def _random_problem(spec: SplitSpec, one: ChosenSet) -> tuple[str, str] | None:
    train = spec.train_rows(one.n)
    has = f"{one.name} has {one.n} rows"
    if train < one.classes:
        return "train", _too_few(one, train)
    if train >= one.n:
        return "train", f"{has}: training on {train} leaves none to test"
    if spec.test and train + spec.test > one.n:
        return "test", f"{has}: {train} to train and {spec.test} to test are too many"
    return None


def _too_few(one: ChosenSet, train: int) -> str:
    return (
        f"{one.name} has {one.classes} classes: {train} training rows cannot have"
        " each of them"
    )
