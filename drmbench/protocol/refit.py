"""A model of the paper's protocol fitted again, to see what its leak is worth.

A row with the scaling ``separate`` selects and fits on the training part scaled by its
own maxima; the test part comes in at prediction only. So the same model can predict the
test part scaled by its own maxima, as the row did, and by the training part's.
"""

from __future__ import annotations

from dataclasses import dataclass

from drmbench.data.dataset import Dataset
from drmbench.methods.base import Labels, Method, Params
from drmbench.protocol.evaluate import training_rows
from drmbench.protocol.labels import number_classes, original_classes
from drmbench.protocol.protocol import Protocol
from drmbench.protocol.scaling import scale_test, scale_test_by_training
from drmbench.protocol.splits import Split
from drmbench.protocol.training import fit


@dataclass(frozen=True, eq=False)
class RefitPredictions:
    """What one model predicts for a test part that is scaled in two ways.

    Attributes
    ----------
    own : ndarray of int
        Predicted classes where the test part is scaled by its own maxima.
    training : ndarray of int
        Predicted classes where it is scaled by the training part's.
    """

    own: Labels
    training: Labels


def refit_separate(
    dataset: Dataset, method: Method, split: Split, protocol: Protocol, params: Params
) -> RefitPredictions:
    """Fit the model of a ``separate`` row again, and predict the test part twice.

    Parameters
    ----------
    dataset : Dataset
        The data.
    method : Method
        The method, as :func:`~drmbench.protocol.evaluate.evaluate` gets it.
    split : Split
        Training and test rows.
    protocol : Protocol
        The rules of the row, in the mode ``paper``.
    params : mapping
        The parameters that the row says were selected.

    Raises
    ------
    MethodFailedError, IllConditionedError
        If the method cannot be fitted, or cannot predict.
    """
    used = protocol.method_as_used(method)
    rows, seed = training_rows(dataset, split, protocol)
    X_train, X_test = dataset.X[rows], dataset.X[split.test]
    classes, numbers = number_classes(dataset.y[rows])
    everything = {**used.defaults, **params}
    model = fit(used, X_train, numbers, "separate", everything, seed=seed)
    own = model.predict(scale_test("separate", X_train, X_test))
    training = model.predict(scale_test_by_training(X_train, X_test))
    return RefitPredictions(
        original_classes(classes, own), original_classes(classes, training)
    )
