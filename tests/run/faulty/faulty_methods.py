"""Methods that crash, hang, eat memory, raise or dawdle."""

import ctypes
import os
import time
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from drmbench.methods.base import Method


class Majority(ClassifierMixin, BaseEstimator):
    """Predicts the commonest class, after doing what its name says."""

    _parameter_constraints: ClassVar = {"seconds": [float]}

    def __init__(self, seconds=0.1):
        self.seconds = seconds

    def misbehave(self):
        pass

    def fit(self, X, y):
        self.misbehave()
        self.classes_, counts = np.unique(y, return_counts=True)
        self.commonest_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.commonest_)


class Slow(Majority):
    def misbehave(self):
        time.sleep(self.seconds)


class Endless(Majority):
    def misbehave(self):
        while True:
            time.sleep(0.05)


class Segfault(Majority):
    def misbehave(self):
        ctypes.string_at(0)


class Hungry(Majority):
    def misbehave(self):
        self.hoard_ = [np.ones(2**24) for _ in range(10_000)]


class Raises(Majority):
    def misbehave(self):
        raise RuntimeError("this method is broken")


class Killed(Majority):
    def misbehave(self):
        os.kill(os.getpid(), 9)


class Chatty(Majority):
    def misbehave(self):
        print("text that must not disturb the answers")
        os.write(1, b"{broken json\n")


METHODS = tuple(
    Method(
        name=estimator.__name__.lower(),
        title=estimator.__name__,
        family="faulty",
        citation="none",
        build=lambda params, seed, estimator=estimator: estimator(**params),
        grid={},
        defaults={"seconds": 0.1},
    )
    for estimator in (Slow, Endless, Segfault, Hungry, Raises, Killed, Chatty)
)
