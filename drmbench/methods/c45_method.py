"""C4.5 in the registry: pre-pruned, plain, and what the paper seems to have used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drmbench.methods.base import GridPredictions, Labels, Matrix, Method, Params
from drmbench.methods.c45 import C45Classifier
from drmbench.methods.dhs_tree import CONSTANT_SPLIT, DHSTreeClassifier
from drmbench.methods.grids import GridAnswer, group_candidates, refit_left_out

_CITATION = "J. R. Quinlan: C4.5: Programs for Machine Learning. Morgan Kaufmann, 1993."


def _all_but_share(params: Params) -> tuple[tuple[str, Any], ...]:
    others = {**params, "min_error_share": None}
    nominal = others["categorical_features"]
    others["categorical_features"] = None if nominal is None else tuple(nominal)
    return tuple(others.items())


def predict_grid(
    X_train: Matrix,
    y_train: Labels,
    X_test: Matrix,
    candidates: Sequence[Params],
    *,
    seed: int,
) -> GridPredictions:
    """Grow one tree; it answers every pre-pruning share."""
    answer = GridAnswer(len(candidates), len(X_test))
    for others, numbers in group_candidates(candidates, _all_but_share).items():
        shares = [candidates[number]["min_error_share"] for number in numbers]
        trees = C45Classifier(**dict(others)).fit_levels(X_train, y_train, shares)
        for number, tree in zip(numbers, trees, strict=True):
            answer.labels[number] = tree.predict(X_test)
    return answer.finished()


def _most_pruned(params: Params) -> tuple[float, ...]:
    share = params["min_error_share"]
    return (0.0 if share is None else -share,)


def _method(name: str, title: str, shares: tuple[float, ...]) -> Method:
    fixed: dict[str, Any] = {} if shares else {"min_error_share": None}
    return Method(
        name=name,
        title=title,
        family="c45",
        citation=_CITATION,
        build=lambda params, seed: C45Classifier(**params),
        grid={"min_error_share": shares} if shares else {},
        # A gap of 0, unlike the 1e-5 built into C4.5, lets small numbers be told apart.
        defaults={
            **fixed,
            "confidence_factor": 0.25,
            "min_samples_leaf": 2,
            "value_gap": 0.0,
            "categorical_features": None,
        },
        column="C4.5" if shares else None,
        scale_invariant=True,
        predict_grid=predict_grid,
        predict_left_out=refit_left_out(predict_grid),
        prefer=_most_pruned,
    )


def _all_but_inc_node(params: Params) -> tuple[tuple[str, Any], ...]:
    return tuple((name, value) for name, value in params.items() if name != "inc_node")


def predict_dhs_grid(
    X_train: Matrix,
    y_train: Labels,
    X_test: Matrix,
    candidates: Sequence[Params],
    *,
    seed: int,
) -> GridPredictions:
    """Grow one tree, for the smallest nodes; the others are cut off from it."""
    answer = GridAnswer(len(candidates), len(X_test))
    for others, numbers in group_candidates(candidates, _all_but_inc_node).items():
        inc_nodes = [candidates[number]["inc_node"] for number in numbers]
        tree = DHSTreeClassifier(**dict(others), inc_node=min(inc_nodes))
        tree.grow(X_train, y_train)
        for number, labels in zip(
            numbers, tree.predict_with(X_test, inc_nodes), strict=True
        ):
            answer.labels[number] = labels
            if tree.fails_with(candidates[number]["inc_node"]):
                answer.failures[number] = CONSTANT_SPLIT
    return answer.finished()


METHODS = (
    _method("c45", "C4.5, pre-pruned", (0.05, 0.06, 0.07, 0.08, 0.09, 0.10)),
    _method("c45-plain", "C4.5", ()),
    Method(
        name="c45-dhs",
        title="C4.5 as the paper seems to have used it (Duda–Hart–Stork toolbox)",
        family="c45",
        citation="D. G. Stork, E. Yom-Tov: Computer Manual in MATLAB to Accompany"
        " Pattern Classification. 2nd edition, Wiley, 2004 (C4_5.m).",
        build=lambda params, seed: DHSTreeClassifier(**params),
        grid={"inc_node": (5.0, 6.0, 7.0, 8.0, 9.0, 10.0)},
        defaults={"max_values": 10, "constant_split": "leaf"},
        paper_params={"constant_split": "error"},
        predict_grid=predict_dhs_grid,
        predict_left_out=refit_left_out(predict_dhs_grid),
        prefer=lambda params: (-params["inc_node"],),
    ),
)
