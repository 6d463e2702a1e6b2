"""Experiment files become experiments: checked, and names turned into what they mean.

A file with problems is still resolved as far as it goes, so that all of them are told
at once.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import TypeAdapter, ValidationError

from drmbench.config.messages import (
    Loc,
    Place,
    Problems,
    explain,
    number_hint,
    place_of,
    raise_all,
)
from drmbench.config.model import (
    ITEMS,
    AnyMethod,
    DatasetItem,
    DatasetRef,
    Experiment,
    ExperimentFile,
    FileItem,
    GroupItem,
    MethodItem,
    MethodRef,
    NamedItem,
    PlanSection,
    SplitSpec,
)
from drmbench.config.values import SCALAR_METRICS, SOLVERS, Number, Only
from drmbench.config.yaml_lines import YamlNode, read_yaml
from drmbench.data.catalogue import DatasetEntry, load_catalogue
from drmbench.errors import InputError, did_you_mean
from drmbench.methods.registry import get_method, with_overrides
from drmbench.protocol.protocol import SelectionPlan

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

#: Experiment files have a few thousand bytes; reading much more YAML takes minutes.
MAX_BYTES = 200_000
#: The largest grid of the paper has 343; this many take hours on small data.
MAX_CANDIDATES = 10_000
#: Splits of sets that the paper does not all split in one way.
FALLBACK = SplitSpec(kind="kfold", k=5, repeats=1)

_SHOWN = 3
_SPLIT = ("protocol", "split")
_SELECTION = ("protocol", "selection")


# ------------------------------------------------------------------------ reading


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
            draft = _Draft(text, path, problems)
            name = draft.file.name
            if name in names:
                problems.add(
                    draft.root.line_of("name"),
                    f"the experiment {name!r} is also in {names[name]}; their results"
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
    text: str, *, source: Path, datasets: Sequence[DatasetRef] | None = None
) -> Experiment:
    """Build an experiment from the YAML text of a file.

    Paths in the text are relative to the folder of `source`. If there are `datasets`,
    those in the text are not looked at: no file is opened, and it does not matter
    whether they can still be found. `InputError` lists all that is wrong.

    Examples
    --------
    >>> experiment = parse_experiment(
    ...     "{name: tiny, datasets: [iris], methods: [nb]}", source=Path("tiny.yaml"))
    >>> experiment.split.train, experiment.timeout
    ('paper', None)
    """
    problems = Problems(source)
    experiment = _Draft(text, source, problems, datasets).resolve()
    raise_all(problems.in_order())
    assert experiment is not None
    return experiment


def _read_text(path: Path, problems: Problems) -> str | None:
    line = 0
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) <= MAX_BYTES:
            return data.decode("utf-8-sig")
        reason = f"larger than {MAX_BYTES:,} bytes; is it an experiment?"
    except FileNotFoundError:
        reason = f"no such file.{did_you_mean(path.name, _names_in(path.parent))}"
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


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(file.name for file in folder.iterdir())
    except OSError:
        return []


# ------------------------------------------------------------------------ checking


class _WithoutData(ExperimentFile):
    """A file whose data sets are not looked at."""

    datasets: tuple[DatasetItem, ...] = ()


class _ValidPart(_WithoutData):
    """What is valid in a file, be it without the keys that it needs."""

    name: str = ""
    methods: tuple[AnyMethod, ...] = ()


#: Keys of a file that an experiment has as they are.
_SHARED = Experiment.model_fields.keys() - {"datasets", "methods"}


class _Draft:
    """What can be made of a file.

    `file` is its valid part and `root` the tree of that part, in which items have the
    same places. `lost` has the paths of what was not valid.
    """

    def __init__(
        self,
        text: str,
        source: Path,
        problems: Problems,
        datasets: Sequence[DatasetRef] | None = None,
    ) -> None:
        self.source, self.problems, self._datasets = source, problems, datasets
        self.lost: set[Loc] = set()
        root = read_yaml(text, problems)
        self.root = root or YamlNode({}, 1)
        model: type[ExperimentFile] = ExperimentFile if root else _ValidPart
        if root and datasets is not None and isinstance(root.value, dict):
            root.value.pop("datasets", None)
            model = _WithoutData
        self.file = self._valid_part(model)

    def refuse(self, path: Loc, why: str, *key: str) -> None:
        """Note what is wrong with a value, at its line or that of a key in it."""
        where = ".".join(map(str, path))
        self.problems.add(self.root.line_of(*path, *key), f"{where}: {why}")

    def _valid_part(self, model: type[ExperimentFile]) -> ExperimentFile:
        """Take out what is not valid, again and again, and note it as problems."""
        rank = {"extra_forbidden": 0, "missing": 2}
        while True:
            try:
                return model.model_validate(self.root.plain(), context={"file": True})
            except ValidationError as error:
                errors = error.errors(include_url=False, include_input=False)
            errors.sort(key=lambda one: rank.get(one["type"], 1))
            bad: set[Loc] = set()
            for one in errors:
                place = place_of(one["loc"], self.root)
                if one["type"] == "too_short" and place.node.value != []:
                    continue  # it is empty only without its invalid items
                bad.update(_unusable(one, place))
                kind = (*place.path[:-1], "kind")
                if one["type"] == "other_kind" and kind in self.lost:
                    continue  # what it should have been is not known
                for line, message in explain(one, place):
                    self.problems.add(line, message)
            # Later items first, so that the earlier ones keep their places.
            for path in sorted(bad)[::-1]:
                self._remove(path)
            model = _ValidPart

    def _remove(self, path: Loc) -> None:
        self.lost.add(path)
        if not path:
            self.root = YamlNode({}, self.root.line)
            return
        container = self.root.at(*path[:-1]).value
        if isinstance(container, dict):
            container.pop(str(path[-1]), None)
        elif isinstance(container, list):
            del container[int(path[-1])]
            if not container:
                self._remove(path[:-1])

    def resolve(self) -> Experiment | None:
        """Return the experiment; None if anything is wrong, which is noted."""
        file, said = self.file, self.file.said()
        chosen = [] if self._datasets is not None else _choose_datasets(self)
        fields: dict[str, Any] = {
            **{key: said[key] for key in said if key in _SHARED},
            "datasets": self._datasets or [one.ref for one in chosen],
            "methods": _choose_methods(self),
            "split": _choose_split(self, chosen),
            "scaling": file.protocol.scaling,
            "source": self.source,
        }
        if file.kind == "classification":
            fields |= _choose_selection(self, [ref.label for ref in fields["methods"]])
        else:
            _check_measured(self, chosen)
            fields["scaling"] = ("maxabs",)
        return None if len(self.problems) else Experiment(**fields)


def _unusable(error: ErrorDetails, place: Place) -> Iterator[Loc]:
    """Give the paths of what an error makes unusable."""
    if error["type"] == "twice":
        yield from ((*place.path, number) for number in error["ctx"]["items"])
    elif place.section in ITEMS.values() and place.path[2:] == (
        place.section.keys()[0],
    ):
        yield place.path[:2]  # an item is nothing without the key that tells what it is
    elif place.path or error["type"] != "missing":
        yield place.path


# ------------------------------------------------------------------------ data sets


@dataclass(frozen=True)
class _ChosenSet:
    """A data set, where the file names it, and what must be known to split it."""

    ref: DatasetRef
    line: int
    n: int
    classes: int
    entry: DatasetEntry | None = None  #: Of the catalogue

    @property
    def name(self) -> str:
        return self.ref.name


def _choose_datasets(draft: _Draft) -> list[_ChosenSet]:
    """Return the data sets, each once, in the order of first mention.

    A group may bring in sets that are named beside it; what is said of a set by name
    counts.
    """
    chosen: dict[str, _ChosenSet] = {}
    lines: dict[str, int] = {}

    def is_first(what: str, line: int) -> bool:
        if what in lines:
            first = f"first in line {lines[what]}"
            draft.problems.add(line, f"{what} is there twice, {first}")
            return False
        lines[what] = line
        return True

    nodes = draft.root.at("datasets").value or ()
    for item, node in zip(draft.file.datasets, nodes, strict=True):
        match item:
            case GroupItem():
                if is_first(f"the group {item.group!r}", node.line):
                    for one in _members(item, node, draft.problems):
                        chosen.setdefault(one.name, one)
                continue
            case FileItem():
                named = _own_file(item, node, draft)
            case _:
                said = NamedItem(name=item) if isinstance(item, str) else item
                named = _from_catalogue(said, node, draft.problems)
        if named and is_first(f"the data set {named.name!r}", node.line):
            chosen[named.name] = named
    return list(chosen.values())


def _members(
    item: GroupItem, node: YamlNode, problems: Problems
) -> Iterator[_ChosenSet]:
    entries = {entry.name: entry for entry in load_catalogue().group(item.group)}
    left_out = node.at("except")
    for number, name in enumerate(item.except_):
        if entries.pop(name, None) is None:
            listed = isinstance(left_out.value, list)
            problems.add(
                (left_out.at(number) if listed else left_out).line,
                f"the group {item.group!r} has no data set {name!r} to leave out."
                f"{did_you_mean(name, entries)} See `drmbench data list --group"
                f" {item.group}`",
            )
    if not entries:
        problems.add(node.line, f"nothing is left of the group {item.group!r}")
    for name, entry in entries.items():
        ref = DatasetRef(name=name)
        yield _ChosenSet(ref, node.line, entry.n, entry.classes, entry)


def _own_file(item: FileItem, node: YamlNode, draft: _Draft) -> _ChosenSet | None:
    from drmbench.data.user import load_user_file

    written = os.path.expanduser(item.path)  # noqa: PTH111  # never raises
    with draft.problems.noted(node.line_of("path")):
        try:
            path = (draft.source.parent / written).resolve()
            data = load_user_file(path, target=item.target, name=item.name)
        except (OSError, RuntimeError) as error:  # a name too long, a link to itself
            raise InputError(f"{written!r}: {error}") from error
        if not _taken(data.name, node.line, draft.problems):
            ref = DatasetRef(name=data.name, path=path, target=item.target)
            return _ChosenSet(ref, node.line, data.n_samples, data.n_classes)
    return None


def _from_catalogue(
    item: NamedItem, node: YamlNode, problems: Problems
) -> _ChosenSet | None:
    entry, label = load_catalogue().entry(item.name), item.as_ or item.name
    if label != item.name and _taken(label, node.line_of("as"), problems):
        return None
    parameters = _parameters(entry, node.at("parameters"), problems)
    source = item.name if label != item.name else ""
    facts = {"n": entry.n, "classes": entry.classes, **entry.parameters, **parameters}
    ref = DatasetRef(name=label, parameters=parameters, source=source)
    return _ChosenSet(ref, node.line, facts["n"], facts["classes"], entry)


def _taken(label: str, line: int, problems: Problems) -> bool:
    """Refuse a label that would make results look like another data set's."""
    if label not in load_catalogue().names:
        return False
    problems.add(
        line,
        f"{label!r} is the name of a data set of the catalogue; give this one another",
    )
    return True


