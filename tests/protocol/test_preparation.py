"""Preparation of tables: scikit-learn's pipelines as the oracle, and no leak."""

from __future__ import annotations

import dataclasses
import warnings
from collections import Counter

import numpy as np
import pytest
from fake_methods import as_dataset, make_method, neighbours
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from drmbench.errors import InputError
from drmbench.methods.registry import get_method, with_overrides
from drmbench.protocol.evaluate import evaluate, train
from drmbench.protocol.preparation import (
    MOST_LEVELS,
    TablePreparation,
    learns_from_rows,
    prepared_width,
)
from drmbench.protocol.protocol import SCALINGS_OF_TABLE, Protocol
from drmbench.protocol.selection import SelectionPlan, select
from drmbench.protocol.splits import Split, kfold_splits

QUICK = SelectionPlan("kfold", k=3)
SCALERS = {
    "none": "passthrough",
    "standard": StandardScaler(),
    "robust": RobustScaler(),
    "maxabs": MaxAbsScaler(),
}


def table(n=60, seed=0, levels=(2, 5), missing=0.2):
    """Numbers in unequal units, then nominal columns, with values missing in all."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 3)) * [1, 50, 1e-3] + [0, 200, 0]
    codes = [rng.integers(count, size=n) for count in levels]
    X = np.column_stack([numbers, *codes]).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    X[:, 2] = numbers[:, 2]  # of which none is missing
    return X, tuple(range(3, 3 + len(levels)))


def by_scikit_learn(scaling, nominal, p, lumped=None):
    """Return the same preparation by scikit-learn alone.

    `lumped` has the most columns that a nominal column becomes, where it has more
    levels. Where it has as many, scikit-learn calls the rarest one infrequent.
    """
    numeric = [j for j in range(p) if j not in nominal]
    imputed = make_pipeline(clone_of(scaling), SimpleImputer(strategy="median"))
    encoders = [
        OneHotEncoder(
            drop="if_binary",
            handle_unknown="infrequent_if_exist",
            max_categories=(lumped or {}).get(j),
            sparse_output=False,
        )
        for j in nominal
    ]
    return ColumnTransformer(
        [
            ("numbers", imputed, numeric),
            ("missing", MissingIndicator(error_on_new=False), numeric),
            *((str(j), one, [j]) for j, one in zip(nominal, encoders, strict=True)),
        ]
    )


def n_levels(X, column):
    return len(np.unique(X[:, column]))


def clone_of(scaling):
    scaler = SCALERS[scaling]
    return scaler if isinstance(scaler, str) else clone(scaler)


def transformed(oracle, X_train, X_test):
    with warnings.catch_warnings():  # of unknown levels, which are zeros on purpose
        warnings.simplefilter("ignore")
        fitted = oracle.fit(X_train)
        return np.asarray(fitted.transform(X_test), dtype=float)


@parametrize_with_checks([TablePreparation(), TablePreparation(scaling="robust")])
def test_it_is_a_transformer_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("scaling", SCALINGS_OF_TABLE)
@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    missing=st.sampled_from([0.0, 0.1, 0.5]),
    levels=st.lists(st.integers(2, 12), min_size=1, max_size=3),
    max_levels=st.integers(3, 8),
)
def test_it_gives_what_scikit_learn_gives(scaling, seed, missing, levels, max_levels):
    X, nominal = table(50, seed, tuple(levels), missing)
    X_train, X_test = X[:30], X[30:]
    ours = TablePreparation(nominal, scaling=scaling, max_levels=max_levels)
    lumped = {j: max_levels for j in nominal if n_levels(X_train, j) > max_levels}
    oracle = by_scikit_learn(scaling, nominal, X.shape[1], lumped)
    expected = transformed(oracle, X_train, X_test)
    found = ours.fit(X_train).transform(X_test)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert len(ours.get_feature_names_out()) == found.shape[1]


def test_levels_have_columns_as_the_training_part_tells():
    X = np.array([[0, 5], [1, 7], [1, 9], [0, np.nan]], dtype=float)
    preparation = TablePreparation([0, 1]).fit(X)
    names = preparation.get_feature_names_out(["sex", "city"]).tolist()
    assert names == ["sex=1", "city=5", "city=7", "city=9", "city=missing"]
    unknown = np.array([[3, 6], [1, np.nan]], dtype=float)
    assert preparation.transform(unknown).tolist() == [[0] * 5, [1, 0, 0, 0, 1]]


def test_a_missing_level_that_the_training_part_lacks_is_unknown():
    X = np.array([[0.0], [1], [2]])
    assert not TablePreparation([0]).fit(X).transform([[np.nan]]).any()


def test_rare_levels_share_a_column_with_unknown_ones():
    codes = np.repeat([0.0, 1, 2, 3, 4], [9, 1, 8, 2, 7])[:, None]
    preparation = TablePreparation([0], max_levels=4).fit(codes)
    assert preparation.get_feature_names_out(["city"]).tolist() == [
        *("city=0", "city=2", "city=4"),
        "city=other",
    ]
    others = preparation.transform([[1.0], [3.0], [99.0], [np.nan]])
    assert others.tolist() == [[0, 0, 0, 1]] * 4
    assert preparation.transform([[2.0]]).tolist() == [[0, 1, 0, 0]]


def test_a_column_without_a_known_value_tells_nothing():
    X = np.array([[np.nan, 1], [np.nan, 2]])
    preparation = TablePreparation(scaling="standard").fit(X)
    assert preparation.transform([[1e9, 1.5], [np.nan, 1.5]]).tolist() == [[0, 0]] * 2
    assert not preparation.indicated_.size


def test_a_nearly_constant_column_is_not_blown_up():
    X = np.full((50, 1), 0.1) * 3
    for scaling in SCALINGS_OF_TABLE:
        prepared = TablePreparation(scaling=scaling).fit(X).transform([[0.3]])
        assert abs(prepared[0, 0]) <= 1


def test_robust_scaling_falls_back_on_the_standard_deviation():
    X = np.r_[np.zeros(90), np.full(10, 1000.0)][:, None]
    prepared = TablePreparation(scaling="robust").fit(X).transform(X)
    assert prepared.max() == pytest.approx(1000 / X.std())


def test_codes_stay_in_place_for_methods_that_take_them():
    X = np.array([[0, 1.0, 7], [2, np.nan, np.nan], [1, 5.0, 3]])
    preparation = TablePreparation([0, 2], encode=False).fit(X)
    assert preparation.transform(X).tolist() == [
        [0, 1, 7, 0],
        [2, 3, -1, 1],
        [1, 5, 3, 0],
    ]
    names = preparation.get_feature_names_out(["a", "b", "c"]).tolist()
    assert names == ["a", "b", "c", "b missing"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nominal": [4]}, "numbers from 0 to 1, not 4"),
        ({"nominal": [-1]}, "numbers from 0 to 1, not -1"),
        ({"max_levels": 1}, "max_levels must be 2 or more, not 1"),
    ],
)
def test_parameters_that_cannot_be_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        TablePreparation(**options).fit(np.eye(2))


def test_it_says_whether_rows_matter_beyond_the_levels():
    X, nominal = table(200, levels=(MOST_LEVELS,), missing=0)
    assert not learns_from_rows(X, nominal)
    assert learns_from_rows(np.where(X.max() == X, np.nan, X), nominal)
    assert learns_from_rows(np.arange(MOST_LEVELS + 1.0)[:, None], (0,))
    assert prepared_width(X, nominal) == 3 + len(np.unique(X[:, 3]))


# ------------------------------------------------------------------ in the protocol


def labelled(n=90, seed=0, **options):
    """A table whose classes depend on a number, a level and what is missing."""
    X, nominal = table(n, seed, **options)
    score = np.nan_to_num(X[:, 0]) + 2 * (X[:, 4] % 2 == 0) + np.isnan(X[:, 1])
    noise = np.random.default_rng(seed + 1).normal(scale=0.3, size=n)
    y = (score + noise > np.median(score)).astype(np.int64)
    return as_dataset(X, y, nominal=nominal)


def pipelines(nominal, p, ks):
    """Every scaling and number of neighbours, by scikit-learn."""
    return {
        (scaling, k): make_pipeline(
            by_scikit_learn(scaling, nominal, p), KNeighborsClassifier(k)
        )
        for scaling in SCALINGS_OF_TABLE
        for k in ks
    }


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("seed", range(3))
def test_evaluation_is_that_of_pipelines_in_every_split_and_fold(seed):
    dataset = labelled(seed=seed)
    ks = (1, 5)
    plan = SelectionPlan("kfold", k=4, tie="first")
    protocol = Protocol(plan, preparation="table", seed=seed)
    for split in kfold_splits(dataset.y, 3, seed=seed):
        (outcome,) = evaluate(dataset, neighbours(ks), split, protocol)
        X, y = dataset.X[split.train], dataset.y[split.train]
        models = pipelines(dataset.nominal, dataset.n_features, ks)
        inner = kfold_splits(y, 4, seed=seed_of_the_split(dataset, split, seed))
        scores = {
            candidate: np.mean(
                [
                    accuracy_score(
                        y[part.test],
                        model.fit(X[part.train], y[part.train]).predict(X[part.test]),
                    )
                    for part in inner
                ]
            )
            for candidate, model in models.items()
        }
        chosen = max(scores, key=scores.__getitem__)
        assert outcome.score == pytest.approx(scores[chosen])
        assert (outcome.applied_scaling, outcome.params["n_neighbors"]) == chosen
        expected = models[chosen].fit(X, y).predict(dataset.X[split.test])
        assert np.array_equal(outcome.predictions, expected)


def seed_of_the_split(dataset, split, seed):
    from drmbench.protocol.splits import stable_seed

    return stable_seed(seed, dataset.name, split.number)


@pytest.mark.parametrize("kind", ["kfold", "random", "loo"])
def test_test_rows_change_nothing_that_is_learned(kind):
    dataset = labelled()
    (split, *_) = kfold_splits(dataset.y, 3)
    X = dataset.X.copy()
    X[split.test] = 1e9  # numbers, and levels that no training row has
    X[split.test[:5]] = np.nan
    poisoned = as_dataset(X, dataset.y, nominal=dataset.nominal)
    protocol = Protocol(SelectionPlan(kind, k=3), preparation="table")
    pair = [
        train(
            *(neighbours(), d.X[split.train], d.y[split.train], protocol, "selected"),
            seed=5,
            nominal=d.nominal,
        )
        for d in (dataset, poisoned)
    ]
    outcomes = [
        evaluate(d, neighbours(), split, protocol)[0] for d in (dataset, poisoned)
    ]
    assert pair[0].scaling == pair[1].scaling
    assert np.array_equal(pair[0].selection.scores, pair[1].selection.scores)
    assert np.array_equal(pair[0].predict(dataset.X), pair[1].predict(dataset.X))
    assert len({(o.score, str(o.params)) for o in outcomes}) == 1


def test_a_prediction_does_not_depend_on_other_test_rows():
    dataset = labelled()
    (split, *_) = kfold_splits(dataset.y, 3)
    protocol = Protocol(QUICK, preparation="table")
    (whole,) = evaluate(dataset, neighbours(), split, protocol)
    alone = dataclasses.replace(split, test=split.test[:4])
    (part,) = evaluate(dataset, neighbours(), alone, protocol)
    assert np.array_equal(part.predictions, whole.predictions[:4])


def test_held_out_rows_of_selection_change_no_preparation():
    """A fold's candidates are fitted to what the rows that train in it tell."""
    dataset = labelled(missing=0.3)
    X, y = dataset.X, dataset.y
    seen = []

    class Watch(KNeighborsClassifier):
        def fit(self, X, y):
            seen.append(np.array(X))
            return super().fit(X, y)

    method = make_method(lambda params, seed: Watch(**params), {"n_neighbors": (1, 3)})
    preparation = TablePreparation(dataset.nominal, scaling="standard")
    select(method, X, y, SelectionPlan("kfold", k=3), preparation=preparation)
    oracle = by_scikit_learn("standard", dataset.nominal, X.shape[1])
    parts = kfold_splits(y, 3, seed=0)
    expected = [transformed(oracle, X[p.train], X[p.train]) for p in parts]
    assert len(seen) == 6
    for found in seen:
        assert any(
            found.shape == one.shape and np.allclose(found, one) for one in expected
        )


