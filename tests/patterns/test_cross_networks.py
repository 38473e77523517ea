"""Cross networks whose layers are of low rank, or a mixture of experts of low rank."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

_HEAD = """
g (float[4, 40] x, float[4, 40] z) => (float[4, 40] y)
<int64[2] down = {40, 8}, int64[2] square = {8, 8}, int64[2] up = {8, 40}, int64[2] one = {40, 1},
 int64[1] width = {40}, int64[1] last = {2}>
{
  v = ConstantOfShape (down)  c = ConstantOfShape (square)  u = ConstantOfShape (up)
  g = ConstantOfShape (one)  b = ConstantOfShape (width)
"""
_EXPERT = """
  v{n} = MatMul (FROM, v)  a{n} = Tanh (v{n})  c{n} = MatMul (a{n}, c)  e{n} = Tanh (c{n})
  u{n} = MatMul (e{n}, u)  b{n} = Add (u{n}, b)  m{n} = Mul (x, b{n})  g{n} = MatMul (FROM, g)
"""
_MIX = """
  p{n} = Unsqueeze (m{n}, last)  q{n} = Unsqueeze (m{o}, last)
  s{n} = Concat <axis = 2> (p{n}, q{n})
  h{n} = Concat <axis = 1> (g{n}, g{o})  t{n} = Softmax <axis = 1> (h{n})
  w{n} = Einsum <equation = "bde,be->bd"> (s{n}, t{n})
"""


def write_layer(place: int, start: str, end: str) -> str:
    one, other = 2 * place, 2 * place + 1
    experts = "".join(_EXPERT.format(n=n).replace("FROM", start) for n in (one, other))
    mix = _MIX.format(n=one, o=other)
    return f"{experts}{mix}  {end} = Add (w{one}, {start})\n"


_MIXED = _HEAD + write_layer(0, "x", "x1") + write_layer(1, "x1", "y") + "}"
_LOW = (
    _HEAD
    + """
  v1 = MatMul (x, v)  u1 = MatMul (v1, u)  b1 = Add (u1, b)  m1 = Mul (x, b1)  x1 = Add (m1, x)
  v2 = MatMul (x1, v)  u2 = MatMul (v2, u)  b2 = Add (u2, b)  m2 = Mul (x, b2)  y = Add (m2, x1)
}
"""
)


def tell(text: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    found = recognise([*load_text(text).graph.nodes])
    return found.text if found is not None else ""


def test_layers_of_low_rank_are_crosses() -> None:
    assert tell(_LOW) == "Cross network, 2 layers"


def test_shares_of_experts_are_told() -> None:
    assert tell(_MIXED) == "Cross network, 2 layers, 2 experts of rank 8"


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        (_LOW, ("m2 = Mul (x, b2)", "m2 = Mul (x1, b2)")),
        (_LOW, ("y = Add (m2, x1)", "y = Add (m2, x)")),
        # experts of the first value in the second layer, too
        (_MIXED, ("v2 = MatMul (x1, v)", "v2 = MatMul (x, v)")),
        # one product is of another value
        (_MIXED, ("m3 = Mul (x, b3)", "m3 = Mul (z, b3)")),
        # no shares
        (_MIXED, ("t2 = Softmax <axis = 1> (h2)", "t2 = Tanh (h2)")),
        # nothing is added to
        (_MIXED, ("y = Add (w2, x1)", "y = Add (w2, z)")),
    ],
)
def test_what_lacks_a_part_is_none(text: str, edit: tuple[str, str]) -> None:
    assert "Cross network" not in tell(text, edit)
