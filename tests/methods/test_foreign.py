"""Estimators of other packages as methods: what is built, seeded, selected, refused."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from drmbench.errors import InputError
from drmbench.methods.base import (
    EstimatorRaisedError,
    Method,
    MethodFailedError,
    naive_grid_predictions,
)
from drmbench.methods.foreign import (
    STEPS,
    EstimatorSpec,
    GuardedClassifier,
    Recipe,
    method_from_estimator,
    spec_of,
    step_of,
)
from drmbench.methods.imports import load_class
from drmbench.protocol.selection import SelectionPlan, select
from drmbench.protocol.splits import kfold_splits

HERE = __name__


class Recorder(TransformerMixin, BaseEstimator):
    """A step that writes down the rows it is fitted to."""

    fitted: ClassVar[list[Any]] = []

    def fit(self, X: Any, y: Any = None) -> Self:
        self.fitted.append(X.copy())
        return self

    def transform(self, X: Any) -> Any:
        return X


class Fussy(ClassifierMixin, BaseEstimator):
    """Needs an argument, and fails when told to."""

    def __init__(self, mode: str, random_state: int = 42) -> None:
        self.mode, self.random_state = mode, random_state

    def fit(self, X: Any, y: Any) -> Self:
        errors = {"type": TypeError("no"), "memory": MemoryError("full")}
        if self.mode in errors:
            raise errors[self.mode]
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        n = len(X)
        answers = {
            "short": np.zeros(n - 1),
            "column": np.ones((n, 1), dtype=int),
            "text": np.full(n, "a"),
            "half": np.full(n, 0.5),
            "unknown": np.full(n, 7),
            "none": np.full(n, -1),
        }
        return answers.get(self.mode, np.zeros(n, dtype=int))


class Anything(ClassifierMixin, BaseEstimator):
    """Takes keywords of any name, as wrappers of C++ libraries do."""

    def __init__(self, depth: int = 1, **others: Any) -> None:
        self.depth, self.others = depth, others

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"depth": self.depth, "random_state": None, **self.others}


def recipe(estimator: str, *steps: str) -> Recipe:
    return Recipe.load(EstimatorSpec(estimator, tuple(map(step_of, steps))))


def method(
    estimator: str,
    *steps: str,
    grid: dict[str, Sequence[Any]] | None = None,
    **params: Any,
) -> Method:
    return recipe(estimator, *steps).method(estimator, "mine", grid or {}, params)


@pytest.fixture(scope="module")
def iris() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order] * [1, 100, 1, 0.01], y[order].astype(np.int64)


def test_selection_is_that_of_a_pipeline_in_a_loop(iris: tuple[Any, Any]) -> None:
    X, y = iris[0][:40], iris[1][:40]
    grid = {"n_neighbors": [1, 3, 9], "standard__with_std": [True, False]}
    ours = method("sklearn.neighbors:KNeighborsClassifier", "standard", grid=grid)
    plan = SelectionPlan("kfold", "balanced_accuracy", k=4)
    found = select(ours, X, y, plan, seed=5)
    expected, leaking = [], []
    for k, with_std in itertools.product(*grid.values()):
        scores, leaked = [], []
        for part in kfold_splits(y, 4, repeats=1, seed=5):
            scaler = StandardScaler(with_std=with_std)
            model = KNeighborsClassifier(k)
            pipeline = Pipeline([("scale", scaler), ("classify", model)])
            said = pipeline.fit(X[part.train], y[part.train]).predict(X[part.test])
            scores.append(balanced_accuracy_score(y[part.test], said))
            scaled = scaler.fit_transform(X)
            said = model.fit(scaled[part.train], y[part.train]).predict(
                scaled[part.test]
            )
            leaked.append(balanced_accuracy_score(y[part.test], said))
        expected.append(np.mean(scores))
        leaking.append(np.mean(leaked))
    np.testing.assert_allclose(found.scores, expected, rtol=1e-12)
    assert found.params == ours.candidates()[int(np.argmax(expected))]
    assert not np.allclose(expected, leaking), "else the test could not tell"


def test_steps_see_training_rows_alone(iris: tuple[Any, Any]) -> None:
    X, y = iris
    Recorder.fitted.clear()
    ours = method("sklearn.naive_bayes:GaussianNB", f"{HERE}:Recorder")
    naive_grid_predictions(ours, X[:100], y[:100], X[100:], [{}], seed=0)
    (rows,) = Recorder.fitted
    np.testing.assert_array_equal(rows, X[:100])


def test_samplers_change_the_training_rows_alone(iris: tuple[Any, Any]) -> None:
    from imblearn.over_sampling import SMOTE

    X, y = iris
    few = np.flatnonzero((y != 0) | (np.cumsum(y == 0) <= 10))
    ours = method(
        "sklearn.svm:SVC",
        "standard",
        "imblearn.over_sampling.SMOTE",
        smote__k_neighbors=3,
    )
    model = ours.build({**ours.defaults}, 11).fit(X[few], y[few])
    scaler = StandardScaler().fit(X[few])
    sampler = SMOTE(k_neighbors=3, random_state=11)
    X_more, y_more = sampler.fit_resample(scaler.transform(X[few]), y[few])
    assert len(y_more) == 150
    expected = SVC(random_state=11).fit(X_more, y_more).predict(scaler.transform(X))
    np.testing.assert_array_equal(model.predict(X), expected)
    assert list(ours.origin["versions"]) == ["imbalanced-learn", "scikit-learn"]


def test_the_seed_goes_to_every_part_that_has_one() -> None:
    forest = "sklearn.ensemble:RandomForestClassifier"
    both = method(forest, "pca")
    assert both.stochastic
    pca, model = (part for _, part in both.build({}, 9).model.steps)
    assert (pca.random_state, model.random_state) == (9, 9)
    one = method(forest, "pca", random_state=3)
    assert one.stochastic
    pca, model = (part for _, part in one.build(one.defaults, 9).model.steps)
    assert (pca.random_state, model.random_state) == (9, 3)
    fixed = method(forest, "pca", random_state=None, grid={"pca__random_state": [1, 2]})
    assert not fixed.stochastic
    pca, model = (part for _, part in fixed.build(fixed.candidates()[1], 9).model.steps)
    assert (pca.random_state, model.random_state) == (2, None)
    assert not method("sklearn.naive_bayes:GaussianNB", "standard").stochastic
    # A default of its own is not what the user said.
    fussy = method(f"{HERE}:Fussy", mode="fine")
    assert fussy.build(fussy.defaults, 9).model.random_state == 9


def test_keywords_of_any_name_are_taken_where_the_class_takes_them() -> None:
    ours = recipe(f"{HERE}:Anything")
    ours.check_name("leaves")
    built = ours.method("a", "a", {}, {"leaves": 3})
    assert built.stochastic
    model = built.build(built.defaults, 4).model
    assert model.others == {"leaves": 3, "random_state": 4}


def test_facts_of_the_method() -> None:
    ours = method("sklearn.svm:SVC", "minmax", grid={"C": [1, 2]}, gamma=0.5)
    version = __import__("sklearn").__version__
    assert ours.column is None
    assert not ours.scale_invariant
    assert ours.citation == f"estimator sklearn.svm:SVC, scikit-learn {version}"
    assert ours.origin == {
        "estimator": "sklearn.svm:SVC",
        "steps": [["minmax", "sklearn.preprocessing:MinMaxScaler"]],
        "versions": {"scikit-learn": version},
    }
    assert ours.candidates() == [{"gamma": 0.5, "C": 1}, {"gamma": 0.5, "C": 2}]


@pytest.mark.parametrize("name", STEPS)
def test_every_short_name_is_a_step(name: str, iris: tuple[Any, Any]) -> None:
    X, y = iris
    params = {"quantile__n_quantiles": 10} if name == "quantile" else {}
    ours = method("sklearn.naive_bayes:GaussianNB", name, **params)
    said = ours.build(ours.defaults, 0).fit(X, y).predict(X)
    step = load_class(STEPS[name])(**({"n_quantiles": 10} if params else {}))
    if hasattr(step, "random_state"):
        step.random_state = 0
    expected = make_pipeline(step, load_class("sklearn.naive_bayes:GaussianNB")())
    np.testing.assert_array_equal(said, expected.fit(X, y).predict(X))


# ------------------------------------------------------------------------- failures


def test_what_a_candidate_raises_is_its_own_failure(iris: tuple[Any, Any]) -> None:
    X, y = iris
    ours = method(f"{HERE}:Fussy", grid={"mode": ["type", "fine", "short"]})
    found = select(ours, X, y, SelectionPlan("kfold", k=3), seed=0)
    assert found.params == {"mode": "fine"}
    assert found.failures[0] == "TypeError: no"
    assert found.failures[2] == "ValueError: 49 predictions for 50 rows"
    hopeless = method(f"{HERE}:Fussy", grid={"mode": ["type", "text"]})
    with pytest.raises(EstimatorRaisedError, match=r"none of 2 candidates .*: no"):
        select(hopeless, X, y, SelectionPlan("kfold", k=3), seed=0)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("short", "149 predictions for 150 rows"),
        ("text", "ValueError"),
        ("half", "0.5.* is none of the classes"),
        ("unknown", "7.* is none of the classes"),
        ("none", "-1.* is none of the classes"),
    ],
)
def test_only_class_numbers_pass_for_predictions(
    iris: tuple[Any, Any], mode: str, words: str
) -> None:
    X, y = iris
    model = GuardedClassifier(Fussy(mode)).fit(X, y)
    with pytest.raises(EstimatorRaisedError, match=words):
        model.predict(X)


def test_a_column_of_class_numbers_is_a_prediction(iris: tuple[Any, Any]) -> None:
    X, y = iris
    said = GuardedClassifier(Fussy("column")).fit(X, y).predict(X)
    assert (said.shape, said.dtype) == ((150,), np.int64)


def test_memory_and_known_failures_pass_as_they_are(iris: tuple[Any, Any]) -> None:
    X, y = iris
    with pytest.raises(MemoryError):
        GuardedClassifier(Fussy("memory")).fit(X, y)

    class Known(Fussy):
        def fit(self, X: Any, y: Any) -> Self:
            raise MethodFailedError("as it says")

    with pytest.raises(MethodFailedError) as caught:
        GuardedClassifier(Known("")).fit(X, y)
    assert not isinstance(caught.value, EstimatorRaisedError)


class Careless(ClassifierMixin, BaseEstimator):
    """Overwrites its rows, and takes numbers from numpy's global generator."""

    def fit(self, X: Any, y: Any) -> Self:
        self.drawn_ = np.random.random()  # noqa: NPY002
        X[:], y[:] = 0, 0
        return self

    def predict(self, X: Any) -> Any:
        X[:] = 0
        return np.random.randint(0, 3, len(X))  # noqa: NPY002


