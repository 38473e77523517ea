"""Projections: convolutions on the shortcut of a residual block."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns import has_projection
from netloupe.explorer.readers.load import load

HEAD = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 8, 4, 4] x) => (float[1, 8, 4, 4] y) <float[1, 1, 1, 1] w = {1}>
"""


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        # basic block with the shortcut B of the paper
        ("a = Conv(x, w)  b = Relu(a)  c = Conv(b, w)  s = Conv(x, w)  y = Add(c, s)", True),
        ("s = Conv(x, w)  a = Conv(x, w)  b = Relu(a)  c = Conv(b, w)  y = Add(s, c)", True),
        # the value itself is the shortcut
        ("a = Conv(x, w)  b = Relu(a)  c = Conv(b, w)  y = Add(c, x)", False),
        # two branches of equal right
        ("a = Conv(x, w)  b = Conv(x, w)  y = Add(a, b)", False),
        # what is added is convolved, but no way leads around it
        ("a = Conv(x, w)  b = Relu(a)  c = Conv(b, w)  s = Conv(c, w)  y = Add(s, w)", False),
        # a copy projects nothing
        (
            "a = Conv(x, w)  b = Relu(a)  c = Conv(b, w)  s = Identity(x)  y = Add(c, s)",
            False,
        ),
    ],
)
def test_a_projection_is_a_convolution_on_the_shortcut(body: str, wanted: bool) -> None:
    text = HEAD + "{\n" + body.replace("  ", "\n") + "\n}"
    nodes = load(onnx.parser.parse_model(text).SerializeToString()).graph.nodes
    assert has_projection(nodes) is wanted
