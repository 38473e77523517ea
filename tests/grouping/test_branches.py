"""Branches side by side that are summed are one box, on which that stands."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.branches import are_in_turns, is_summed
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


def write_columns(*, is_mixed: bool = True) -> Graph:
    """Write columns of a fractal by turns: two blocks in a row, and one beside them between."""
    builder = Builder()
    stream = builder.add("MatMul", "x", builder.weight(size=4), name="/stem/MatMul")
    given = {}
    for number, (name, source) in enumerate([("2.0", ""), ("1.1", ""), ("2.1", "2.0")]):
        scope = f"/columns.{name}" if is_mixed else f"/columns.{number}"
        value = given[source] if source and is_mixed else stream
        value = builder.add("MatMul", value, builder.weight(), name=f"{scope}/a/MatMul")
        value = builder.add("Tanh", value, name=f"{scope}/Tanh")
        value = builder.add("MatMul", value, builder.weight(), name=f"{scope}/b/MatMul")
        given[name] = value
    joined = builder.add("Concat", given["1.1"], given["2.1"], given["2.0"], axis=0, name="/Concat")
    return builder.load(builder.add("ReduceMean", joined, name="/ReduceMean"))


@pytest.mark.parametrize("grouping", ["auto", "names"])
def test_columns_by_turns_are_no_stack(grouping: str) -> None:
    assert list_repeats(build_group_tree(write_columns(), grouping)) == []


@pytest.mark.parametrize(
    ("blocks", "are_mixed"), [([0, 1, 2], False), ([0, 2, 1], True), ([0, 2], False)]
)
def test_blocks_are_of_several_streams(blocks: list[int], *, are_mixed: bool) -> None:
    builder = Builder()
    value = "x"
    for _ in range(3):
        value = builder.add("Tanh", builder.add("MatMul", value, builder.weight()))
    nodes = builder.load(value).nodes
    assert are_in_turns([nodes[2 * n : 2 * n + 2] for n in blocks]) is are_mixed


def write_tables(count: int = 5, *, is_used: bool = False) -> Graph:
    """Write tables of one number that are looked up by one column each, and summed.

    So are the linear parts of click models, beside embeddings of the same columns.
    """
    builder = Builder()
    ids = builder.add("Cast", "x", to=TensorProto.INT64, name="/Cast")
    total, partial, features, columns = "", "", [], []
    for kind, size in (("linear", 1), ("embed", 4)):
        for number in range(count):
            if kind == "linear":
                column = helper.make_tensor(f"i{number}", TensorProto.INT64, [], [number])
                builder.initializers.append(column)
                name = f"/Gather_{number}"
                columns.append(builder.add("Gather", ids, f"i{number}", axis=1, name=name))
            name = f"{kind}.{number}.weight"
            table = helper.make_tensor(name, TensorProto.FLOAT, [9, size], [0.5] * 9 * size)
            builder.initializers.append(table)
            rows = builder.add(
                "Gather", name, columns[number], axis=0, name=f"/{kind}.{number}/Gather"
            )
            if kind == "embed":
                features.append(rows)
            else:
                total = builder.add("Add", total, rows, name=f"/Add_{number}") if total else rows
            partial = total if kind == "linear" and number == count - 2 else partial
    joined = builder.add("Concat", *features, axis=-1, name="/Concat")
    joined = builder.add("MatMul", joined, builder.weight(size=4), name="/MatMul")
    given = builder.add("Add", total, joined, name="/Sum")
    return builder.load(builder.add("Mul", given, partial if is_used else given, name="/Mul"))


@pytest.mark.parametrize("count", [3, 10])
def test_tables_that_are_summed_are_one_box(count: int) -> None:
    tree = build_group_tree(write_tables(count))
    check_tree(tree)
    found = [repeat for repeat in list_repeats(tree) if is_summed(repeat)]
    assert [(one.label, len(one.children)) for one in found] == [
        (f"linear.0 … linear.{count - 1}", count)
    ]


def test_a_sum_of_which_a_part_is_used_is_not_hidden() -> None:
    repeats = list_repeats(build_group_tree(write_tables(is_used=True)))
    assert not any(map(is_summed, repeats))
