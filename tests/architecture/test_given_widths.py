"""Channels are said of several outputs where all of them have as many."""

from __future__ import annotations

import pytest

from netloupe.explorer.architecture.given_sizes import correct_given
from netloupe.explorer.model import Graph
from tests.onnx_text import load_text


def make(first: int, second: int) -> Graph:
    """Return a graph that gives two maps of so many channels."""
    return load_text(f"""
        g (float[1, {first}, 8, 8] x, float[1, {second}, 8, 8] z)
        => (float[1, {first}, 8, 8] warped, float[1, {second}, 8, 8] flow)
        {{ warped = Relu (x) flow = Relu (z) }}
    """).graph


@pytest.mark.parametrize(("first", "is_so"), [(2, True), (1, False)])
def test_several_outputs_of_other_channels_are_told_by_their_sizes(first: int, is_so: bool) -> None:
    clauses = ("4 levels", "2 channels out")
    given = "gives warped (8 × 8) and flow (2 × 8 × 8)"
    assert correct_given(make(first, 2), clauses) == (clauses if is_so else ("4 levels", given))


def test_what_is_said_of_one_output_or_otherwise_stays() -> None:
    only = load_text(
        "g (float[1, 2, 8, 8] x) => (float[1, 3, 8, 8] y) { y = Concat <axis = 1> (x, x) }"
    ).graph
    assert correct_given(only, ("2 channels out",)) == ("2 channels out",)
    assert correct_given(make(1, 2), ("10 classes",)) == ("10 classes",)
    assert correct_given(make(1, 2), ()) == ()