def test_leave_one_out_gives_way_to_folds_where_values_are_missing():
    loo = Protocol(SelectionPlan("loo", k=4), preparation="table")
    folds = Protocol(SelectionPlan("kfold", k=4), preparation="table")
    with_gaps, complete = labelled(), labelled(missing=0)
    (split, *_) = kfold_splits(with_gaps.y, 3)
    (by_loo,) = evaluate(with_gaps, neighbours(), split, loo)
    (by_folds,) = evaluate(with_gaps, neighbours(), split, folds)
    assert by_loo.score == by_folds.score
    assert by_loo.notes[0].startswith("4-fold selection: each fold fills in missing")
    assert not by_folds.notes
    (left_out,) = evaluate(complete, neighbours(), split, loo)
    assert not left_out.notes


def test_leave_one_out_prepares_the_whole_training_part():
    dataset = labelled(missing=0)
    protocol = Protocol(SelectionPlan("loo"), scaling="none", preparation="table")
    split = Split(0, np.arange(60), np.arange(60, 90))
    X = TablePreparation(dataset.nominal).fit_transform(dataset.X[:60])
    method = get_method("knn-euclidean")
    (found,) = evaluate(dataset, method, split, protocol)
    right = [
        KNeighborsClassifier(found.params["n_neighbors"])
        .fit(np.delete(X, i, axis=0), np.delete(dataset.y[:60], i))
        .predict(X[[i]])[0]
        == dataset.y[i]
        for i in range(60)
    ]
    assert found.score == pytest.approx(np.mean(right), abs=0.02)  # ties of distances


