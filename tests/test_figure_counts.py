"""The judge of counts and of numbers of members finds those that a file has not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph
from netloupe.explorer.readers.load import load
from tests.figure_counts import judge_counts, judge_first_width, judge_member_numbers

Conv = tuple[int, int, int, int]


def make_graph(convs: Sequence[Conv], calls: int = 1) -> Graph:
    """Return convolutions in a row, each of widths, a kernel and a dilation, and their calls."""
    nodes, weights = [], []
    value = "x"
    for call in range(calls):
        for number, (taken, given, kernel, dilation) in enumerate(convs):
            name, made = f"w{number}", f"v{call}_{number}"
            how = {"kernel_shape": [kernel], "dilations": [dilation]}
            nodes.append(helper.make_node("Conv", [value, name], [made], **how))
            nodes.append(helper.make_node("Softmax", [made], [f"{made}s"], axis=1))
            value = f"{made}s"
            if not call:
                zeros = np.zeros((given, taken, kernel), np.float32)
                weights.append(numpy_helper.from_array(zeros, name))
    info = helper.make_tensor_value_info
    given_value = [info(value, TensorProto.FLOAT, None)]
    graph = helper.make_graph(
        nodes, "g", [info("x", TensorProto.FLOAT, [1, convs[0][0], 99])], given_value, weights
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return load(model.SerializeToString()).graph


def read_stored(graph: Graph) -> dict[str, tuple[int, ...]]:
    return {
        value.name: (*value.initializer.dims,)
        for value in graph.values.values()
        if value.initializer is not None
    }


def make_stack(convs: Sequence[Conv]) -> Group:
    """Return a stack whose members are a convolution and what is behind it."""
    graph = make_graph(convs)
    stack = Group("repeat", graph, "main/stack/", "stack")
    for number in range(len(convs)):
        member = Group("block", graph, f"main/stack/{number}/", str(number), parent=stack)
        member.children = [*graph.nodes[2 * number : 2 * number + 2]]
        stack.add(member)
    return stack


@pytest.mark.parametrize(
    ("text", "calls", "what"),
    [
        ("Conv ×4", 1, "4 convolutions of 3"),
        ("Summed branches, Conv ×2", 1, "2 convolutions of 3"),
        ("Summed branches, Conv ×3", 1, ""),
        ("Residual block, Conv ×2", 1, ""),  # that block may have the third one
        ("(Conv · ReLU) ×2 · Conv", 1, ""),
        ("Self-attention ×6", 2, "attention of 2 calls"),
        ("Self-attention ×3", 2, ""),
        ("Self-attention ×3", 1, ""),
    ],
)
def test_counts_are_those_of_all_layers_of_one_call(text: str, calls: int, what: str) -> None:
    graph = make_graph([(4, 8, 3, 1), (8, 8, 3, 1), (8, 4, 3, 1)], calls)
    found = [*judge_counts([text], graph.nodes, read_stored(graph))]
    assert found == [] if not what else any(what in line for line in found)


@pytest.mark.parametrize(
    ("text", "first", "what"),
    [
        ("Linear, Conv ×2", 1, ""),  # of single places: the linear layer that it is at each
        ("Linear, Conv ×2", 3, "2 convolutions of 3"),
        ("Linear, Conv", 1, "1 convolutions of 3"),
        ("Linear ×2, Conv", 1, "1 convolutions of 3"),  # one of them alone is of single places
    ],
)
def test_linear_layers_may_be_convolutions_of_single_places(
    text: str, first: int, what: str
) -> None:
    graph = make_graph([(4, 8, first, 1), (8, 8, 3, 1), (8, 4, 3, 1)])
    found = [*judge_counts([text], graph.nodes, read_stored(graph))]
    assert found == [] if not what else any(what in line for line in found)


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("dilation 1, 2, 3, 1, kernel 5, 3, 3, 1", True),
        ("dilation 1, 2, 3, kernel 5, 3, 3, 1", False),
        ("dilation 1, 2, 3, 1, kernel 5, 3, 1", False),
        ("kernel 1 to 5", True),
    ],
)
def test_each_member_has_the_number_that_is_told(text: str, is_so: bool) -> None:
    stack = make_stack([(4, 8, 5, 1), (8, 8, 3, 2), (8, 8, 3, 3), (8, 8, 1, 1)])
    assert is_so == (not [*judge_member_numbers([text], stack)])


@pytest.mark.parametrize(
    ("text", "is_so"), [("4 → 8 · the first halves the size", True), ("8 → 2 → 8", False)]
)
def test_the_first_member_takes_the_first_width(text: str, is_so: bool) -> None:
    stack = make_stack([(4, 8, 3, 1), (8, 8, 3, 1), (8, 8, 3, 1)])
    stored = read_stored(stack.graph)
    assert is_so == (not [*judge_first_width([text], stack, stored, {"x": (1, 4, 99)})])
