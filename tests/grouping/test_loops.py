"""Loops that are written out: one body with the same weights at each step, told from a stack."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.grouping.repeat_names import name_calls
from netloupe.explorer.model import Model
from tests.unrolled import (
    make_branches,
    make_controller,
    make_lstm,
    make_recurrent,
    make_refinement,
    make_skip_stack,
    make_towers,
    make_two_in_a_row,
)


def find_repeats(model: Model) -> list[Group]:
    """Return the repeats right below the root."""
    return [
        group
        for group in find_tree(model, model.graph).root.inner_groups()
        if group.kind == "repeat"
    ]


@pytest.mark.parametrize("naming", ["legacy", "plain"])
@pytest.mark.parametrize("copies", [False, True])
def test_steps_with_the_same_weights_are_a_loop(naming: str, copies: bool) -> None:
    (loop,) = find_repeats(make_recurrent(naming=naming, copies=copies))
    assert (len(loop.children), loop.is_loop) == (5, True)


@pytest.mark.parametrize("naming", ["legacy", "plain"])
def test_layers_with_weights_of_their_own_are_a_stack(naming: str) -> None:
    (stack,) = find_repeats(make_recurrent(naming=naming, shared=False))
    assert (len(stack.children), stack.is_loop) == (5, False)
    (stack,) = find_repeats(make_skip_stack())
    assert not stack.is_loop
    assert not stack.shares_weights


def test_towers_that_share_weights_are_no_loop() -> None:
    (towers,) = find_repeats(make_towers())
    assert (len(towers.children), towers.is_loop, towers.shares_weights) == (3, False, True)
    assert towers.label == "encoder"


def test_a_loop_is_called_as_its_module_is() -> None:
    (loop,) = find_repeats(make_lstm())
    assert (loop.label, len(loop.children), loop.is_loop) == ("cell", 4, True)
    (stack,) = find_repeats(make_recurrent(shared=False))
    assert stack.label == "cell … cell_4"
    assert name_calls(["cell", "cell_1", "cell_2"]) == "cell"
    assert name_calls(["cell", "cell_4", "cell_8"]) == "cell"  # four calls in each step
    assert name_calls(["cell", "cell_b"]) == ""
    assert name_calls(["layers.0", "layers.1"]) == ""


def test_each_step_is_whole_where_a_part_of_the_first_was_computed_beforehand() -> None:
    (loop,) = find_repeats(make_refinement(steps=5))
    assert (loop.label, len(loop.children), loop.is_loop) == ("update", 5, True)
    assert loop.exemplar == 1  # the first lacks a part
    counts = [child.node_count for child in loop.children if isinstance(child, Group)]
    assert counts[1:] == [16] * 4
    assert counts[0] < 16
    last = loop.children[-1]
    assert isinstance(last, Group)
    assert [inner.label for inner in last.inner_groups()] == ["Formula", "update_4"]


def test_three_branches_of_one_value_that_are_summed_are_one_box() -> None:
    model = make_branches(stages=1)
    labels = [group.label for group in find_tree(model, model.graph).root.inner_groups()]
    assert [label for label in labels if "res" in label] == ["res.0 … res.2"]
    (many,) = find_repeats(make_branches(stages=1, branches=6))
    assert len(many.children) == 6  # too many to stand side by side


def test_only_what_stands_in_series_is_folded() -> None:
    model = make_two_in_a_row()
    (repeat,) = find_repeats(model)
    assert [child.label for child in repeat.children] == ["part.0", "part.1", "part.2", "part.3"]


def test_steps_of_a_cell_and_single_nodes_are_whole_from_the_first_to_the_last() -> None:
    model = make_controller(5)
    (loop,) = find_repeats(model)
    assert (len(loop.children), loop.is_loop, loop.exemplar) == (5, True, 1)
    counts = [child.node_count for child in loop.inner_groups()]
    assert counts[1:] == [21] * 4
    before = find_tree(model, model.graph).root.node_count - sum(counts)
    assert before == 1  # what picks where the state starts is no part of a step
