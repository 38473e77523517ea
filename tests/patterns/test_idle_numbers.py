"""Arithmetic with a plain number that changes nothing is no operation of a network."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns.idle_nodes import is_idle
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.view import View
from tests.onnx_text import load_text


def _is_idle(body: str, stored: str) -> bool:
    model = load_text(f"g (float[2, 4] x, float z) => (y) <{stored}> {{ {body} }}")
    return is_idle(model.graph.nodes[-1])


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ("y = Add (x, n)", 0),
        ("y = Add (n, x)", 0),
        ("y = Sub (x, n)", 0),
        ("y = Mul (x, n)", 1),
        ("y = Mul (n, x)", 1),
        ("y = Div (x, n)", 1),
    ],
)
def test_a_number_that_changes_nothing(body: str, number: int) -> None:
    assert _is_idle(body, f"float n = {{{number}}}")
    constant = f"n = Constant <value = float {{{number}}}> ()  {body}"
    assert _is_idle(constant, "float m = {7}")
    # another number; one that may have been learned; one that adds an axis; one that is given
    assert not _is_idle(body, "float n = {2}")
    assert not _is_idle(body, f"float[1] n = {{{number}}}")
    assert not _is_idle(body, f"float[1, 1, 1] n = {{{number}}}")
    assert not _is_idle(body.replace("n", "z"), "float n = {2}")


@pytest.mark.parametrize(("body", "number"), [("y = Sub (n, x)", 0), ("y = Div (n, x)", 1)])
def test_what_turns_a_value_is_not_idle(body: str, number: int) -> None:
    assert not _is_idle(body, f"float n = {{{number}}}")


@pytest.mark.parametrize(("number", "is_drawn"), [(0, False), (3, True)])
def test_the_first_view_has_no_box_of_it(number: int, is_drawn: bool) -> None:
    layers = "  ".join(f"c{at} = Conv (r{at - 1}, w)  r{at} = Relu (c{at})" for at in range(1, 9))
    model = load_text(f"""
        g (float[1, 4, 8, 8] r0) => (y)
        <float[4, 4, 1, 1] w = {{{", ".join(["0.5"] * 16)}}}, float n = {{{number}}}>
        {{ {layers}  moved = Add (r8, n)  p = Conv (moved, w)  y = Tanh (p) }}
    """)
    faces = FaceBook("facts")
    words = {run.text for item in View(model).items.values() for run in faces.face(item).texts}
    assert (f"+ {number}" in words) == is_drawn