def _parameters(
    entry: DatasetEntry, node: YamlNode, problems: Problems
) -> dict[str, Any]:
    """Return the valid parameters of generated data, without generating it."""
    from drmbench.data.synthetic import iter_synthetic

    found: dict[str, Any] = {}
    for name, given in (node.value or {}).items():
        if not entry.parameters:
            reason = f"{entry.name} takes no parameters; only generated data does"
            problems.add(given.key_line, reason)
        elif name not in entry.parameters:
            problems.add(
                given.key_line,
                f"{entry.name} has no parameter {name!r}."
                f"{did_you_mean(name, entry.parameters)} Valid:"
                f" {', '.join(entry.parameters)}",
            )
        else:
            number = Number(whole=isinstance(entry.parameters[name], int))
            checker = TypeAdapter[Any](Annotated[Any, number])
            try:
                found[name] = checker.validate_python(given.value)
            except ValidationError:
                problems.add(
                    given.line,
                    f"{name} must be {number.what}, not {given.shown()}"
                    f"{number_hint(given)}",
                )
    with problems.noted(node.line):
        if found:  # checks at once, generates when iterated
            iter_synthetic(**{**entry.parameters, **found})
        return found
    return {}


# ------------------------------------------------------------------------ methods


def _choose_methods(draft: _Draft) -> list[MethodRef]:
    """Return the methods of a file, each label once."""
    chosen: dict[str, MethodRef] = {}
    lines: dict[str, int] = {}
    nodes = draft.root.at("methods").value or ()
    for item, node in zip(draft.file.methods, nodes, strict=True):
        said = item if isinstance(item, MethodItem) else MethodItem(name=item)
        label = said.as_ or said.name
        if label in chosen:
            draft.problems.add(
                node.line,
                f"the label {label!r} is there twice, first in line {lines[label]};"
                " give one another with `as`",
            )
            continue
        ref = MethodRef(name=said.name, label=label, grid=said.grid, params=said.params)
        chosen[label], lines[label] = ref, node.line
        if draft.file.kind == "classification":
            _check_changes(ref, node, draft.problems)
        else:
            _check_solver(ref, node, draft)
    return list(chosen.values())


