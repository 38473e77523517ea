"""What is called again with the weights that it had, and queries that are sampled."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.patterns import find_ingredients, recognise
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


def attend(queries: str) -> str:
    """Return what attention with these queries of ``x`` is."""
    weights = "".join(f" w{n} = ConstantOfShape (dims)" for n in "qkv")
    text = f"""<ir_version: 8, opset_import: ["": 17]>
g (float[1, 16, 8] x) => (float[1, N, 8] y) <int64[2] dims = {{8, 8}}, int64[1] none = {{0}},
  int64[1] end = {{16}}, int64[1] axis = {{1}}, int64[1] two = {{2}}, int64[1] one = {{1}}> {{
{weights}
 {queries}
 q = MatMul (s, wq) k = MatMul (x, wk) v = MatMul (x, wv) t = Transpose <perm = [0, 2, 1]> (k)
 r = MatMul (q, t) p = Softmax <axis = -1> (r) y = MatMul (p, v)
}}"""
    graph = load(onnx.parser.parse_model(text).SerializeToString()).graph
    found = recognise([node for node in graph.nodes if node.op_type != "Slice"])
    assert found is not None
    return found.name


@pytest.mark.parametrize(
    ("queries", "name"),
    [
        ("s = Identity (x)", "Self-attention"),
        ("s = Slice (x, none, end, axis, two)", "Self-attention"),
        ("s = Slice (x, none, one, axis, one)", "Cross-attention"),  # the first alone
    ],
)
def test_queries_that_are_every_second_place_make_self_attention(queries: str, name: str) -> None:
    assert attend(queries) == name
