"""Methods from estimators of other packages: a class by name, steps before it, a grid.

Whatever such an estimator raises is the failure of one candidate. Its ``random_state``,
and those of the steps, are the cell's seed unless the user fixes them, and so is
numpy's own while it works.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from drmbench.errors import InputError, did_you_mean, quoted
from drmbench.methods.base import (
    CANDIDATE_FAILURES,
    EstimatorRaisedError,
    Labels,
    Matrix,
    Method,
    Params,
)
from drmbench.methods.imports import (
    class_path,
    load_class,
    provider_versions,
    source_folder,
)

#: Short names of the usual steps.
STEPS: Mapping[str, str] = {
    "standard": "sklearn.preprocessing:StandardScaler",
    "robust": "sklearn.preprocessing:RobustScaler",
    "minmax": "sklearn.preprocessing:MinMaxScaler",
    "maxabs": "sklearn.preprocessing:MaxAbsScaler",
    "normalizer": "sklearn.preprocessing:Normalizer",
    "power": "sklearn.preprocessing:PowerTransformer",
    "quantile": "sklearn.preprocessing:QuantileTransformer",
    "pca": "sklearn.decomposition:PCA",
}
_SEED = "random_state"


@dataclass(frozen=True)
class EstimatorSpec:
    """A classifier of another package, and the steps before it, by their names."""

    estimator: str  #: The class, as ``module:Class``
    #: Name and class of each step; a parameter of one is written ``name__parameter``
    steps: tuple[tuple[str, str], ...] = ()
    #: A folder of the user's that modules which are not installed may lie in
    folder: Path | None = None

    @property
    def classes(self) -> tuple[str, ...]:
        """All classes, the estimator's last."""
        return (*(path for _, path in self.steps), self.estimator)


def default_label(estimator: str) -> str:
    """Return what results call an estimator: its class, in small letters.

    Examples
    --------
    >>> default_label("lightgbm:LGBMClassifier"), default_label("sklearn.svm:SVC")
    ('lgbm', 'svc')
    """
    name = estimator.rpartition(":")[2].lower()
    return name.removesuffix("classifier") or name


def step_of(text: str) -> tuple[str, str]:
    """Return the name and the class of a step, by its short name or its class.

    Examples
    --------
    >>> step_of("standard"), step_of("sklearn.decomposition.FastICA")
    (('standard', 'sklearn.preprocessing:StandardScaler'),
     ('fastica', 'sklearn.decomposition:FastICA'))
    """
    if text in STEPS:
        return text, STEPS[text]
    path = class_path(text)
    if ":" not in path:
        raise InputError(
            f"unknown step {quoted(text)}.{did_you_mean(text, STEPS)} Valid:"
            f" {', '.join(STEPS)}, or a class as module:Class"
        )
    return path.rpartition(":")[2].lower(), path


# ------------------------------------------------------------------- loaded classes