def _check_solver(ref: MethodRef, node: YamlNode, draft: _Draft) -> None:
    kind = f"the kind {draft.file.kind}"
    if ref.name not in SOLVERS:
        only = ", ".join(SOLVERS)
        draft.problems.add(node.line, f"{kind} measures {only} only, not {ref.name!r}")
    for key in ("grid", "params"):
        if isinstance(node.value, dict) and key in node.value:
            draft.problems.add(
                node.line_of(key),
                f"{kind} takes its parameters from `measure`; remove {key!r}",
            )


def _check_changes(ref: MethodRef, node: YamlNode, problems: Problems) -> None:
    """Check every parameter by itself, at its line, then all of them together."""
    if not (ref.grid or ref.params):
        return
    method, before = get_method(ref.name), len(problems)
    first = {name: values[:1] for name, values in method.grid.items()}
    alone = dataclasses.replace(method, grid=first)
    for name, values in ref.grid.items():
        with problems.noted(node.line_of("grid", name)):
            with_overrides(alone, grid={name: values})
    for name, value in ref.params.items():
        with problems.noted(node.line_of("params", name)):
            with_overrides(alone, params={name: value})
    if len(problems) > before:
        return
    grid = {**method.grid, **ref.grid}
    size = math.prod(len(grid[name]) for name in grid if name not in ref.params)
    with problems.noted(node.line):
        if size > MAX_CANDIDATES:
            raise InputError(
                f"{ref.label}: the grid has {size:,} candidates; at most"
                f" {MAX_CANDIDATES:,} are allowed"
            )
        with_overrides(method, grid=ref.grid, params=ref.params)


