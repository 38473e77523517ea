"""What stands side by side on several maps: levels of a pyramid, and heads of one kind or more."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from tests.unrolled import Writer


def add_conv(
    writer: Writer, scope: str, value: str, taken: int, given: int, stride: int = 1
) -> str:
    weight = writer.weight(f"w{len(writer.tensors)}", given, taken, 3, 3)
    options = {"kernel_shape": [3, 3], "pads": [1] * 4, "strides": [stride] * 2}
    return writer.add(scope, "Conv", value, weight, **options)


def make_detector(naming: str, kinds: int, levels: int = 4) -> list[tuple[str, int]]:
    """Return the operators of the first block and the length of each repeat of a detector.

    It has a pyramid with laterals of several parts on all levels, and heads on all of its maps.
    """
    writer = Writer(naming)
    writer.inputs = {"x": [1, 3, 64, 64]}
    value, width, maps = "x", 3, []
    for level in range(levels):
        value = add_conv(writer, f"body.{level}/down", value, width, 8 + 8 * level, 2)
        value = writer.add(f"body.{level}", "Elu", value)
        width = 8 + 8 * level
        maps.append((value, width))
    laterals = []
    for level, (value, width) in enumerate(maps):
        scope = f"lateral.{level}"
        value = writer.add(scope, "Relu", add_conv(writer, f"{scope}/one", value, width, 8))
        value = writer.add(scope, "Tanh", add_conv(writer, f"{scope}/two", value, 8, 8))
        laterals.append(value)
    top, merged = laterals[-1], [laterals[-1]]
    for value in reversed(laterals[:-1]):
        scales = writer.weight("scales", 4)
        top = writer.add("", "Add", value, writer.add("", "Resize", top, "", scales))
        merged.append(top)
    for level, value in enumerate(merged):
        for kind in range(kinds):
            scope = f"head{kind}.{level}"
            inner = add_conv(writer, f"{scope}/one", value, 8, 8)
            inner = add_conv(writer, f"{scope}/two", writer.add(scope, "Selu", inner), 8, 2)
            inner = writer.add(scope, "Softplus", writer.add(scope, "Sigmoid", inner))
            writer.outputs.append(inner)
    root = build_group_tree(writer.load().graph).root
    found = []
    pending = [root]
    while pending:
        group = pending.pop(0)
        pending += group.inner_groups()
        if group.kind == "repeat":
            found.append((_name_first(group), len(group.children)))
    return found


def _name_first(group: Group) -> str:
    nodes = []
    pending = [*group.children[:1]]
    while pending:
        child = pending.pop(0)
        if isinstance(child, Group):
            pending = [*child.children, *pending]
        else:
            nodes.append(child.op_type)
    return " ".join(nodes)


@pytest.mark.parametrize("naming", ["legacy", "plain"])
def test_laterals_of_a_pyramid_are_no_stack(naming: str) -> None:
    found = make_detector(naming, 1)
    assert [(first, count) for first, count in found if "Tanh" in first] == []
    assert ("Conv Selu Conv Sigmoid Softplus", 4) in found


def test_heads_of_two_kinds_are_two_boxes() -> None:
    found = make_detector("plain", 2)
    assert [count for first, count in found if "Softplus" in first] == [4, 4]
