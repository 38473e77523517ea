"""Few nodes of preparation join what they feed, unless they are all of a module."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.grouping import GroupTree, build_group_tree
from netloupe.explorer.readers.load import load

from .test_repeats import repeats
from .test_tree import check_tree, outline


def write_policy(layers: int, first: str, second: str) -> GroupTree:
    """Return the groups of linear layers, and of two nodes before them, which are named so."""
    weights = {"mean": [4], "deviation": [4]}
    nodes = [
        helper.make_node("Sub", ["x", "mean"], ["centred"], first),
        helper.make_node("Div", ["centred", "deviation"], ["h"], second),
    ]
    stream = "h"
    for layer in range(layers):
        scope = f"/hidden_{layer}/"
        weights |= {f"w{layer}": [4, 4], f"b{layer}": [4]}
        for op, operands in (
            ("Gemm", [stream, f"w{layer}", f"b{layer}"]),
            ("Sigmoid", [f"{scope}Gemm"]),
            ("Mul", [f"{scope}Gemm", f"{scope}Sigmoid"]),
        ):
            nodes.append(helper.make_node(op, operands, [scope + op], scope + op))
        stream = f"{scope}Mul"
    nodes.append(helper.make_node("Tanh", [stream], ["y"], "/Tanh"))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy")
    stored = [
        helper.make_tensor(name, TensorProto.FLOAT, dims, bytes(4 * 4 ** len(dims)), raw=True)
        for name, dims in weights.items()
    ]
    model = helper.make_model(helper.make_graph(nodes, "", [x], [y], stored))
    tree = build_group_tree(load(model.SerializeToString()).graph)
    check_tree(tree)
    return tree


@pytest.mark.parametrize("layers", [3, 4, 9])
def test_a_module_of_preparation_stays_a_module(layers: int) -> None:
    tree = write_policy(layers, "/normalizer/Sub", "/normalizer/Div")
    assert outline(tree).startswith("normalizer(Sub Div) ")
    (repeat,) = repeats(tree)
    assert {len(child.children) for child in repeat.inner_groups()} == {2}
    assert (len(repeat.children), repeat.exemplar) == (layers, 0)


@pytest.mark.parametrize("layers", [3, 9])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("/hidden_1/Sub", "/hidden_1/Div"),  # in a scope of others
        ("/a/Sub", "/b/Div"),  # a scope each
    ],
)
def test_other_nodes_of_preparation_join_what_they_feed(
    layers: int, first: str, second: str
) -> None:
    tree = write_policy(layers, first, second)
    (repeat,) = repeats(tree)
    inside = {node.op_type for node in tree.order[repeat.low : repeat.high]}
    assert {"Sub", "Div"} <= inside