# ------------------------------------------------------------------------ splits


def _choose_split(draft: _Draft, chosen: Sequence[_ChosenSet]) -> SplitSpec:
    """Return how data sets are split; sets that cannot be split so become problems."""
    said = draft.file.protocol.split
    papers = [one.entry.paper if one.entry else None for one in chosen]
    in_paper = {paper.split if paper else None for paper in papers}
    kind = in_paper.pop() if len(in_paper) == 1 else None
    spec = said or (SplitSpec(kind=kind) if kind else FALLBACK)
    if said and spec.kind == "kfold" and "repeats" not in said.model_fields_set:
        spec = spec.model_copy(update={"repeats": FALLBACK.repeats})
    lost = (path for path in draft.lost if path[:2] in (_SPLIT, _SPLIT[:1]))
    if any(path[2:] not in (("test",), ("repeats",)) for path in lost):
        return spec  # what it should have been is not known
    line_of, problems = draft.root.line_of, draft.problems
    if spec.test and spec.train == "paper":
        draft.refuse(
            (*_SPLIT, "test"),
            "the paper's sizes have a test size of their own; give `train` a number of"
            " rows or a share, or remove `test`",
        )
        return spec
    if spec.max_train and (spec.train == "paper" or spec.train >= 1):
        problems.add(
            line_of(*_SPLIT, "max_train"),
            "protocol.split.max_train is for a `train` that is a share, such as 0.6;"
            " give `train` a share, or remove `max_train`",
        )
        return spec
    reasons: dict[int, list[str]] = {}
    for one in chosen:
        if found := _split_problem(spec, one):
            line = line_of(*_SPLIT, found[0]) if said else one.line
            reasons.setdefault(line, []).append(found[1])
    for line, texts in reasons.items():
        more = len(texts) - _SHOWN
        rest = f"; and {more} more data sets" if more > 0 else ""
        problems.add(line, "; ".join(texts[:_SHOWN]) + rest)
    return spec


