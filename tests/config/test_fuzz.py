"""Files with anything changed in them are read or refused, never anything else."""

from __future__ import annotations

import pytest
from config_changes import FOLDER, MARKS, TEXTS, VALUES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drmbench.config import Experiment, parse_experiment
from drmbench.errors import InputError


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A good text with up to four changes."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        text = draw(st.sampled_from(CHANGES))(draw, text)
    return text


def _drop_line(draw: st.DrawFn, text: str) -> str:
    lines = text.splitlines()
    if lines:
        del lines[draw(st.integers(0, len(lines) - 1))]
    return "\n".join(lines)


def _repeat_line(draw: st.DrawFn, text: str) -> str:
    lines = text.splitlines() or [""]
    line = draw(st.integers(0, len(lines) - 1))
    lines.insert(draw(st.integers(0, len(lines))), lines[line])
    return "\n".join(lines)


def _replace_value(draw: st.DrawFn, text: str) -> str:
    """Put another value behind one of the colons, or in a list."""
    places = [n for n, mark in enumerate(text) if mark in ":[,"]
    if not places:
        return text
    start = draw(st.sampled_from(places)) + 1
    ends = [n for n in range(start, len(text)) if text[n] in ",]}\n"]
    end = ends[0] if ends else len(text)
    return f"{text[:start]} {draw(st.sampled_from(VALUES))}{text[end:]}"


def _insert_mark(draw: st.DrawFn, text: str) -> str:
    place = draw(st.integers(0, len(text)))
    return text[:place] + draw(st.sampled_from(MARKS)) + text[place:]


def _cut(draw: st.DrawFn, text: str) -> str:
    start = draw(st.integers(0, len(text)))
    return text[:start] + text[start + draw(st.integers(1, 30)) :]


CHANGES = [_drop_line, _repeat_line, _replace_value, _replace_value, _insert_mark, _cut]


def parse_or_refuse(text: str) -> None:
    refusal = "fuzz.yaml:"
    try:
        experiment = parse_experiment(text, source=FOLDER / "fuzz.yaml")
    except InputError as error:
        refusal = str(error)
    else:
        assert isinstance(experiment, Experiment)
        assert experiment.datasets
        assert experiment.methods
    assert "fuzz.yaml:" in refusal


@settings(
    derandomize=True,
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(mutated())
def test_changed_files_are_read_or_refused(text: str) -> None:
    parse_or_refuse(text)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    parse_or_refuse(text)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "place",
    ["datasets: [{}]", "protocol: {split: {}}", "protocol: {selection: {}}"],
)
def test_any_value_in_a_place_is_read_or_refused(place: str, value: str) -> None:
    parse_or_refuse(f"name: a\nmethods: [nb]\n{place.replace('{}', value)}\n")
