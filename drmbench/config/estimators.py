"""The classifiers of other packages in a file: imported and checked, by line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from drmbench.config.file_model import EstimatorItem, MethodItem
from drmbench.config.messages import Problems
from drmbench.config.model import MethodRef
from drmbench.config.yaml_lines import YamlNode
from drmbench.errors import InputError, quoted
from drmbench.methods.foreign import (
    EstimatorSpec,
    Part,
    Recipe,
    default_label,
    step_of,
)
from drmbench.methods.imports import class_path
from drmbench.methods.registry import builtin_names

#: The largest grid of the paper has 343; this many take hours on small data.
MAX_CANDIDATES = 10_000
#: Trees, or rounds of boosting; each is held in memory.
MAX_TREES = 100_000
_COUNTS = ("n_estimators", "rounds")


def unchecked_ref(item: MethodItem | EstimatorItem) -> MethodRef:
    """Return what an item of a file stands for, without importing anything."""
    spec = None
    if isinstance(item, MethodItem):
        name = label = item.name
    else:
        name = class_path(item.estimator)
        label, spec = default_label(name), EstimatorSpec(name)
    return MethodRef(
        name=name,
        label=item.as_ or label,
        grid=item.grid,
        params=item.params,
        estimator=spec,
    )


def refuse_large_grid(label: str, grid: Mapping[str, Sequence[Any]]) -> None:
    """Raise if a grid has more candidates than anyone means."""
    size = math.prod(map(len, grid.values()))
    if size > MAX_CANDIDATES:
        raise InputError(
            f"{label}: the grid has {size:,} candidates; at most"
            f" {MAX_CANDIDATES:,} are allowed"
        )


def refuse_large_count(name: str, values: Sequence[Any]) -> None:
    """Raise if a parameter that counts trees or rounds has more than anyone means."""
    for value in values if name.rpartition("__")[2] in _COUNTS else ():
        if isinstance(value, int | float) and value > MAX_TREES:
            raise InputError(f"{name} must be at most {MAX_TREES:,}, not {value:.4g}")


class EstimatorCheck:
    """Checks one item; what is wrong with it is added to the file's `problems`."""

    def __init__(self, item: EstimatorItem, node: YamlNode, problems: Problems) -> None:
        self._item, self._node, self._problems = item, node, problems
        self._folder = problems.source.parent.resolve()

    def checked(self, ref: MethodRef) -> MethodRef:
        """Return the method with its classes, and the packages that provide them."""
        node, before = self._node, len(self._problems)
        if ref.label in builtin_names():
            line = node.line_of("as") if self._item.as_ else node.line
            taken = f"{quoted(ref.label)} is the name of a method of drmbench's own"
            self._problems.add(line, f"{taken}; give this one another with `as`")
        steps = self._load_steps()
        with self._problems.noted(node.line_of("estimator")):
            estimator = Part.load(ref.name, self._folder)
            recipe = Recipe((*steps, estimator), self._folder)
            self._check_parameters(ref, recipe)
        if len(self._problems) > before:
            return ref
        with self._problems.noted(node.line):
            refuse_large_grid(ref.label, ref.grid)
            method = recipe.method(ref.name, ref.label, ref.grid, ref.params)
            for candidate in method.candidates():
                recipe.check(candidate)
            versions = method.origin["versions"]
            found = {"estimator": recipe.spec, "versions": versions}
            return ref.model_copy(update=found)
        return ref

    def _check_parameters(self, ref: MethodRef, recipe: Recipe) -> None:
        """Check every parameter by itself, at its line."""
        whole = len(recipe.parts) > len(self._item.steps)
        searched = [("grid", name, values) for name, values in ref.grid.items()]
        fixed = [("params", name, [value]) for name, value in ref.params.items()]
        for key, name, values in (*searched, *fixed):
            if "__" in name and not whole:
                continue  # it may be that of a step which could not be loaded
            with self._problems.noted(self._node.line_of(key, name)):
                recipe.check_name(name)
                refuse_large_count(name, values)
                if key == "grid" and name in ref.params:
                    raise InputError(f"{name} is both in the grid and fixed")
                for value in values:
                    recipe.check_value(name, value)

    def _load_steps(self) -> list[Part]:
        """Import the steps that nothing is wrong with."""
        steps, parts = self._node.at("steps"), list[Part]()
        for number, text in enumerate(self._item.steps):
            listed = isinstance(steps.value, list)
            with self._problems.noted((steps.at(number) if listed else steps).line):
                name, path = step_of(text)
                if name in [part.prefix for part in parts]:
                    raise InputError(
                        f"a second step {quoted(name)}; its name must differ"
                    )
                parts.append(Part.load(path, self._folder, name))
        return parts
