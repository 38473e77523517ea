"""Branches side by side that are summed are one box, on which that stands."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.branches import is_summed
from netloupe.explorer.layout.opening_limits import LIMITS, may_open
from netloupe.explorer.layout.stacks import find_hidden_stacks
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.render.faces import make_face
from netloupe.explorer.view import View

from .test_repeats import Builder
from .test_tree import check_tree


def write_vocoder(
    *, order: str = "by turns", serial: bool = False, count: int = 3, levels: int = 1
) -> Graph:
    """Write levels of branches, whose first activation an exporter left in the first."""
    builder = Builder()
    stream = builder.add("MatMul", "x", builder.weight(size=4), name="/stem/MatMul")
    for level in range(levels):
        stream = builder.add("MatMul", stream, builder.weight(size=4), name=f"/ups.{level}/MatMul")
        first = f"/blocks.{count * level}"
        activated = builder.add("LeakyRelu", stream, name=f"{first}/LeakyRelu")
        results, total = [], ""
        for number in range(count * level, count * (level + 1)):
            scope = f"/blocks.{number}"
            inner = builder.add("MatMul", activated, builder.weight(), name=f"{scope}/a/MatMul")
            inner = builder.add("Tanh", inner, name=f"{scope}/Tanh")
            inner = builder.add("MatMul", inner, builder.weight(), name=f"{scope}/b/MatMul")
            given = builder.add("Add", inner, stream, name=f"{scope}/Add")
            results.append(given)
            if order == "by turns" and len(results) > 1:
                total = builder.add("Add", total or results[0], given, name=f"/Add_{number}")
            stream = given if serial else stream
        for given in results[1:] if order != "by turns" else ():
            total = builder.add("Add", total or results[0], given, name=f"/Add_{given}")
        stream = builder.add("Sigmoid", total, name=f"/Sigmoid_{level}")
    return builder.load(stream)


def list_repeats(tree: GroupTree) -> list[Group]:
    return [child for child in tree.root.inner_groups() if child.kind == "repeat"]


@pytest.mark.parametrize("order", ["by turns", "at the end"])
@pytest.mark.parametrize("count", [3, 4])
def test_branches_that_are_summed_are_one_box(order: str, count: int) -> None:
    graph = write_vocoder(order=order, count=count)
    tree = build_group_tree(graph)
    check_tree(tree)
    (repeat,) = list_repeats(tree)
    assert (repeat.label, len(repeat.children)) == (f"blocks.0 … blocks.{count - 1}", count)
    assert is_summed(repeat)
    outside = [child.op_type for child in tree.root.children if isinstance(child, Node)]
    assert outside == ["MatMul", "MatMul", "LeakyRelu", "Sigmoid"]
    view = View(graph.model)
    item = next(child for child in view.root.children if child.repeat is not None)
    assert "side by side, summed" in [run.text for run in make_face(item).texts]


def test_branches_are_found_in_levels_that_are_alike() -> None:
    tree = build_group_tree(write_vocoder(levels=3))
    check_tree(tree)
    (levels,) = list_repeats(tree)
    assert len(levels.children) == 3
    for level in levels.inner_groups():
        assert [is_summed(one) for one in level.inner_groups() if one.kind == "repeat"] == [True]


def test_what_stands_in_series_is_no_branch() -> None:
    tree = build_group_tree(write_vocoder(serial=True))
    assert not any(map(is_summed, list_repeats(tree)))


def test_two_branches_stand_side_by_side() -> None:
    assert list_repeats(build_group_tree(write_vocoder(count=2))) == []


def test_branches_that_are_summed_are_opened_in_no_first_view() -> None:
    view = View(write_vocoder().model)
    (stack,) = [item for item in view.root.children if item.repeat is not None]
    assert not any(may_open(stack, limit) for limit in LIMITS)
    assert isinstance(stack.element, Group)
    assert [*find_hidden_stacks(stack, stack.element)] == []
