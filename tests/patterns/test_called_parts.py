"""What is called again with the weights that it had."""

from __future__ import annotations

import onnx.parser

from netloupe.explorer.patterns import find_ingredients
from netloupe.explorer.readers.load import load


def test_a_convolution_with_the_weights_of_one_before_is_that_one_called_again() -> None:
    text = """<ir_version: 8, opset_import: ["": 17]>
g (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y) <int64[4] dims = {8, 8, 3, 3}> {
 w = ConstantOfShape (dims) v = ConstantOfShape (dims) u = Identity (w)
 a = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w)
 b = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (a, v)
 c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (b, u)
 y = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (c, w)
}"""
    graph = load(onnx.parser.parse_model(text).SerializeToString()).graph
    # equal weights of another layer are stored once and copied
    assert [one.times for one in find_ingredients(graph.nodes)] == [1, 1, 1, 0]
