"""Methods that crash, hang, eat memory, raise or dawdle."""

import ctypes
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
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


class Forks(Majority):
    """Forks and lets both processes return, as a forgotten ``os._exit`` does."""

    forked = False

    def misbehave(self):
        if not Forks.forked:  # once a process, lest they double with every fit
            Forks.forked = True
            os.fork()


class Intruder(Majority):
    """Writes an answer of its own to every pipe of its process."""

    def misbehave(self):
        for path in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                if path.is_fifo():
                    os.write(int(path.name), b'{"rows": []}\n')


class Closer(Majority):
    """Closes descriptors and reads standard input, as daemons do."""

    def misbehave(self):
        os.closerange(3, 512)
        assert os.read(0, 1) == b""


class Leaves(Majority):
    def misbehave(self):
        sys.exit(3)


class Parent(Majority):
    """Leaves a process behind that would run for ever."""

    children = 0

    def misbehave(self):
        Parent.children += 1
        if Parent.children == 1 and os.fork() == 0:
            while True:
                time.sleep(1)


class Stubborn(Majority):
    """Holds Python's lock for ever, beside a process that it started."""

    def misbehave(self):
        if os.fork() == 0:
            while True:
                time.sleep(1)
        ctypes.PyDLL(None).sleep(10_000)


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
    for estimator in (
        *(Slow, Endless, Segfault, Hungry, Raises, Killed, Chatty),
        *(Forks, Intruder, Closer, Leaves, Parent, Stubborn),
    )
)
