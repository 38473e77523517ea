"""Axes are followed back through what puts them together, apart and elsewhere."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import Operations, find_graph_context, recognise
from netloupe.explorer.patterns.traced_axes import trace_axis
from tests.onnx_text import load_text

_SIZES = "<int64[4] d = {DIMS}, int64[2] w = {4, 6}, int64[1] n0 = {0}, int64[1] n1 = {1}>"


def trace(text: str, axis: int, dims: str = "2, 3, 2, 3") -> tuple[int, ...] | None:
    head = "g (float[2, 3, 4] x) => (y) " + _SIZES.replace("DIMS", dims)
    graph = load_text(f"{head} {{ m = ConstantOfShape (w)  z = MatMul (x, m)  {text} }}").graph
    operations = Operations(graph.nodes, find_graph_context(graph))
    found = trace_axis(operations, graph.outputs[0], axis)
    if found is None:
        return None
    assert found.value.name == "z"
    return (*sorted(found.axes),)


@pytest.mark.parametrize(
    ("text", "axis", "told"),
    [
        ("y = Transpose <perm = [2, 0, 1]> (z)", 0, (2,)),
        ("y = Transpose <perm = [2, 0, 1]> (z)", -1, (1,)),
        ("y = Transpose (z)", 0, (2,)),
        ("y = Reshape (z, d)", 2, (2,)),
        ("y = Reshape (z, d)", 1, (1,)),
        ("y = Relu (z)", 1, (1,)),
        ("y = Flatten <axis = 2> (z)", 0, (0, 1)),
        ("y = Unsqueeze (z, n0)", 3, (2,)),
        ("c = Constant <value_int = 1> ()  y = Gather <axis = 1> (z, c)", 1, (2,)),
        ("a = Reshape (z, d)  t = Transpose <perm = [0, 2, 1, 3]> (a)  y = Neg (t)", 1, (2,)),
        ("y = ReduceSum <keepdims = 0> (z, n1)", 1, None),
    ],
)
def test_axes_are_followed_back(text: str, axis: int, told: tuple[int, ...] | None) -> None:
    assert trace(text, axis) == told


def test_an_axis_of_parts_of_several_is_none_of_them() -> None:
    # 3 × 6 is read as 2 × 9
    assert trace("y = Reshape (z, d)", 2, "2, 1, 2, 9") is None
    assert trace("y = Reshape (z, d)", 0, "2, 1, 2, 9") == (0,)


_ATTENTION = """g (float[1, 16, 16] x) => (float[1, 16, 16] y)
<int64[2] wide = {16, 48}, int64[2] square = {16, 16}, int64[5] apart = {1, 16, 3, 4, 4},
 int64[3] rows = {1, 16, 16}, int64[1] n0 = {0}>
{
  wqkv = ConstantOfShape (wide)  wo = ConstantOfShape (square)
  qkv = MatMul (x, wqkv)  heads = Reshape (qkv, apart)
  moved = Transpose <perm = [2, 0, 3, 1, 4]> (heads)
  q, k, v = Split <axis = 0, num_outputs = 3> (moved)
  q1 = Squeeze (q, n0)  k1 = Squeeze (k, n0)  v1 = Squeeze (v, n0)
  ACROSS
  back = Transpose <perm = [PERM]> (mixed)  joined = Reshape (back, rows)
  y = MatMul (joined, wo)
}"""
_CHANNELS = """
  q2 = Transpose <perm = [0, 1, 3, 2]> (q1)  scores = MatMul (q2, k1)  shares = Softmax (scores)
  v2 = Transpose <perm = [0, 1, 3, 2]> (v1)  mixed = MatMul (shares, v2)
"""
_PLACES = """
  k2 = Transpose <perm = [0, 1, 3, 2]> (k1)  scores = MatMul (q1, k2)  shares = Softmax (scores)
  mixed = MatMul (shares, v1)
"""


@pytest.mark.parametrize(
    ("across", "perm", "name"),
    [
        (_CHANNELS, "0, 3, 1, 2", "Channel self-attention"),
        (_PLACES, "0, 2, 1, 3", "Self-attention"),
    ],
)
def test_channels_are_told_from_places_where_both_are_as_many(
    across: str, perm: str, name: str
) -> None:
    # 16 places beside 4 heads × 4 of 16 features: sizes tell nothing
    text = _ATTENTION.replace("ACROSS", across).replace("PERM", perm)
    found = recognise(load_text(text).graph.nodes)
    assert found is not None
    assert (found.name, found.facts) == (name, ("4 heads × 4",))


def test_channels_of_maps_attend_without_projections() -> None:
    # J. Fu and others, Dual Attention Network for Scene Segmentation, 2019, figure 3
    text = """g (float[1, 8, 6, 6] x) => (float[1, 8, 36] y)
    <int64[4] dims = {8, 8, 1, 1}, int64[3] flat = {1, 8, 36}>
    {
      w = ConstantOfShape (dims)  c = Conv (x, w)  f = Reshape (c, flat)
      t = Transpose <perm = [0, 2, 1]> (f)
      s = MatMul (f, t)  p = Softmax (s)  y = MatMul (p, f)
    }"""
    found = recognise(load_text(text).graph.nodes)
    assert found is not None
    assert found.name == "Channel self-attention"