def _split_problem(spec: SplitSpec, one: _ChosenSet) -> tuple[str, str] | None:
    """Say which key is to blame that a set cannot be split so, and why."""
    has, entry = f"{one.name} has {one.n} rows", one.entry
    own = {
        "given": entry and entry.given_split is not None,
        "folds": entry and entry.folds,
    }
    match spec.kind:
        case "given" | "folds":
            what = {"given": "a split", "folds": "folds"}[spec.kind]
            advice = "use a random or kfold split for it"
            reason = f"{one.name} comes without {what} of its own; {advice}"
            return None if own[spec.kind] else ("kind", reason)
        case "kfold":
            train = one.n - -(-one.n // spec.k)
            if spec.k > one.n:
                return "k", f"{has}, too few for {spec.k} folds"
            return ("k", _too_few(one, train)) if train < one.classes else None
        case "random" if spec.train == "paper":
            paper = entry.paper if entry else None
            if paper and paper.train and paper.test:
                return None
            why = f"{one.name} is {'not in the paper' if entry else 'a file of yours'}"
            if paper:
                why = f"the paper splits {one.name} by its folds"
            return "train", f"{why}, so `train` must be a number of rows or a share"
    train = spec.train_rows(one.n)
    if train < one.classes:
        return "train", _too_few(one, train)
    if train >= one.n:
        return "train", f"{has}: training on {train} leaves none to test"
    if spec.test and train + spec.test > one.n:
        return "test", f"{has}: {train} to train and {spec.test} to test are too many"
    return None


def _too_few(one: _ChosenSet, train: int) -> str:
    return (
        f"{one.name} has {one.classes} classes: {train} training rows cannot have"
        " each of them"
    )


# --------------------------------------------------------- selection and measurement


def _choose_selection(draft: _Draft, labels: Sequence[str]) -> dict[str, Any]:
    """Return the plans of a classification, for all methods and for some."""
    metric, scaling = draft.file.metrics[0], draft.file.protocol.scaling
    if metric not in SCALAR_METRICS:
        draft.refuse(
            ("metrics",),
            "the first is shown in tables and must be one number"
            f" ({', '.join(SCALAR_METRICS)}), not {metric!r}",
        )
    said = draft.file.protocol.selection.said()
    by_label, modes = said.pop("methods", {}), said.pop("modes", None)
    by_mode = modes.said() if modes else {}
    plan = SelectionPlan(**{"metric": metric, **said})
    if not labels or any(path[:1] == ("methods",) for path in draft.lost):
        labels = list(by_label)  # what is missing may have any label
    for label in (label for label in by_label if label not in labels):
        draft.refuse(
            (*_SELECTION, "methods"),
            f"no method here has the label {label!r}.{did_you_mean(label, labels)}"
            f" Labels: {', '.join(labels)}",
            label,
        )
    for mode in (mode for mode in by_mode if mode not in scaling):
        draft.refuse(
            (*_SELECTION, "modes"),
            f"the mode {mode} is not run here; the modes are: {', '.join(scaling)}",
            mode,
        )
    known = {label: own for label, own in by_label.items() if label in labels}
    return {
        "selection": plan,
        "selection_overrides": _own_plans(draft, "methods", known, plan),
        "selection_modes": _own_plans(draft, "modes", by_mode, plan),
        "tie": draft.file.protocol.selection.tie,
    }


def _own_plans(
    draft: _Draft, part: str, sections: Mapping[str, PlanSection], plan: SelectionPlan
) -> dict[str, SelectionPlan]:
    """Return the plans of some methods or modes, each starting from the experiment's.

    Keys that the kind they inherit does not have become problems.
    """
    plans: dict[str, SelectionPlan] = {}
    for name, section in sections.items():
        said, own = section.said(), (*_SELECTION, part, name)
        known = not draft.lost & {(*_SELECTION, "kind"), (*own, "kind")}
        for key in said if known and "kind" not in said else ():
            for only in PlanSection.model_fields[key].metadata:
                reason = only.problem(plan.kind) if isinstance(only, Only) else ""
                if reason:
                    draft.refuse((*own, key), reason)
        # A footnote on the experiment's plan says nothing about this one.
        plans[name] = dataclasses.replace(plan, **{"note": "", **said})
    return plans


def _check_measured(draft: _Draft, chosen: Sequence[_ChosenSet]) -> None:
    """Refuse what has no effect, or is impossible, where solves are measured."""
    kind, measure, protocol = draft.file.kind, draft.file.measure, draft.file.protocol
    if "selection" in protocol.model_fields_set:
        draft.refuse(
            _SELECTION,
            f"the kind {kind} selects nothing; it takes its parameters from `measure`",
        )
    if "scaling" in protocol.model_fields_set and protocol.scaling != ("maxabs",):
        reason = f"the kind {kind} scales by maxabs only"
        draft.refuse(("protocol", "scaling"), reason)
    for key, only in (("sizes", Only("timing")), ("tol", Only("convergence"))):
        if key in measure.model_fields_set and only.problem(kind):
            draft.refuse(("measure", key), only.problem(kind))
    if kind == "timing" and len(measure.betas) > 1:
        draft.refuse(("measure", "betas"), "timing is measured at one beta")
    smallest = min(measure.sizes, default=math.inf)
    for one in chosen:
        if smallest < one.classes:
            draft.refuse(
                ("measure", "sizes"),
                f"{smallest} rows cannot have each of the {one.classes} classes of"
                f" {one.name}",
            )
            break
