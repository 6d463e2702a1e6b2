"""Scaling takes its numbers from the rows it says it takes them from."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import MaxAbsScaler

from drmbench.protocol.scaling import feature_scales, scale_test, scale_train

TRAIN = np.array([[1.0, 0.0, -8.0], [2.0, 0.0, 4.0]])
TEST = np.array([[4.0, 3.0, 2.0], [1.0, 0.0, 2.0]])


def test_none_returns_the_very_numbers():
    assert scale_train("none", TRAIN) is TRAIN
    assert scale_test("none", TRAIN, TEST) is TEST


def test_maxabs_is_what_scikit_learn_fits_on_the_training_part():
    scaler = MaxAbsScaler().fit(TRAIN)
    assert np.array_equal(scale_train("maxabs", TRAIN), scaler.transform(TRAIN))
    assert np.array_equal(scale_test("maxabs", TRAIN, TEST), scaler.transform(TEST))


def test_separate_scales_each_part_by_itself():
    assert np.allclose(
        scale_train("separate", TRAIN), [[0.5, 0.0, -1.0], [1.0, 0.0, 0.5]]
    )
    assert np.allclose(
        scale_test("separate", TRAIN, TEST), [[1.0, 1.0, 1.0], [0.25, 0.0, 1.0]]
    )


def test_a_column_of_zeros_stays_as_it_is():
    assert feature_scales(TRAIN).tolist() == [2.0, 1.0, 8.0]
    assert np.all(scale_train("separate", TRAIN)[:, 1] == 0)


def test_inputs_are_not_changed():
    train, test = TRAIN.copy(), TEST.copy()
    for scaling in ("maxabs", "separate"):
        scale_train(scaling, train)
        scale_test(scaling, train, test)
    assert np.array_equal(train, TRAIN)
    assert np.array_equal(test, TEST)