def test_a_careless_estimator_harms_nothing(iris: tuple[Any, Any]) -> None:
    X, y = iris[0].copy(), iris[1].copy()
    ours = method(f"{HERE}:Careless")
    np.random.seed(3)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    first, again, other = (ours.build({}, seed).fit(X, y) for seed in (1, 1, 2))
    assert first.model.drawn_ == again.model.drawn_ != other.model.drawn_
    np.testing.assert_array_equal(first.predict(X), again.predict(X))
    assert (first.predict(X) != other.predict(X)).any()
    np.testing.assert_array_equal(X, iris[0])
    np.testing.assert_array_equal(y, iris[1])
    assert np.random.random() == expected, "the generator is as it was"  # noqa: NPY002


def test_steps_that_work_in_place_harm_no_other_candidate(
    iris: tuple[Any, Any],
) -> None:
    grid = {"n_neighbors": [1, 3], "standard__copy": [False, True]}
    ours = method("sklearn.neighbors:KNeighborsClassifier", "standard", grid=grid)
    found = select(ours, *iris, SelectionPlan("kfold", k=3), seed=0)
    assert found.scores[0] == found.scores[1]
    assert found.scores[2] == found.scores[3]


# --------------------------------------------------------------------- from instances


@settings(derandomize=True, max_examples=50, deadline=None)
@given(
    C=st.floats(1e-6, 1e6),
    tol=st.sampled_from([1e-4, 1e-3]),
    fit_intercept=st.booleans(),
    class_weight=st.sampled_from([None, "balanced"]),
    max_iter=st.integers(1, 500),
    random_state=st.none() | st.integers(0, 5),
    with_mean=st.booleans(),
)
def test_an_instance_is_made_again_as_it_was(with_mean: bool, **params: Any) -> None:
    given_one = Pipeline(
        [
            ("scale", StandardScaler(with_mean=with_mean)),
            ("classify", LogisticRegression(**params)),
        ]
    )
    ours = method_from_estimator("mine", given_one)
    made = ours.build(ours.defaults, 77).model
    (_, scaler), (_, model) = made.steps
    expected = given_one["classify"].get_params()
    assert ours.stochastic == (expected["random_state"] is None)
    if ours.stochastic:
        expected["random_state"] = 77
    assert model.get_params() == expected
    assert scaler.get_params() == given_one["scale"].get_params()


