"""Over-sampling before a classifier, in the registry.

Only training data are over-sampled, before anything else is done with them. In
leave-one-out a sample must not have shaped the synthetic ones, so it is left out first:
that takes one over-sampling for each sample. The candidates of a grid share them; where
it takes too long all the same, an experiment selects by folds.

The paper reports, for SVM and KNN, the better of two kernels or distances on the test
data, in one column. Here each is a method of its own, and they share the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from drmbench.methods import drm, forest, knn, svm
from drmbench.methods.base import (
    GridPredictions,
    GridPredictor,
    Labels,
    Matrix,
    Method,
    Params,
)
from drmbench.methods.grids import GridAnswer, group_candidates, refit_left_out
from drmbench.methods.oversampled import OversampledClassifier, oversample

#: Each sampler's name in the paper, and its citation.
_SAMPLERS = {
    "smote": (
        "SMOTE",
        "N. V. Chawla, K. W. Bowyer, L. O. Hall, W. P. Kegelmeyer: SMOTE. JAIR"
        " 16:321-357, 2002.",
    ),
    "borderline-smote": (
        "BorSMOTE",
        "H. Han, W.-Y. Wang, B.-H. Mao: Borderline-SMOTE. ICIC, LNCS 3644:878-887,"
        " 2005.",
    ),
    "safe-level-smote": (
        "SL-SMOTE",
        "C. Bunkhumpornpat, K. Sinapiromsaran, C. Lursinsap: Safe-Level-SMOTE. PAKDD,"
        " LNCS 5476:475-482, 2009.",
    ),
}

#: The methods that are combined with each sampler, by their name in the combination:
#: a family's first kernel or distance goes by the family's name alone.
_CLASSIFIERS = {
    "svm": svm.METHODS[0],
    "svm-poly": svm.METHODS[1],
    "knn": knn.METHODS[0],
    "knn-cosine": knn.METHODS[1],
    "rf": forest.METHODS[0],
    "drm": drm.METHODS[0],
    "drm-poly": drm.METHODS[1],
}

#: The sampler's parameters, also of those that do not need all of them.
_SAMPLER_DEFAULTS = {"k_neighbors": 5, "m_neighbors": 10}


def _sampler_part(params: Params) -> tuple[int, int]:
    return params["k_neighbors"], params["m_neighbors"]


def _classifier_part(params: Params) -> Params:
    return {k: v for k, v in params.items() if k not in _SAMPLER_DEFAULTS}


def _build(
    sampler: str, method: Method, params: Params, seed: int
) -> OversampledClassifier:
    k_neighbors, m_neighbors = _sampler_part(params)
    return OversampledClassifier(
        sampler,
        method.build(_classifier_part(params), seed),
        k_neighbors=k_neighbors,
        m_neighbors=m_neighbors,
        random_state=seed,
    )


def _grid_predictor(sampler: str, method: Method) -> GridPredictor:
    """Over-sample once and leave the grid to the classifier's own predictor."""
    predict = method.predict_grid
    assert predict is not None, f"{method.name} has a grid predictor"

    def predict_grid(
        X_train: Matrix,
        y_train: Labels,
        X_test: Matrix,
        candidates: Sequence[Params],
        *,
        seed: int,
    ) -> GridPredictions:
        answer = GridAnswer(len(candidates), len(X_test))
        for (k, m), numbers in group_candidates(candidates, _sampler_part).items():
            with answer.attempt(numbers):
                new = oversample(
                    X_train,
                    y_train,
                    sampler,
                    k_neighbors=k,
                    m_neighbors=m,
                    random_state=seed,
                )
                group = [_classifier_part(candidates[number]) for number in numbers]
                part = predict(new.X, new.y, X_test, group, seed=seed)
                answer.labels[numbers] = part.labels
                answer.failures |= {numbers[i]: r for i, r in part.failures.items()}
        return answer.finished()

    return predict_grid


def _method(sampler: str, classifier: str) -> Method:
    method = _CLASSIFIERS[classifier]
    title, citation = _SAMPLERS[sampler]
    predict_grid = _grid_predictor(sampler, method)
    return Method(
        name=f"{sampler}-{classifier}",
        title=f"{title} + {method.title}",
        family=f"oversampled-{method.family}",
        citation=f"{citation} With: {method.citation}",
        build=lambda params, seed: _build(sampler, method, params, seed),
        grid=method.grid,
        defaults={**method.defaults, **_SAMPLER_DEFAULTS},
        column=None if method.family == "drm" else f"{title}+{method.family.upper()}",
        stochastic=True,
        predict_grid=predict_grid,
        predict_left_out=refit_left_out(predict_grid),
        prefer=method.prefer,
    )


METHODS = tuple(_method(*names) for names in product(_SAMPLERS, _CLASSIFIERS))
