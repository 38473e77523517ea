"""The arithmetic of a coupling whose network stands elsewhere, in both directions."""

from __future__ import annotations

import pytest

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import find_graph_context, recognise
from tests.onnx_text import load_text

_NETWORK = """
g (float[1, 8, 32] x, float[1, 4, 32] fed) => (float[1, 8, 32] y)
<int64[1] zero = {0}, int64[1] four = {4}, int64[1] eight = {8}, int64[1] one = {1},
 int64[3] up = {16, 4, 1}, int64[3] down = {8, 16, 1}, float two = {2}>
{
  w1 = ConstantOfShape (up)  w2 = ConstantOfShape (down)
  a = Slice (x, zero, four, one)  b = Slice (x, four, eight, one)
  h = Conv (a, w1)  r = Relu (h)  made = Conv (r, w2)
"""
_HALVES = "t, s = Split <axis = 1, num_outputs = 2> (made)"
_SLICES = "t = Slice (made, zero, four, one) s = Slice (made, four, eight, one)"
_STEPS = {
    "d = Sub (b, t) e = Exp (s) moved = Div (d, e)": "(x − t) / exp(s)",
    "d = Sub (b, t) n = Neg (s) e = Exp (n) moved = Mul (d, e)": "(x − t) · exp(−s)",
    "d = Sub (b, t) n = Neg (s) e = Exp (n) moved = Mul (e, d)": "(x − t) · exp(−s)",
    "e = Exp (s) d = Mul (b, e) moved = Add (d, t)": "x · exp(s) + t",
    "e = Exp (s) d = Mul (e, b) moved = Add (t, d)": "x · exp(s) + t",
    "l = Tanh (s) e = Exp (l) d = Mul (b, e) moved = Add (d, t)": "x · exp(s) + t",
    "c = Add (b, t) e = Exp (s) moved = Mul (c, e)": "(x + t) · exp(s)",
}


def tell(step: str, halves: str = _HALVES) -> str:
    """Return what is said of a step and of what cuts its scale and shift out."""
    text = f"{_NETWORK} {halves} {step} y = Concat <axis = 1> (a, moved) }}"
    graph = load_text(text).graph
    nodes = [*graph.nodes]
    starts = ("made", "other")
    first = next(n for n, node in enumerate(nodes) if _list_taken(node)[0] in starts)
    found = recognise(nodes[first:-1], find_graph_context(graph))
    return found.text if found is not None else ""


def _list_taken(node: Node) -> list[str]:
    return [value.name for value in node.inputs if value is not None]


@pytest.mark.parametrize("halves", [_HALVES, _SLICES])
@pytest.mark.parametrize("step", _STEPS)
def test_a_coupling_is_told_by_its_arithmetic(step: str, halves: str) -> None:
    assert tell(step, halves) == f"Affine coupling, {_STEPS[step]}"


@pytest.mark.parametrize(
    "step",
    [
        "d = Sub (b, t) e = Exp (s) moved = Div (e, d)",  # the other way round
        "d = Sub (b, t) e = Tanh (s) moved = Mul (d, e)",  # may be 0
        "d = Sub (b, t) e = Exp (s) f = Div (d, e) moved = Mul (f, f)",  # more than that
        "d = Sub (t, s) e = Exp (s) moved = Div (d, e)",  # moves nothing of what came
        "d = Sub (fed, t) e = Exp (s) moved = Div (d, e)",  # what is no part of it
        "d = Sub (b, fed) e = Exp (s) moved = Div (d, e)",  # a shift of something else
    ],
)
def test_what_scales_otherwise_is_no_coupling(step: str) -> None:
    assert "coupling" not in tell(step)


def test_what_a_network_makes_of_another_value_couples_nothing() -> None:
    halves = "k = Conv (fed, w1) other = Conv (k, w2) t, s = Split <num_outputs = 2> (other)"
    halves = halves.replace("<num", "<axis = 1, num")
    assert "coupling" not in tell(next(iter(_STEPS)), halves)
