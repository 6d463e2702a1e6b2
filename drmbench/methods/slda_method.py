"""Sparse discriminant analysis in the registry."""

from __future__ import annotations

import math
from collections.abc import Sequence

from drmbench.drm.kernels import DECADES
from drmbench.methods.base import GridPredictions, Labels, Matrix, Method, Params
from drmbench.methods.grids import GridAnswer, refit_left_out
from drmbench.methods.slda import SparseLDA, fit_sparse_lda_grid


def predict_grid(
    X_train: Matrix,
    y_train: Labels,
    X_test: Matrix,
    candidates: Sequence[Params],
    *,
    seed: int,
) -> GridPredictions:
    """Prepare the data once; one path answers every number of variables."""
    answer = GridAnswer(len(candidates), len(X_test))
    models = fit_sparse_lda_grid(X_train, y_train, candidates)
    for number, model in enumerate(models):
        answer.labels[number] = model.predict(X_test)
    return answer.finished()


def _simplicity(params: Params) -> tuple[float, ...]:
    n_variables = params["n_variables"]
    return (math.inf if n_variables is None else n_variables, -params["ridge"])


METHODS = (
    Method(
        name="slda",
        title="Sparse discriminant analysis",
        family="slda",
        citation="L. Clemmensen, T. Hastie, D. Witten, B. Ersbøll: Sparse discriminant"
        " analysis. Technometrics 53(4):406-413, 2011.",
        build=lambda params, seed: SparseLDA(**params),
        grid={"n_variables": (1, 3, 5, 7, 9), "ridge": DECADES},
        defaults={"max_iter": 200, "tol": 1e-4},
        column="SLDA",
        scale_invariant=True,
        most_features=2000,  # the paper, too, found it "over lengthy" beyond
        predict_grid=predict_grid,
        predict_left_out=refit_left_out(predict_grid),
        prefer=_simplicity,
    ),
)
