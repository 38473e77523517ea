"""Gated residual networks, with and without a context."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

_BODY = """
g (float[4, 9, 8] x, float[4, 1, 8] c, float[4, 9, 8] z) => (float[4, 9, 8] y)
<int64[2] dims = {8, 8}, int64[2] twice = {8, 16}, int64[1] width = {8}>
{
  w1 = ConstantOfShape (dims)  w2 = ConstantOfShape (dims)  w3 = ConstantOfShape (twice)
  w4 = ConstantOfShape (dims)  s = ConstantOfShape (width)
  one = MatMul (x, w1)
  other = MatMul (c, w4)
  both = Add (one, other)
  active = Elu (both)
  two = MatMul (active, w2)
  wide = MatMul (two, w3)
  value, logits = Split <axis = -1, num_outputs = 2> (wide)
  gate = Sigmoid (logits)
  gated = Mul (value, gate)
  total = Add (x, gated)
  y = LayerNormalization (total, s)
}
"""


def _find(old: str = "", new: str = "") -> str:
    assert old in _BODY
    found = recognise(load_text(_BODY.replace(old, new)).graph.nodes)
    return found.name if found is not None else ""


def test_a_context_may_be_added_before_the_activation() -> None:
    assert _find() == "Gated residual network"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # a product in place of the sum, no layer of the context, another way around
        ("both = Add (one, other)", "both = Mul (one, other)"),
        ("other = MatMul (c, w4)", "other = Cos (c)"),
        ("total = Add (x, gated)", "total = Add (z, gated)"),
        ("active = Elu (both)", "more = Add (both, z)  active = Elu (more)"),
    ],
)
def test_what_is_made_of_other_values_is_none(old: str, new: str) -> None:
    assert _find(old, new) != "Gated residual network"
