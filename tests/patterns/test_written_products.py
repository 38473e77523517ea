"""Ideas whose products are written with Einsum, and what stands around them in other orders."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns import find_ingredients
from netloupe.explorer.readers.load import load

_HEAD = '<ir_version: 12, opset_import: ["": 24]>\n'
_GATE = """gating (float[2, 16, 8] x) => (float[2, 16, 4] y)
<int64[3] square = {1, 16, 16}, int64[2] row = {1, 16}, int64[2] dims = {8, 12},
 int64[2] wide = {4, 4}, int64[1] heads = {1}, int64[1] axis = {3}>
{
  wq = ConstantOfShape (dims)  wo = ConstantOfShape (wide)  w = ConstantOfShape (square)
  b0 = ConstantOfShape (row)
  all = MatMul (x, wq)
  q, k, v = Split <axis = 2, num_outputs = 3> (all)
  scores = Einsum <equation = "bid,bjd->bij"> (q, k)
  shares = Softmax <axis = -1> (scores)
  mixed = Einsum <equation = "bij,bjd->bid"> (shares, v)
  attended = MatMul (mixed, wo)
  kept, gate = Split <axis = 2, num_outputs = 2> (x)
  apart = Unsqueeze (gate, heads)
  told = Einsum <equation = "bhnd,hmn->bhmd"> (apart, w)
  b = Unsqueeze (b0, axis)
  more = Add (told, b)
  gates = Squeeze (more, heads)
  both = Add (gates, attended)
  y = Mul (both, kept)
}
"""
_VECTOR = """vector (float[1, 16, 8] x, int64[1, 16, 16, 8] near, float[1, 16, 16, 8] where)
 => (float[1, 16, 8] y)
<int64[2] square = {8, 8}, int64[2] three = {8, 24}, int64[1] middle = {2}, int64[1] front = {1},
 int64[4] many = {1, 16, 16, 8}>
{
  w1 = ConstantOfShape (three)  w4 = ConstantOfShape (square)  w5 = ConstantOfShape (square)
  all = MatMul (x, w1)
  q, k, v = Split <axis = 2, num_outputs = 3> (all)
  asked = Unsqueeze (q, middle)  keys = Unsqueeze (k, front)  values = Unsqueeze (v, front)
  apart = Sub (asked, keys)
  spread = Expand (values, many)
  found = GatherElements <axis = 2> (apart, near)
  known = GatherElements <axis = 2> (spread, near)
  moved = Add (found, where)
  held = Add (known, where)
  hidden = MatMul (moved, w4)  bent = Relu (hidden)  scores = MatMul (bent, w5)
  shares = Softmax <axis = -2> (scores)
  y = Einsum <equation = "bijd,bijd->bid"> (shares, held)
}
"""
_FEATURES = """features (float[1, 9, 8] q, float[1, 9, 8] k, float[1, 9, 6] v) => (float[1, 9, 6] y)
<int64[2] dims = {24, 8}, float two = {2}, float least = {1e-4}, int64[1] last = {2},
 int64[1] tokens = {1}, float scale = {0.6}, float squared = {0.36}, float one = {1}>
{
  w = ConstantOfShape (dims)
  q0 = Mul (q, scale)  q1 = Einsum <equation = "...id,jd->...ij"> (q0, w)  q2 = Pow (q, two)
  q3 = ReduceSum (q2, last)  q4 = Div (q3, two)  q5 = Mul (q4, squared)  q6 = Sub (q1, q5)
  q7 = Exp (q6)  asked = Add (q7, least)
  k0 = Mul (k, scale)  k1 = Einsum <equation = "...id,jd->...ij"> (k0, w)  k2 = Pow (k, two)
  k3 = ReduceSum (k2, last)  k4 = Div (k3, two)  k5 = Mul (k4, squared)  k6 = Sub (k1, k5)
  k7 = Exp (k6)  keys = Add (k7, least)
  total = ReduceSum <keepdims = 0> (keys, tokens)
  sums = Einsum <equation = "...nd,...d->...n"> (asked, total)
  less = Reciprocal (sums)  shares = Mul (less, one)
  context = Einsum <equation = "...nd,...ne->...de"> (keys, v)
  y = Einsum <equation = "...de,...nd,...n->...ne"> (context, asked, shares)
}
"""


def _list_names(text: str) -> list[str]:
    nodes = load(onnx.parser.parse_model(_HEAD + text)).graph.nodes
    return [" ".join((one.name, *one.facts)) for one in find_ingredients(nodes)]


@pytest.mark.parametrize(
    ("text", "name", "right", "wrong"),
    [
        # what is summed over is a token, and the matrix is square
        (
            _GATE,
            "Spatial gating unit 16 tokens attention added",
            "bhnd,hmn->bhmd",
            "bhnd,hdn->bhnd",
        ),
        (_GATE, "Spatial gating unit 16 tokens attention", "y = Mul (both", "y = Add (both"),
        # of each channel neighbours have shares, and these are of differences
        (_VECTOR, "Vector attention", "Softmax <axis = -2>", "Softmax <axis = -1>"),
        (_VECTOR, "Vector attention", "apart = Sub", "apart = Mul"),
        (_VECTOR, "Vector attention", "bijd,bijd->bid", "bijd,bijd->bij"),
        # the square is of what the product is of; what divides is the sum of all keys
        (_FEATURES, "Linear attention", "q2 = Pow (q, two)", "q2 = Pow (k, two)"),
        (_FEATURES, "Linear attention", "float one = {1}", "float one = {2}"),
        (_FEATURES, "Linear attention", "q7 = Exp (q6)", "q7 = Relu (q6)"),
    ],
)
def test_products_may_be_written_with_einsum(text: str, name: str, right: str, wrong: str) -> None:
    assert any(found.startswith(name) for found in _list_names(text))
    assert right in text
    other = text.replace(right, wrong)
    assert not any(found.startswith(name) for found in _list_names(other))
