"""From experiments to stored results.

An ``Experiment`` is planned (:mod:`~drmbench.running.plan`) into cells
(:mod:`~drmbench.running.task`). A run (:mod:`~drmbench.running.runner`) sends those
that are not stored yet to a pool, here (:mod:`~drmbench.running.pool`) or on a dask
cluster (:mod:`~drmbench.running.distributed`). A worker process
(:mod:`~drmbench.running.worker`, and :mod:`~drmbench.running.child` within it)
executes a cell (:mod:`~drmbench.running.execute`) and returns its rows, which go to
the journal (:mod:`~drmbench.running.store`) and from there, with the manifest, to the
tidy file (:mod:`~drmbench.running.view`) that everything else reads
(:mod:`~drmbench.running.results`).
"""
