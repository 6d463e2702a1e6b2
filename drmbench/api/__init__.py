"""drmbench from Python: run an experiment, compare methods, and look at the results.

:func:`~drmbench.api.experiments.run` and :func:`~drmbench.api.comparison.compare` do
what the commands of these names do, and return what notebooks show as tables
(:mod:`~drmbench.api.results`).
"""
