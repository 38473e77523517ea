"""Features that each token takes from the one before it, and what only looks like that."""

from __future__ import annotations

import pytest

from tests.patterns.test_figure_parts import tell

_SHIFTED = """
g (float[1, 16, 8] x) => (float[1, 16, 8] y)
<int64[6] pads = {0, 1, 0, 0, -1, 0}, int64[1] zero = {0}, int64[1] end = {-1}, int64[1] axis = {1}>
{
  kept, rest = Split <axis = -1, num_outputs = 2> (x)
  moved = Pad (rest, pads)
  y = Concat <axis = -1> (kept, moved)
}
"""


def test_half_of_the_features_may_be_those_of_the_token_before() -> None:
    names, told = tell(_SHIFTED)
    assert names == ["Token shift"]
    assert told == "Token shift"


def test_the_last_token_may_be_cut_off_before() -> None:
    text = _SHIFTED.replace("{0, 1, 0, 0, -1, 0}", "{0, 1, 0, 0, 0, 0}")
    cut = text.replace("moved = Pad (rest", "cut = Slice (rest, zero, end, axis)  moved = Pad (cut")
    assert tell(cut)[1] == "Token shift"


def test_tokens_that_were_joined_before_are_shifted_as_others() -> None:
    text = _SHIFTED.replace("[1, 16, 8] x)", "[1, 15, 8] before, float[1, 1, 8] start)")
    text = text.replace("{\n  kept", "{\n  x = Concat <axis = 1> (start, before)\n  kept")
    names, _ = tell(text)
    assert "Token shift" in names


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{0, 1, 0, 0, -1, 0}", "{0, 2, 0, 0, -2, 0}"),  # by two tokens
        ("{0, 1, 0, 0, -1, 0}", "{0, -1, 0, 0, 1, 0}"),  # from the token behind
        ("Pad (rest", 'Pad <mode = "edge"> (rest'),  # the first has itself before it
        ("Split <axis = -1", "Split <axis = 1"),  # tokens are split
        ("Pad (rest", "Pad (kept"),  # the rest is left out
        ("[1, 16, 8]", "[1, 2, 16, 8]"),  # of a map
    ],
)
def test_others_are_none(old: str, new: str) -> None:
    names, told = tell(_SHIFTED.replace(old, new))
    assert "Token shift" not in (*names, told)


@pytest.mark.parametrize("is_shifted", [False, True])
def test_a_transformer_block_says_that_its_tokens_are_shifted(is_shifted: bool) -> None:
    taken = "s" if is_shifted else "x"
    text = f"""
g (float[1, 16, 8] x) => (float[1, 16, 8] y)
<int64[6] pads = {{0, 1, 0, 0, -1, 0}}, int64[2] square = {{8, 8}}, int64[2] wider = {{8, 32}},
 int64[2] narrower = {{32, 8}}, int64[1] width = {{8}}>
{{
  g = ConstantOfShape (width)  wq = ConstantOfShape (square)  wk = ConstantOfShape (square)
  wv = ConstantOfShape (square)  wo = ConstantOfShape (square)
  u = ConstantOfShape (wider)  d = ConstantOfShape (narrower)
  kept, rest = Split <axis = -1, num_outputs = 2> (x)
  moved = Pad (rest, pads)
  s = Concat <axis = -1> (kept, moved)
  n = LayerNormalization ({taken}, g)
  q = MatMul (n, wq)  k = MatMul (n, wk)  v = MatMul (n, wv)
  t = Transpose <perm = [0, 2, 1]> (k)  scores = MatMul (q, t)  shares = Softmax (scores)
  mixed = MatMul (shares, v)  o = MatMul (mixed, wo)  sum = Add (x, o)
  n2 = LayerNormalization (sum, g)  h = MatMul (n2, u)  a = Relu (h)  f = MatMul (a, d)
  y = Add (sum, f)
}}
"""
    if not is_shifted:
        text = text.replace("  kept, rest = Split <axis = -1, num_outputs = 2> (x)\n", "")
        text = text.replace("  moved = Pad (rest, pads)\n", "")
        text = text.replace("  s = Concat <axis = -1> (kept, moved)\n", "")
    _, told = tell(text)
    assert told.startswith("Transformer block")
    assert ("token shift" in told) is is_shifted
