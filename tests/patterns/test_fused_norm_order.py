"""Where norms stand in a block whose sums an optimizer fused with the norms behind them."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns import recognise
from netloupe.explorer.patterns.transformer_details import TransformerDetails
from netloupe.explorer.readers.load import load

_TEXT = """<ir_version: 8, opset_import: ["": 18, "com.microsoft": 1]>
g (float[1, 16, 8] x, float[1, 16, 8] stream) => (float[1, 16, 8] y) <int64[2] qkv = {8, 24},
  int64[2] up = {8, 32}, int64[2] down = {32, 8}, int64[2] square = {8, 8},
  float[8] ones = {1, 1, 1, 1, 1, 1, 1, 1}, float[24] zeros = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}> {
 w = ConstantOfShape (qkv) p = ConstantOfShape (square)
 u = ConstantOfShape (up) d = ConstantOfShape (down)
 a = com.microsoft.Attention <num_heads = 2> (x, w, zeros) o = MatMul (a, p)
 FIRST = com.microsoft.SkipLayerNormalization (o, stream, ones, ones)
 h = MatMul (n, u) r = Relu (h) m = MatMul (r, d)
 LAST = com.microsoft.SkipLayerNormalization (m, s, ones, ones)
 y = Add (z, t)
}"""


@pytest.mark.parametrize(
    ("given", "order"),
    [(("n, , , s", "z, , , t"), "pre-norm"), (("n", "z"), "post-norm")],
)
def test_a_norm_whose_sum_goes_on_is_of_what_comes_next(given: tuple[str, str], order: str) -> None:
    text = _TEXT.replace("FIRST", given[0]).replace("LAST", given[1])
    if order == "post-norm":
        text = text.replace("(m, s,", "(m, n,").replace("Add (z, t)", "Identity (z)")
    graph = load(onnx.parser.parse_model(text).SerializeToString()).graph
    kinds = ("ConstantOfShape", "Constant")
    nodes = [n for n in graph.nodes if n.op_type not in kinds and n.outputs[0].name != "y"]
    found = recognise(nodes)
    assert found is not None
    assert found.name == "Transformer block"
    assert found.details.read_as(TransformerDetails).order == order
