"""Histories that are weighed by what a network makes of each of them beside a target."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import find_graph_context, find_ideas
from tests.onnx_text import load_text

_START = """
g (float[4, 32] target, float[4, 20, 32] history, int64[4, 1] length, float[4, 20, 1] mask)
 => (float[4, 32] y)
<int64[1] one = {1}, int64[1] last = {2}, int64[3] dims = {4, 20, 32}, int64[2] up = {128, 8},
 int64[2] down = {8, 1}, int64[2] wide = {8, 32}, float low = {-1e9}, float root = {5.6}>
{
  w1 = ConstantOfShape (up)  w2 = ConstantOfShape (down)  w3 = ConstantOfShape (wide)
  places = Constant <value = int64[1, 20] {0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19}> ()
  row = Unsqueeze (target, one)  each = Expand (row, dims)
  less = Sub (each, history)  times = Mul (each, history)
  joined = Concat <axis = 2> (each, history, less, times)
  h = MatMul (joined, w1)  a = Sigmoid (h)
"""
_NUMBER = "made = MatMul (a, w2)"
_WEIGHTS = {
    "as they are": "w = Identity (made)",
    "shares": "w = Softmax <axis = 1> (made)",
    "scaled shares": "s = Div (made, root) w = Softmax <axis = 1> (s)",
    "masked by a length": """
  flat = Squeeze (made, last)  known = Less (places, length)  kept = Where (known, flat, low)
  w = Unsqueeze (kept, last)""",
    "masked shares": """
  flat = Squeeze (made, last)  known = Less (places, length)  kept = Where (known, flat, low)
  s = Softmax <axis = 1> (kept)  w = Unsqueeze (s, last)""",
    "times a mask": "w = Mul (made, mask)",
}
_SUMS = {
    "a product": """
  t = Transpose <perm = [0, 2, 1]> (w)  p = MatMul (t, history)  y0 = Squeeze (p, one)""",
    "a sum": "p = Mul (w, history) y0 = ReduceSum <keepdims = 0> (p, one)",
}


def tell(weights: str, total: str, number: str = _NUMBER) -> list[str]:
    """Return the ideas among what a history goes through before the layers behind it."""
    graph = load_text(f"{_START} {number} {weights} {total} y = Tanh (y0) }}").graph
    return [name for name, *_ in find_ideas([*graph.nodes], find_graph_context(graph))]


@pytest.mark.parametrize("total", _SUMS)
@pytest.mark.parametrize("weights", _WEIGHTS)
def test_a_target_weighs_a_history(weights: str, total: str) -> None:
    assert tell(_WEIGHTS[weights], _SUMS[total]) == ["Target attention"]


@pytest.mark.parametrize(
    ("weights", "total", "number"),
    [
        # what is weighed is not what the network looked at
        ("w = Identity (made)", _SUMS["a product"].replace("history", "other"), _NUMBER),
        # many numbers of each
        (
            "w = Identity (made)",
            "p = Mul (w, history) y0 = ReduceSum (p, one)",
            "made = MatMul (a, w3)",
        ),
        # a network that looks at no pair
        ("w = Identity (mask)", _SUMS["a sum"], _NUMBER),
    ],
)
def test_other_sums_are_no_target_attention(weights: str, total: str, number: str) -> None:
    number += " other = Softsign (less)"
    assert "Target attention" not in tell(weights, total, number)


def test_what_takes_no_values_ends_no_search() -> None:
    """An operator without operands, such as noise, may stand anywhere before."""
    noisy = _NUMBER + " noise = RandomNormal <shape = [4, 20, 1]> () made2 = Add (made, noise)"
    weights = "w = Softmax <axis = 1> (made2)"
    assert tell(weights, _SUMS["a sum"], noisy) == ["Target attention"]
