"""Like nodes side by side between the same two boxes: sums behind the calls of one module."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.layout.opening_worth import is_worth_a_frame
from tests.unrolled import WIDTH, Writer

#: what stands behind the sums, each a box
_BEHIND = ("Sin", "Neg", "Cos", "Floor", "Abs", "Ceil", "Round")


def find_stacks(count: int, *, last: str = "") -> list[Group]:
    """Return the stacks of a network that adds a table to what one layer gives for each channel.

    Parameters
    ----------
    count
        How many channels there are.
    last
        What is different in the last one: ``"operator"``, ``"width"``, or ``"result"``, which
        something else takes too.
    """
    writer = Writer()
    writer.inputs = {f"x{number}": [WIDTH, WIDTH] for number in range(count)}
    given: list[str] = []
    for number in range(count):
        is_other = last if number == count - 1 else ""
        value = writer.add("project", "MatMul", f"x{number}", writer.weight("w", WIDTH, WIDTH))
        value = writer.add("project", "Tanh", value)
        table = writer.weight(f"t{number}", *([1, WIDTH] if is_other == "width" else [WIDTH]))
        given.append(writer.add("", "Sub" if is_other == "operator" else "Add", value, table))
    value = writer.add("", "Concat", *given, axis=1)
    for op_type in _BEHIND:
        value = writer.add("", op_type, value)
    value = writer.add("head", "MatMul", value, writer.weight("head", count * WIDTH, WIDTH))
    writer.outputs = [value] + ([given[-1]] if last == "result" else [])
    graph = writer.load().graph
    groups = find_tree(graph.model, graph).root.inner_groups()
    return [group for group in groups if group.kind == "repeat"]


def list_stacks(count: int, *, last: str = "") -> list[tuple[str, int]]:
    return [(group.label, len(group.children)) for group in find_stacks(count, last=last)]


def test_sums_between_the_same_boxes_are_one_stack() -> None:
    assert list_stacks(8) == [("Add", 8)]
    assert not list_stacks(5)


@pytest.mark.parametrize("last", ["operator", "width", "result"])
def test_an_unlike_node_stays_beside_the_others(last: str) -> None:
    assert list_stacks(8, last=last) == [("Add", 7)]


def test_no_frame_is_worth_a_stack_of_single_nodes() -> None:
    (stack,) = find_stacks(8)
    assert not is_worth_a_frame(stack)
