"""Adds methods that misbehave to the registry of every process of a test's run."""

import faulty_methods

from drmbench.methods import registry

for method in faulty_methods.METHODS:
    registry.add_method(method)
