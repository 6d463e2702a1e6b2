"""A cell as plain data: all that a worker process needs, and the cell's identity."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict

from drmbench.config.model import DatasetRef, Experiment, Kind, Measurement, MethodRef
from drmbench.protocol.protocol import Protocol, ScalingMode
from drmbench.protocol.splits import SplitPlan

#: Version of what rows mean. Raise it when the same cell would give other rows.
SCHEMA_VERSION = 1


class Task(BaseModel):
    """One data set, method, scaling mode and split, ready to be run anywhere."""

    model_config = ConfigDict(frozen=True)

    key: str  #: Identity of the cell: equal keys mean equal results
    kind: Kind  #: What to do
    dataset: DatasetRef  #: What to load
    fingerprint: str  #: What the loaded data must hash to
    substitutes: bool  #: Whether a relative may stand in
    method: MethodRef  #: What to run
    protocol: Protocol  #: Selection, scaling mode, metrics and seed
    split: SplitPlan  #: How the data set is split
    number: int  #: Which split; for timing and convergence which size or penalty
    measure: Measurement  #: For timing and convergence

    @property
    def mode(self) -> ScalingMode:
        """The scaling mode."""
        return self.protocol.scaling


def make_task(
    experiment: Experiment,
    dataset: DatasetRef,
    fingerprint: str,
    ref: MethodRef,
    mode: ScalingMode,
    split: SplitPlan,
    number: int,
) -> Task:
    """Build the task of one cell of an experiment, with its identity."""
    task = Task(
        key="",
        kind=experiment.kind,
        dataset=dataset,
        fingerprint=fingerprint,
        substitutes=experiment.substitutes,
        method=ref,
        protocol=experiment.protocol(ref, mode),
        split=split,
        number=number,
        measure=experiment.measure,
    )
    return task.model_copy(update={"key": key_of(task)})


def key_of(task: Task) -> str:
    """Hash all that decides a cell's result, and nothing that does not."""
    method = task.protocol.method_as_used(task.method.method())
    # Of methods that are not drmbench's own another version is another method.
    origin = {"origin": dict(method.origin)} if method.origin else {}
    identity: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "kind": task.kind,
        "data": task.fingerprint,
        # The name is part of each split's seed.
        "dataset": task.dataset.name,
        "method": {
            "name": method.name,
            # Grid order decides ties, so it is part of the identity.
            "grid": [[name, list(values)] for name, values in method.grid.items()],
            "fixed": dict(method.defaults),
            **origin,
        },
        "scaling": task.mode,
        "metrics": task.protocol.metrics,
        "seed": task.protocol.seed,
        "split": dataclasses.asdict(task.split),
        "number": task.number,
    }
    if task.kind == "classification":
        selection = dataclasses.asdict(task.protocol.selection)
        del selection["note"]
        identity["selection"] = selection
        if task.protocol.preparation != "codes":
            identity["preparation"] = task.protocol.preparation
    else:
        identity["measure"] = task.measure.model_dump()
    text = json.dumps(identity, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
