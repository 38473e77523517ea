"""What is called again with the weights that it had."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.grouping.shared_tensors import identify_weight
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


@pytest.mark.parametrize(("names", "count"), [("/m/f {} /m/f_1", 1), ("/m/f {} /m/g", 2)])
def test_copies_of_weights_for_calls_of_one_module_are_one_weight(names: str, count: int) -> None:
    first, _, second = names.split()
    nodes = [
        helper.make_node("Identity", ["w"], ["u"], "copy"),
        helper.make_node("MatMul", ["x", "w"], ["a"], f"{first}/MatMul"),
        helper.make_node("Tanh", ["a"], ["b"], "/m/Tanh"),
        helper.make_node("MatMul", ["b", "u"], ["y"], f"{second}/MatMul"),
    ]
    weight = np.arange(64, dtype=np.float32).reshape(8, 8) - 30
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])],
        [numpy_helper.from_array(weight, "w")],
    )
    known = load(helper.make_model(graph).SerializeToString()).graph
    users = [node for node in known.nodes if node.op_type == "MatMul"]
    weights = {identify_weight(value) for node in users if (value := node.input(1)) is not None}
    assert len(weights) == count