def counted(**extra):
    calls = Counter()

    def build(params, seed):
        calls["fits"] += 1
        return DecisionTreeClassifier(random_state=0, **params)

    return make_method(build, {"max_depth": (1, 2)}, **extra), calls


@pytest.mark.parametrize(
    ("invariant", "numbers", "tried"),
    [(False, True, len(SCALINGS_OF_TABLE)), (True, True, 1), (False, False, 1)],
)
def test_only_scalings_that_can_matter_are_tried(invariant, numbers, tried):
    dataset = labelled(missing=0)
    if not numbers:
        dataset = as_dataset(dataset.X[:, 3:], dataset.y, nominal=(0, 1))
    method, calls = counted(scale_invariant=invariant)
    (split, *_) = kfold_splits(dataset.y, 3)
    evaluate(dataset, method, split, Protocol(QUICK, preparation="table"))
    assert calls["fits"] == tried * 2 * 3 + 1


def test_probabilities_are_those_of_the_prepared_rows():
    dataset = labelled()
    (split, *_) = kfold_splits(dataset.y, 3)
    method = make_method(lambda params, seed: LogisticRegression(), {})
    protocol = Protocol(
        QUICK, scaling="maxabs", metrics=("accuracy", "log_loss"), preparation="table"
    )
    (found,) = evaluate(dataset, method, split, protocol)
    oracle = by_scikit_learn("maxabs", dataset.nominal, dataset.n_features)
    X, y = dataset.X[split.train], dataset.y[split.train]
    model = LogisticRegression().fit(transformed(oracle, X, X), y)
    shares = model.predict_proba(transformed(oracle, X, dataset.X[split.test]))
    truth = dataset.y[split.test]
    expected = -np.log(shares[np.arange(len(truth)), truth]).mean()
    assert found.metrics["log_loss"] == pytest.approx(expected)


