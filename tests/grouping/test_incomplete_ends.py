"""Stacks whose first or last block lacks what only makes sense between blocks."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.grouping.stack_changes import list_changes
from netloupe.explorer.model import Model
from netloupe.explorer.view import View
from tests.unrolled import make_skip_stack, make_stack
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
        "the last without the branch to a next one",
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
