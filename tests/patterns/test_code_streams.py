"""Residual quantizers that give codes alone, and flows whose network is a Transformer."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns import find_ingredients, recognise
from netloupe.explorer.readers.load import load

_CODES = """<ir_version: 12, opset_import: ["": 24]>
codes (float[1, 16, 8] x) => (int64[2, 1, 16] y)
<int64[2] dims = {32, 8}, int64[2] turned = {8, 32}, int64[1] count = {32}, float two = {2},
 int64[1] last = {2}, int64[1] first = {0}>
{
  book = ConstantOfShape (dims)  columns = ConstantOfShape (turned)
  lengths = ConstantOfShape (count)
  s1 = Pow (x, two)     o1 = ReduceSum (s1, last)  p1 = MatMul (x, columns)
  t1 = Mul (p1, two)    d1 = Sub (o1, t1)          e1 = Add (d1, lengths)
  n1 = ArgMin <axis = 2, keepdims = 0> (e1)        q1 = Gather (book, n1)
  rest = Sub (x, q1)
  s2 = Pow (rest, two)  o2 = ReduceSum (s2, last)  p2 = MatMul (rest, columns)
  t2 = Mul (p2, two)    d2 = Sub (o2, t2)          e2 = Add (d2, lengths)
  n2 = ArgMin <axis = 2, keepdims = 0> (e2)
  a = Unsqueeze (n1, first)  b = Unsqueeze (n2, first)
  y = Concat <axis = 0> (a, b)
}
"""
_FLOW = """<ir_version: 12, opset_import: ["": 24]>
flow (float[1, 9, 4] x) => (float[1, 9, 4] y, float[1] sum)
<int64[2] up = {4, 6}, int64[2] down = {6, 8}, float[1, 1, 8] none = {0, 0, 0, 0, 0, 0, 0, 0},
 int64[1] begin = {0}, int64[1] end = {-1}, int64[1] axis = {1}, int64[2] places = {1, 2}>
{
  w1 = ConstantOfShape (up)  w2 = ConstantOfShape (down)
  hidden = MatMul (x, w1)    active = Gelu (hidden)
  made = MatMul (active, w2)
  cut = Slice (made, begin, end, axis)
  moved = Concat <axis = 1> (none, cut)
  shift, scale = Split <axis = 2, num_outputs = 2> (moved)
  apart = Sub (x, shift)
  less = Neg (scale)
  factor = Exp (less)
  y = Mul (apart, factor)
  sums = ReduceMean <keepdims = 0> (scale, places)
  sum = Neg (sums)
}
"""


def test_the_last_level_of_a_residual_quantizer_may_give_its_code_alone() -> None:
    found = recognise(load(onnx.parser.parse_model(_CODES)).graph.nodes)
    assert found is not None
    assert found.text == "Residual vector quantizer, 2 levels, 32 codes × 8"
    other = _CODES.replace("rest = Sub (x", "rest = Add (x")
    assert recognise(load(onnx.parser.parse_model(other)).graph.nodes) is None


def _list_names(text: str) -> list[str]:
    nodes = load(onnx.parser.parse_model(text)).graph.nodes
    return [one.name for one in find_ingredients(nodes)]


def test_a_step_of_a_flow_is_of_the_tokens_before() -> None:
    assert _list_names(_FLOW) == ["MLP", "Autoregressive flow step"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("end = {-1}", "end = {9}"),  # no token is taken off
        ("(none, cut)", "(cut, none)"),  # they are moved the other way
        ("apart = Sub (x", "apart = Sub (z"),  # another value is moved
        ("factor = Exp", "factor = Tanh"),
    ],
)
def test_what_lacks_a_part_is_no_step(old: str, new: str) -> None:
    assert old in _FLOW
    text = _FLOW.replace(old, new).replace("flow (", "flow (float[1, 9, 4] z, ")
    assert "Autoregressive flow step" not in _list_names(text)
