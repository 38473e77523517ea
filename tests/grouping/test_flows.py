"""Normalizing flows of which another method than forward was exported: modules without a path."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.tree import GroupTree
from netloupe.explorer.model import Model, Node
from tests.flows import make_couplings, make_undone

from .test_repeats import repeats
from .test_tree import check_tree


def _build(model: Model) -> GroupTree:
    tree = build_group_tree(model.graph)
    check_tree(tree)
    return tree


def test_couplings_are_a_stack_that_is_not_called_after_the_network_in_them() -> None:
    tree = _build(make_couplings())
    (stack,) = (group for group in repeats(tree) if group.parent is tree.root)
    assert (stack.label, len(stack.children)) == ("0 … 3", 4)
    blocks = [child for child in stack.children if isinstance(child, Group)]
    assert [block.label for block in blocks] == ["0", "1", "2", "3"]
    for block in blocks:
        (coupling,) = (one for one in block.inner_groups() if one.label == "Affine coupling")
        assert any(one.kind == "scope" for one in coupling.inner_groups())


def test_names_of_a_list_are_kept() -> None:
    tree = _build(make_couplings(is_list=True))
    (stack,) = (group for group in repeats(tree) if group.parent is tree.root)
    assert stack.label.startswith("maps.0")


@pytest.mark.parametrize("is_added_inside", [True, False])
def test_what_is_stored_of_each_coupling_stands_in_it(*, is_added_inside: bool) -> None:
    tree = _build(make_couplings(is_added_inside=is_added_inside))
    prepared = [one for one in tree.root.inner_groups() if one.kind == "preparation"]
    assert not (prepared and is_added_inside)
    sums = [sum(node.op_type == "ReduceSum" for node in stack) for stack in _list_blocks(tree)]
    assert sums == [1 + is_added_inside] * 4


def _list_blocks(tree: GroupTree) -> list[list[Node]]:
    (stack,) = (group for group in repeats(tree) if group.parent is tree.root)
    return [tree.order[one.low : one.high] for one in stack.children if isinstance(one, Group)]


def test_layers_that_are_undone_step_by_step_are_loops_in_a_stack() -> None:
    """The first step multiplies stored zeros by the weights that the others multiply data by."""
    tree = _build(make_undone(layers=6))
    (stack,) = (group for group in repeats(tree) if group.parent is tree.root)
    blocks = [child for child in stack.children if isinstance(child, Group)]
    loops = [one for block in blocks for one in block.inner_groups() if one.kind == "repeat"]
    assert [(len(loop.children), loop.is_loop) for loop in loops] == [(4, True)] * 6
