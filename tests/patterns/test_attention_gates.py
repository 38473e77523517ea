"""Gates that a sum of projections makes of a skip: as large as it, or resampled."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import recognise
from tests.onnx_text import load_text

_TEXT = """
g (float[1, 8, 16, 16] x, float[1, 12, 16, 16] g) => (float[1, 8, 16, 16] y)
<int64[4] own = {4, 8, 1, 1}, int64[4] other = {4, 12, 1, 1}, int64[4] narrow = {1, 4, 1, 1},
 int64[1] width = {4}, int64[1] one = {1}, float[4] scales = {1.0, 1.0, 2.0, 2.0}>
{
  wx = ConstantOfShape (own)  wg = ConstantOfShape (other)  wp = ConstantOfShape (narrow)
  s = ConstantOfShape (width)  t = ConstantOfShape (one)
  theta = Conv (x, wx)
  phi = Conv (g, wg)
  total = Add (theta, phi)
  bent = Relu (total)
  psi = Conv (bent, wp)
  gate = Sigmoid (psi)
  y = Mul (x, gate)
}
"""
_SMALLER = (
    ("float[1, 12, 16, 16]", "float[1, 12, 8, 8]"),
    ("theta = Conv (x, wx)", "theta = Conv <strides = [2, 2]> (x, wx)"),
    ("gate = Sigmoid (psi)", "small = Sigmoid (psi)  gate = Resize (small, , scales)"),
)


def tell(*edits: tuple[str, str]) -> str:
    text = _TEXT
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    found = recognise([*load_text(text).graph.nodes])
    return found.text if found is not None else ""


@pytest.mark.parametrize(
    "edits",
    [
        (),
        _SMALLER,
        # the other value is made as large
        (
            ("float[1, 12, 16, 16]", "float[1, 12, 8, 8]"),
            ("phi = Conv (g, wg)", "low = Conv (g, wg)  phi = Resize (low, , scales)"),
        ),
        # projections with norms, which are not folded in a model that is trained on
        (
            (
                "theta = Conv (x, wx)",
                "raw = Conv (x, wx)  theta = BatchNormalization (raw, s, s, s, s)",
            ),
            ("psi = Conv (bent, wp)", "p = Conv (bent, wp)  psi = BatchNormalization (p,t,t,t,t)"),
        ),
    ],
)
def test_a_gate_is_known(edits: tuple[tuple[str, str], ...]) -> None:
    assert tell(*edits) == "Attention gate, 4 features"


@pytest.mark.parametrize(
    "edits",
    [
        (("gate = Sigmoid (psi)", "gate = Relu (psi)"),),
        (("y = Mul (x, gate)", "y = Add (x, gate)"),),
        # of another value alone
        (("theta = Conv (x, wx)", "theta = Conv (g, wg)"),),
        # a weight of each channel, and not of each place
        (("narrow = {1, 4, 1, 1}", "narrow = {8, 4, 1, 1}"),),
        # what is weighed is not what was compared
        (("y = Mul (x, gate)", "z = Neg (x)  y = Mul (z, gate)"),),
    ],
)
def test_what_lacks_a_part_is_none(edits: tuple[tuple[str, str], ...]) -> None:
    assert "Attention gate" not in tell(*edits)
