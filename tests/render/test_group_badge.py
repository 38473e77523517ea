"""What the pill of a closed group says of its quantization."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.grouping import Group
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.group_badge import find_group_badge


def find_badges(types: tuple[type[np.integer], ...]) -> list[str]:
    """Return the pills of poolings whose operands are quantized as one of these types each."""
    nodes, stored, taken = [], [], "x"
    for number, element in enumerate(types):
        zero, quantized, real = f"zero{number}", f"q{number}", f"d{number}"
        stored.append(numpy_helper.from_array(np.array(0, element), zero))
        nodes.append(helper.make_node("QuantizeLinear", [taken, "scale", zero], [quantized]))
        nodes.append(helper.make_node("DequantizeLinear", [quantized, "scale", zero], [real]))
        taken = f"p{number}"
        nodes.append(helper.make_node("MaxPool", [real], [taken], kernel_shape=[1, 1]))
    stored.append(numpy_helper.from_array(np.array(0.5, np.float32), "scale"))
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("x", taken)]
    proto = helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:], stored))
    graph = load(proto.SerializeToString()).graph
    badges = []
    for low in range(0, len(nodes), 3):
        group = Group("operation", graph, f"main/{low}/", str(low))
        group.children, group.node_count = [*graph.nodes[low : low + 3]], 3
        badges.append(find_group_badge(group))
    return badges


@pytest.mark.parametrize(("element", "name"), [(np.int8, "int8"), (np.uint8, "uint8")])
def test_what_has_no_weights_says_how_its_operands_are_quantized(
    element: type[np.integer], name: str
) -> None:
    assert name in find_badges((element,))


def test_each_says_its_own() -> None:
    assert find_badges((np.int8, np.uint8)) == ["int8", "uint8"]