@dataclass(frozen=True, eq=False)
class Part:
    """A loaded class of a method: the estimator, or a step before it."""

    path: str  #: The class, as ``module:Class``
    made_by: type[Any]  #: The class itself
    prefix: str = ""  #: What its parameters begin with; empty for the estimator

    @classmethod
    def load(cls, path: str, folder: Path | None, prefix: str = "") -> Part:
        """Import a class, which must be a classifier or, with a prefix, a step."""
        part = cls(path, load_class(path, folder), prefix)
        if prefix:
            if not hasattr(part.made_by, "transform") and not part.resamples:
                raise InputError(
                    f"{path} is no preprocessing step: it has no `transform` (or"
                    " `fit_resample`)"
                )
        elif not part.is_classifier:
            raise InputError(
                f"{path} is no classifier; it must be one to scikit-learn's"
                " is_classifier, such as a class derived from ClassifierMixin and"
                " BaseEstimator"
            )
        return part

    @property
    def resamples(self) -> bool:
        """Whether it is a step of imbalanced-learn, which changes the rows."""
        return hasattr(self.made_by, "fit_resample")

    @property
    def is_classifier(self) -> bool:
        """Whether it is a classifier to scikit-learn."""
        from sklearn.base import ClassifierMixin, is_classifier

        if issubclass(self.made_by, ClassifierMixin):
            return True
        try:
            return bool(is_classifier(self.made_by()))
        except Exception:  # it cannot be made without arguments, or has no tags
            return False

    @cached_property
    def _signature(self) -> list[inspect.Parameter]:
        try:
            return list(inspect.signature(self.made_by).parameters.values())
        except (TypeError, ValueError):  # of a compiled class
            return []

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The parameters it is known to have."""
        variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        names = [one.name for one in self._signature if one.kind not in variable]
        if self.takes_any:
            try:
                names += self.made_by().get_params(deep=False)
            except Exception:  # what it also has is not known, then
                return tuple(names)
        return tuple(dict.fromkeys(names))

    @property
    def takes_any(self) -> bool:
        """Whether its constructor takes keywords of any name."""
        return any(one.kind is inspect.Parameter.VAR_KEYWORD for one in self._signature)

    def written(self, name: str) -> str:
        """Return what files call one of its parameters."""
        return f"{self.prefix}__{name}" if self.prefix else name

    def make(self, params: Params, seed: int) -> Any:
        """Return an object of the class; ``a__b`` is the parameter b of its part a."""
        own = {name: value for name, value in params.items() if "__" not in name}
        if _SEED in self.parameters:
            own = {_SEED: seed, **own}
        made = self.made_by(**own)
        inner = {name: value for name, value in params.items() if "__" in name}
        return made.set_params(**inner) if inner else made


@dataclass(frozen=True, eq=False)
class Recipe:
    """The loaded classes of a method, from which its estimators are made."""

    parts: tuple[Part, ...]  #: The steps, then the estimator
    folder: Path | None = None  #: Where modules that are not installed were looked for

    @classmethod
    def load(cls, spec: EstimatorSpec) -> Recipe:
        """Import the classes; `InputError` tells what is wrong with one."""
        steps = [Part.load(path, spec.folder, name) for name, path in spec.steps]
        return cls((*steps, Part.load(spec.estimator, spec.folder)), spec.folder)

    @property
    def spec(self) -> EstimatorSpec:
        """The names of the classes, and the folder of those that are not installed."""
        *steps, last = self.parts
        folders = [source_folder(part.path) for part in self.parts]
        used = self.folder in folders
        return EstimatorSpec(
            last.path,
            tuple((step.prefix, step.path) for step in steps),
            self.folder if used else next(filter(None, folders), None),
        )

    def check_name(self, name: str) -> None:
        """Refuse a parameter that no class has."""
        part, own = self._owner(name)
        first = own.partition("__")[0]
        if part.takes_any or first in part.parameters:
            return
        steps = [] if part.prefix else [step.prefix for step in self.parts[:-1]]
        valid = [*map(part.written, part.parameters), *(f"{s}__…" for s in steps)]
        near = did_you_mean(first, [*part.parameters, *steps])
        raise InputError(
            f"{part.path} has no parameter {quoted(first)}.{near} Valid:"
            f" {', '.join(valid) or 'none'}"
        )

    def check_value(self, name: str, value: Any) -> None:
        """Refuse a value that its class refuses, all else being as by default."""
        part, own = self._owner(name)
        try:
            part.make({}, 0)
        except Exception:  # it needs parameters: they are checked all together
            return
        with _told_as_input(part.path, {own: value}):
            validate(part.make({own: value}, 0))

    def check(self, params: Params) -> None:
        """Refuse parameters that the classes refuse."""
        with _told_as_input(self.parts[-1].path, params):
            validate(self.make(params, 0))

    def make(self, params: Params, seed: int) -> Any:
        """Return the unfitted estimator, in a pipeline if there are steps."""
        shares: dict[str, dict[str, Any]] = {part.prefix: {} for part in self.parts}
        for name, value in params.items():
            part, own = self._owner(name)
            shares[part.prefix][own] = value
        made = [part.make(shares[part.prefix], seed) for part in self.parts]
        if len(made) == 1:
            return made[0]
        if any(part.resamples for part in self.parts):
            from imblearn.pipeline import make_pipeline
        else:
            from sklearn.pipeline import make_pipeline
        return make_pipeline(*made)

    def method(
        self,
        name: str,
        title: str,
        grid: Mapping[str, Sequence[Any]],
        params: Params,
    ) -> Method:
        """Return the method that searches a grid with some parameters fixed."""
        for shared in [one for one in grid if one in params]:
            raise InputError(f"{title}: {shared} is both in the grid and fixed")
        spec = self.spec
        versions = provider_versions(spec.classes)
        known = ", ".join(" ".join(pair) for pair in versions.items())
        seeds = {p.written(_SEED) for p in self.parts if _SEED in p.parameters}
        return Method(
            name=name,
            title=title,
            family=self.parts[-1].made_by.__name__,
            citation=f"estimator {spec.estimator}, {known}",
            build=guarded(self.make),
            grid={one: tuple(values) for one, values in grid.items()},
            defaults=dict(params),
            stochastic=not seeds <= {*grid, *params},
            origin={
                "estimator": spec.estimator,
                "steps": [list(step) for step in spec.steps],
                "versions": versions,
            },
        )

    def _owner(self, name: str) -> tuple[Part, str]:
        """Return whose parameter a name is, and what that part calls it."""
        prefix, _, own = name.partition("__")
        for part in self.parts[:-1]:
            if own and part.prefix == prefix:
                return part, own
        return self.parts[-1], name


@contextmanager
def _told_as_input(path: str, params: Params) -> Iterator[None]:
    """Turn whatever a class raises at its parameters into an `InputError`."""
    try:
        yield
    except Exception as error:
        shown = ", ".join(f"{name}={quoted(value)}" for name, value in params.items())
        reason = str(error).partition("\n")[0]
        raise InputError(f"{path} with {shown or 'no parameters'}: {reason}") from error


# ------------------------------------------------------------- estimators in the run


class GuardedClassifier:
    """A classifier from outside, whose errors are those of one candidate.

    Memory that runs out is no candidate's failure and passes. The classifier gets rows
    of its own, which it may overwrite, and numpy's random numbers begin with the seed.
    """

    def __init__(self, model: Any, seed: int = 0) -> None:
        self.model = model  #: The classifier, or a pipeline that ends in one
        self._seed, self._n_classes = seed, 0

    @property
    def notes_(self) -> tuple[str, ...]:
        """What a reader should know of the fit, if the classifier says anything."""
        return tuple(getattr(self.model, "notes_", ()))

    def fit(self, X: Matrix, y: Labels) -> GuardedClassifier:
        """Fit it to class numbers without gaps."""
        self._n_classes = int(y.max()) + 1
        with _as_failures(), _numpy_seeded(self._seed):
            self.model.fit(X.copy(), y.copy())
        return self

    def predict(self, X: Matrix) -> Labels:
        """Return the class number of each row; nothing else passes for a prediction."""
        with _as_failures(), _numpy_seeded(self._seed):
            said = np.asarray(self.model.predict(X.copy())).reshape(-1)
            labels = said.astype(np.int64)
            if len(labels) != len(X):
                raise ValueError(f"{len(labels)} predictions for {len(X)} rows")
            valid = (labels == said) & (labels >= 0) & (labels < self._n_classes)
            if not valid.all():
                wrong = said[~valid][0]
                raise ValueError(
                    f"the prediction {quoted(wrong)} is none of the classes"
                )
        return labels

    def _validate_params(self) -> None:
        validate(self.model)


@contextmanager
def _as_failures() -> Iterator[None]:
    try:
        yield
    except (MemoryError, *CANDIDATE_FAILURES):
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise EstimatorRaisedError(reason) from error


@contextmanager
def _numpy_seeded(seed: int) -> Iterator[None]:
    """Seed numpy's global generator for the block, and leave it as it was."""
    before = np.random.get_state()  # noqa: NPY002  # what others use cannot be chosen
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def guarded(build: Callable[[Params, int], Any]) -> Callable[[Params, int], Any]:
    """Return a method's ``build`` whose estimators raise nothing unexpected."""

    def build_guarded(params: Params, seed: int) -> GuardedClassifier:
        with _as_failures():
            made = build(params, seed)
        known = isinstance(made, GuardedClassifier)
        return made if known else GuardedClassifier(made, seed)

    return build_guarded


