"""The experiment files: what they may hold, loading them, and all errors at once."""

from drmbench.config.file_model import json_schema
from drmbench.config.loading import load_experiments, parse_experiment
from drmbench.config.model import (
    DatasetRef,
    Experiment,
    Kind,
    Measurement,
    MethodRef,
    SplitSpec,
    experiment_identity,
)
from drmbench.config.values import parse_duration, parse_size

__all__ = [
    "DatasetRef",
    "Experiment",
    "Kind",
    "Measurement",
    "MethodRef",
    "SplitSpec",
    "experiment_identity",
    "json_schema",
    "load_experiments",
    "parse_duration",
    "parse_experiment",
    "parse_size",
]
