"""Stacks of convolutions that look ever further: one fold, whatever the dilations of its blocks."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.kind_keys import KindKeys
from netloupe.explorer.grouping.stack_changes import list_changes
from netloupe.explorer.readers.load import load

from .test_repeats import list_ways_around, repeats
from .test_tree import check_tree


class Writer:
    """Writes a temporal convolutional network without names."""

    def __init__(self) -> None:
        self.nodes: list[object] = []
        self.weights: list[object] = []

    def add(self, op: str, *operands: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, operands, [f"t{len(self.nodes)}"], **attributes))
        return f"t{len(self.nodes) - 1}"

    def conv(
        self, x: str, taken: int, given: int, kernel: int = 1, dilation: int = 1, pads: int = -1
    ) -> str:
        self.weights.append(
            helper.make_tensor(
                f"w{len(self.weights)}",
                TensorProto.FLOAT,
                [given, taken, kernel],
                [0.5] * (given * taken * kernel),
            )
        )
        pad = dilation * (kernel - 1) // 2 if pads < 0 else pads
        return self.add(
            *("Conv", x, f"w{len(self.weights) - 1}"),
            auto_pad="NOTSET",
            dilations=[dilation],
            kernel_shape=[kernel],
            pads=[pad, pad],
            strides=[1],
        )

    def group(self, output: str) -> GroupTree:
        info = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 40])]
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "", info, outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        tree = build_group_tree(load(model.SerializeToString()).graph)
        check_tree(tree)
        return tree


def group_stack(dilations: list[int]) -> Group:
    """Return the fold of blocks with a residual connection, of some dilations."""
    writer = Writer()
    x = writer.conv("x", 8, 8)
    for dilation in dilations:
        y = writer.conv(writer.add("Relu", writer.conv(x, 8, 4)), 4, 4, 3, dilation)
        x = writer.add("Add", x, writer.conv(writer.add("Relu", y), 4, 8))
    (repeat,) = repeats(writer.group(x))
    return repeat


@pytest.mark.parametrize(
    ("dilations", "told"),
    [
        ([1, 2, 4, 8] * 3, ["dilation 1 … 8 in 3 cycles"]),
        ([1, 2, 4, 8, 16], ["dilation 1 … 16"]),
        ([2] * 5, []),
    ],
)
def test_blocks_of_other_dilations_are_one_stack(dilations: list[int], told: list[str]) -> None:
    repeat = group_stack(dilations)
    assert len(repeat.children) == len(dilations)
    assert not any(inner.kind == "repeat" for inner in repeat.inner_groups())
    assert list_changes(repeat) == told


def test_a_first_block_keeps_what_leads_to_the_sum_that_it_begins() -> None:
    """Its last layer is no box between it and the next block, which the stack would go around."""
    writer = Writer()
    x, skips = writer.conv("x", 8, 8), ""
    for dilation in [1, 2, 4] * 2:
        y = writer.add("Relu", writer.conv(x, 8, 4))
        y = writer.add("Relu", writer.conv(y, 4, 4, 3, dilation))
        y = writer.add("Tanh", writer.conv(y, 4, 4, 3))
        x = writer.add("Add", x, writer.conv(y, 4, 8))
        skip = writer.conv(y, 4, 8)
        skips = writer.add("Add", skips, skip) if skips else skip
    tree = writer.group(writer.conv(writer.add("Relu", skips), 8, 8))
    (repeat,) = repeats(tree)
    assert len(repeat.children) == 6
    assert list_ways_around(tree, repeat) == []
    assert "the first begins the sum" in list_changes(repeat)


@pytest.mark.parametrize(
    ("other", "are_alike"),
    [
        ({"dilation": 4}, True),
        ({"dilation": 4, "pads": 0}, False),  # the map gets smaller
        ({"kernel": 5}, False),
    ],
)
def test_only_the_reach_of_a_kernel_makes_no_other_kind(
    other: dict[str, int], *, are_alike: bool
) -> None:
    writer = Writer()
    for settings in ({"kernel": 3}, {"kernel": 3} | other):
        x = writer.conv("x", 8, 8, **settings)
    keys = KindKeys()
    first, second = (node for node in writer.group(x).graph.nodes if node.op_type == "Conv")
    assert (keys.write(first) == keys.write(second)) is are_alike