def validate(model: Any) -> None:
    """Let an estimator, or each of a pipeline, check its parameters if it can."""
    for _, part in getattr(model, "steps", [("", model)]):
        if hasattr(part, "_validate_params") and hasattr(
            part, "_parameter_constraints"
        ):
            part._validate_params()


# ------------------------------------------------------------------ from an instance


def method_from_estimator(
    name: str, estimator: Any, grid: Mapping[str, Sequence[Any]] | None = None
) -> Method:
    """Return a method from a scikit-learn classifier, or a pipeline that ends in one.

    Parameters
    ----------
    name : str
        What configs and results call the method.
    estimator : object
        The classifier, unfitted. Its class must be importable by its name, and its
        parameters must be plain values, so that worker processes can make it again.
    grid : mapping of str to sequence, optional
        Values to search, outermost loop first.

    Returns
    -------
    Method
        The method; the parameters in which the estimator differs from a new one are
        fixed.

    Raises
    ------
    InputError
        If a worker process could not make the estimator, or a value is not allowed.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> method_from_estimator("my-svm", SVC(gamma=0.5), {"C": [1, 10]}).candidates()
    [{'gamma': 0.5, 'C': 1}, {'gamma': 0.5, 'C': 10}]
    """
    spec, params = spec_of(estimator)
    recipe = Recipe.load(spec)
    steps = getattr(estimator, "steps", None)
    last = f"{steps[-1][0]}__" if steps else ""
    own: dict[str, Any] = {}
    for key, values in (grid or {}).items():
        recipe.check_name(key.removeprefix(last))
        if isinstance(values, str) or not len(values):
            text = f"{name}: the grid of {key} must be a list of one value or more"
            raise InputError(f"{text}, not {quoted(values)}")
        own[key.removeprefix(last)] = _plain(values, f"the grid of {key}")
    params = {key: value for key, value in params.items() if key not in own}
    method = recipe.method(name, name, own, params)
    for candidate in method.candidates():
        recipe.check(candidate)
    return method


