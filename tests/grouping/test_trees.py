"""Like blocks on a way down a tree are boxes, for each gives to others past that way."""

from __future__ import annotations

from netloupe.explorer.grouping import Group, GroupTree

from .test_dilated_stacks import Writer
from .test_repeats import repeats


def interact(writer: Writer, x: str) -> tuple[str, str]:
    """Write a block that gives two results, each made with the other one."""
    gate = writer.add("Sigmoid", writer.conv(writer.add("Relu", writer.conv(x, 8, 8, 3)), 8, 8))
    shift = writer.add("Tanh", writer.conv(writer.add("Relu", writer.conv(x, 8, 8, 5)), 8, 8))
    left = writer.add("Mul", x, gate)
    return left, writer.add("Sub", left, shift)


def write_tree(writer: Writer, x: str, levels: int) -> str:
    left, right = interact(writer, x)
    if levels > 1:
        left, right = (write_tree(writer, side, levels - 1) for side in (left, right))
    return writer.add("Concat", left, right, axis=2)


def list_blocks(tree: GroupTree) -> list[Group]:
    """Return the boxes of a tree that hold a gate and a shift."""
    return [
        group
        for group in tree.root.inner_groups()
        if {"Sigmoid", "Tanh"} <= {node.op_type for node in tree.order[group.low : group.high]}
    ]


def test_the_blocks_of_a_tree_are_boxes() -> None:
    writer = Writer()
    tree = writer.group(write_tree(writer, writer.conv("x", 8, 8), 3))
    assert not [repeat for repeat in repeats(tree) if len(repeat.children[0].children) > 4]  # type: ignore[union-attr]
    assert len(list_blocks(tree)) >= 5
    assert all(group.kind == "block" for group in list_blocks(tree))


def test_blocks_that_give_besides_to_something_else_are_a_stack() -> None:
    """As of skips that are put together, or go to a decoder."""
    writer = Writer()
    x, skips = writer.conv("x", 8, 8), []
    for _ in range(4):
        x, other = interact(writer, x)
        skips.append(other)
    tree = writer.group(writer.add("Concat", x, *skips, axis=1))
    (repeat,) = repeats(tree)
    assert len(repeat.children) == 4
