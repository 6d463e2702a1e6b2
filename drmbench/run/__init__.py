"""From experiments to stored results.

An ``Experiment`` is planned (:mod:`~drmbench.run.plan`) into cells
(:mod:`~drmbench.run.task`). A run (:mod:`~drmbench.run.runner`) sends those that are
not stored yet to a pool, here (:mod:`~drmbench.run.pool`) or on a dask cluster
(:mod:`~drmbench.run.distributed`). A worker process (:mod:`~drmbench.run.worker`)
executes a cell (:mod:`~drmbench.run.execute`) and returns its rows, which go to the
journal (:mod:`~drmbench.run.store`) and from there to the tidy file that everything
else reads (:mod:`~drmbench.run.results`).
"""