def spec_of(estimator: Any) -> tuple[EstimatorSpec, dict[str, Any]]:
    """Return by which names an estimator can be made again, and with which parameters.

    `InputError` tells why it cannot.
    """
    steps = getattr(estimator, "steps", None) or [("", estimator)]
    params: dict[str, Any] = {}
    paths: list[tuple[str, str]] = []
    for number, (name, part) in enumerate(steps, 1):
        prefix = f"{name}__" if number < len(steps) else ""
        paths.append((name, _path_of(part)))
        params |= {f"{prefix}{key}": value for key, value in _changed(part).items()}
    folders = (source_folder(path) for _, path in paths)
    folder = next(filter(None, folders), None)
    return EstimatorSpec(paths[-1][1], tuple(paths[:-1]), folder), params


def _path_of(part: Any) -> str:
    """Return the shortest path that a class can be imported by."""
    found, name = type(part), type(part).__qualname__
    words = found.__module__.split(".")
    modules = [".".join(words[: n + 1]) for n in range(len(words))]
    if modules != ["__main__"]:
        for module in modules:
            if getattr(sys.modules.get(module), name, None) is found:
                return f"{module}:{name}"
    raise InputError(
        f"worker processes cannot import {name} from {quoted(found.__module__)};"
        " define it"
        " at the top level of a module in a file"
    )


def _changed(part: Any) -> dict[str, Any]:
    """Return the parameters in which an object differs from a new one."""
    if not hasattr(part, "get_params"):
        raise InputError(f"{type(part).__name__} has no `get_params`")
    try:
        new = type(part)().get_params(deep=False)
    except Exception:  # it cannot be made without arguments
        new = {}
    changed: dict[str, Any] = {}
    for name, value in part.get_params(deep=False).items():
        if name in new and value is new[name]:
            continue
        plain = _plain(value, f"{name} of {type(part).__name__}")
        if name not in new or plain != new[name]:
            changed[name] = plain
    return changed


def _plain(value: Any, what: str) -> Any:
    """Return a value as JSON can hold it, or refuse it."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one, what) for one in value]
    finite = not isinstance(value, float) or math.isfinite(value)
    if (value is None or isinstance(value, bool | int | float | str)) and finite:
        return value
    raise InputError(
        f"{what} must be a number, text, true, false, none or a list of such, which can"
        f" be sent to worker processes, not {value!r:.60}"
    )