def test_c45_gets_codes_and_filled_in_numbers():
    dataset = labelled()
    c45 = with_overrides(
        get_method("c45-plain"),
        params={"categorical_features": list(dataset.nominal)},
    )
    (split, *_) = kfold_splits(dataset.y, 3)
    protocol = Protocol(QUICK, preparation="table")
    (found,) = evaluate(dataset, c45, split, protocol)
    assert found.failure is None
    trained = train(
        *(c45, dataset.X[split.train], dataset.y[split.train], protocol, "selected"),
        seed=0,
        nominal=dataset.nominal,
    )
    prepared = trained.prepared(dataset.X)
    assert prepared.shape[1] == dataset.n_features + 2  # two numbers with gaps
    known = ~np.isnan(dataset.X[:, 4])
    assert np.array_equal(prepared[known, 4], dataset.X[known, 4])
    assert (prepared[~known, 4] == -1).all()


def test_missing_values_are_refused_where_nothing_fills_them_in():
    dataset = labelled()
    (split, *_) = kfold_splits(dataset.y, 3)
    missing = int(np.isnan(dataset.X).sum())
    with pytest.raises(InputError, match=f"toy: {missing} missing values.*table"):
        evaluate(dataset, neighbours(), split, Protocol(QUICK))


def test_the_paper_prepares_nothing():
    with pytest.raises(ValueError, match="the paper's scaling"):
        Protocol(scaling="paper", preparation="table")


