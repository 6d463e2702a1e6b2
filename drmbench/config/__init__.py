"""The experiment files: what they may hold, loading them, and all errors at once."""

from drmbench.config.durations import parse_duration
from drmbench.config.json_schema import json_schema
from drmbench.config.load import (
    load_experiments,
    parse_experiment,
    parse_without_data,
)
from drmbench.config.model import (
    DatasetRef,
    Experiment,
    Kind,
    Measurement,
    MethodRef,
    SplitSpec,
)

__all__ = [
    "DatasetRef",
    "Experiment",
    "Kind",
    "Measurement",
    "MethodRef",
    "SplitSpec",
    "json_schema",
    "load_experiments",
    "parse_duration",
    "parse_experiment",
    "parse_without_data",
]
