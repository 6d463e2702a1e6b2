"""Write what Weka's J48 does on the C4.5 test cases to tests/methods/fixtures/j48/.

Needs Java, Weka's ``weka.jar`` and the package ``jpype1``; see the README beside the
fixtures. Usage: ``python tools/make_j48_fixtures.py path/to/weka.jar``
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import jpype
import numpy as np

FIXTURES = Path(__file__).parents[1] / "tests" / "methods" / "fixtures" / "j48"


def load_cases() -> Any:
    """Import the module that defines the cases, which is in no package."""
    spec = importlib.util.spec_from_file_location(
        "j48_cases", FIXTURES / "j48_cases.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Weka:
    """The few classes of Weka that are needed, in one running Java machine."""

    def __init__(self, jar: str) -> None:
        jpype.startJVM(classpath=[jar], convertStrings=True)
        self.version = str(jpype.JClass("weka.core.Version").VERSION)
        self._attribute = jpype.JClass("weka.core.Attribute")
        self._instances = jpype.JClass("weka.core.Instances")
        self._instance = jpype.JClass("weka.core.DenseInstance")
        self._list = jpype.JClass("java.util.ArrayList")
        self._j48 = jpype.JClass("weka.classifiers.trees.J48")

    def table(self, case: Any) -> Any:
        """Return an empty table with the attributes of a case, the class last."""
        attributes = self._list()
        for column in range(case.X.shape[1]):
            if column in case.nominal:
                values = np.unique(case.X[~np.isnan(case.X[:, column]), column])
                labels = self._list([f"{value:g}" for value in values])
                attributes.add(self._attribute(f"x{column}", labels))
            else:
                attributes.add(self._attribute(f"x{column}"))
        classes = [str(label) for label in np.unique(case.y)]
        attributes.add(self._attribute("class", self._list(classes)))
        table = self._instances("case", attributes, 0)
        table.setClassIndex(case.X.shape[1])
        return table

    def add(self, table: Any, row: Any, label: float, weight: float) -> None:
        """Append an example; a value outside the attribute's is an error."""
        numbers = []
        for column, value in enumerate(row):
            attribute = table.attribute(column)
            if attribute.isNominal() and not math.isnan(value):
                position = int(attribute.indexOfValue(f"{value:g}"))
                assert position >= 0
                numbers.append(float(position))
            else:
                numbers.append(float(value))  # Weka's missing value is NaN, too
        numbers.append(label)
        table.add(self._instance(weight, jpype.JArray(jpype.JDouble)(numbers)))

    def fit(self, table: Any, options: list[str]) -> Any:
        """Train a J48."""
        classifier = self._j48()
        classifier.setOptions(jpype.JArray(jpype.JString)(options))
        classifier.buildClassifier(table)
        return classifier

    def root(self, classifier: Any) -> Any:
        """Return the root of the tree, a protected member."""
        field = self._j48.class_.getDeclaredField("m_root")
        field.setAccessible(True)
        return field.get(classifier)


def drawing(classifier: Any) -> str:
    """Return J48's text of the tree without its heading and its summary."""
    body = re.search("-+\n+(.*?)\n\nNumber of Leaves", str(classifier), re.DOTALL)
    assert body is not None
    return body.group(1)


def thresholds(node: Any) -> list[float]:
    """Return the exact thresholds of a subtree's numeric splits, from the top down."""
    if node.isLeaf():
        return []
    point = float(node.getLocalModel().splitPoint())
    nominal = point == sys.float_info.max  # what J48 leaves there
    below = [point for son in node.getSons() for point in thresholds(son)]
    return below if nominal else [point, *below]


def run(weka: Weka, case: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the fixture of one case."""
    train, test = weka.table(case), weka.table(case)
    labels = np.searchsorted(np.unique(case.y), case.y)
    for row, label, weight in zip(case.X, labels, case.sample_weight, strict=True):
        weka.add(train, row, float(label), float(weight))
    for row in case.X_test:
        weka.add(test, row, math.nan, 1.0)
    trees = {}
    for name, (arguments, _) in options.items():
        classifier = weka.fit(train, arguments)
        found = [list(classifier.distributionForInstance(x)) for x in test]
        predictions = [int(classifier.classifyInstance(x)) for x in test]
        trees[name] = {
            "options": " ".join(arguments),
            "leaves": int(classifier.measureNumLeaves()),
            "size": int(classifier.measureTreeSize()),
            "text": drawing(classifier),
            "thresholds": thresholds(weka.root(classifier)),
            "predictions": "".join(map(str, predictions)),
            "probabilities": [[round(p, 9) for p in row] for row in found[::7]],
        }
    return {"checksum": case.checksum, "weka": weka.version, "trees": trees}


def main() -> None:
    """Write one JSON file a case."""
    cases = load_cases()
    weka = Weka(sys.argv[1])
    for name, make in cases.CASES.items():
        fixture = run(weka, make(), cases.OPTIONS)
        text = json.dumps(fixture, separators=(",", ":"))
        (FIXTURES / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        sizes = {option: tree["size"] for option, tree in fixture["trees"].items()}
        print(name, sizes)


if __name__ == "__main__":
    main()
