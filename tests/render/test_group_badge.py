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


def find_layers_badge(*layers: tuple[type[np.generic], bool], others: int = 0) -> str:
    """Return the pill of a group of linear layers: the type of each, and scales per channel."""
    nodes, stored, taken = [], [numpy_helper.from_array(np.ones((4, 4), np.float32), "w")], "x"
    for number, (element, is_per_channel) in enumerate(layers):
        weight = "w"
        if issubclass(element, np.integer):
            weight = f"d{number}"
            scale = np.full((4,) if is_per_channel else (), 0.5, np.float32)
            stored.append(numpy_helper.from_array(np.ones((4, 4), element), f"q{number}"))
            stored.append(numpy_helper.from_array(scale, f"s{number}"))
            operands = [f"q{number}", f"s{number}"]
            nodes.append(helper.make_node("DequantizeLinear", operands, [weight], axis=1))
        nodes.append(helper.make_node("MatMul", [taken, weight], [f"y{number}"]))
        taken = f"y{number}"
    for number in range(others):
        nodes.append(helper.make_node("Relu", [taken], [f"r{number}"]))
        taken = f"r{number}"
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in ("x", taken)]
    proto = helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:], stored))
    graph = load(proto.SerializeToString()).graph
    group = Group("module", graph, "main/block/", "block")
    group.children, group.node_count = [*graph.nodes], len(graph.nodes)
    return find_group_badge(group)


@pytest.mark.parametrize(
    ("layers", "others", "expected"),
    [
        ([(np.int8, False)] * 2, 0, "int8"),
        ([(np.int8, True)] * 2, 0, "int8 · per channel"),
        ([(np.int8, False)] * 4, 100, "int8"),
        ([(np.int8, False), (np.int8, True)], 0, "int8"),
        ([(np.int8, False), (np.uint8, False)], 0, ""),
        ([(np.int8, False)] * 4 + [(np.float32, False)], 0, ""),
        ([(np.float32, False)] * 2, 0, ""),
    ],
)
def test_a_group_of_any_size_says_how_its_layers_are_quantized_alike(
    layers: list[tuple[type[np.generic], bool]], others: int, expected: str
) -> None:
    assert find_layers_badge(*layers, others=others) == expected