def test_instances_have_the_shortest_path_and_what_differs() -> None:
    forest = RandomForestClassifier(max_depth=np.int64(3), min_samples_leaf=1)
    spec, params = spec_of(forest)
    assert spec == EstimatorSpec("sklearn.ensemble:RandomForestClassifier")
    assert params == {"max_depth": 3}
    assert type(params["max_depth"]) is int


def test_a_grid_may_name_steps_as_scikit_learn_does() -> None:
    pipeline = make_pipeline(StandardScaler(), SVC(C=5, gamma=0.1))
    grid = {"svc__C": np.logspace(0, 1, 2), "standardscaler__with_mean": (True, False)}
    ours = method_from_estimator("mine", pipeline, grid)
    assert ours.defaults == {"gamma": 0.1}
    assert ours.grid == {"C": (1.0, 10.0), "standardscaler__with_mean": (True, False)}


class Unreachable:
    class Inner(Fussy):
        pass


@pytest.mark.parametrize(
    ("estimator", "grid", "words"),
    [
        (Unreachable.Inner("fine"), None, "cannot import Unreachable.Inner from"),
        (SVC(kernel=lambda a, b: a @ b.T), None, "kernel of SVC must be a number"),
        (SVC(C=float("inf")), None, "C of SVC must be a number, .* not inf"),
        (BaggingClassifier(SVC()), None, "estimator of BaggingClassifier must be"),
        (SVC(), {"D": [1]}, "SVC has no parameter 'D'"),
        (SVC(), {"C": []}, "the grid of C must be a list of one value or more"),
        (SVC(), {"kernel": "rbf"}, "the grid of kernel must be a list"),
        (SVC(), {"C": [1, -1]}, "sklearn.svm:SVC with C=-1: The 'C' parameter"),
        (StandardScaler(), None, "StandardScaler is no classifier"),
        (make_pipeline(FunctionTransformer(np.log), SVC()), None, "func of Function"),
        (Pipeline([("a", "passthrough"), ("b", SVC())]), None, "str has no `get_para"),
    ],
)
def test_an_instance_that_workers_cannot_make_is_refused(
    estimator: Any, grid: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        method_from_estimator("mine", estimator, grid)


def test_a_class_of_the_running_program_is_refused() -> None:
    homeless = type("Homeless", (Fussy,), {"__module__": "__main__"})
    with pytest.raises(InputError, match=re.escape("import Homeless from '__main__'")):
        spec_of(homeless("fine"))