# --------------------------------------------------------------------- the city table


def cities(n=600, seed=0):
    """Ten cities decide the class, beside two numbers that tell nothing."""
    rng = np.random.default_rng(seed)
    city = rng.integers(10, size=n)
    y = np.isin(city, [0, 3, 4, 7, 9]) ^ (rng.random(n) < 0.05)
    numbers = rng.normal([0, 50], [1, 20], size=(n, 2))
    return as_dataset(np.c_[numbers, city], y.astype(np.int64), nominal=(2,))


#: Methods that differ in what they make of codes, with grids cut to a few values.
COMPARED = {
    "svm-linear": {"C": [1.0]},
    "nb": {},
    "logistic": {"C": [1.0]},
    "knn-euclidean": {},
    "rf": {"n_estimators": [100]},
    "drm-rbf": {"alpha": [0.1], "beta": [0.1, 1.0]},
    "drm-linear": {"alpha": [0.1], "beta": [0.1, 1.0]},
    "hgb": {"learning_rate": [0.1], "max_leaf_nodes": [7]},
}


@pytest.fixture(scope="module")
def accuracies():
    dataset = cities()
    (split, *_) = kfold_splits(dataset.y, 3)
    found = {}
    for preparation in ("codes", "table"):
        plan = SelectionPlan("kfold", k=3, subset=300)
        protocol = Protocol(plan, preparation=preparation)
        for name, grid in COMPARED.items():
            method = with_overrides(get_method(name), grid=grid)
            (outcome,) = evaluate(dataset, method, split, protocol)
            assert outcome.failure is None
            found[preparation, name] = outcome.metrics["accuracy"]
    return found


def test_no_method_is_ranked_by_the_coding_of_cities(accuracies):
    prepared = [accuracies["table", name] for name in COMPARED]
    assert min(prepared) > 0.93
    assert max(prepared) - min(prepared) <= 0.02


def test_codes_do_rank_methods_which_is_why(accuracies):
    assert accuracies["codes", "hgb"] > accuracies["codes", "svm-linear"] + 0.3
