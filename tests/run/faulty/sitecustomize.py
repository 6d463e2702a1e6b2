"""Adds methods that misbehave to the registry of every process of a test's run."""

import faulty_methods

from drmbench.methods import registry

_real = registry._by_name


def _by_name():
    return {**_real(), **{method.name: method for method in faulty_methods.METHODS}}


registry._by_name = _by_name
