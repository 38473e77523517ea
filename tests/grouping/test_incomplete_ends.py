"""Stacks whose first or last block lacks what only makes sense between blocks."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper, numpy_helper

from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.grouping.stack_changes import list_changes
from netloupe.explorer.model import Model
from netloupe.explorer.view import View
from tests.unrolled import WIDTH, Writer, make_skip_stack, make_stack
from tests.wiring_check import find_lost_edges


def find_stack(model: Model) -> Group:
    """Return the only repeat right below the root."""
    groups = find_tree(model, model.graph).root.inner_groups()
    (stack,) = [group for group in groups if group.kind == "repeat"]
    return stack


def test_the_last_of_a_stack_may_lack_the_activation_behind_it() -> None:
    stack = find_stack(make_stack())
    assert [child.node_count for child in stack.inner_groups()] == [6, 6, 6, 5]
    assert stack.label == "blocks.0 … blocks.3"
    assert list_changes(stack) == ["the last without ReLU"]


def test_a_sum_may_begin_with_the_first_of_a_stack_and_its_stream_end_with_the_last() -> None:
    stack = find_stack(make_skip_stack())
    assert [child.node_count for child in stack.inner_groups()] == [5, 6, 6, 6, 6, 5]
    assert stack.exemplar == 1
    assert list_changes(stack) == ["the first begins the sum", "the last without sum"]


def test_the_last_of_a_stack_may_hand_nothing_on() -> None:
    stack = find_stack(make_skip_stack(is_pruned=True))
    assert [child.node_count for child in stack.inner_groups()] == [5, 6, 6, 6, 6, 4]
    assert list_changes(stack) == [
        "the first begins the sum",
        "the last gives 1 of 2 results",
    ]


@pytest.mark.parametrize("model", [make_stack(last_width=3), make_stack(between=True)])
def test_what_is_of_another_width_or_kind_does_not_belong_to_a_stack(model: Model) -> None:
    stack = find_stack(model)
    assert [child.node_count for child in stack.inner_groups()] == [6, 6, 6]


def test_what_leaves_a_stack_stands_where_others_hand_it_on() -> None:
    model = make_stack()
    view = View(model)
    (stack,) = [item for item in view.root.children if item.repeat is not None]
    view.open(stack.path)
    for shown in range(4):
        view.show_repetition(stack.path, shown)
        assert (stack.carried.entering, stack.carried.leaving) == ({}, {})
        assert find_lost_edges(view) == []


def test_a_sum_comes_in_where_the_first_gave_what_is_added() -> None:
    view = View(make_skip_stack())
    (stack,) = [item for item in view.root.children if item.repeat is not None]
    view.open(stack.path)
    for shown in range(1, 6):
        view.show_repetition(stack.path, shown)
        (entering,) = stack.carried.entering
        assert stack.carried.names[entering] == "sum of skips"
        assert [child.label for child in stack.children if child.kind == "stub"] == []
        assert find_lost_edges(view) == []


def test_a_module_with_nothing_but_sums_beside_it_has_no_frame_of_its_own() -> None:
    model = make_skip_stack()
    stack = find_stack(model)
    block = stack.children[1]
    assert isinstance(block, Group)
    assert "blocks.1" not in [inner.label for inner in block.inner_groups()]
    tree = find_tree(model, model.graph)
    assert tree.groups["main/blocks.1/"].stand_in is block


def make_hierarchy(parts: int = 7) -> Model:
    """Return layers of which each takes a part, from the second on with what the one before gives.

    S. Gao and others, Res2Net, 2019, figure 2.
    """
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH * parts, 64]}
    cut = [f"part{number}" for number in range(parts)]
    writer.nodes.append(
        helper.make_node("Split", ["x"], cut, name="/Split", axis=1, num_outputs=parts)
    )
    value, given = "", []
    for number, part in enumerate(cut):
        value = writer.add("", "Add", value, part) if value else part
        weight = writer.weight(f"convs.{number}.weight", WIDTH, WIDTH, 3)
        options = {"kernel_shape": [3], "pads": [1, 1]}
        value = writer.add(f"convs.{number}", "Conv", value, weight, **options)
        value = writer.add("", "Tanh", writer.add("", "Relu", value))
        given.append(value)
    writer.outputs = [writer.add("", "Concat", *given, axis=1)]
    return writer.load()


def test_single_layers_have_a_last_one_that_lacks_something() -> None:
    stack = find_stack(make_hierarchy())
    assert stack.label == "convs.0 … convs.6"
    assert [child.node_count for child in stack.inner_groups()] == [4] * 6 + [3]
    assert list_changes(stack) == ["each result is added to the next part"]


def make_separator(lists: int = 2, blocks: int = 3) -> Model:
    """Return lists of blocks with two norms each, whose skips are summed from the first block on.

    Y. Luo and N. Mesgarani, Conv-TasNet, 2019, figure 1: dilations begin again in each list.
    """
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH, 64]}
    value, total = "x", ""
    for number in range(lists * blocks):
        scope = f"repeats.{number // blocks}.{number % blocks}"
        inner = value
        for place in (1, 2):
            step = 2 ** (number % blocks) if place == 2 else 1
            weight = writer.weight(f"{scope}.conv{place}.weight", WIDTH, WIDTH, 3)
            options = {"kernel_shape": [3], "dilations": [step], "pads": [step] * 2}
            inner = writer.add(f"{scope}/conv{place}", "Conv", inner, weight, **options)
            norm = f"{scope}/norm{place}"
            mean = writer.add(norm, "ReduceMean", inner)
            centred = writer.add(norm, "Sub", inner, mean)
            square = writer.add(norm, "Mul", centred, centred)
            variance = writer.add(norm, "ReduceMean", square)
            root = writer.add(norm, "Sqrt", writer.add(norm, "Add", variance, "epsilon"))
            inner = writer.add(norm, "Div", centred, root)
        skip = writer.weight(f"{scope}.skip.weight", WIDTH, WIDTH, 1)
        skip = writer.add(f"{scope}/skip", "Conv", inner, skip, kernel_shape=[1])
        if number < lists * blocks - 1:  # of the last one only the skip is used
            own = writer.weight(f"{scope}.res.weight", WIDTH, WIDTH, 1)
            own = writer.add(f"{scope}/res", "Conv", inner, own, kernel_shape=[1])
            value = writer.add(scope, "Add", value, own)
        total = writer.add("", "Add", total, skip) if total else skip
    writer.tensors.append(numpy_helper.from_array(np.float32(1e-5), "epsilon"))
    writer.outputs = [total]
    return writer.load()


@pytest.mark.parametrize("blocks", [3, 5])
def test_norms_in_blocks_are_no_blocks_of_a_stage(blocks: int) -> None:
    model = make_separator(2, blocks)
    groups = find_tree(model, model.graph).root.inner_groups()
    stacks = [group for group in groups if group.kind == "repeat"]
    assert [(stack.label, len(stack.children)) for stack in stacks] == [
        (f"repeats.{number}.0 … repeats.{number}.{blocks - 1}", blocks) for number in range(2)
    ]
    for stack in stacks:
        told = "dilation 1, 2, 4" if blocks == 3 else "dilation 1 … 16"
        assert told in list_changes(stack)
